//! Of a contender that may not be read no event comes: a moment lacks it until it is noticed, and says so afterwards.

use lockscope_core::missing::{Missing, MissingSet};
use lockscope_core::observation::Observation;
use lockscope_core::observatory::Observatory;
use lockscope_core::time::TimeMs;
use lockscope_history::codec::Encoder;
use lockscope_history::replay::{Moment, Rewound};
use lockscope_history::store::Store;
use lockscope_history::store::sqlite::SqliteStore;

use crate::codec::Told;
use crate::language::Story;
use crate::replay::{all_of, model};

const LOCK: &str = "/locks/l";

/// A queue of one, and from then on what a test tells; recorded with a checkpoint at the beginning.
fn recorded(told: &str) -> (tempfile::TempDir, SqliteStore) {
    let mut story = Story::new(&["/locks"]);
    let begin = "1000 link live
        1000 sync /locks
        1000 node /locks created=1
        1000 node /locks/l created=2
        1000 node /locks/l/lock-0000000001 owner=1 czxid=110
        1000 end /locks
        1000 synced 1000
        1100 + /locks/l/lock-0000000002
        1100 = /locks/l/lock-0000000002 owner=2 czxid=120";
    let lines = begin.lines().chain(told.lines()).map(str::trim).filter(|line| !line.is_empty());
    let all: Told = lines
        .map(|line| {
            let observation = story.parse(line);
            (TimeMs(story.now), observation)
        })
        .collect();
    let (mut encoder, mut chunks) = (Encoder::new(1), Vec::new());
    let checkpoint = model(all[0].0).checkpoint().unwrap();
    chunks.extend(encoder.checkpoint(all[0].0, checkpoint.observations()).unwrap());
    for (now, observation) in &all {
        encoder.push(*now, observation, &mut chunks).unwrap();
    }
    chunks.extend(encoder.close());
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path(), "prod").unwrap();
    store.append(&chunks, &[]).unwrap();
    (directory, store)
}

/// What the lock says that it misses at a moment, which apart from this is as it was.
fn missing_at(told: &str, at: i64) -> MissingSet {
    let (_directory, store) = recorded(told);
    let rewound = Rewound::new(&store, Moment::At(TimeMs(at))).unwrap();
    let shown = rewound.in_hindsight(&store, TimeMs(at)).unwrap();
    let mut same = rewound.observatory().clone();
    let missing = missing(&shown);
    if !missing.is_empty() {
        let (root, path) = (lockscope_core::observation::RootId(0), LOCK.into());
        same.apply(rewound.known_at(), Observation::Incomplete { root, path, missing });
    }
    assert!(all_of(&shown) == all_of(&same), "nothing else differs");
    missing
}

fn missing(model: &Observatory) -> MissingSet {
    model.roots()[0].mirror.directory(LOCK).unwrap().missing()
}

const UNSWEPT: Missing = Missing::Unswept;

#[test]
fn a_moment_that_lacks_who_was_noticed_later_says_so() {
    let noticed = "1205 ? /locks/l unswept
        1210 = /locks/l/lock-0000000003 owner=3 czxid=119 denied
        1700 ? /locks/l";
    assert_eq!(missing_at(noticed, 1_150), UNSWEPT.into(), "it came before the second, which is there");
    assert_eq!(missing_at(noticed, 1_100), UNSWEPT.into());
    assert!(missing_at(noticed, 1_000).is_empty(), "it came later");
}

#[test]
fn a_moment_before_whoever_was_noticed_came_is_whole() {
    let noticed = "1205 ? /locks/l unswept
        1210 = /locks/l/lock-0000000003 owner=3 czxid=121 denied
        1700 ? /locks/l";
    assert!(missing_at(noticed, 1_150).is_empty());
}

#[test]
fn whoever_is_there_and_was_not_read_may_have_come_after() {
    let unread = "1150 + /locks/l/lock-0000000004
        1205 ? /locks/l unswept
        1206 = /locks/l/lock-0000000004 owner=2 czxid=125
        1210 = /locks/l/lock-0000000003 owner=3 czxid=124 denied
        1700 ? /locks/l";
    assert_eq!(missing_at(unread, 1_150), UNSWEPT.into());
    assert!(missing_at(unread, 1_149).is_empty());
}

#[test]
fn who_shows_nothing_may_have_come_before() {
    let denied = "1205 ? /locks/l unswept
        1210 ! /locks/l/lock-0000000003
        1700 ? /locks/l";
    assert_eq!(missing_at(denied, 1_150), UNSWEPT.into());
    assert_eq!(missing_at(denied, 1_203), UNSWEPT.into());
    assert_eq!(missing_at("1205 ! /locks/l/lock-0000000003", 1_150), UNSWEPT.into(), "whether it is said or not");
}

#[test]
fn nothing_that_was_found_is_no_doubt_and_what_was_not_looked_through_is_one() {
    assert!(missing_at("1205 ? /locks/l unswept\n 1300 ? /locks/l", 1_150).is_empty());
    assert_eq!(missing_at("1205 ? /locks/l unswept", 1_150), UNSWEPT.into(), "the recording ends");
    let later = "1205 ? /locks/l unswept\n 9000 tick\n 9001 ? /locks/l";
    assert_eq!(missing_at(later, 1_150), UNSWEPT.into(), "it took too long");
}

#[test]
fn what_is_noticed_long_after_a_moment_came_after_it() {
    assert!(missing_at("1700 ? /locks/l unswept\n 1705 ! /locks/l/lock-0000000003", 1_150).is_empty());
}

#[test]
fn who_was_reported_came_when_it_was_reported() {
    let reported = "1205 + /locks/l/lock-0000000003\n 1206 ! /locks/l/lock-0000000003";
    assert!(missing_at(reported, 1_150).is_empty());
}
