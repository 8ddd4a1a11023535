//! The hub over a model that is a list of rows: numbering, conflation, resuming, sharing.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use lockscope_view::{CompactFrame, RootState, Scope, decode_frame};
use proptest::prelude::*;
use tokio::sync::Notify;

use super::budget::Budget;
use super::channel::{Channel, Next};
use super::pace::LOOK_APART_MAX;
use super::*;
use lockscope_runtime::clock::Clock;

mod fake;
mod known;

use fake::Fake;

fn board() -> View {
    View::Board(BoardQuery::default())
}

fn hub(fake: &Arc<Fake>) -> Arc<Hub> {
    Hub::new(fake.clone(), Clock::manual(5), Epoch(7))
}

fn channel_of(fake: &Arc<Fake>, start: Instant) -> Channel {
    Channel::new((board(), Scope::ALL), 1, &**fake, start, (Clock::manual(5), &Budget::default())).unwrap()
}

fn decode(bytes: &[u8]) -> CompactFrame {
    decode_frame(bytes).unwrap()
}

/// A browser: what it has, by the shared reducer.
#[derive(Default)]
struct Viewer {
    seq: u64,
    body: Option<Body>,
    resyncs: usize,
}

impl Viewer {
    fn take(&mut self, frame: CompactFrame) {
        match frame {
            CompactFrame::Snapshot { seq, body, .. } => {
                self.seq = seq;
                self.body = Some(*body);
            }
            CompactFrame::Delta { seq, body, .. } => {
                assert_eq!(seq, self.seq + 1);
                self.seq = seq;
                assert!(self.body.as_mut().unwrap().apply_patch(body));
            }
            CompactFrame::Resync { .. } => self.resyncs += 1,
            other => panic!("unexpected {other:?}"),
        }
    }

    fn catch_up(&mut self, subscription: &mut Subscription) {
        while let Some(bytes) = subscription.next(1, Encoding::Binary).unwrap() {
            self.take(decode(&bytes));
        }
    }
}

/// Instants far enough apart that no look is too recent.
fn apart(start: Instant, step: usize) -> Instant {
    start + LOOK_APART_MAX * u32::try_from(step + 2).unwrap()
}

proptest! {
    /// `apply(snapshot n, delta n + 1) = snapshot n + 1`, whenever the viewer looks and however far it falls behind.
    #[test]
    fn a_viewer_always_has_the_newest_state_after_catching_up(
        history in prop::collection::vec((prop::collection::vec("[a-c]{1,2}", 0..4), any::<bool>()), 1..200),
    ) {
        let fake = Fake::new();
        let hub = hub(&fake);
        let start = Instant::now();
        let mut subscription = hub.subscribe(board(), &Scope::ALL, None, Arc::new(Notify::new())).unwrap();
        let channel = hub.watched().pop().unwrap();
        let mut viewer = Viewer::default();
        viewer.catch_up(&mut subscription);
        for (step, (names, looks)) in history.iter().enumerate() {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            fake.set(&names);
            channel.refresh(&*fake, apart(start, step)).unwrap();
            if *looks {
                viewer.catch_up(&mut subscription);
                prop_assert_eq!(viewer.body.clone(), Some(fake.project(&board(), &Scope::ALL).body));
            }
        }
        viewer.catch_up(&mut subscription);
        prop_assert_eq!(viewer.body, Some(fake.project(&board(), &Scope::ALL).body));
        prop_assert_eq!(viewer.seq, channel.seq());
    }
}

#[test]
fn a_viewer_that_fell_behind_is_told_and_gets_the_whole() {
    let fake = Fake::new();
    let hub = hub(&fake);
    let start = Instant::now();
    let mut subscription = hub.subscribe(board(), &Scope::ALL, None, Arc::new(Notify::new())).unwrap();
    let mut viewer = Viewer::default();
    viewer.catch_up(&mut subscription);
    let channel = hub.watched().pop().unwrap();
    for step in 0..=RING_DELTAS_MAX {
        fake.set(&[&format!("/{step}")]);
        channel.refresh(&*fake, apart(start, step)).unwrap();
    }
    assert!(matches!(
        decode(&subscription.next(3, Encoding::Binary).unwrap().unwrap()),
        CompactFrame::Resync { id: 3, .. }
    ));
    viewer.catch_up(&mut subscription);
    assert_eq!(viewer.body, Some(fake.project(&board(), &Scope::ALL).body));
    assert!(subscription.next(3, Encoding::Binary).unwrap().is_none());
}

#[test]
fn the_ring_is_bounded_in_bytes_and_keeps_the_newest() {
    let fake = Fake::new();
    let start = Instant::now();
    let channel = channel_of(&fake, start);
    let long = "x".repeat(RING_BYTES_MAX / 4);
    for step in 0..8 {
        fake.set(&[&format!("/{step}{long}")]);
        channel.refresh(&*fake, apart(start, step)).unwrap();
    }
    assert!(matches!(channel.next(Some(8), Encoding::Binary).unwrap(), Next::Delta { seq: 9, .. }));
    assert!(matches!(channel.next(Some(6), Encoding::Binary).unwrap(), Next::Delta { seq: 7, .. }));
    assert!(matches!(channel.next(Some(5), Encoding::Binary).unwrap(), Next::Lost));
}

#[test]
fn resuming_sends_only_what_came_after_and_another_epoch_gets_the_whole() {
    let fake = Fake::new();
    let hub = hub(&fake);
    let (seq, ProjectedView { body: first, .. }) = hub.first(BoardQuery::default(), &Scope::ALL).unwrap();
    let channel = hub
        .subscribe(board(), &Scope::ALL, None, Arc::new(Notify::new()))
        .map(|keep| (hub.watched().pop().unwrap(), keep))
        .unwrap();
    fake.set(&["/a"]);
    channel.0.refresh(&*fake, apart(Instant::now(), 1)).unwrap();

    let mut viewer = Viewer { seq, body: Some(Body::Board(first)), resyncs: 0 };
    let mut resumed = hub.subscribe(board(), &Scope::ALL, Some((Epoch(7), seq)), Arc::new(Notify::new())).unwrap();
    viewer.catch_up(&mut resumed);
    assert_eq!((viewer.seq, viewer.resyncs, viewer.body), (seq + 1, 0, Some(fake.project(&board(), &Scope::ALL).body)));

    for (epoch, seq) in [(Epoch(8), seq), (Epoch(7), 99), (Epoch(7), 0), (Epoch(7), u64::MAX)] {
        let mut stranger = hub.subscribe(board(), &Scope::ALL, Some((epoch, seq)), Arc::new(Notify::new())).unwrap();
        let mut viewer = Viewer::default();
        viewer.catch_up(&mut stranger);
        assert_eq!((viewer.resyncs, viewer.body), (1, Some(fake.project(&board(), &Scope::ALL).body)));
    }
}

#[test]
fn all_who_share_a_view_share_its_projections_and_encodings() {
    let fake = Fake::new();
    let start = Instant::now();
    let channel = channel_of(&fake, start);
    for encoding in Encoding::ALL {
        assert!(matches!(channel.next(None, encoding).unwrap(), Next::Snapshot { seq: 1, .. }));
    }
    fake.set(&["/a"]);
    channel.refresh(&*fake, apart(start, 1)).unwrap();
    for encoding in Encoding::ALL {
        let tail_of = |seen| match channel.next(seen, encoding).unwrap() {
            Next::Delta { tail, .. } | Next::Snapshot { tail, .. } => tail.as_ptr(),
            other => panic!("unexpected {other:?}"),
        };
        assert_eq!(tail_of(Some(1)), tail_of(Some(1)));
        assert_eq!(tail_of(None), tail_of(None));
    }
    assert_eq!(fake.projections.load(Ordering::Relaxed), 2);
}

#[test]
fn a_difference_is_made_in_json_only_while_somebody_wants_that() {
    let fake = Fake::new();
    let start = Instant::now();
    let channel = channel_of(&fake, start);
    fake.set(&["/a"]);
    channel.refresh(&*fake, apart(start, 1)).unwrap();
    assert!(matches!(channel.next(Some(1), Encoding::Binary).unwrap(), Next::Delta { seq: 2, .. }));
    assert!(matches!(channel.next(Some(1), Encoding::Json).unwrap(), Next::Lost), "nobody wanted it");
    assert!(matches!(channel.next(None, Encoding::Json).unwrap(), Next::Snapshot { seq: 2, .. }));
    for step in 2..RING_DELTAS_MAX * 2 {
        fake.set(&[&format!("/{step}")]);
        channel.refresh(&*fake, apart(start, step)).unwrap();
        assert!(matches!(channel.next(Some(channel.seq() - 1), Encoding::Json).unwrap(), Next::Delta { .. }), "{step}");
    }
}

#[test]
fn a_view_is_not_looked_at_too_often_nor_without_need() {
    let fake = Fake::new();
    let start = Instant::now();
    let channel = channel_of(&fake, start);
    let (mut looks, now) = (1, start + LOOK_APART_MAX);
    let due = loop {
        fake.set(&[&format!("/{looks}")]);
        match channel.refresh(&*fake, now).unwrap() {
            None => looks += 1,
            Some(due) => break due,
        }
        assert!(looks < 60, "it never has to wait");
    };
    assert!(due > now);
    assert_eq!(fake.projections.load(Ordering::Relaxed), looks, "too fresh, but must be looked at again");
    assert_eq!(channel.refresh(&*fake, due).unwrap(), None);
    assert_eq!(channel.refresh(&*fake, due + LOOK_APART_MAX * 3).unwrap(), None, "it is as it was");
    assert_eq!(fake.projections.load(Ordering::Relaxed), looks + 1);
}

#[test]
fn a_view_that_comes_back_after_it_was_forgotten_never_continues_an_old_number() {
    let fake = Fake::new();
    let hub = hub(&fake);
    let (seq, _) = hub.first(BoardQuery::default(), &Scope::ALL).unwrap();
    hub.forget_idle(Instant::now() + Duration::from_millis(IDLE_MS * 2));
    assert_eq!(hub.sizes(), Sizes { watched: 0, idle: 0 });
    fake.set(&["/a"]);
    let mut subscription = hub.subscribe(board(), &Scope::ALL, Some((Epoch(7), seq)), Arc::new(Notify::new())).unwrap();
    let mut viewer = Viewer::default();
    viewer.catch_up(&mut subscription);
    assert_eq!((viewer.resyncs, viewer.body), (1, Some(fake.project(&board(), &Scope::ALL).body)));
}

#[test]
fn views_are_bounded_watched_ones_stay_and_unused_ones_go_first() {
    let fake = Fake::new();
    let hub = hub(&fake);
    let query = |at: usize| LockQuery { path: format!("/{at}"), ..LockQuery::default() };
    let view = |at: usize| View::Lock(query(at));
    let _held: Vec<_> = (0..CHANNELS_MAX)
        .map(|at| hub.subscribe(view(at), &Scope::ALL, None, Arc::new(Notify::new())).unwrap())
        .collect();
    assert_eq!(hub.first(query(CHANNELS_MAX), &Scope::ALL).unwrap_err(), FeedError::TooManyViews);
    drop(_held);
    assert!(hub.first(query(CHANNELS_MAX), &Scope::ALL).is_ok());
    assert!(hub.sizes().idle <= IDLE_CHANNELS_MAX + 1);
}

#[test]
fn where_there_is_little_room_nothing_is_kept_and_who_has_much_gets_no_more() {
    let fake = Fake::new();
    let long = |step: usize| format!("/{step}{}", "x".repeat(1_000));
    fake.set(&[&long(0)]);
    let hub = Hub::with_budget(fake.clone(), Clock::manual(5), Epoch(7), Budget::new(5_000, 3_000, 9_000));
    let query = |at: usize| BoardQuery { q: at.to_string(), ..BoardQuery::default() };
    let view = |at: usize| View::Board(query(at));
    let join =
        |who: &str, at| hub.subscribe_for(&Owner::new(who), view(at), &Scope::ALL, None, Arc::new(Notify::new()));
    let greedy: Vec<_> = (0..5).map(|at| join("greedy", at).unwrap()).collect();
    assert_eq!(join("greedy", 5).map(drop).unwrap_err(), FeedError::ViewsTooLarge);
    assert_eq!(hub.first(query(6), &Scope::ALL).map(drop).unwrap_err(), FeedError::TooManyViews);
    assert!(hub.first(query(0), &Scope::ALL).is_ok(), "one that is open costs nothing");
    let good = join("good", 7).unwrap();
    let channel = hub.watched().pop().unwrap();
    for step in 1..4 {
        fake.set(&[&long(step)]);
        channel.refresh(&*fake, apart(Instant::now(), step)).unwrap();
    }
    let seq = channel.seq();
    assert!(
        matches!(channel.next(Some(seq - 1), Encoding::Binary).unwrap(), Next::Delta { .. }),
        "the newest step is always there"
    );
    assert!(matches!(channel.next(Some(seq - 2), Encoding::Binary).unwrap(), Next::Lost), "and nothing before it");
    let others: Vec<_> = (10..20).map(|at| join(&at.to_string(), at)).collect();
    assert!(others.iter().any(Result::is_err) && hub.bytes() < 12_000, "{}", hub.bytes());
    drop((greedy, good, others, channel));
    hub.forget_idle(Instant::now() + Duration::from_millis(IDLE_MS * 2));
    assert_eq!(hub.bytes(), 0, "what is forgotten is given back");
}

#[test]
fn views_that_can_not_be_have_a_sentence() {
    let refused = normalise(View::Lock(LockQuery { path: "order".to_owned(), ..LockQuery::default() })).unwrap_err();
    assert_eq!(refused.to_string(), "`order` is not the absolute path of a lock; write it like /order");
    let refused = normalise(View::Board(BoardQuery { q: "x".repeat(513), ..BoardQuery::default() })).unwrap_err();
    assert_eq!(refused.to_string(), "`q` has 513 characters; use at most 512");
}

#[tokio::test]
async fn the_pump_brings_every_change_to_a_waiting_viewer() {
    let (stopper, stop) = lockscope_runtime::shutdown::token();
    let fake = Fake::new();
    let hub = hub(&fake);
    let pump = pump::start(hub.clone(), stop);
    let waker = Arc::new(Notify::new());
    let mut subscription = hub.subscribe(board(), &Scope::ALL, None, waker.clone()).unwrap();
    let mut viewer = Viewer::default();
    viewer.catch_up(&mut subscription);
    for step in 0..5 {
        fake.set(&[&format!("/{step}")]);
        let wanted = Some(fake.project(&board(), &Scope::ALL).body);
        tokio::time::timeout(Duration::from_secs(60), async {
            while viewer.body != wanted {
                waker.notified().await;
                viewer.catch_up(&mut subscription);
            }
        })
        .await
        .unwrap();
    }
    drop(stopper);
    pump.await.unwrap();
}

#[test]
fn people_of_equal_sight_share_a_view_and_others_do_not() {
    let fake = Fake::new();
    let hub = hub(&fake);
    let scope = |paths: &[&str], payloads| {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        Scope::new(lockscope_view::Within::new(&[], &paths), payloads)
    };
    let see = |view, scope: Scope| hub.subscribe(view, &scope, None, Arc::new(Notify::new())).unwrap();
    let join = |scope| see(board(), scope);
    let _same = [join(scope(&["/a", "/b"], true)), join(scope(&["/b", "/a", "/a/c"], true))];
    assert_eq!(hub.sizes().watched, 1);
    let _others =
        [join(scope(&["/a"], true)), join(scope(&["/a", "/b"], false)), join(Scope::ALL), join(scope(&["/"], true))];
    assert_eq!(hub.sizes().watched, 4);
    // What the audit log has is on a lock's page alone.
    let _auditor = join(scope(&["/a"], true).with_records(true));
    assert_eq!(hub.sizes().watched, 4);
    let lock = || View::Lock(LockQuery { path: "/a".to_owned(), ..LockQuery::default() });
    let _both = [true, false].map(|records| see(lock(), scope(&["/a"], true).with_records(records)));
    assert_eq!(hub.sizes().watched, 6);
}
