//! Observations that wait until every transaction among them is complete: the end of a session deletes all its znodes
//! at once, but each deletion is an event of its own. They leave in the order in which they came.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::observation::{Link, Observation, RootId};
use super::znode::SessionId;

/// Observations that wait. Overflow policy: what waits is applied as it is, incomplete transactions included, and nothing
/// is live before the next answer.
pub const WAITING_MAX: usize = 1 << 17;

/// Why nothing is live after that.
const OVERFLOWED: &str = "more happened at once than can be followed";

/// Whose a znode is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// A session's: it ends with that.
    Session(SessionId),
    /// No session's; or the znode is not believed to be there.
    Nobody,
    /// It came and was not read yet: it may be any session's.
    Unread,
}

/// Who owns what is believed.
pub trait Owners {
    /// Whose a znode is.
    fn owner(&self, root: RootId, path: &str) -> Ownership;
    /// Whether a session is known to own at least so many znodes, of all roots.
    fn owns_at_least(&self, session: SessionId, number: usize) -> bool;
    /// Whether any znode was not read yet: then any session may have one more.
    fn has_unread(&self) -> bool;
    /// Whether no session can have znodes in two roots.
    fn has_one_root(&self) -> bool;
}

/// Deletions that are one step: from the first of a session's to that of its last znode. Places are numbers of
/// observations, counted from the first that ever came.
#[derive(Clone, Copy, Debug)]
struct Step {
    first: u64,
    last: u64,
}

/// Deletions of one root that came one after the other. Those of a session's end do, so whose some of them are need not
/// be known.
#[derive(Clone, Copy)]
struct Run {
    step: Step,
    /// Whose one of them was is not known.
    has_unread: bool,
}

impl Run {
    fn of(place: u64) -> Self {
        Self { step: Step { first: place, last: place }, has_unread: false }
    }

    fn goes_on(&mut self, place: u64, owner: Ownership) {
        self.step.last = place;
        self.has_unread |= owner == Ownership::Unread;
    }
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
                let run = self.ended_run(owners)?;
                self.whole_until = run.step.last + 1;
                self.steps.extend(Some(run.step).filter(|_| run.has_unread));
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

    /// The deletions at the front, where no answer is needed: behind them another event of their root came, the only one,
    /// and no session of theirs is known to have other znodes.
    fn ended_run(&self, owners: &impl Owners) -> Option<Run> {
        let mut run = Run::of(self.front);
        for (place, observation) in (self.front..).zip(&self.waiting).take_while(|_| owners.has_one_root()) {
            match observation {
                Observation::NodeCreated { .. } => return Some(run),
                Observation::NodeDeleted { root, path } => {
                    let owner = owners.owner(*root, path);
                    if matches!(owner, Ownership::Session(session) if owners.owns_at_least(session, 2)) {
                        return None;
                    }
                    run.goes_on(place, owner);
                }
                _ => {}
            }
        }
        None
    }

    /// Looks how far everything is whole since the last answer.
    fn find_whole(&mut self, owners: &impl Owners) {
        let Some(answered) = self.answered.take().filter(|place| *place > self.front) else { return };
        let Ends { mut steps, has_unread, is_of_several_roots } = self.ends(owners);
        // The answer means that all of a session's end is here if a part of it was reported before the question; of
        // those reported later only a part may be. So nothing is cut in two: all that lies around the place of the
        // question waits for the next.
        steps.sort_unstable_by_key(|step| std::cmp::Reverse(step.last));
        let whole_until =
            steps.iter().fold(answered, |until, step| if step.last >= until { until.min(step.first) } else { until });
        steps.retain(|step| step.last < whole_until);
        steps.sort_unstable_by_key(|step| step.first);
        if has_unread && is_of_several_roots {
            // An unread znode of one root may be of a session that ends in another.
            let last = steps.iter().map(|step| step.last).max();
            steps =
                steps.first().zip(last).map(|(first, last)| Step { first: first.first, last }).into_iter().collect();
        }
        for step in steps {
            match self.steps.back_mut().filter(|before| step.first <= before.last) {
                Some(before) => before.last = before.last.max(step.last),
                None => self.steps.push_back(step),
            }
        }
        self.whole_until = self.whole_until.max(whole_until);
    }

    /// The deletions that may be one step: those of each session that has no other znode, for one that has others had
    /// not ended when it was asked; and each run with one of which nobody knows whose it was.
    fn ends(&self, owners: &impl Owners) -> Ends {
        // A created znode is an event, a read and, mostly, a deletion.
        let mut reported = HashMap::with_capacity(self.waiting.len() / 3);
        let mut sessions = BTreeMap::<SessionId, WaitingOf>::new();
        let mut runs = BTreeMap::<RootId, Run>::new();
        let (mut steps, mut has_unread, mut roots) = (Vec::new(), false, BTreeSet::new());
        let mut end_run = |run: Option<Run>| {
            let run = run.filter(|run| run.has_unread);
            has_unread |= run.is_some();
            steps.extend(run.map(|run| run.step));
        };
        for (place, observation) in (self.front..).zip(&self.waiting) {
            match observation {
                Observation::NodeCreated { root, path } => {
                    reported.insert(&**path, Ownership::Unread);
                    end_run(runs.remove(root));
                }
                Observation::NodeRead { root, path, facts, .. } => {
                    let owner = facts.owner.map_or(Ownership::Nobody, Ownership::Session);
                    let is_first = reported.insert(&**path, owner).is_none_or(|before| before == Ownership::Unread);
                    if let Some(session) = facts.owner.filter(|_| is_first)
                        && owners.owner(*root, path) != owner
                    {
                        sessions.entry(session).or_default().came += 1;
                    }
                }
                Observation::NodeDeleted { root, path } => {
                    roots.insert(*root);
                    let owner = reported.get(&**path).copied().unwrap_or_else(|| owners.owner(*root, path));
                    if let Ownership::Session(session) = owner {
                        sessions.entry(session).or_default().deleted(place);
                    }
                    runs.entry(*root).or_insert(Run::of(place)).goes_on(place, owner);
                }
                _ => {}
            }
        }
        runs.into_values().for_each(|run| end_run(Some(run)));
        steps.extend(sessions.iter().filter_map(|(session, waiting)| waiting.end(*session, owners)));
        Ends { steps, has_unread, is_of_several_roots: roots.len() > 1 }
    }
}

/// What may be one step of all that waits.
struct Ends {
    steps: Vec<Step>,
    /// Whose some of it was is not known.
    has_unread: bool,
    is_of_several_roots: bool,
}

/// Whether a deletion may be a part of the end of a session: its owner has other znodes, or may have.
fn may_be_part(observation: &Observation, owners: &impl Owners) -> bool {
    let Observation::NodeDeleted { root, path } = observation else { return false };
    match owners.owner(*root, path) {
        Ownership::Session(session) => owners.has_unread() || owners.owns_at_least(session, 2),
        Ownership::Unread => true,
        Ownership::Nobody => false,
    }
}
