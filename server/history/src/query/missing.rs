//! What is not known of a lock's time: what was not recorded, and when ZooKeeper was out of sight.

use std::ops::Range;

use lockscope_core::time::TimeMs;
use lockscope_view::past::Missing;

use super::Question;
use crate::store::StoreError;
use crate::store::rows::{Fact, FactKind, FactQuery};

/// Why something is not known, where that is so of more than one ensemble.
const OF_SEVERAL: &str = "more than one ensemble was not recorded";
/// So much at the end may not be written yet.
const SETTLES_MS: i64 = 10_000;
/// Facts of all locks that are looked through for those of links and roots. Overflow policy: older ones are left out.
const FACTS_MAX: usize = 4_000;
/// What eyes tell apart: so many parts of a range.
const PARTS: i64 = 1_000;

/// What is not known of a range, in order. `first`: the first minute that is known of the lock. Minutes are kept for longer than
/// what moments are shown from.
pub fn missing(question: &Question<'_>, path: &str, first: Option<TimeMs>) -> Result<Vec<Missing>, StoreError> {
    let Question { store, give_up_at, .. } = *question;
    let (range, (start, end)) = (&question.range, (question.range.start, question.range.end));
    let coverage = store.coverage()?;
    let begun = coverage.from.into_iter().chain(first).min().unwrap_or(end).clamp(start, end);
    let ended = coverage.to.unwrap_or(end).clamp(start, end);
    let mut found = Vec::new();
    if begun > start {
        found.push(Missing { from_ms: start.0, to_ms: begun.0, why: "nothing is kept of that time".to_owned() });
    }
    let known = begun..end;
    let mut within: Vec<Missing> = question.gaps()?.into_iter().map(Missing::from).collect();
    let query =
        FactQuery { range: range.clone(), limit: FACTS_MAX, give_up_at: Some(give_up_at), ..FactQuery::default() };
    // Where that takes too long, gaps are said alone.
    within.extend(out_of_sight(&store.facts(&query).unwrap_or_default(), path, end));
    within.sort_by_key(|gap| (gap.from_ms, gap.to_ms));
    found.extend(joined(within, &known, end.since(start) / PARTS));
    if end.since(ended) > SETTLES_MS && ended >= begun {
        let why = "it is not recorded yet".to_owned();
        found.push(Missing { from_ms: ended.0, to_ms: end.0, why });
    }
    Ok(found)
}

/// When the link to ZooKeeper, or a root above the lock, was not to be trusted. Facts are the newest first; a state lasts until
/// the next one.
fn out_of_sight(facts: &[Fact], path: &str, end: TimeMs) -> Vec<Missing> {
    let is_above = |root: &str| {
        let rest = path.strip_prefix(root.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let of_kind = |kind: FactKind| facts.iter().rev().filter(move |fact| fact.kind == kind);
    let links: Vec<&Fact> = of_kind(FactKind::Link).collect();
    let roots: Vec<&Fact> = of_kind(FactKind::Root).filter(|fact| fact.lock.as_deref().is_some_and(is_above)).collect();
    let mut found = Vec::new();
    for states in [links, roots] {
        let ends = states.iter().skip(1).map(|fact| fact.at).chain([end]);
        for (fact, until) in states.iter().zip(ends) {
            let what = if fact.kind == FactKind::Link { "the link to ZooKeeper" } else { "the root" };
            if matches!(&*fact.code, "stale" | "lost" | "denied" | "gone") {
                found.push(Missing { from_ms: fact.at.0, to_ms: until.0, why: format!("{what} was {}", fact.code) });
            }
        }
    }
    found
}

/// Within what is known, each instant once; what no eye tells apart is one.
fn joined(gaps: Vec<Missing>, known: &Range<TimeMs>, near_ms: i64) -> Vec<Missing> {
    let mut joined: Vec<Missing> = Vec::new();
    for Missing { from_ms, to_ms, why } in gaps {
        let (from_ms, to_ms) = (from_ms.clamp(known.start.0, known.end.0), to_ms.clamp(known.start.0, known.end.0));
        match joined.last_mut() {
            Some(last) if from_ms < last.to_ms || (last.why == why && from_ms - last.to_ms <= near_ms) => {
                last.to_ms = last.to_ms.max(to_ms);
            }
            _ if to_ms > from_ms => joined.push(Missing { from_ms, to_ms, why }),
            _ => {}
        }
    }
    joined
}

/// What is not known of any of several ensembles, each instant once; by their names.
pub fn missing_of_any(ensembles: Vec<(String, Vec<Missing>)>) -> Vec<Missing> {
    let is_one = ensembles.len() == 1;
    let named = |(ensemble, gaps): (String, Vec<Missing>)| {
        gaps.into_iter().map(move |gap| match is_one {
            true => gap,
            false => Missing { why: format!("{ensemble}: {}", gap.why), ..gap },
        })
    };
    let mut all: Vec<Missing> = ensembles.into_iter().flat_map(named).collect();
    if is_one {
        return all;
    }
    all.sort_by_key(|gap| (gap.from_ms, gap.to_ms));
    let mut apart: Vec<Missing> = Vec::new();
    for gap in all {
        match apart.last_mut() {
            Some(last) if gap.from_ms < last.to_ms => {
                last.to_ms = last.to_ms.max(gap.to_ms);
                last.why = OF_SEVERAL.to_owned();
            }
            Some(_) | None => apart.push(gap),
        }
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(at: i64, kind: FactKind, code: &str, lock: Option<&str>) -> Fact {
        let (code, text) = (code.into(), "".into());
        Fact { number: 0, at: TimeMs(at), lock: lock.map(Into::into), kind, code, severity: 0, text }
    }

    #[test]
    fn a_link_that_was_lost_hides_what_happened() {
        let facts = [
            fact(60, FactKind::Root, "gone", Some("/other")),
            fact(50, FactKind::Root, "denied", Some("/a")),
            fact(40, FactKind::Link, "live", None),
            fact(30, FactKind::Link, "lost", None),
            fact(20, FactKind::Link, "stale", None),
        ];
        let found: Vec<_> =
            out_of_sight(&facts, "/a/b", TimeMs(100)).into_iter().map(|gap| (gap.from_ms, gap.to_ms)).collect();
        assert_eq!(found, [(20, 30), (30, 40), (50, 100)]);
        assert!(out_of_sight(&facts[..2], "/ab", TimeMs(100)).is_empty(), "a root of another name");
        assert_eq!(out_of_sight(&[fact(1, FactKind::Root, "stale", Some("/"))], "/a", TimeMs(5)).len(), 1);
    }

    #[test]
    fn each_instant_is_missing_once() {
        let gap = |from_ms, to_ms, why: &str| Missing { from_ms, to_ms, why: why.to_owned() };
        let gaps = vec![gap(0, 20, "x"), gap(15, 30, "y"), gap(31, 35, "x"), gap(70, 200, "x")];
        let found = joined(gaps, &(TimeMs(10)..TimeMs(100)), 1);
        assert_eq!(found, [gap(10, 35, "x"), gap(70, 100, "x")]);
    }

    #[test]
    fn what_is_missing_of_any_ensemble_is_counted_once() {
        let of = |ensemble: &str, gaps: &[(i64, i64)]| {
            let gap = |(from_ms, to_ms): &(i64, i64)| Missing { from_ms: *from_ms, to_ms: *to_ms, why: "x".to_owned() };
            (ensemble.to_owned(), gaps.iter().map(gap).collect())
        };
        let found = missing_of_any(vec![of("a", &[(0, 10), (50, 60)]), of("b", &[(5, 20), (12, 15), (70, 80)])]);
        let found: Vec<_> = found.iter().map(|gap| (gap.from_ms, gap.to_ms, gap.why.as_str())).collect();
        assert_eq!(found, [(0, 20, OF_SEVERAL), (50, 60, "a: x"), (70, 80, "b: x")]);
        let one = missing_of_any(vec![of("a", &[(0, 10)])]);
        assert_eq!((one.len(), one[0].why.as_str()), (1, "x"));
    }
}
