//! Who waited in a semaphore's queue for which of its leases.

use lockscope_core::znode::SessionId;

use super::event::ContenderPlace;
use super::life::Life;
use super::lock::LockState;
use super::sessions::Step;

impl LockState {
    /// Whoever holds a lease now waited in the queue by another znode of its session, the first one that has none yet.
    pub(super) fn pass_to(&mut self, lease: &str, session: Option<SessionId>) {
        let of_lease = self.lives.get(lease).and_then(Life::czxid);
        // Whoever holds a lease and queues for another one came to the queue after it.
        let is_before = |life: &Life| life.czxid().zip(of_lease).is_none_or(|(queued, lease)| queued < lease);
        let waits = |life: &Life| {
            let is_queued = life.place == ContenderPlace::Queue && !life.is_passed;
            is_queued && session.is_some() && life.session() == session && is_before(life)
        };
        let queued = self.lives.iter_mut().filter(|(_, life)| waits(life));
        let first = queued.min_by_key(|(_, life)| life.joined_at);
        let Some((node, queued)) = first else { return };
        queued.is_passed = true;
        if std::mem::take(&mut queued.is_waiting) {
            self.waiting = self.waiting.saturating_sub(1);
            self.steps.extend(session.map(|session| Step::WaitEnds { session, node: node.clone() }));
        }
        let (joined_at, before) = (queued.joined_at, queued.before);
        if let Some(life) = self.lives.get_mut(lease) {
            (life.joined_at, life.before) = (joined_at, before);
        }
    }

    /// Somebody leaves a semaphore's queue while it is not known yet whose the newest lease is: it is theirs.
    pub(super) fn pass_unread(&mut self, life: &mut Life) {
        let is_unread = |lease: &&mut Life| {
            lease.place == ContenderPlace::Lease && lease.held.is_some() && lease.identity.is_none()
        };
        if life.place != ContenderPlace::Queue || life.is_passed {
            return;
        }
        if let Some(lease) = self.lives.values_mut().find(is_unread) {
            (lease.joined_at, lease.before) = (life.joined_at, life.before);
            life.is_passed = true;
        }
    }
}
