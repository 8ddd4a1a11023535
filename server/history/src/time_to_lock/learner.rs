//! One lock, life by life.

use std::collections::{BTreeMap, VecDeque};

use lockscope_core::time::TimeMs;
use lockscope_core::time_to_lock::{
    Admission, Correction, Habits, HoldTimes, HolderAge, Line, Miss, NoEstimate, WaitEnd, WaitRange,
};
use lockscope_core::znode::Zxid;

use super::{Calibration, Learned, LineKind, LineLife};

/// Holds that count, the newest. More would know rare ones better, and follow a load that changes more slowly.
pub const HOLDS_RECENT_MAX: usize = 256;
/// Waits by which it is known how many give up, the newest.
const WAITS_RECENT_MAX: usize = 256;
const HAND_OFFS_RECENT_MAX: usize = 64;
/// Readers and writers before somebody that are looked at one by one; behind more of them nothing is told.
pub const READERS_AHEAD_MAX: usize = 1_000;

/// Where somebody stands in a line.
type Place = (TimeMs, Zxid);

#[derive(Clone, Copy, Debug)]
struct Waiter {
    reads: bool,
    told: Option<Told>,
}

/// What was told of a wait, and what would have been without any correction.
#[derive(Clone, Copy, Debug)]
struct Told {
    range: WaitRange,
    uncorrected: WaitRange,
}

#[derive(Clone, Copy, Debug)]
struct Holder {
    since: TimeMs,
    reads: bool,
    is_uncertain: bool,
}

#[derive(Debug)]
pub struct Learner {
    kind: LineKind,
    holders: BTreeMap<Zxid, Holder>,
    waiters: BTreeMap<Place, Waiter>,
    leases: usize,
    holds: VecDeque<i64>,
    /// How long, and whether it was given up.
    waits: VecDeque<(i64, bool)>,
    hand_offs: VecDeque<i64>,
    freed_at: Option<TimeMs>,
    correction: Correction,
    calibration: Calibration,
}

impl Learner {
    pub fn new(kind: LineKind) -> Self {
        Self {
            kind,
            holders: BTreeMap::new(),
            waiters: BTreeMap::new(),
            leases: 0,
            holds: VecDeque::new(),
            waits: VecDeque::new(),
            hand_offs: VecDeque::new(),
            freed_at: None,
            correction: Correction::default(),
            calibration: Calibration::default(),
        }
    }

    pub(super) fn joined(&mut self, now: TimeMs, life: &LineLife, is_judged: bool) {
        let told = is_judged.then(|| self.tell(now, life.reads));
        if let Some(Err(_)) = told {
            self.calibration.untold += 1;
        }
        let waiter = Waiter { reads: life.reads, told: told.and_then(Result::ok) };
        self.waiters.insert((life.joined_at, life.czxid), waiter);
    }

    /// What is told of whoever joins now.
    fn tell(&self, now: TimeMs, reads: bool) -> Result<Told, NoEstimate> {
        // Whoever waits for nobody waits for one that was not kept.
        if self.holders.is_empty() && self.waiters.is_empty() {
            return Err(NoEstimate::Incomplete);
        }
        if self.holders.values().any(|holder| holder.is_uncertain) {
            return Err(NoEstimate::HolderAgeUnknown);
        }
        let (habits, admission) = (self.habits(), self.admission());
        let age = |holder: &Holder| HolderAge { age_ms: now.since(holder.since), reads: holder.reads };
        let holders: Vec<HolderAge> = self.holders.values().map(age).collect();
        let mut line = Line::new(&habits, admission, &holders)?;
        match admission {
            Admission::Readers if self.waiters.len() > READERS_AHEAD_MAX => return Err(NoEstimate::TooFarBack),
            Admission::Readers => self.waiters.values().for_each(|waiter| line.pass(waiter.reads)),
            Admission::One | Admission::Some(_) => line.pass_many(self.waiters.len()),
        }
        Ok(Told { range: line.told(reads), uncorrected: line.wait(reads) })
    }

    fn admission(&self) -> Admission {
        match self.kind {
            LineKind::Mutex => Admission::One,
            LineKind::Semaphore => Admission::Some(self.leases.max(1)),
            LineKind::ReadWrite => Admission::Readers,
        }
    }

    fn habits(&self) -> Habits {
        let gave_up = self.waits.iter().filter(|(_, gave_up)| *gave_up).count() as f64;
        let waited_ms = self.waits.iter().map(|(ms, _)| *ms as f64).sum::<f64>();
        Habits {
            holds: HoldTimes::of(self.holds.iter().copied()),
            hand_off_ms: median(&self.hand_offs),
            give_up_rate: if waited_ms > 0.0 { gave_up / waited_ms } else { 0.0 },
            correction: self.correction,
        }
    }

    pub(super) fn held(&mut self, now: TimeMs, life: &LineLife) {
        let Some(waiter) = self.waiters.remove(&(life.joined_at, life.czxid)) else { return };
        let waited_ms = now.since(life.joined_at);
        if waited_ms > 0 {
            keep(&mut self.waits, (waited_ms, false), WAITS_RECENT_MAX);
            if let Some(freed_at) = self.freed_at.take().filter(|at| *at >= life.joined_at) {
                keep(&mut self.hand_offs, now.since(freed_at), HAND_OFFS_RECENT_MAX);
            }
        }
        self.freed_at = None;
        let is_uncertain = life.is_uncertain && life.left_at.is_none();
        self.judge(&waiter, WaitEnd::Held(waited_ms), life.is_uncertain && waited_ms == 0);
        self.holders.insert(life.czxid, Holder { since: now, reads: life.reads, is_uncertain });
        self.leases = self.leases.max(self.holders.len());
    }

    pub(super) fn left(&mut self, now: TimeMs, life: &LineLife) {
        if let Some(holder) = self.holders.remove(&life.czxid) {
            if !life.is_uncertain {
                keep(&mut self.holds, now.since(holder.since), HOLDS_RECENT_MAX);
            }
            let is_free = self.holders.is_empty() && self.kind != LineKind::Semaphore;
            self.freed_at = Some(now).filter(|_| is_free && !life.is_uncertain);
        } else if let Some(waiter) = self.waiters.remove(&(life.joined_at, life.czxid)) {
            let waited_ms = now.since(life.joined_at);
            if !life.is_uncertain {
                keep(&mut self.waits, (waited_ms, true), WAITS_RECENT_MAX);
            }
            self.judge(&waiter, WaitEnd::GaveUp(waited_ms), life.is_uncertain);
        }
    }

    fn judge(&mut self, waiter: &Waiter, end: WaitEnd, is_uncertain: bool) {
        let Some(told) = waiter.told else { return };
        let calibration = &mut self.calibration;
        match told.range.judge(end).filter(|_| !is_uncertain) {
            None => return calibration.unknown += 1,
            Some(None) => calibration.right += 1,
            Some(Some(Miss::Sooner)) => calibration.sooner += 1,
            Some(Some(Miss::Later)) => calibration.later += 1,
        }
        calibration.right_uncorrected += u64::from(told.uncorrected.judge(end) == Some(None));
        self.correction.learn(told.range, end);
    }

    pub(super) fn finish(self) -> Learned {
        Learned { habits: self.habits(), calibration: self.calibration, leases: self.leases }
    }
}

fn keep<T>(recent: &mut VecDeque<T>, one: T, number_max: usize) {
    if recent.len() >= number_max {
        recent.pop_front();
    }
    recent.push_back(one);
}

fn median(of: &VecDeque<i64>) -> i64 {
    let mut sorted: Vec<i64> = of.iter().copied().collect();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or(0)
}
