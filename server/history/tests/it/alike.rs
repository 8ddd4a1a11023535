//! Which incidents are like each other: near misses, and a store.

use std::time::{Duration, Instant};

use lockscope_history::incident::{Incident, IncidentEnd, IncidentQuery, Life, Present, WaitShape, runs};
use lockscope_history::query::alike;
use lockscope_history::store::Store as _;
use lockscope_history::store::rows::{Fact, FactKind, Rows, SpanEnd};
use lockscope_history::store::sqlite::SqliteStore;

use lockscope_view::past::IncidentSignature;

use crate::incidents::{at, fact, life, made, span};

const HOUR: i64 = 3_600_000;

/// 1 holds a lock for 30 s while 2 waits, and lets go.
fn facts(lock: &str) -> Vec<Fact> {
    vec![fact(1_000, lock, "stuck"), fact(30_000, lock, "healthy")]
}

fn lives(lock: &str, how: SpanEnd) -> Vec<Life> {
    vec![life(lock, 1, 0, Some(0), Some((30_000, how))), life(lock, 2, 500, Some(30_000), None)]
}

fn one(facts: &[Fact], lives: &[Life]) -> Incident {
    let found = made(&runs(facts, &[]), lives, 600_000);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.into_iter().next().unwrap()
}

fn signature(incident: &Incident) -> IncidentSignature {
    lockscope_history::query::signature(incident, Some("import".into()))
}

#[test]
fn another_lock_another_time_and_another_host_are_alike() {
    let usual = signature(&one(&facts("/a"), &lives("/a", SpanEnd::Released)));
    let elsewhere = signature(&one(&facts("/b/c"), &lives("/b/c", SpanEnd::Released)));
    assert!(usual.is_like(&elsewhere) && usual.ended_like(&elsewhere));
    assert_eq!((usual.shape, usual.locks, usual.recipe.as_deref()), (WaitShape::Line, 1, Some("sequential_mutex")));
    // More who wait make no other shape.
    let mut many = lives("/a", SpanEnd::Released);
    many.extend((3..9).map(|session| life("/a", session, session * 1_000, None, None)));
    assert!(usual.is_like(&signature(&one(&facts("/a"), &many))));
}

#[test]
fn whatever_else_differs_is_a_near_miss() {
    let usual = one(&facts("/a"), &lives("/a", SpanEnd::Released));
    let own = signature(&usual);
    let is_near_miss = |of: &Incident| !own.is_like(&signature(of)) && !signature(of).is_like(&own);
    // The verdict.
    let slow = [fact(1_000, "/a", "slow"), fact(30_000, "/a", "healthy")];
    assert!(is_near_miss(&one(&slow, &lives("/a", SpanEnd::Released))));
    // A finding.
    let leak = |ms, severity| Fact { kind: FactKind::Finding, severity, ..fact(ms, "/a", "lease_leak") };
    let [began, ended] = <[Fact; 2]>::try_from(facts("/a")).unwrap();
    let leaky = [began, leak(2_000, 1), leak(29_000, 0), ended];
    assert!(is_near_miss(&one(&leaky, &lives("/a", SpanEnd::Released))));
    // The recipe.
    let mut leases = lives("/a", SpanEnd::Released);
    leases.iter_mut().for_each(|life| life.recipe = "semaphore".into());
    assert!(is_near_miss(&one(&facts("/a"), &leases)));
    // The shape: nobody waited for long.
    let alone = &lives("/a", SpanEnd::Released)[..1];
    let alone = one(&facts("/a"), alone);
    assert!(alone.shape == WaitShape::Nobody && is_near_miss(&alone));
    // A holder of another lock waited: a chain over two locks.
    let mut chained = facts("/a");
    chained.extend([fact(2_000, "/b", "stuck"), fact(30_500, "/b", "healthy")]);
    chained.sort_by_key(|fact| fact.number);
    let mut links = lives("/a", SpanEnd::Released);
    links.extend([life("/b", 2, 100, Some(100), Some((30_500, SpanEnd::Released))), life("/b", 3, 9_000, None, None)]);
    let chain = one(&chained, &links);
    assert_eq!((chain.shape, chain.locks().len()), (WaitShape::Chain, 2));
    assert!(is_near_miss(&chain));
    // They waited for each other.
    let circle = [fact(1_000, "/a", "deadlocked"), fact(30_000, "/a", "healthy")];
    let circle = one(&circle, &lives("/a", SpanEnd::Released));
    assert!(circle.shape == WaitShape::Circle && is_near_miss(&circle));
    // The application, also where it is not known.
    assert!(!own.is_like(&lockscope_history::query::signature(&usual, Some("export".into()))));
    assert!(!own.is_like(&lockscope_history::query::signature(&usual, None)));
}

#[test]
fn another_end_is_like_it_and_no_likewise_end() {
    let own = signature(&one(&facts("/a"), &lives("/a", SpanEnd::Released)));
    let other = signature(&one(&facts("/a"), &lives("/a", SpanEnd::SessionEnded)));
    assert_eq!((own.ended_by, other.ended_by), (IncidentEnd::Released, IncidentEnd::SessionEnded));
    assert!(own.is_like(&other) && !own.ended_like(&other));
    // Of what goes on that is not known.
    let on = signature(&one(&facts("/a")[..1], &[life("/a", 1, 0, Some(0), None), life("/a", 2, 500, None, None)]));
    assert!(on.is_like(&own) && !on.ended_like(&own) && !on.ended_like(&on.clone()));
}

#[test]
fn those_before_it_are_found_on_any_lock_and_none_behind_it() {
    let place = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(place.path(), "default").unwrap();
    let mut rows = Rows::default();
    // /a, /b and /c each hour; /d is slow and no more.
    for (begin, lock, verdict) in [
        (0, "/a", "stuck"),
        (HOUR, "/b", "stuck"),
        (2 * HOUR, "/d", "slow"),
        (3 * HOUR, "/c", "stuck"),
        (4 * HOUR, "/a", "stuck"),
    ] {
        rows.facts.extend([fact(begin, lock, verdict), fact(begin + 30_000, lock, "healthy")]);
        rows.spans.push(span(lock, 1, begin - 5_000, Some(begin - 5_000), begin + 30_000, 0));
        rows.spans.push(span(lock, 2, begin - 1_000, Some(begin + 30_000), begin + 31_000, 1));
    }
    store.write_rows(&rows).unwrap();
    let (present, now) = (|_: &str| Present::default(), at(5 * HOUR));
    let give_up_at = Instant::now() + Duration::from_secs(20);
    let query = IncidentQuery { range: at(0)..now, now, sees: &|_| true, present: &present, give_up_at };
    let all = lockscope_history::incident::search(&store, &query).unwrap().incidents;
    let third = all.iter().find(|one| one.root_lock() == "/c").unwrap();
    let paths = |sees: &dyn Fn(&str) -> bool| {
        let found = alike(&store, &IncidentQuery { sees, ..query.clone() }, third, &|_| None).unwrap();
        let paths: Vec<_> = found.incidents.iter().map(|one| (one.root_lock.clone(), one.is_likewise)).collect();
        (paths, found.count, found.ended_likewise, found.is_lower_bound)
    };
    let told = |path: &str| (path.to_owned(), true);
    assert_eq!(paths(&|_| true), (vec![told("/b"), told("/a")], 2, 2, false));
    // What may not be seen is not counted.
    assert_eq!(paths(&|lock| lock != "/b"), (vec![told("/a")], 1, 1, false));
    // The application tells them apart.
    let by_lock = |one: &Incident| Some(one.root_lock().to_owned());
    assert_eq!(alike(&store, &query, third, &by_lock).unwrap().count, 0);
}
