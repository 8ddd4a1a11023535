//! Arbitrary observations of every kind, and sequences of them that look like a life.

mod values;

use std::sync::LazyLock;

use lockscope_core::configured::Configured;
use lockscope_core::diagnosis::Code;
use lockscope_core::evidence::{
    Connection, Expiry, Fired, Health, MemberAnswer, MemberRole, Report, Round, SessionTable, Trouble, WatchTable,
};
use lockscope_core::finding::Limits;
use lockscope_core::observation::{Link, LockConfig, Observation, RootId, RootTrouble};
use lockscope_core::recipe::Recipe;
use lockscope_core::settings::Settings;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, Zxid};
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

pub(crate) use values::{at, path, text};
use values::{facts, missing, name, number, root, session, zxid};

fn trouble() -> impl Strategy<Value = Trouble> {
    select(vec![Trouble::Off, Trouble::Denied, Trouble::Broken, Trouble::Spared])
}

fn answer<T: std::fmt::Debug + Clone>(value: impl Strategy<Value = T>) -> impl Strategy<Value = MemberAnswer<T>> {
    prop_oneof![
        3 => (at(), value).prop_map(|(asked_at, value)| MemberAnswer::Ok { asked_at, value }),
        1 => (trouble(), text()).prop_map(|(trouble, remedy)| MemberAnswer::None { trouble, remedy }),
        1 => Just(MemberAnswer::NotAsked),
    ]
}

fn connection() -> impl Strategy<Value = Connection> {
    (session(), text(), number(), of(number()), of(number()), of(any::<u64>()), of(text())).prop_map(
        |(session, address, timeout_ms, established_ms, answered_ms, received, last_operation)| Connection {
            session,
            address,
            timeout_ms,
            established_ms,
            answered_ms,
            received,
            last_operation,
        },
    )
}

fn expiry() -> impl Strategy<Value = Expiry> {
    prop_oneof![number().prop_map(Expiry::Running), number().prop_map(Expiry::QuarterHour)]
}

fn sessions() -> impl Strategy<Value = SessionTable> {
    let tables = (btree_map(session(), expiry(), 0..6), btree_map(session(), number(), 0..6));
    let owned = (vec(session(), 0..4), btree_map(session(), vec(path(), 0..4), 0..4));
    (tables, owned).prop_map(|((expiries, timeouts_ms), (local, ephemerals))| SessionTable {
        expiries,
        timeouts_ms,
        local,
        ephemerals,
    })
}

fn watches() -> impl Strategy<Value = WatchTable> {
    btree_map(path(), vec(session(), 0..5), 0..5).prop_map(|by_path| WatchTable { by_path })
}

fn fired() -> impl Strategy<Value = Fired> {
    any::<(u64, u64)>().prop_map(|(changes, watches)| Fired { changes, watches })
}

fn health() -> impl Strategy<Value = Health> {
    let roles = vec![
        MemberRole::Leader,
        MemberRole::Follower,
        MemberRole::Observer,
        MemberRole::Standalone,
        MemberRole::ReadOnly,
    ];
    let counts = (of(any::<u64>()), of(any::<u64>()), of(any::<u64>()), of(any::<u64>()));
    (
        of(select(roles)),
        of(text()),
        of(zxid()),
        counts,
        of(number()),
        fired(),
        fired(),
        fired(),
        any::<Option<(u64, u64)>>(),
    )
        .prop_map(|(role, version, zxid, counts, tick_ms, deleted, children, changed, packets)| {
            let (watches, connections, ephemerals, outstanding) = counts;
            Health {
                role,
                version,
                zxid,
                watches,
                connections,
                ephemerals,
                outstanding,
                tick_ms,
                deleted,
                children,
                changed,
                packets,
            }
        })
}

fn report() -> impl Strategy<Value = Report> {
    let names = (prop_oneof![3 => Just("a:1".into()), 3 => Just("b:1".into()), 1 => text()], of(number()), text());
    let tables = (answer(vec(connection(), 0..6)), answer(sessions()), answer(watches()), answer(health()));
    (names, any::<bool>(), tables).prop_map(|((member, number, by), is_down, tables)| {
        let (connections, sessions, watches, health) = tables;
        Report { member, number, by, is_down, connections, sessions, watches, health }
    })
}

/// The same with numbers that a member may say: the model adds them up.
fn calm(mut report: Report) -> Report {
    let near = |ms: &mut i64| *ms = ms.rem_euclid(900_000);
    let then = |at: &mut TimeMs| *at = TimeMs(1_790_000_000_000 + at.0.rem_euclid(10_000));
    if let MemberAnswer::Ok { asked_at, value } = &mut report.connections {
        then(asked_at);
        for one in value {
            let Connection { timeout_ms, established_ms, answered_ms, received, .. } = one;
            near(timeout_ms);
            established_ms.iter_mut().chain(answered_ms).for_each(near);
            received.iter_mut().for_each(|received| *received %= 1_000);
        }
    }
    if let MemberAnswer::Ok { asked_at, value } = &mut report.sessions {
        then(asked_at);
        value.timeouts_ms.values_mut().for_each(near);
        for expiry in value.expiries.values_mut() {
            let (Expiry::Running(ms) | Expiry::QuarterHour(ms)) = expiry;
            near(ms);
        }
    }
    if let MemberAnswer::Ok { asked_at, .. } = &mut report.watches {
        then(asked_at);
    }
    if let MemberAnswer::Ok { asked_at, value } = &mut report.health {
        then(asked_at);
        *value = Health { tick_ms: Some(2_000), ..Health::default() };
    }
    report
}

fn config() -> impl Strategy<Value = LockConfig> {
    let recipes = vec![Recipe::SequentialMutex, Recipe::ReadWrite, Recipe::Queue, Recipe::Membership, Recipe::Unknown];
    let configured = (text(), of(select(recipes)), any::<Option<u32>>())
        .prop_map(|(pattern, recipe, max)| Configured { pattern: pattern.into(), recipe, max });
    let limits = (proptest::sample::subsequence(Code::ALL.to_vec(), 0..=3), any::<[u32; 6]>(), vec(text(), 0..3))
        .prop_map(|(off, numbers, held)| {
            let [herd_waiters, deep_contenders, sequence_percent, empty_locks, hoard_znodes, churn_attempts] = numbers;
            Limits {
                off,
                herd_waiters,
                deep_contenders,
                sequence_percent,
                empty_locks,
                hoard_znodes,
                churn_attempts,
                must_be_held: held.into_iter().map(Into::into).collect(),
            }
        });
    (vec(configured, 0..3), limits).prop_map(|(configured, limits)| LockConfig { configured, limits })
}

/// A part of a checkpoint: mostly of what was told to an observatory, else one with what is rare.
fn recalled() -> BoxedStrategy<Observation> {
    static OF_LIVES: LazyLock<Vec<Observation>> = LazyLock::new(|| {
        let mut runner = TestRunner::deterministic();
        let lives = (0..40).flat_map(|_| crate::recalled::of(&life().new_tree(&mut runner).unwrap().current()));
        lives.chain(crate::recalled::rare()).collect()
    });
    any::<Index>().prop_map(|at| at.get(&OF_LIVES).clone()).boxed()
}

/// What an observatory can be told: a synced root, and then anything but checkpoints.
pub(crate) fn life() -> impl Strategy<Value = Vec<(TimeMs, Observation)>> {
    let root = RootId(0);
    let began = Observation::SyncBegan { root, why: "first sync".into() };
    let start =
        [began, Observation::SyncEnded { root }, Observation::Link { link: Link::Live, session: None, why: "".into() }];
    vec((0_i64..2_000, told_live()), 1..60).prop_map(move |steps| {
        let mut now = TimeMs(1_790_000_000_000);
        let began = start.clone().into_iter().map(|one| (TimeMs(1_790_000_000_000), one));
        began
            .chain(steps.into_iter().map(|(by, one)| {
                now = now + by;
                (now, one)
            }))
            .collect()
    })
}

/// What watches and reads tell, of few znodes.
fn told_live() -> impl Strategy<Value = Observation> {
    let root = RootId(0);
    let path = (select(vec!["/locks/a", "/locks/b", "/locks"]), 0..6_u32)
        .prop_map(|(directory, at)| Box::<str>::from(format!("{directory}/lock-{at:010}")));
    let path = path.boxed();
    let facts =
        (1_i64..40, of(session()), 1_790_000_000_000_i64..1_790_000_010_000).prop_map(|(zxid, owner, ctime_ms)| {
            let (zxid, payload, payload_bytes) = (Zxid(zxid), Some((*b"me@host").into()), 7);
            let (version, cversion, children) = (0, 0, 0);
            let (czxid, mzxid, pzxid) = (zxid, zxid, zxid);
            Box::new(Facts {
                czxid,
                mzxid,
                pzxid,
                ctime_ms,
                version,
                cversion,
                children,
                owner,
                payload,
                payload_bytes,
            })
        });
    prop_oneof![
        path.clone().prop_map(move |path| Observation::NodeCreated { root, path }),
        (path.clone(), facts).prop_map(move |(path, facts)| Observation::NodeRead {
            root,
            path,
            facts,
            unreadable: false
        }),
        path.clone().prop_map(move |path| Observation::NodeDeleted { root, path }),
        path.prop_map(move |path| Observation::NodeDenied { root, path, in_sync: false }),
        vec(report().prop_map(calm), 1..3).prop_map(|reports| Observation::Evidence(Box::new(Round { reports }))),
        Just(Observation::Tick),
        (1_790_000_000_000_i64..1_790_000_050_000).prop_map(|at| Observation::Synced { sent_at: TimeMs(at) }),
    ]
}

/// One of any kind. A kind that is added to the core is added here: [`kind`] does not compile without it.
pub(crate) fn observation() -> impl Strategy<Value = Observation> {
    let links = select(vec![Link::Live, Link::Stale, Link::Lost]);
    let troubles = select(vec![RootTrouble::Gone, RootTrouble::Denied, RootTrouble::Reduced, RootTrouble::Partial]);
    let node = || (root(), path(), facts(), any::<bool>());
    let place = || (root(), path());
    prop_oneof![
        (links, of(session()), text()).prop_map(|(link, session, why)| Observation::Link { link, session, why }),
        (root(), text()).prop_map(|(root, why)| Observation::SyncBegan { root, why }),
        node().prop_map(|(root, path, facts, unreadable)| Observation::SyncNode { root, path, facts, unreadable }),
        root().prop_map(|root| Observation::SyncEnded { root }),
        (root(), text()).prop_map(|(root, why)| Observation::ComparisonBegan { root, why }),
        (place(), vec(name().prop_map(Into::into), 0..5)).prop_map(|((root, path), names)| Observation::Listed {
            root,
            path,
            names: names.into(),
        }),
        root().prop_map(|root| Observation::ComparisonEnded { root }),
        (root(), troubles, text()).prop_map(|(root, trouble, why)| Observation::RootTrouble { root, trouble, why }),
        place().prop_map(|(root, path)| Observation::NodeCreated { root, path }),
        node().prop_map(|(root, path, facts, unreadable)| Observation::NodeRead { root, path, facts, unreadable }),
        (place(), any::<bool>()).prop_map(|((root, path), in_sync)| Observation::NodeDenied { root, path, in_sync }),
        place().prop_map(|(root, path)| Observation::NodeDeleted { root, path }),
        (place(), facts()).prop_map(|((root, path), facts)| Observation::Counted { root, path, facts }),
        (place(), missing()).prop_map(|((root, path), missing)| Observation::Incomplete { root, path, missing }),
        (place(), any::<u32>()).prop_map(|((root, path), creates)| Observation::Missed { root, path, creates }),
        vec(report(), 0..3).prop_map(|reports| Observation::Evidence(Box::new(Round { reports }))),
        Just(Observation::Asked),
        Just(Observation::Answered),
        at().prop_map(|sent_at| Observation::Synced { sent_at }),
        at().prop_map(|at| Observation::EventsArrived { at }),
        (at(), at(), number()).prop_map(|(sent_at, told_at, ctime_ms)| Observation::ClockRead {
            sent_at,
            told_at,
            ctime_ms
        }),
        config().prop_map(|config| Observation::ConfigChanged(Box::new(config))),
        vec(crate::snoozes::snooze(), 0..3).prop_map(Observation::OrdersSnoozed),
        Just(Observation::Tick),
        recalled(),
        (vec(text(), 0..3), config()).prop_map(|(roots, config)| {
            let LockConfig { configured, limits } = config;
            let roots = roots.into_iter().map(String::from).collect();
            Observation::Restarted(Box::new(Settings { roots, configured, limits, ..Settings::default() }))
        }),
        (session(), any::<bool>()).prop_map(|(session, has_ended)| Observation::SessionTold { session, has_ended }),
        (session(), of(number())).prop_map(|(session, timeout_ms)| Observation::SessionTimeout { session, timeout_ms }),
    ]
}

/// How many kinds there are, and which an observation is.
pub(crate) const KINDS: usize = 28;
pub(crate) fn kind(observation: &Observation) -> usize {
    match observation {
        Observation::Link { .. } => 0,
        Observation::SyncBegan { .. } => 1,
        Observation::SyncNode { .. } => 2,
        Observation::SyncEnded { .. } => 3,
        Observation::ComparisonBegan { .. } => 4,
        Observation::Listed { .. } => 5,
        Observation::ComparisonEnded { .. } => 6,
        Observation::RootTrouble { .. } => 7,
        Observation::NodeCreated { .. } => 8,
        Observation::NodeRead { .. } => 9,
        Observation::NodeDenied { .. } => 10,
        Observation::NodeDeleted { .. } => 11,
        Observation::Counted { .. } => 12,
        Observation::Incomplete { .. } => 13,
        Observation::Missed { .. } => 14,
        Observation::Evidence(_) => 15,
        Observation::Asked => 16,
        Observation::Answered => 17,
        Observation::Synced { .. } => 18,
        Observation::EventsArrived { .. } => 19,
        Observation::ClockRead { .. } => 20,
        Observation::ConfigChanged(_) => 21,
        Observation::Tick => 22,
        Observation::Recalled(_) => 23,
        Observation::Restarted(_) => 24,
        Observation::SessionTold { .. } => 25,
        Observation::OrdersSnoozed(_) => 26,
        Observation::SessionTimeout { .. } => 27,
    }
}

/// Observations with their instants, which mostly rise.
pub(crate) fn told() -> impl Strategy<Value = Vec<(TimeMs, Observation)>> {
    let step = prop_oneof![4 => Just(0_i64), 4 => 0_i64..2_000, 1 => -5_000_i64..0, 1 => number()];
    vec((step, observation()), 1..40).prop_map(|steps| {
        let mut now = TimeMs(1_790_000_000_000);
        let with_instant = |(by, observation)| {
            now = now + by;
            (now, observation)
        };
        steps.into_iter().map(with_instant).collect()
    })
}
