//! Observations that wait until every transaction among them is complete: the end of a session deletes all its znodes
//! at once, but each deletion is an event of its own. They leave in the order in which they came.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::observation::{Link, Observation, RootId};
use super::znode::SessionId;

/// Observations that wait. Overflow policy: what waits is applied as it is, incomplete transactions included, and nothing
/// is live before the next answer.
pub const WAITING_MAX: usize = 1 << 17;

/// Why nothing is live after that.
const OVERFLOWED: &str = "more happened at once than can be followed";

/// Who owns what is believed.
pub trait Owners {
    /// The session that owns a znode.
    fn owner(&self, root: RootId, path: &str) -> Option<SessionId>;
    /// Whether a session owns at least so many znodes, of all roots.
    fn owns_at_least(&self, session: SessionId, number: usize) -> bool;
}

/// Deletions that are one step: from the first of a session's to that of its last znode. Places are numbers of
/// observations, counted from the first that ever came.
#[derive(Clone, Copy, Debug)]
struct Step {
    first: u64,
    last: u64,
}

/// What waits of one session.
#[derive(Default)]
struct WaitingOf {
    deletions: Option<Step>,
    deleted: usize,
    /// Znodes that are not believed to be there yet.
    came: usize,
}

impl WaitingOf {
    fn deleted(&mut self, place: u64) {
        let first = self.deletions.map_or(place, |step| step.first);
        self.deletions = Some(Step { first, last: place });
        self.deleted += 1;
    }

    /// Its deletions, if they are all that it has.
    fn end(&self, session: SessionId, owners: &impl Owners) -> Option<Step> {
        let of_believed = self.deleted.checked_sub(self.came)?;
        self.deletions.filter(|_| !owners.owns_at_least(session, of_believed + 1))
    }
}

/// The observations that wait, and which of them may be applied.
#[derive(Debug, Default)]
pub struct Pending {
    waiting: VecDeque<Observation>,
    /// Place of the first that waits.
    front: u64,
    /// The newest state of the link, and whether it is live.
    link: Option<Observation>,
    is_live: bool,
    /// What is applied before everything that waits: nothing is live from now on.
    ahead: Option<Observation>,
    /// The place at which too much waited; with the answer to a later question the link is what it was.
    overflowed: Option<u64>,
    /// Place of the last question that is not answered.
    asked: Option<u64>,
    /// Every transaction of which a part came before this position is complete. Not looked at yet.
    answered: Option<u64>,
    /// No transaction lies around this place.
    whole_until: u64,
    /// In front of it, in order; none begins inside another.
    steps: VecDeque<Step>,
}

impl Pending {
    /// Nothing waits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next observations.
    pub fn push(&mut self, observation: Observation) {
        match &observation {
            Observation::Asked => {
                self.asked = Some(self.end());
                return;
            }
            Observation::Answered => {
                self.answer();
                return;
            }
            Observation::Synced { .. } => self.answer(),
            Observation::Link { .. } => self.link_changed(&observation),
            _ => {}
        }
        self.waiting.push_back(observation);
        // Without a link nothing is shown as live, and no answer comes.
        if !self.is_live {
            self.whole_until = self.end();
        } else if self.waiting.len() >= WAITING_MAX {
            self.overflow();
        }
    }

    /// Of a transaction that waits only a part may ever come, so what waits is applied after this and not before it.
    fn link_changed(&mut self, observation: &Observation) {
        self.link = Some(observation.clone());
        self.overflowed = None;
        self.is_live = matches!(observation, Observation::Link { link: Link::Live, .. });
        if !self.is_live {
            self.go_ahead(observation);
        }
    }

    fn go_ahead(&mut self, stale: &Observation) {
        self.ahead = Some(stale.clone());
        let links = self.waiting.iter_mut().filter(|waiting| matches!(waiting, Observation::Link { .. }));
        links.for_each(|link| *link = stale.clone());
    }

    fn overflow(&mut self) {
        self.whole_until = self.end();
        if self.overflowed.replace(self.end()).is_some() {
            return;
        }
        let Some(Observation::Link { session, .. }) = self.link else { return };
        self.go_ahead(&Observation::Link { link: Link::Stale, session, why: OVERFLOWED.into() });
    }

    /// The next one to be applied, now; None while it has to wait, or nothing is there.
    pub fn next(&mut self, owners: &impl Owners) -> Option<Observation> {
        if !self.is_within_step()
            && let Some(stale) = self.ahead.take()
        {
            return Some(stale);
        }
        let first = self.waiting.front()?;
        if self.front >= self.whole_until && may_be_part(first, owners) {
            self.find_whole(owners);
            if self.front >= self.whole_until {
                return None;
            }
        }
        let next = self.waiting.pop_front()?;
        // A tree that is swapped in takes long, and is not live before the next answer.
        let is_swap = matches!(next, Observation::SyncEnded { .. } | Observation::RootTrouble { .. });
        if self.steps.front().is_some_and(|step| step.last <= self.front || (is_swap && step.first <= self.front)) {
            self.steps.pop_front();
        }
        self.front += 1;
        Some(next)
    }

    /// Whether a part of a step was taken, so that nobody may look now; the rest of it can be taken at once.
    pub fn is_within_step(&self) -> bool {
        self.steps.front().is_some_and(|step| step.first < self.front)
    }

    fn end(&self) -> u64 {
        self.front + self.waiting.len() as u64
    }

    fn answer(&mut self) {
        let asked = self.asked.take();
        self.answered = asked.or(self.answered);
        if self.overflowed.is_some_and(|place| asked.is_some_and(|asked| asked >= place)) {
            self.overflowed = None;
            self.waiting.extend(self.link.clone());
        }
    }

    /// Looks how far everything is whole since the last answer.
    fn find_whole(&mut self, owners: &impl Owners) {
        let Some(answered) = self.answered.take().filter(|place| *place > self.front) else { return };
        let mut steps = self.steps_of_ended(owners);
        // The answer means that all of a session's end is here if a part of it was reported before the question; of
        // those reported later only a part may be. So nothing is cut in two: all that lies around the place of the
        // question waits for the next.
        steps.sort_unstable_by_key(|step| std::cmp::Reverse(step.last));
        let whole_until =
            steps.iter().fold(answered, |until, step| if step.last >= until { until.min(step.first) } else { until });
        steps.retain(|step| step.last < whole_until);
        steps.sort_unstable_by_key(|step| step.first);
        for step in steps {
            match self.steps.back_mut().filter(|before| step.first <= before.last) {
                Some(before) => before.last = before.last.max(step.last),
                None => self.steps.push_back(step),
            }
        }
        self.whole_until = self.whole_until.max(whole_until);
    }

    /// The deletions of each session that has no other znode: one that has others had not ended when it was asked.
    fn steps_of_ended(&self, owners: &impl Owners) -> Vec<Step> {
        // A created znode is an event, a read and, mostly, a deletion.
        let mut read = HashMap::with_capacity(self.waiting.len() / 3);
        let mut sessions = BTreeMap::<SessionId, WaitingOf>::new();
        for (place, observation) in (self.front..).zip(&self.waiting) {
            match observation {
                Observation::NodeRead { root, path, facts, .. } => {
                    let is_first = read.insert(&**path, facts.owner).is_none();
                    if let Some(owner) = facts.owner.filter(|_| is_first)
                        && owners.owner(*root, path) != Some(owner)
                    {
                        sessions.entry(owner).or_default().came += 1;
                    }
                }
                Observation::NodeDeleted { root, path } => {
                    let owner = read.get(&**path).copied().unwrap_or_else(|| owners.owner(*root, path));
                    if let Some(owner) = owner {
                        sessions.entry(owner).or_default().deleted(place);
                    }
                }
                _ => {}
            }
        }
        sessions.iter().filter_map(|(session, waiting)| waiting.end(*session, owners)).collect()
    }
}

/// Whether a deletion may be a part of the end of a session: its owner has other znodes.
fn may_be_part(observation: &Observation, owners: &impl Owners) -> bool {
    let Observation::NodeDeleted { root, path } = observation else { return false };
    owners.owner(*root, path).is_some_and(|owner| owners.owns_at_least(owner, 2))
}
