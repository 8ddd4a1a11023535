//! Lies, each planted among honest frames and each named by its own kind.

use lockscope_judge::{AGE_MAX_MS, Capture, Contender, Gone, Kind, Origin, Report, Revision, Shown, judge};

use crate::world::{LOCK, World, recount};

/// Ada holds; Bea, Cem and Dan wait.
fn world() -> World {
    let mut world = World::new();
    for (session, number) in [(11, 0), (12, 1), (13, 2), (14, 3)] {
        world.queue(session, number);
        world.wait(50);
    }
    world.wait(10_000);
    world
}

fn one(report: &Report, kind: Kind) {
    let kinds: Vec<(&Kind, &u64)> = report.wrong_by_kind.iter().collect();
    assert_eq!(kinds, [(&kind, &1)], "{:#?}", report.wrong);
    assert_eq!(report.wrong[0].kind(), kind);
}

/// A lie in a frame of the world as it is.
fn lie(kind: Kind, change: impl FnOnce(&mut Shown)) {
    let mut world = world();
    let honest = world.shown(0);
    assert!(world.judge([honest.clone()]).is_clean());
    world.wait(100);
    let mut lie = world.shown(0);
    change(&mut lie);
    let lie = recount(lie);
    one(&world.judge([honest.clone(), lie.clone()]), kind);
    // Also as the first thing a socket is shown, and between honest frames of others.
    one(&world.judge([lie.clone()]), kind);
    let mut other = world.shown(1);
    other.arrived_at_ms += 1;
    one(&world.judge([honest, lie, other]), kind);
}

#[test]
fn somebody_else_holds() {
    lie(Kind::WrongHolder, |shown| {
        let waiter = shown.waiters.remove(1);
        shown.waiters.insert(1, shown.holders[0]);
        shown.holders[0] = waiter;
    });
    lie(Kind::WrongHolder, |shown| shown.holders[0].session = Some(99));
    lie(Kind::WrongHolder, |shown| shown.holders[0].czxid = Some(99));
    lie(Kind::WrongHolder, |shown| {
        let waiter = shown.waiters.remove(0);
        shown.holders.push(waiter);
    });
}

#[test]
fn waiters_stand_in_another_order() {
    lie(Kind::SwappedWaiters, |shown| shown.waiters.swap(0, 1));
    lie(Kind::SwappedWaiters, |shown| shown.waiters.rotate_left(1));
}

#[test]
fn a_waiter_is_missing() {
    // Without the last it would be what was true before that one came, which has a name of its own.
    for at in 0..2 {
        lie(Kind::MissingWaiter, |shown| _ = shown.waiters.remove(at));
    }
}

#[test]
fn a_waiter_is_made_up() {
    lie(Kind::ExtraWaiter, |shown| shown.waiters.push(Contender { czxid: Some(9_999), session: Some(15) }));
    lie(Kind::ExtraWaiter, |shown| shown.waiters[1].session = Some(15));
    lie(Kind::ExtraWaiter, |shown| shown.waiters.push(Contender { czxid: None, session: None }));
}

#[test]
fn free_though_held() {
    lie(Kind::FreeThoughHeld, |shown| {
        shown.holders.clear();
        shown.waiters.clear();
    });
    lie(Kind::FreeThoughHeld, |shown| shown.holders.clear());
    let world = world();
    let gone =
        Gone { socket: 0, arrived_at_ms: world.now_ms + 10, lock: LOCK.into(), is_live: true, zxid: world.zxid() };
    one(&judge(&world.truth(), &[Capture::Gone(gone)], &[]), Kind::FreeThoughHeld);
}

#[test]
fn held_though_free() {
    let mut world = world();
    let held = world.shown(0);
    for (session, number) in [(14, 3), (13, 2), (12, 1), (11, 0)] {
        world.leave(session, number);
    }
    world.wait(AGE_MAX_MS + 100);
    let mut lie = world.shown(0);
    (lie.is_free, lie.holder_count, lie.waiter_count) = (false, 1, 3);
    (lie.holders, lie.waiters) = (held.holders, held.waiters);
    one(&world.judge([lie]), Kind::HeldThoughFree);
}

#[test]
fn old_and_live() {
    let mut world = world();
    let shown = world.shown(0);
    world.leave(11, 0);
    let mut late = shown;
    late.arrived_at_ms = world.now_ms + AGE_MAX_MS - 1;
    assert!(world.judge([late.clone()]).is_clean());
    late.arrived_at_ms = world.now_ms + AGE_MAX_MS + 100;
    one(&world.judge([late]), Kind::OldAndLive);
}

#[test]
fn a_state_that_grows_old_on_the_screen() {
    let mut world = world();
    let shown = world.shown(0);
    let arrived_at_ms = world.now_ms + AGE_MAX_MS + 500;
    let beat = Capture::Heartbeat { socket: 0, arrived_at_ms };
    let captures = [Capture::Shown(shown), beat];
    // It is still so.
    assert!(judge(&world.truth(), &captures, &[]).is_clean());
    // Then it is not.
    world.wait(20);
    world.leave(11, 0);
    let report = judge(&world.truth(), &captures, &[]);
    one(&report, Kind::OldAndLive);
    assert_eq!(report.worst.age_ms, AGE_MAX_MS + 480);
    // The client said in time that it does not know.
    let not_live = Capture::NotLive { socket: 0, arrived_at_ms: arrived_at_ms - 1_000, lock: None };
    let [shown, beat] = captures;
    let report = judge(&world.truth(), &[shown, not_live, beat], &[]);
    assert!(report.is_clean());
    assert_eq!(report.worst.age_ms, AGE_MAX_MS - 520);
}

#[test]
fn a_claim_newer_than_the_state() {
    let mut world = world();
    let before = world.shown(0);
    world.wait(100);
    world.leave(11, 0);
    world.wait(100);
    let mut lie = world.shown(0);
    (lie.holders, lie.waiters) = (before.holders, before.waiters);
    let lie = recount(lie);
    one(&world.judge([lie.clone()]), Kind::OlderThanClaimed);
    // The instant alone tells as much.
    one(&world.judge([Shown { zxid: 0, ..lie.clone() }]), Kind::OlderThanClaimed);
    // One that claims neither is a little late, and no lie.
    assert!(world.judge([Shown { zxid: 0, true_at_ms: 0, ..lie }]).is_clean());
}

#[test]
fn back_in_time() {
    let mut world = world();
    let before = world.shown(0);
    world.wait(100);
    world.leave(11, 0);
    let after = world.shown(0);
    let mut again = before.clone();
    again.arrived_at_ms = after.arrived_at_ms + 10;
    assert!(world.judge([before.clone(), after.clone()]).is_clean());
    one(&world.judge([before.clone(), after.clone(), again.clone()]), Kind::TimeTravel);
    // Another socket may be a little behind.
    again.socket = 1;
    assert!(world.judge([before, after, again]).is_clean());
}

#[test]
fn before_it_happened() {
    let mut world = world();
    let at = world.now_ms;
    world.wait(100);
    world.leave(11, 0);
    let mut early = world.shown(0);
    (early.arrived_at_ms, early.zxid, early.true_at_ms) = (at, 0, 0);
    one(&world.judge([early]), Kind::FromTheFuture);
}

#[test]
fn a_snapshot_that_is_not_what_deltas_made() {
    let world = world();
    let revision = |socket, seq, digest, origin| {
        Capture::Revision(Revision {
            socket,
            arrived_at_ms: world.now_ms,
            view: "lock".into(),
            epoch: "0x1".into(),
            seq,
            origin,
            digest,
        })
    };
    let deltas = [revision(0, 7, 1, Origin::Snapshot), revision(0, 8, 2, Origin::Deltas)];
    let judged = |second: Capture| {
        let mut captures = deltas.to_vec();
        captures.push(second);
        judge(&world.truth(), &captures, &[])
    };
    let same = judged(revision(1, 8, 2, Origin::Snapshot));
    assert!(same.is_clean() && same.counts.revisions == 1);
    one(&judged(revision(1, 8, 3, Origin::Snapshot)), Kind::SnapshotDiffers);
    assert_eq!(judged(revision(1, 9, 3, Origin::Snapshot)).counts.revisions, 0);
}

/// What claims nothing can't be wrong.
#[test]
fn not_live_is_never_a_lie() {
    let world = world();
    let mut shown = world.shown(0);
    shown.is_live = false;
    shown.holders.clear();
    let report = world.judge([recount(shown)]);
    assert!(report.is_clean());
    assert_eq!((report.counts.states, report.counts.live), (1, 0));
}

/// Who says that some are missing may miss some, and nothing else.
#[test]
fn incomplete_may_lack_contenders_only() {
    let world = world();
    let incomplete = |change: &dyn Fn(&mut Shown)| {
        let mut shown = world.shown(0);
        shown.is_complete = false;
        change(&mut shown);
        let is_free = shown.is_free;
        let mut shown = recount(shown);
        shown.is_free = is_free;
        world.judge([shown])
    };
    assert!(incomplete(&|_| {}).is_clean());
    assert!(incomplete(&|shown| _ = shown.waiters.remove(1)).is_clean());
    assert!(incomplete(&|shown| shown.waiters.clear()).is_clean());
    assert!(incomplete(&|shown| shown.holders.clear()).is_clean());
    let without_its_holder = incomplete(&|shown| shown.holders[0] = shown.waiters.remove(0));
    assert!(without_its_holder.is_clean());
    assert_eq!(without_its_holder.counts.unproved_holders, 1);
    one(&incomplete(&|shown| shown.is_free = true), Kind::FreeThoughHeld);
    one(
        &incomplete(&|shown| (shown.is_free, shown.holders, shown.waiters) = (true, Vec::new(), Vec::new())),
        Kind::FreeThoughHeld,
    );
    one(&incomplete(&|shown| shown.waiters.swap(0, 1)), Kind::SwappedWaiters);
    one(&incomplete(&|shown| shown.waiters[0].czxid = Some(9_999)), Kind::ExtraWaiter);
    one(&incomplete(&|shown| shown.holders[0].czxid = Some(9_999)), Kind::WrongHolder);
}

/// A row of the board has the first holders and numbers.
#[test]
fn rows_that_are_cut_short() {
    let world = world();
    let mut row = world.shown(0);
    row.waiters.clear();
    let report = world.judge([row.clone()]);
    assert!(report.is_clean());
    assert_eq!(report.counts.cut_short, 1);
    one(&world.judge([Shown { waiter_count: 2, ..row.clone() }]), Kind::MissingWaiter);
    one(&world.judge([Shown { waiter_count: 4, ..row.clone() }]), Kind::ExtraWaiter);
    let mut window = world.shown(0);
    window.waiters.truncate(2);
    assert!(world.judge([window.clone()]).is_clean());
    window.waiters.swap(0, 1);
    one(&world.judge([window]), Kind::SwappedWaiters);
}

/// A contender that was heard of and not read yet fits any, but counts.
#[test]
fn contenders_before_they_are_read() {
    let world = world();
    let mut shown = world.shown(0);
    shown.waiters[2] = Contender { czxid: None, session: None };
    let report = world.judge([shown.clone()]);
    assert!(report.is_clean());
    assert_eq!(report.counts.unread, 1);
    shown.waiters.swap(0, 1);
    one(&world.judge([shown]), Kind::SwappedWaiters);
}
