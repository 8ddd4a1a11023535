//! Random histories over many recipes in one tree.

use std::collections::{BTreeMap, BTreeSet};

use lockscope_core::assessment::AssessedLock;
use lockscope_core::observatory::Observatory;
use lockscope_core::recipe::Shape;
use lockscope_core::znode::{SessionId, split_path};
use proptest::prelude::*;

use super::world::{World, observatory, sync};

const SESSIONS: i64 = 5;

/// Directory and prefix of names that clients write there, with a uuid by the client's number where a `@` stands.
/// Persistent ones begin with `!`, those without a number with `=`.
const KINDS: [(&str, &str); 29] = [
    ("/r/mutex", "_c_@-lock-"),
    ("/r/rw", "_c_@-__READ__"),
    ("/r/rw", "_c_@-__WRIT__"),
    ("/r/kazoo", "#__lock__"),
    ("/r/kazoo", "#__rlock__"),
    ("/r/plain", "lock-"),
    ("/r/mixed", "_c_@-lock-"),
    ("/r/mixed", "#__lock__"),
    ("/r/mixed", "_c_#-lock-"),
    ("/r/latch", "_c_@-latch-"),
    ("/r/sem/leases", "_c_@-lease-"),
    ("/r/sem/locks", "_c_@-lock-"),
    ("/r/ksem", "=#"),
    ("/r/ksem-__lock__", "#__lock__"),
    ("/r/party", "#__party__"),
    ("/r/queue", "!entry-100-"),
    ("/r/lqueue/entries", "!entry-100-"),
    ("/r/lqueue/taken", "=entry-100-0000000001"),
    ("/r/solr/election", "72057655109877762-n1_solr-n_"),
    ("/r/solr", "=leader"),
    ("/r/synchronizing", "=@"),
    ("/r/synchronizing", "=start"),
    ("/r", "=orders-lock"),
    ("/r/fixed", "=lock"),
    ("/r/hbase", "=master"),
    ("/r/hbase/backup-masters", "=host-#,16000,1790000000123"),
    ("/r/stuck", "=_c_@-lock-2147483647"),
    ("/r/stuck", "=_c_@-lock-2147483646"),
    ("/r/stuck", "=_c_@-lock--2147483648"),
];

#[derive(Clone, Debug)]
enum Step {
    Create { kind: usize, session: i64, is_read_at_once: bool },
    Read { at: usize },
    Delete { at: usize },
    EndSession { session: i64 },
    Resync,
    ResyncMissing { at: usize },
    Tick { ms: i64 },
}

fn step() -> impl Strategy<Value = Step> {
    let at = || 0..256_usize;
    let create = (0..KINDS.len(), 1..=SESSIONS, prop::bool::weighted(0.7));
    prop_oneof![
        16 => create.prop_map(|(kind, session, is_read_at_once)| Step::Create { kind, session, is_read_at_once }),
        4 => at().prop_map(|at| Step::Read { at }),
        7 => at().prop_map(|at| Step::Delete { at }),
        1 => (1..=SESSIONS).prop_map(|session| Step::EndSession { session }),
        1 => Just(Step::Resync),
        1 => at().prop_map(|at| Step::ResyncMissing { at }),
        2 => (0..40_000_i64).prop_map(|ms| Step::Tick { ms }),
    ]
}

fn world() -> World {
    let mut world = World::new();
    for directory in
        KINDS.iter().map(|(directory, _)| *directory).filter(|directory| *directory != "/r").collect::<BTreeSet<_>>()
    {
        for path in directory.match_indices('/').skip(2).map(|(at, _)| &directory[..at]).chain([directory]) {
            world.create_named(path, 0, if path == "/r/ksem" { "2" } else { "" });
        }
    }
    world.resync(false);
    world
}

fn create(world: &mut World, kind: usize, session: i64, is_read_at_once: bool) {
    let (directory, name) = KINDS[kind];
    let hex = format!("{session:032x}");
    let dashed = format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
    let name = name.replace('@', &dashed).replace('#', &hex);
    let path = match (name.strip_prefix('='), name.strip_prefix('!')) {
        (Some(name), _) => {
            let path = format!("{directory}/{name}");
            world.create_named(&path, session, "");
            path
        }
        (_, Some(name)) => world.create(directory, name, 0),
        _ => world.create(directory, &name, session),
    };
    if is_read_at_once {
        world.read(&path);
    }
}

/// What is shown of every lock but one, apart from verdicts: a deadlock is a matter of several.
fn shown(observatory: &Observatory, except: Option<&str>) -> BTreeMap<String, String> {
    let others = observatory.locks().filter(|lock| Some(&*lock.path) != except);
    others.map(|lock| (lock.path.to_string(), told(observatory, lock))).collect()
}

fn told(observatory: &Observatory, lock: &AssessedLock) -> String {
    let mirror = observatory.mirror_of(lock).unwrap();
    let contenders = lock.contenders(mirror).map(|contender| {
        let targets: Vec<String> = lock
            .waits_for(mirror, &contender)
            .iter()
            .map(|target| format!("{}{}", target.path(), target.is_shared))
            .collect();
        format!("{} {:?} {} {targets:?}", contender.path(), lock.access(&contender), lock.hold_of(&contender).is_some())
    });
    let contenders: Vec<String> = contenders.collect();
    format!("{:?} {:?} {contenders:#?}", lock.recognition, lock.standing)
}

fn delete(world: &mut World, path: &str) {
    // A mark, or an office, is no contender and yet belongs to the lock of its directory.
    let of = |path: &str| world.observatory.lock(path).map(|lock| lock.path.to_string());
    let own = of(path).or_else(|| of(split_path(path).unwrap().0));
    let before = shown(&world.observatory, own.as_deref());
    world.delete(path);
    let after = shown(&world.observatory, own.as_deref());
    assert_eq!(before, after, "{path} of {own:?} went");
}

fn take(world: &mut World, step: &Step) {
    match step {
        Step::Create { kind, session, is_read_at_once } => create(world, *kind, *session, *is_read_at_once),
        Step::Read { at } => world.pick(*at).into_iter().for_each(|path| world.read(&path)),
        Step::Delete { at } => world.pick(*at).into_iter().for_each(|path| delete(world, &path)),
        Step::EndSession { session } => {
            let owned: Vec<String> =
                world.truth.iter().filter(|(_, node)| node.owner == *session).map(|(path, _)| path.clone()).collect();
            owned.iter().for_each(|path| delete(world, path));
        }
        Step::Resync => world.resync(false),
        Step::ResyncMissing { at } => {
            if let Some(path) = world.pick(*at) {
                world.forget(&path);
            }
            world.resync(true);
        }
        Step::Tick { ms } => world.tick(*ms),
    }
}

fn check_lock(world: &World, lock: &AssessedLock) {
    let mirror = world.observatory.mirror_of(lock).unwrap();
    let contenders: Vec<_> = lock.contenders(mirror).collect();
    let paths: Vec<String> = contenders.iter().map(lockscope_core::lock::ContenderRef::path).collect();
    assert_eq!(paths.iter().collect::<BTreeSet<_>>().len(), paths.len(), "each contender comes once: {paths:?}");
    let holders = contenders.iter().filter(|contender| lock.hold_of(contender).is_some()).count();
    assert_eq!(
        (lock.standing.holders as usize, lock.holders.len()),
        (holders, holders),
        "{}",
        told(&world.observatory, lock)
    );
    assert_eq!(lock.standing.waiting.count as usize, contenders.len() - holders, "{}", told(&world.observatory, lock));
    let waiting: i64 = contenders
        .iter()
        .filter(|contender| lock.hold_of(contender).is_none())
        .filter_map(|contender| Some(contender.child.read.as_ref()?.ctime_ms))
        .sum();
    assert_eq!(lock.standing.waiting.ctime_sum_ms, waiting);
    if lock.recognition.shape == Shape::Line {
        assert!(holders > 0 || contenders.is_empty(), "somebody holds: {}", told(&world.observatory, lock));
        assert!(contenders.is_sorted_by(|one, other| one.key < other.key), "{paths:?}");
    }
    for contender in &contenders {
        assert!(world.truth.contains_key(&contender.path()), "{} is there", contender.path());
        if lock.hold_of(contender).is_some() {
            continue;
        }
        for target in lock.waits_for(mirror, contender) {
            assert!(world.truth.contains_key(&target.path()), "{} waits for {}", contender.path(), target.path());
            assert_ne!(target.path(), contender.path());
        }
    }
}

fn check_sessions(world: &World) {
    let mut naive: BTreeSet<(i64, String, String, bool)> = BTreeSet::new();
    for lock in world.observatory.locks() {
        let contenders = lock.contenders(world.observatory.mirror_of(lock).unwrap());
        let owned = contenders.filter_map(|contender| {
            Some((
                contender.child.owner()?.0,
                lock.path.to_string(),
                contender.path(),
                lock.hold_of(&contender).is_some(),
            ))
        });
        naive.extend(owned);
    }
    let spots = (1..=SESSIONS).flat_map(|session| {
        let spots = world.observatory.spots(SessionId(session));
        spots.map(move |spot| (session, spot.lock.path.to_string(), spot.contender.path(), spot.hold.is_some()))
    });
    let indexed: Vec<_> = spots.collect();
    assert_eq!(indexed.len(), naive.len(), "{indexed:?} {naive:?}");
    assert_eq!(indexed.into_iter().collect::<BTreeSet<_>>(), naive);
    let owned =
        world.truth.values().filter(|node| node.read && node.owner != 0).fold(BTreeMap::new(), |mut owned, node| {
            *owned.entry(SessionId(node.owner)).or_insert(0) += 1;
            owned
        });
    assert_eq!(world.observatory.sessions(), owned);
}

/// The same set of znodes is the same picture whatever order it is told in.
fn check_order(world: &World) {
    let told = |is_reversed| {
        let mut fresh = observatory();
        sync(&mut fresh, world.now, &world.truth, is_reversed);
        shown(&fresh, None)
    };
    assert_eq!(told(false), told(true));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn every_lock_is_told_as_it_is(steps in prop::collection::vec(step(), 1..60)) {
        let mut world = world();
        for step in &steps {
            take(&mut world, step);
            world.observatory.locks().for_each(|lock| check_lock(&world, lock));
            check_sessions(&world);
        }
        check_order(&world);
    }
}
