//! Parts of checkpoints: those of observatories that were told whatever may be told, and made up ones of what is rare.

use std::collections::{BTreeMap, BTreeSet};

use lockscope_core::change::Change;
use lockscope_core::change::{Event, EventRecord};
use lockscope_core::deadlock::{Cycle, CycleStep};
use lockscope_core::departure::Departure;
use lockscope_core::diagnosis::{Code, Verdict};
use lockscope_core::evidence::{
    Disagreement, DisputeSuspect, Disputed, Member, SessionRecord, Silence, Silences, Source, Trouble,
};
use lockscope_core::history::EndingSession;
use lockscope_core::lock_order::{
    Approach, LockOrders, Nesting, OrderCircle, OrderEdge, OrderEnd, OrderKey, OrderSnooze, OrderUse, OrderWindow,
    PathClasses, Siblings,
};
use lockscope_core::mirror::Read;
use lockscope_core::missing::MissingSet;
use lockscope_core::observation::{Link, Observation, Recollection};
use lockscope_core::observatory::Observatory;
use lockscope_core::recipe::{RuleId, rule_of};
use lockscope_core::recollection::{
    ChildRecollection, ChildrenRecollection, DirectoryRecollection, MembersState, ModelRecollection, ModelState, Tree,
};
use lockscope_core::root::RootId;
use lockscope_core::root::RootState;
use lockscope_core::settings::Settings;
use lockscope_core::time::TimeMs;
use lockscope_core::wait_graph::{SearchState, SearchVertex, Vertex};
use lockscope_core::znode::{SessionId, Zxid};

const AT: TimeMs = TimeMs(1_790_000_000_123);
const S: SessionId = SessionId(77);

/// All parts of the checkpoint of an observatory that was told this.
pub(crate) fn of(told: &[(TimeMs, Observation)]) -> Vec<Observation> {
    let settings = Settings { roots: vec!["/locks".into()], ..Settings::default() };
    let mut observatory = Observatory::new(settings, AT);
    let mut latest = AT;
    for (now, observation) in told {
        latest = latest.max(*now).min(TimeMs(1_800_000_000_000));
        observatory.apply(latest, observation.clone());
    }
    observatory.checkpoint().unwrap().observations().collect()
}

fn changes() -> Vec<Change> {
    let (lock, node) = (|| "/locks/a".into(), || "lock-0000000001".into());
    let (czxid, owner) = (Zxid(5), Some(S));
    vec![
        Change::LinkChanged(Link::Stale),
        Change::RootChanged(RootId(2)),
        Change::LockAppeared { lock: lock() },
        Change::LockVanished { lock: lock() },
        Change::Arrived { lock: lock(), node: node() },
        Change::Identified { lock: lock(), czxid, owner },
        Change::Left { lock: lock(), node: node(), czxid: Some(czxid), owner: None, how: Departure::SessionEnded },
        Change::HolderChanged { lock: lock(), node: Some(node()) },
        Change::SessionEnded { session: S, znodes: 3 },
        Change::EvidenceChanged,
        Change::DeadlockChanged { locks: vec![lock(), "/locks/b".into()], is_closed: true },
        Change::FindingChanged { lock: lock(), code: Code::Herd, is_raised: false },
        Change::FindingChanged { lock: lock(), code: Code::WillBeReaped, is_raised: true },
        Change::FindingChanged { lock: lock(), code: Code::LongTimeout, is_raised: true },
        Change::FindingChanged { lock: lock(), code: Code::ShortTimeout, is_raised: true },
        Change::VerdictChanged { lock: lock(), verdict: Verdict::NobodyHome },
        Change::LockTouched { lock: lock() },
    ]
}

fn session() -> SessionRecord {
    let silences = Silences {
        since: Some(AT - 90_000_000),
        turned_at: AT - 3_600_000,
        answered_ms: Some(86_400_123),
        present: Silence { at_least_ms: 3_310, at_most_ms: 9_600 },
        before: Silence { at_least_ms: 0, at_most_ms: u32::MAX },
    };
    SessionRecord { timeout_ms: Some(10_000), heard_at: Some(AT), silences, ..SessionRecord::default() }
}

fn children() -> Vec<ChildRecollection> {
    let read = |version, payload_bytes| {
        Read::of(Zxid(9), Some(S), AT.0 - 5, (*b"me").into(), payload_bytes, version > 0, version)
    };
    let child = |name: &str, read: Option<Read>, rule: Option<RuleId>| ChildRecollection {
        name: name.into(),
        is_denied: read.is_none(),
        read,
        arrived_at: AT,
        rule,
    };
    let usual = rule_of("lock-0000000001", Some(true));
    assert!(usual.is_some());
    vec![
        child("lock-0000000001", Some(read(0, 2)), usual),
        child("lock-0000000002", Some(read(3, 700)), None),
        child("lock-0000000003", None, Some(RuleId { family: 1, rule: 1 })),
        child("6f1e2d3c00004a4a8b8b0123456789ab__lock__0000000003", Some(read(0, 5)), usual),
        child("x/y", None, rule_of("x/y", None)),
    ]
}

fn model() -> ModelRecollection {
    let step = |from, to| CycleStep {
        from: SessionId(from),
        to: SessionId(to),
        lock: "/locks/a".into(),
        waiter: "w".into(),
        holder: "h".into(),
        held_since: AT,
    };
    let cycle = Cycle {
        steps: vec![step(1, 2), step(2, 1)],
        since: AT,
        victim: 1,
        is_doubtful: true,
        still_since: AT + 5,
        is_certain: false,
    };
    let vertex = |vertex| SearchVertex { vertex, edges: vec![1, 2], order: 3, low: 2, is_open: true, component: 1 };
    let search = SearchState {
        starts: vec![S],
        vertices: vec![vertex(Vertex::Session(S)), vertex(Vertex::Lock("/locks/a".into()))],
        way: vec![(1, 2)],
        open: vec![1],
        found: 2,
        components: vec![vec![1], vec![]],
        is_sorted: true,
        circles_at: (1, 2, 3),
        circles_found: 4,
        covered: BTreeSet::from([(1, 2, 3)]),
    };
    let Some(Observation::Recalled(last)) = of(&[]).pop() else { panic!("no model") };
    let Recollection::Model(model) = *last else { panic!("no model") };
    let state = ModelState {
        cycles: vec![cycle],
        search: Some(Box::new(search.into())),
        suspects: BTreeSet::from([S]),
        reaped: BTreeMap::from([("/locks/z".into(), 3)]),
        ending_sessions: BTreeMap::from([(S, EndingSession { since: AT, znodes: 2, ran_out: true })]),
        unlisted: BTreeSet::from([S]),
        tables: vec![None, Some(AT)],
        ..model.state
    };
    ModelRecollection { state, root_states: vec![None, Some(RootState::Partial)], ..*model }
}

/// Opposite orders of two classes and within one, as they are once something ended and something is under way.
fn orders() -> LockOrders {
    let key = |held: &str, wanted: &str, nesting| OrderKey {
        held: held.into(),
        wanted: wanted.into(),
        nesting,
        is_held_shared: nesting == Nesting::Apart,
        is_wanted_shared: false,
    };
    let edge = |held: &str, wanted: &str, closest| OrderEdge {
        count: 3,
        last: OrderUse { at: AT, session: S, label: Some("worker-1".into()), held: held.into(), wanted: wanted.into() },
        sessions: BTreeSet::from([S, SessionId(78)]),
        gates: BTreeSet::from(["/locks/gate".into()]),
        is_single_threaded: closest,
        ends: vec![OrderEnd { session: S, at: AT + 9, held: held.into(), wanted: wanted.into() }],
        closest: closest.then_some(Approach { ms: 180, at: AT + 200, session: S, other: SessionId(78) }),
    };
    let (apart, forward) =
        (key("/locks/a", "/locks/b", Nesting::Apart), key("/locks/*", "/locks/*", Nesting::ForwardAsText));
    let window = OrderWindow {
        key: apart.clone(),
        held: "/locks/a".into(),
        wanted: "/locks/b".into(),
        holder: Zxid(5),
        asker: Zxid(6),
    };
    LockOrders {
        classes: PathClasses {
            places: BTreeMap::from([
                ("".into(), Siblings { names: BTreeSet::from(["locks".into()]), are_many: false }),
                ("/locks".into(), Siblings { names: BTreeSet::new(), are_many: true }),
            ]),
            entries: 3,
        },
        edges: BTreeMap::from([
            (apart.clone(), edge("/locks/a", "/locks/b", true)),
            (forward.clone(), edge("/locks/10", "/locks/9", false)),
        ]),
        windows: BTreeMap::from([(S, vec![window])]),
        circles: vec![OrderCircle {
            orders: vec![apart, forward],
            since: AT,
            locks: BTreeSet::from(["/locks/a".into()]),
        }],
        snoozes: Vec::new(),
        swept_at: AT,
    }
}

fn snoozes() -> Vec<OrderSnooze> {
    let snooze = |id, until| OrderSnooze {
        id,
        classes: vec!["/locks/a".into(), "/locks/b".into()],
        by: "ada".into(),
        reason: "known, mended in May".into(),
        at: AT,
        until,
    };
    vec![snooze(1, None), snooze(7, Some(AT + 3_600_000))]
}

/// What few lives have.
pub(crate) fn rare() -> Vec<Observation> {
    let record = |(number, what)| EventRecord { number, at: AT + 3, what };
    let events = changes().into_iter().map(Event::Changed).chain([Event::Root(RootId(1), RootState::Reduced)]);
    let directory = DirectoryRecollection {
        root: RootId(0),
        tree: Tree::Side,
        path: "/locks/a".into(),
        number: 7,
        stat: None,
        told_missing: MissingSet::NONE,
        rules: vec![RuleId { family: 7, rule: 0 }],
        children: children(),
    };
    let more =
        ChildrenRecollection { root: RootId(0), tree: Tree::Believed, path: "/locks/a".into(), children: children() };
    let member = Member {
        connections: Source::Ok { asked_at: AT },
        watches: Source::None { trouble: Trouble::Spared, remedy: "ask later".into() },
        ..Member::default()
    };
    let disagreement = Disagreement {
        suspects: BTreeMap::from([(
            "/locks/a/x".into(),
            DisputeSuspect { session: S, on: vec!["a:1".into()], newest: Some(Zxid(4)) },
        )]),
        disputed: BTreeMap::from([(
            "/locks/a/x".into(),
            Disputed { session: S, on: vec!["a:1".into()], late: vec!["b:1".into()] },
        )]),
    };
    let members = MembersState {
        members: BTreeMap::from([("a:1".into(), member)]),
        disagreement,
        rounds: 3,
        complete_at: Some(AT),
        is_fresh: true,
        vouched_at: None,
    };
    let parts = [
        Recollection::EventRecords((1..).zip(events).map(record).collect()),
        Recollection::Directory(directory),
        Recollection::Children(more),
        Recollection::Members(members),
        Recollection::Sessions(vec![(S, session())]),
        Recollection::LockOrders(Box::new(orders())),
        Recollection::OrderSnoozes(snoozes()),
        Recollection::Model(Box::new(model())),
    ];
    parts.into_iter().map(|part| Observation::Recalled(Box::new(part))).collect()
}
