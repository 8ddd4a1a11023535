//! Tiles of others: no older than they say, and not known when their owner is gone.

use super::*;
use lockscope_wire::Verdict;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn tile(name: &str, known_at_ms: Option<i64>) -> FleetTile {
    FleetTile {
        link: Link::Live,
        is_live: true,
        known_at_ms,
        worst: Some(Verdict::Stuck),
        locks: 3,
        ..FleetTile::unknown(name, 5, String::new())
    }
}

fn told(server_time_ms: i64, known_at_ms: Option<i64>) -> Fleet {
    Fleet { server_time_ms, ensembles: vec![tile("x", known_at_ms)], ..Fleet::default() }
}

fn mine() -> FleetTile {
    FleetTile {
        labels: [("env".to_owned(), "prod".to_owned())].into(),
        ..FleetTile::unknown("x", 9, "elsewhere".to_owned())
    }
}

#[test]
fn age_is_the_owners_and_the_way_is_ours() {
    let asked_at = Instant::now() + ms(100_000);
    // The owner's clock is years away from ours, and what it shows was 300 ms old.
    let all = heard(told(77_000, Some(76_700)), asked_at);
    let shown = |after: u64| all["x"].shown(mine(), asked_at + ms(after), 1_000_000);
    let seen = shown(1_700);
    assert_eq!((seen.known_at_ms, seen.is_live, seen.worst), (Some(998_000), true, Some(Verdict::Stuck)));
    assert_eq!(seen.labels["env"], "prod", "what it is we know ourselves");
    let seen = shown(1_701);
    assert_eq!((seen.since_ms, seen.is_live, seen.link), (997_999, false, Link::Stale));
    assert!(seen.why.contains("too old"), "{}", seen.why);
    // What comes of the future is as old as the question.
    let all = heard(told(0, Some(i64::MAX)), asked_at);
    assert_eq!(all["x"].shown(mine(), asked_at + ms(40), 1_000).known_at_ms, Some(960));
    // What is older than anything is not live.
    assert!(!heard(told(i64::MAX, Some(i64::MIN)), asked_at)["x"].shown(mine(), asked_at, 1_000).is_live);
    assert_eq!(heard(told(7, None), asked_at)["x"].shown(mine(), asked_at + ms(10), 1_000).known_at_ms, Some(990));
}

#[test]
fn of_an_owner_that_is_gone_it_is_said_since_when_nothing_is_known() {
    let asked_at = Instant::now() + ms(100_000);
    let all = heard(told(77_000, Some(76_700)), asked_at);
    let lost = TheirTile::lost("x", all.get("x"), "it hangs", asked_at + ms(1_000), 50_000);
    let seen = lost.shown(mine(), asked_at + ms(1_000), 50_000);
    assert_eq!((seen.is_live, seen.since_ms, seen.locks), (false, 48_700, 3), "as it was read last");
    assert!(seen.why.contains("not known") && seen.why.contains("it hangs"), "{}", seen.why);
    let still = TheirTile::lost("x", Some(&lost), "it is gone", asked_at + ms(9_000), 58_000);
    assert_eq!((still.tile.since_ms, still.tile.is_live), (48_700, false), "since when stays");
    assert!(still.tile.why.contains("it is gone") && !still.tile.why.contains("it hangs"));
    let never = TheirTile::lost("z", None, "nobody", asked_at, 7);
    assert_eq!((never.tile.since_ms, never.tile.worst, never.tile.locks), (7, None, 0));
    let still = TheirTile::lost("z", Some(&never), "nobody", asked_at, 9_000);
    assert_eq!(still.tile.since_ms, 7);
}

#[test]
fn sets_of_paths_and_replicas_have_a_maximum() {
    let all = FleetElsewhere::default();
    for at in 0..kept::SCOPES_MAX + 20 {
        all.of(VisibilityScope::new(&[], &[format!("/{at}")], false));
    }
    assert_eq!(all.0.lock().unwrap().len(), kept::SCOPES_MAX);
    let of = all.of(VisibilityScope::new(&[], &[], false));
    for at in 0..kept::REPLICAS_MAX + 20 {
        of.replica(&at.to_string());
    }
    assert_eq!(of.len(), kept::REPLICAS_MAX);
}

#[test]
fn one_is_asked_once_for_all_and_waited_for_again_once_it_answers_or_after_a_while() {
    let kept = KeptOfScope::default();
    let of = kept.replica("a");
    let turn = of.turn(REST).expect("nobody asks");
    assert!(of.turn(REST).is_none() && !of.has_rested_less_than(REST) && !of.is_silent(SILENCE));
    of.note_silence();
    assert!(of.is_silent(SILENCE) && !of.is_silent(Duration::ZERO));
    let all = heard(told(77_000, Some(76_700)), Instant::now());
    of.say(SaidByReplica::new(all.values().cloned()));
    drop(turn);
    assert!(of.turn(REST).is_none() && of.has_rested_less_than(REST) && !of.is_silent(SILENCE));
    assert!(of.turn(Duration::ZERO).is_some());
    let before = kept.all();
    assert_eq!(before.get("x").map(|their| their.tile.locks), Some(3));
    let lost = TheirTile::lost("x", before.get("x"), "it hangs", Instant::now(), 50_000);
    of.say(SaidByReplica::failed([lost].into_iter()));
    assert!(of.is_silent(SILENCE), "one that fails is not waited for at once");
    // What a replica knows that came to watch it counts before what another one knew.
    let later = heard(told(77_000, Some(77_000)), Instant::now() + ms(9_000));
    kept.replica("b").say(SaidByReplica::new(later.values().cloned()));
    assert!(kept.all().get("x").is_some_and(|their| their.tile.is_live));
}

#[test]
fn as_many_tiles_as_may_be_fit_into_one_answer() {
    let one = |at: u32| FleetTile {
        verdicts: vec![(Verdict::Stuck, 12), (Verdict::Healthy, 1_234), (Verdict::Free, 12_345)],
        oldest_wait_at_ms: Some(1_795_799_455_055),
        since_ms: 1_795_799_455_055,
        ..tile(&format!("payments-eu-west-{at}"), Some(1_795_799_455_055))
    };
    let all = Fleet { ensembles: (0..REPLICA_TILES_MAX).map(one).collect(), ..Fleet::default() };
    let bytes = serde_json::to_vec(&all).unwrap().len();
    assert!(bytes < crate::ANSWER_BYTES_MAX, "{bytes}");
    let a_thousand = bytes / REPLICA_TILES_MAX as usize * 1_000;
    assert!(a_thousand < 400_000, "{a_thousand}");
}
