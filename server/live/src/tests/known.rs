//! Up to when what is sent is known to be true: frames, pages, and viewers who are late.

use super::*;
use lockscope_view::Scope;

/// The clock of a hub, and a viewer of its board who has caught up.
fn viewed(fake: &Arc<Fake>) -> (Arc<Hub>, Clock, Subscription, Arc<Channel>, Viewer) {
    let clock = Clock::manual(5);
    let hub = Hub::new(fake.clone(), clock.clone(), Epoch(7));
    let mut subscription = hub.subscribe(board(), &Scope::ALL, None, Arc::new(Notify::new())).unwrap();
    let (channel, mut viewer) = (hub.watched().pop().unwrap(), Viewer::default());
    viewer.catch_up(&mut subscription);
    (hub, clock, subscription, channel, viewer)
}

#[test]
fn what_is_sent_says_up_to_when_it_is_known_and_what_stays_is_confirmed() {
    let fake = Fake::new();
    let (_hub, clock, mut subscription, channel, mut viewer) = viewed(&fake);
    let known = |at_ms| *fake.known.lock().unwrap() = Known { at_ms, is_live: true, is_past: false };
    clock.set_ms(900);
    known(800);
    let told = subscription.known(1).unwrap();
    assert_eq!((told.seq, told.known_at_ms), (viewer.seq, 800), "the model is still what was shown");
    fake.set(&["/a"]);
    known(850);
    assert_eq!(subscription.known(1).unwrap().known_at_ms, 800, "it may not be what was shown");
    channel.refresh(&*fake, apart(Instant::now(), 1)).unwrap();
    assert_eq!(subscription.known(1), None, "there is something newer");
    let CompactFrame::Delta { server_time_ms, known_at_ms, body, seq, .. } =
        decode(&subscription.next(1, Encoding::Binary).unwrap().unwrap())
    else {
        panic!("no delta");
    };
    assert_eq!((server_time_ms, known_at_ms), (900, 850));
    viewer.take(CompactFrame::Delta { id: 1, server_time_ms, seq, known_at_ms, body });
    assert_eq!(subscription.known(1).unwrap().known_at_ms, 850);
    clock.set_ms(2_851);
    assert_eq!(subscription.known(1), None, "it calls itself live and is not told of as that");
}

#[test]
fn whoever_wakes_after_a_stop_is_told_first_that_all_is_old() {
    let fake = Fake::new();
    let (hub, clock, mut subscription, channel, mut viewer) = viewed(&fake);
    fake.set(&["/a"]);
    channel.refresh(&*fake, apart(Instant::now(), 1)).unwrap();
    // The machine stood still: what waits to be sent was live ten seconds ago.
    clock.set_ms(10_005);
    let projections = fake.projections.load(Ordering::Relaxed);
    viewer.catch_up(&mut subscription);
    assert_eq!(fake.projections.load(Ordering::Relaxed), projections + 1, "looked again before anything was sent");
    let Some(Body::Board(board)) = &viewer.body else { panic!("{:?}", viewer.body) };
    assert_eq!(board.head.roots[0].state, RootState::Stale);
    assert_eq!(viewer.resyncs, 1, "the state between was passed over");
    let (_, page) = hub.first(BoardQuery::default(), &Scope::ALL).unwrap();
    assert!(!page.known.is_live);
}

#[test]
fn a_viewer_that_is_late_is_sent_the_newest_state_and_none_that_fades() {
    let fake = Fake::new();
    let (_hub, clock, mut subscription, channel, mut viewer) = viewed(&fake);
    for step in 0..4 {
        let now_ms = 1_000 * (step + 1);
        clock.set_ms(now_ms);
        *fake.known.lock().unwrap() = Known { at_ms: now_ms - 100, is_live: true, is_past: false };
        fake.set(&[&format!("/{step}")]);
        channel.refresh(&*fake, apart(Instant::now(), usize::try_from(step).unwrap())).unwrap();
    }
    viewer.catch_up(&mut subscription);
    assert_eq!((viewer.resyncs, viewer.body), (1, Some(fake.project(&board(), &Scope::ALL).body)));
}
