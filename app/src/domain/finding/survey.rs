//! One look at a lock, gathered once and shared by all lints.

use super::Limits;
use crate::domain::deadlock::Cycle;
use crate::domain::lock::{Lock, Seat};
use crate::domain::mirror::{Directory, Mirror};
use crate::domain::offset::ClockOffset;
use crate::domain::time::TimeMs;
use crate::domain::verdict::Thresholds;

/// Contenders looked at; a longer queue is looked at as far as that.
pub const SEATS_MAX: usize = 20_000;

/// What lints look at.
#[derive(Debug)]
pub struct Survey<'a> {
    /// The lock.
    pub lock: &'a Lock,
    /// The tree it is in.
    pub mirror: &'a Mirror,
    /// Now.
    pub now: TimeMs,
    /// The ensemble's clock.
    pub offset: &'a ClockOffset,
    /// From where on lints warn.
    pub limits: &'a Limits,
    /// When a hold is slow or stuck.
    pub thresholds: &'a Thresholds,
    /// What the configuration says is the most that may hold.
    pub configured_max: Option<u32>,
    /// The deadlocks it is part of.
    pub cycles: Vec<&'a Cycle>,
    /// Its contenders in order: who holds first.
    pub seats: Vec<Seat<'a>>,
}

impl<'a> Survey<'a> {
    /// Its main directory.
    pub fn directory(&self) -> Option<&'a Directory> {
        self.mirror.directory(&self.lock.parts.main)
    }

    /// Whether a contender holds.
    pub fn holds(&self, seat: &Seat<'_>) -> bool {
        self.lock.tenure_of(seat).is_some()
    }
}
