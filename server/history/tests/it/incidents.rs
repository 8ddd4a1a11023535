//! Incidents: of made-up facts and lives, and of a store.

use std::time::{Duration, Instant};

use lockscope_core::diagnosis::Verdict;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};
use lockscope_history::incident::{
    Incident, IncidentEnd, IncidentQuery, IncidentsFound, Life, Present, QUIET_MS, Run, connect, earlier, incident_of,
    runs, search,
};
use lockscope_history::store::rows::{Charge, Charged, Charges, Fact, FactKind, Rows, Span, SpanEnd};
use lockscope_history::store::sqlite::SqliteStore;
use lockscope_history::store::{Gap, GapReason, Store as _};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::historian::START;

pub(crate) fn at(ms: i64) -> TimeMs {
    TimeMs(START + ms)
}

pub(crate) fn fact(ms: i64, lock: &str, verdict: &str) -> Fact {
    Fact {
        number: u64::try_from(at(ms).0).unwrap() * 1024,
        at: at(ms),
        lock: Some(lock.into()),
        kind: FactKind::Verdict,
        code: verdict.into(),
        severity: 2,
        text: "It is so.".into(),
    }
}

/// When all of it is looked at.
fn at_end() -> TimeMs {
    at(600_000)
}

fn gap(from: i64, to: i64) -> Gap {
    Gap { after_seq: 1, from: at(from), to: at(to), why: GapReason::NotRunning }
}

/// Who held a lock when, if ever, and how that ended.
pub(crate) fn life(lock: &str, session: i64, joined: i64, held: Option<i64>, left: Option<(i64, SpanEnd)>) -> Life {
    Life {
        czxid: Zxid(session * 1_000_000 + joined),
        lock: lock.into(),
        recipe: "sequential_mutex".into(),
        is_waited_for: true,
        session: Some(SessionId(session)),
        label: Some(format!("client-{session}").into()),
        host: None,
        joined_at: at(joined),
        held_at: held.map(at),
        left_at: left.map(|(left, _)| at(left)),
        how: left.map(|(_, how)| how),
        roots: Vec::new(),
    }
}

/// All of it, each lock with its lives.
pub(crate) fn made(runs: &[Run], lives: &[Life], now: i64) -> Vec<Incident> {
    let of = |run: &Run| lives.iter().filter(|life| life.lock == run.lock).cloned().collect::<Vec<_>>();
    let of_runs: Vec<Vec<Life>> = runs.iter().map(of).collect();
    let groups = connect(runs, &of_runs, at(now));
    let incident = |group: &Vec<usize>| {
        let lives: Vec<&Life> = group.iter().flat_map(|run| &of_runs[*run]).collect();
        Incident::new(group.iter().map(|run| runs[*run].clone()).collect(), lives, at(now), false)
    };
    groups.iter().map(incident).collect()
}

#[test]
fn trouble_that_comes_back_within_a_minute_was_not_over() {
    let facts = [
        fact(0, "/a", "slow"),
        fact(5_000, "/a", "healthy"),
        fact(5_000 + QUIET_MS, "/a", "stuck"),
        fact(90_000, "/a", "free"),
        fact(90_001 + QUIET_MS, "/a", "slow"),
    ];
    let found = runs(&facts, &[]);
    let told: Vec<_> = found.iter().map(|run| (run.from, run.to, run.worst)).collect();
    let second = (at(90_001 + QUIET_MS), None, Verdict::Slow);
    assert_eq!(told, [(at(0), Some(at(90_000)), Verdict::Stuck), second]);
}

#[test]
fn a_run_ends_in_a_gap_unless_it_is_so_right_behind_it() {
    let goes_on = [fact(0, "/a", "stuck"), fact(500_100, "/a", "stuck"), fact(600_000, "/a", "free")];
    let found = runs(&goes_on, &[gap(10_000, 500_000)]);
    assert_eq!((found.len(), found[0].to, found[0].is_cut), (1, Some(at(600_000)), false));
    let is_another = [fact(0, "/a", "stuck"), fact(500_000 + QUIET_MS + 1, "/a", "stuck")];
    let found = runs(&is_another, &[gap(10_000, 500_000)]);
    assert_eq!((found.len(), found[0].to, found[0].is_cut), (2, Some(at(10_000)), true));
    let is_over = runs(&goes_on[..1], &[gap(10_000, 500_000)]);
    assert_eq!((is_over[0].to, is_over[0].is_cut), (Some(at(10_000)), true));
    let incident = &made(&is_over, &[], 700_000)[0];
    assert_eq!(incident.ended_by, IncidentEnd::Unknown);
}

#[test]
fn how_it_ended_is_not_known_where_the_verdict_was_not() {
    let lost = [fact(0, "/a", "stuck"), fact(9_000, "/a", "unknown")];
    let incident = &made(&runs(&lost, &[]), &[], 500_000)[0];
    assert_eq!((incident.to, incident.ended_by), (Some(at(9_000)), IncidentEnd::Unknown));
    let back = [lost[0].clone(), lost[1].clone(), fact(20_000, "/a", "stuck"), fact(30_000, "/a", "free")];
    let incident = &made(&runs(&back, &[]), &[], 500_000)[0];
    assert_eq!((incident.to, incident.ended_by), (Some(at(30_000)), IncidentEnd::Recovered));
}

#[test]
fn locks_are_one_incident_where_a_holder_of_one_waits_for_the_other() {
    // 1 holds /a for long. 2 holds /b and waits for /a, so 3 waits for 1 in the end. /c has nothing to do with it.
    let facts = [
        fact(1_000, "/a", "stuck"),
        fact(2_000, "/b", "slow"),
        fact(3_000, "/c", "stuck"),
        fact(60_000, "/c", "free"),
        fact(90_000, "/a", "healthy"),
        fact(90_500, "/b", "healthy"),
    ];
    let lives = [
        life("/a", 1, 0, Some(0), Some((90_000, SpanEnd::SessionEnded))),
        life("/b", 2, 100, Some(100), Some((90_500, SpanEnd::Released))),
        life("/a", 2, 200, Some(90_000), Some((90_400, SpanEnd::Released))),
        life("/b", 3, 10_000, Some(90_500), None),
        life("/c", 4, 0, Some(0), Some((60_000, SpanEnd::Forced))),
        life("/c", 5, 50_000, Some(60_000), None),
    ];
    let incidents = made(&runs(&facts, &[]), &lives, 100_000);
    let told: Vec<_> = incidents.iter().map(|one| (one.locks(), one.worst, one.ended_by)).collect();
    let first = (vec!["/a", "/b"], Verdict::Stuck, IncidentEnd::SessionEnded);
    assert_eq!(told, [first, (vec!["/c"], Verdict::Stuck, IncidentEnd::Forced)]);
    let one = &incidents[0];
    let root = one.root.as_ref().unwrap();
    assert_eq!((&*root.lock, root.session, root.label.as_deref()), ("/a", Some(SessionId(1)), Some("client-1")));
    // 2 from when something was wrong with /a, 3 until it held.
    assert_eq!(one.waiting_ms, 89_000 + 80_500);
    assert_eq!((one.victims, one.victims_peak), (2, 2));
}

#[test]
fn what_happened_long_before_the_end_did_not_end_it() {
    // Waiters come and give up while 1 holds for a minute; the trouble ends since nobody waits any longer.
    let lives = [
        life("/a", 1, 0, Some(0), None),
        life("/a", 2, 1_000, None, Some((20_000, SpanEnd::SessionEnded))),
        life("/a", 3, 1_000, None, Some((59_500, SpanEnd::GaveUp))),
    ];
    let facts = [fact(10_000, "/a", "stuck"), fact(60_000, "/a", "healthy")];
    let ended = |lives: &[Life]| made(&runs(&facts, &[]), lives, 90_000)[0].ended_by;
    assert_eq!(ended(&lives), IncidentEnd::GaveUp);
    assert_eq!(ended(&lives[..2]), IncidentEnd::Recovered);
}

#[test]
fn a_deadlock_that_closes_this_instant_is_one_incident() {
    let first = fact(0, "/a", "deadlocked");
    let facts = [first.clone(), Fact { number: first.number + 1, ..fact(0, "/b", "deadlocked") }];
    let lives = [
        life("/a", 1, -9, Some(-9), None),
        life("/b", 2, -8, Some(-8), None),
        life("/a", 2, -1, None, None),
        life("/b", 1, 0, None, None),
    ];
    let incidents = made(&runs(&facts, &[]), &lives, 0);
    assert_eq!(incidents.iter().map(Incident::locks).collect::<Vec<_>>(), [["/a", "/b"]]);
}

#[test]
fn charges_that_are_known_say_who_was_at_the_root() {
    let mut waiter = life("/a", 2, 0, Some(60_000), Some((61_000, SpanEnd::Released)));
    waiter.roots = vec![Charge { session: SessionId(9), ms: 50_000 }, Charge { session: SessionId(1), ms: 10_000 }];
    let lives = [life("/a", 1, 0, Some(0), Some((60_000, SpanEnd::Released))), waiter.clone()];
    let facts = [fact(0, "/a", "stuck"), fact(60_000, "/a", "free")];
    let found = runs(&facts, &[]);
    let root = |lives: &[Life]| made(&found, lives, 100_000)[0].root.clone().unwrap();
    // 9 holds nothing that is looked at: who may see these locks alone is not told of it.
    assert_eq!((root(&lives).session, root(&lives).charged_ms), (Some(SessionId(1)), 10_000));
    let seen = [lives[0].clone(), waiter, life("/a", 9, 0, Some(10_000), Some((60_000, SpanEnd::Released)))];
    assert_eq!((root(&seen).session, root(&seen).charged_ms), (Some(SessionId(9)), 50_000));
}

#[test]
fn standbys_of_a_leader_wait_for_nothing() {
    let mut standby = life("/leader", 2, 0, None, None);
    standby.is_waited_for = Life::is_waiting_in("election");
    let lives = [life("/leader", 1, 0, Some(0), None), standby];
    let incident = &made(&runs(&[fact(0, "/leader", "expiring")], &[]), &lives, 30_000)[0];
    assert_eq!((incident.victims, incident.waiting_ms, incident.ended_by), (0, 0, IncidentEnd::Still));
    assert_eq!(incident.root.as_ref().unwrap().session, Some(SessionId(1)));
}

pub(crate) fn span(lock: &str, session: i64, joined: i64, held: Option<i64>, left: i64, root: i64) -> Span {
    let wait_ms = held.unwrap_or(left) - joined;
    let charged = Charged { to: vec![Charge { session: SessionId(root), ms: wait_ms }], others_ms: 0 };
    Span {
        czxid: Zxid(session * 1_000_000 + joined),
        lock: lock.into(),
        recipe: "sequential_mutex".into(),
        node: format!("lock-{session}").into(),
        session: Some(SessionId(session)),
        label: None,
        host: Some("10.0.0.7".into()),
        joined_at: at(joined),
        held_at: held.map(at),
        left_at: at(left),
        how: SpanEnd::Released,
        charges: Some(Charges { direct: charged.clone(), root: charged, ..Charges::default() }),
        wait_ms,
        is_lower_bound: false,
    }
}

/// Three incidents on /a, an hour apart, the last of which goes on, and one on /b.
fn store() -> (tempfile::TempDir, SqliteStore) {
    const HOUR: i64 = 3_600_000;
    let place = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(place.path(), "default").unwrap();
    let mut rows = Rows::default();
    for begin in [0, HOUR] {
        rows.facts.extend([fact(begin, "/a", "stuck"), fact(begin + 30_000, "/a", "healthy")]);
        rows.spans.push(span("/a", 1, begin - 5_000, Some(begin - 5_000), begin + 30_000, 0));
        rows.spans.push(span("/a", 2, begin - 1_000, Some(begin + 30_000), begin + 31_000, 1));
    }
    rows.facts.extend([fact(2 * HOUR, "/a", "stuck"), fact(HOUR + 1, "/b", "slow"), fact(HOUR + 9_000, "/b", "free")]);
    store.write_rows(&rows).unwrap();
    (place, store)
}

#[test]
fn they_are_found_in_a_store_with_those_that_came_before() {
    const HOUR: i64 = 3_600_000;
    let (_place, store) = store();
    let give_up_at = Instant::now() + Duration::from_secs(20);
    let (everything, none_of_a) = (|_: &str| true, |lock: &str| lock != "/a");
    let there = || vec![life("/a", 7, 0, Some(0), None)];
    let present = |lock: &str| match lock {
        "/a" => Present { is_in_trouble: true, is_live: true, lives: there() },
        _ => Present::default(),
    };
    let gone = |_: &str| Present::default();
    let now = at(2 * HOUR + 10_000);
    let query = IncidentQuery { range: at(-1)..now + 1, now, sees: &everything, present: &present, give_up_at };
    let told = |found: IncidentsFound| {
        let told = |one: &Incident| (one.root_lock().to_owned(), one.from, one.ended_by, one.waiting_ms);
        found.incidents.iter().map(told).collect::<Vec<_>>()
    };
    let of_a = |begin: i64, ended_by, waiting_ms| ("/a".to_owned(), at(begin), ended_by, waiting_ms);
    let of_b = ("/b".to_owned(), at(HOUR + 1), IncidentEnd::Recovered, 0);
    let all = vec![
        of_a(2 * HOUR, IncidentEnd::Still, 0),
        of_b.clone(),
        of_a(HOUR, IncidentEnd::Released, 30_000),
        of_a(0, IncidentEnd::Released, 30_000),
    ];
    assert_eq!(told(search(&store, &query).unwrap()), all);
    // Piece by piece it is the same.
    assert_eq!(
        search(&store, &query).unwrap().incidents,
        lockscope_history::incident::all(&store, &query).unwrap().incidents
    );
    // Nothing is wrong with it any longer, and nobody saw that it ended.
    let is_over = IncidentQuery { present: &gone, ..query.clone() };
    assert_eq!(told(search(&store, &is_over).unwrap())[0], of_a(2 * HOUR, IncidentEnd::Unknown, 0));
    // What may not be seen is not there.
    let is_small = IncidentQuery { sees: &none_of_a, ..query.clone() };
    assert_eq!(told(search(&store, &is_small).unwrap()), [of_b]);
    // One that began before the range is there whole.
    let later = IncidentQuery { range: at(HOUR + 20_000)..at(HOUR + 25_000), ..query.clone() };
    assert_eq!(told(search(&store, &later).unwrap()), [of_a(HOUR, IncidentEnd::Released, 30_000)]);
    // By its number.
    let number = fact(HOUR, "/a", "stuck").number;
    let around = IncidentQuery { range: at(HOUR)..at(HOUR + 1), ..query.clone() };
    assert_eq!(incident_of(&store, &around, number).unwrap().unwrap().from, at(HOUR));
    assert_eq!(incident_of(&store, &around, number + 1).unwrap(), None);
    let before = earlier(&store, "/a", Verdict::Stuck, at(2 * HOUR), give_up_at).unwrap();
    assert_eq!(before.iter().map(|run| run.from).collect::<Vec<_>>(), [at(0), at(HOUR)]);
    assert!(earlier(&store, "/a", Verdict::Slow, at(2 * HOUR), give_up_at).unwrap().is_empty());
}

#[derive(Clone, Debug)]
struct MadeUp {
    facts: Vec<Fact>,
    gaps: Vec<Gap>,
    lives: Vec<Life>,
}

fn made_up() -> impl Strategy<Value = MadeUp> {
    const VERDICTS: [&str; 5] = ["free", "healthy", "slow", "stuck", "deadlocked"];
    const FINDINGS: [(&str, u8); 4] =
        [("leader_mismatch", 2), ("leader_mismatch", 0), ("lease_leak", 1), ("lease_leak", 0)];
    let facts = vec((0..400_000_i64, 0..4_usize, 0..VERDICTS.len() + FINDINGS.len()), 0..30);
    let gaps = vec((0..400_000_i64, 1..100_000_i64), 0..3);
    let lives = vec((0..4_usize, 1..6_i64, 0..300_000_i64, 0..200_000_i64, 0..200_000_i64, 0..4_u32), 0..40);
    (facts, gaps, lives).prop_map(|(mut facts, gaps, lives)| {
        facts.sort_unstable();
        let number = |(place, (ms, lock, what)): (usize, (i64, usize, usize))| {
            let (kind, code, severity) = match VERDICTS.get(what) {
                Some(verdict) => (FactKind::Verdict, *verdict, 2),
                None => (FactKind::Finding, FINDINGS[what - VERDICTS.len()].0, FINDINGS[what - VERDICTS.len()].1),
            };
            Fact { number: place as u64 + 1, kind, severity, ..fact(ms, &format!("/{lock}"), code) }
        };
        let one =
            |(place, (lock, session, joined, wait, hold, dice)): (usize, (usize, i64, i64, i64, i64, u32))| Life {
                czxid: Zxid(place as i64 + 1),
                ..life(
                    &format!("/{lock}"),
                    session,
                    joined,
                    (dice > 0).then_some(joined + wait),
                    (dice < 3).then_some((joined + wait + hold, SpanEnd::Released)),
                )
            };
        MadeUp {
            facts: facts.into_iter().enumerate().map(number).collect(),
            gaps: gaps.into_iter().map(|(from, ms)| gap(from, from + ms)).collect(),
            lives: lives.into_iter().enumerate().map(one).collect(),
        }
    })
}

proptest! {
    #[test]
    fn each_run_is_of_one_incident_and_waiting_is_as_by_a_plain_account(of in made_up()) {
        const NOW: i64 = 600_000;
        let runs = runs(&of.facts, &of.gaps);
        let incidents = made(&runs, &of.lives, NOW);
        let mut numbers: Vec<u64> = incidents.iter().flat_map(|one| &one.runs).map(|run| run.number).collect();
        numbers.sort_unstable();
        let mut all: Vec<u64> = runs.iter().map(|run| run.number).collect();
        all.sort_unstable();
        prop_assert_eq!(numbers, all);
        // A lock is in one of them at a time, whatever comes first.
        let mut spans: Vec<_> = incidents.iter().enumerate().flat_map(|(at, one)| one.runs.iter().map(move |run| (&run.lock, run.from, run.until(at_end()), at))).collect();
        spans.sort_unstable();
        for pair in spans.windows(2) {
            prop_assert!(pair[0].3 == pair[1].3 || pair[0].0 != pair[1].0 || pair[0].2 < pair[1].1, "{pair:?}");
        }
        let backwards: Vec<Run> = runs.iter().rev().cloned().collect();
        let mut other = made(&backwards, &of.lives.iter().rev().cloned().collect::<Vec<_>>(), NOW);
        other.sort_by_key(|one| one.number);
        let mut same = incidents.clone();
        same.sort_by_key(|one| one.number);
        prop_assert_eq!(same, other);
        for incident in &incidents {
            prop_assert!(incident.to.is_none_or(|to| to >= incident.from));
            prop_assert_eq!(incident.to.is_none(), incident.ended_by == IncidentEnd::Still);
            let mut plain = 0;
            for lock in incident.locks() {
                let of_lock = || incident.runs.iter().filter(|run| &*run.lock == lock);
                let from = of_lock().map(|run| run.from).min().unwrap();
                let to = of_lock().map(|run| run.until(at(NOW))).max().unwrap();
                for life in of.lives.iter().filter(|life| &*life.lock == lock) {
                    let ended = life.held_at.or(life.left_at).unwrap_or(to);
                    plain += ended.min(to).since(life.joined_at.max(from)).max(0);
                }
            }
            prop_assert_eq!(incident.waiting_ms, plain);
            prop_assert!(incident.victims_peak <= of.lives.len());
            if let Some(root) = &incident.root {
                let holds = of.lives.iter().any(|life| life.session == root.session && life.held_at == Some(root.held_at));
                prop_assert!(holds && incident.locks().contains(&&*root.lock));
            }
        }
    }
}
