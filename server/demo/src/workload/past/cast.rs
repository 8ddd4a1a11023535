//! Who contends in the hour, and what happens in it: data only. The scenes are those of the demo; its troubles come one by
//! one, so that each can be found.

use std::ops::Range;

use super::super::names::Style;
use super::super::scenes::{self, Play, Scene};

/// A minute and a second of the hour.
const fn at(minute: i64, second: i64) -> i64 {
    (minute * 60 + second) * 1_000
}

/// How long it is.
pub(super) const HOUR_MS: i64 = at(60, 0);
/// The sample's pauses are so much longer: most of the hour is quiet.
const PAUSES: u32 = 10;
/// Who leads does so for minutes.
const LEADS: u32 = 12;
/// Who joins the queue behind the one that hangs, and when.
const QUEUE: usize = 8;
const QUEUE_EVERY_MS: i64 = 35_000;
/// Who comes all at once, and how much longer than usual they hold: so long that it is seen who watches.
const BURST: usize = 40;
const BURST_HOLDS: u32 = 3;

/// When trouble begins.
const DUPLICATE_AT: i64 = at(9, 0);
const DEADLOCK_AT: i64 = at(14, 30);
const HANG_AT: i64 = at(36, 0);
const BURST_AT: i64 = at(48, 0);
const MIXED: Range<i64> = at(53, 0)..at(56, 0);

/// What happens once, whoever plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Happening {
    /// Somebody releases the lock of the circle that is cheapest to break, through Lockscope.
    Release(&'static str),
    /// The host of whoever holds a lock dies: its session runs out later.
    HostDies(&'static str),
    /// Lockscope is not running.
    Stop,
    /// It is started again.
    Start,
}

/// When. The one that hangs does so for six minutes, until its host is taken off the net.
pub(super) const HAPPENINGS: [(i64, Happening); 5] = [
    (at(16, 40), Happening::Release("/transfer/b")),
    (at(24, 31), Happening::HostDies("/election/scheduler")),
    (at(30, 0), Happening::Stop),
    (at(30, 40), Happening::Start),
    (at(42, 12), Happening::HostDies("/shipping/labels")),
];

/// A contender, and when it is there.
#[derive(Clone, Debug)]
pub(super) struct Role {
    pub(super) scene: Scene,
    /// From the first instant on it comes within two seconds; after the last it begins nothing new.
    pub(super) window_ms: Range<i64>,
    /// It plays one round and goes.
    pub(super) is_once: bool,
    /// Of the two that may wait for each other, the second takes the other lock first.
    pub(super) is_crossed: bool,
}

/// Every contender.
pub(super) fn all() -> Vec<Role> {
    let scenes = scenes::all();
    let usual = scenes.iter().flat_map(roles);
    usual.chain(queue(&scenes)).chain(burst(&scenes)).collect()
}

/// What a contender of the demo does in the hour.
fn roles(scene: &Scene) -> Vec<Role> {
    let mut scene = scene.clone();
    scene.pause_ms = times(&scene.pause_ms, PAUSES);
    let always = Role { scene, window_ms: 0..HOUR_MS, is_once: false, is_crossed: false };
    let once = |from_ms: i64| Role { window_ms: from_ms..HOUR_MS, is_once: true, ..always.clone() };
    match always.scene.play {
        Play::Hang(_) => vec![once(HANG_AT)],
        Play::Duplicate => vec![once(DUPLICATE_AT)],
        Play::Cross(_) => vec![
            Role { window_ms: 0..DEADLOCK_AT - at(1, 30), ..always.clone() },
            Role { is_crossed: true, ..once(DEADLOCK_AT) },
            Role { window_ms: DEADLOCK_AT + at(4, 0)..HOUR_MS, ..always },
        ],
        Play::Lock(Style::Curator) if always.scene.directory == "/shared/mixed" => {
            vec![Role { window_ms: MIXED, ..always }]
        }
        Play::Lock(Style::Latch) => {
            let hold_ms = times(&always.scene.hold_ms, LEADS);
            vec![Role { scene: Scene { hold_ms, ..always.scene.clone() }, ..always }]
        }
        Play::Lock(_)
        | Play::LockOnce(_)
        | Play::LockAndDie(_)
        | Play::Fixed
        | Play::ReadWrite(_)
        | Play::Permit(_)
        | Play::Meet(_)
        | Play::Produce
        | Play::Opposite(_)
        | Play::Consume => vec![always],
    }
}

fn times(range: &Range<u64>, factor: u32) -> Range<u64> {
    range.start * u64::from(factor)..range.end * u64::from(factor)
}

/// More and more wait behind the one that hangs.
fn queue(scenes: &[Scene]) -> impl Iterator<Item = Role> {
    let like = scenes.iter().find(|scene| scene.directory == "/shipping/labels").cloned();
    like.into_iter().flat_map(|like| {
        (0..QUEUE).map(move |number| {
            let label = format!("labels-{}@app-{}", number + 5, number % 2 + 1).into();
            let from_ms = HANG_AT + QUEUE_EVERY_MS * (number as i64 + 1);
            let scene = Scene { label, ..like.clone() };
            Role { scene, window_ms: from_ms..HOUR_MS, is_once: true, is_crossed: false }
        })
    })
}

/// All of them want the lock that everyone watches, at once.
fn burst(scenes: &[Scene]) -> impl Iterator<Item = Role> {
    let like = scenes.iter().find(|scene| scene.play == Play::Fixed).cloned();
    like.into_iter().flat_map(|like| {
        (0..BURST).map(move |number| {
            let label = format!("batch-{}@app-{}", number + 5, number % 4 + 1).into();
            let scene = Scene { label, hold_ms: times(&like.hold_ms, BURST_HOLDS), ..like.clone() };
            Role { scene, window_ms: BURST_AT..HOUR_MS, is_once: true, is_crossed: false }
        })
    })
}
