//! Keeping one lock in line with the believed tree: recognition, holders, verdict, findings.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::holders::{Seen, follow_holders};
use super::{GONE_MAX, Observatory};
use crate::assessment::AssessedLock;
use crate::change::Change;
use crate::evidence::MemberEvidence;
use crate::finding::{self, LintContext};
use crate::history::{SessionEvent, What};
use crate::lock::Lock;
use crate::mirror::Mirror;
use crate::observation::RootId;
use crate::offset::ClockOffset;
use crate::recipe::{Recipe, Shape, is_mark, recognise};
use crate::time::TimeMs;
use crate::verdict;
use crate::znode::{SessionId, join_path, split_path};

/// Findings of a lock are looked for this long after a change; a long queue waits longer, a millisecond for each
/// twenty-five contenders.
const LOOK_AFTER_MS: i64 = 200;
const CONTENDERS_A_MS: u32 = 25;

/// What happened to a znode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// It is new to us.
    Arrived,
    /// It was read.
    Read,
    /// It was read before, and is again.
    ReadAgain,
}

impl Observatory {
    /// A znode arrived or was read: whatever lock it belongs to is brought in line.
    pub(super) fn touch(&mut self, now: TimeMs, root: RootId, path: &str, cause: Cause, out: &mut Vec<Change>) {
        let Some((parent, name)) = split_path(path) else { return };
        if self.locks.get(path).is_some_and(|lock| !lock.is_alone()) {
            // Its own data says how many it admits.
            self.refresh(now, path, Seen::Watched, out);
        }
        let Some((czxid, owner, mark)) = self
            .child(root, parent, name)
            .map(|child| (child.read.as_ref().map(|read| read.czxid), child.owner(), child.rule))
        else {
            return;
        };
        let is_news = mark.is_some() || is_mark(name) || recognise::may_gather(parent) || self.is_told_of(path);
        let Some(lock) = self.lock_for(now, root, path, is_news, out) else { return };
        let counts = self.locks.get(&lock).is_some_and(|found| self.child_counts(found, parent, name));
        if counts && cause == Cause::Arrived {
            out.push(Change::Arrived { lock: Arc::clone(&lock), node: name.into() });
        }
        if let Some(czxid) = czxid.filter(|_| counts) {
            out.push(Change::Identified { lock: Arc::clone(&lock), czxid, owner });
        }
        self.refresh(now, &lock, Seen::Watched, out);
        if let Some(session) = owner.filter(|_| counts) {
            self.tell(now, session, &lock, name, What::Joined);
            if self.suspect(session) && cause != Cause::ReadAgain {
                self.note_order(now, session, &lock, (parent, name));
            }
        }
    }

    pub(super) fn tell(&mut self, at: TimeMs, session: SessionId, lock: &Arc<str>, node: &str, what: What) {
        self.history.note(SessionEvent { at, session, lock: Arc::clone(lock), node: node.into(), what });
    }

    pub(super) fn appear(&mut self, now: TimeMs, mut lock: Lock, seen: Seen, out: &mut Vec<Change>) {
        let path = Arc::clone(&lock.path);
        lock.tally.reaped = self.state.reaped.remove(&path).unwrap_or(0);
        self.index.note(&lock);
        self.locks.insert(Arc::clone(&path), lock.into());
        self.absorb(now, &path, out);
        out.push(Change::LockAppeared { lock: Arc::clone(&path) });
        self.refresh(now, &path, seen, out);
    }

    /// What was taken for a lock of its own and is a part of this one is a lock no longer.
    pub(super) fn absorb(&mut self, now: TimeMs, path: &str, out: &mut Vec<Change>) {
        let Some(lock) = self.locks.get(path).filter(|lock| !lock.is_alone()) else { return };
        let office = lock.parts.second.as_deref().filter(|_| lock.recognition.shape == Shape::LeaderElection);
        let leader: Option<Arc<str>> = office.map(|office| join_path(office, "leader").into());
        let parts = [Some(Arc::clone(&lock.parts.main)), lock.parts.second.clone(), leader];
        for part in parts.into_iter().flatten().filter(|part| **part != *path) {
            self.vanish(now, &part, out);
        }
    }

    pub(super) fn vanish(&mut self, now: TimeMs, path: &str, out: &mut Vec<Change>) {
        if let Some((path, lock)) = self.locks.remove(path) {
            self.index.forget(&lock);
            for due in [lock.assessment.recheck_at, lock.assessment.look_at].into_iter().flatten() {
                self.rechecks.remove(&(due, Arc::clone(&path)));
            }
            if lock.assessment.deadlock.is_some() {
                self.verify_cycles(now, &path, out);
            }
            out.push(Change::LockVanished { lock: path });
        }
    }

    /// A lock's directory is gone. Somebody should lead, so an election stays and says that nobody is home; any
    /// other lock leaves the board.
    pub(super) fn lose(&mut self, now: TimeMs, path: &str, seen: Seen, out: &mut Vec<Change>) {
        let stays = self.locks.get(path).is_some_and(|lock| {
            lock.recognition.recipe == Recipe::Election
                && (lock.tally.past.front().is_some() || !lock.holders.is_empty())
        });
        if !stays || self.index.gone() >= GONE_MAX {
            if self.stays_required(now, path, seen, out) {
                return;
            }
            let reaped = self.locks.get(path).map_or(0, |lock| lock.tally.reaped);
            if self.state.reaped.len() < super::REAPED_MAX {
                self.state.reaped.insert(path.into(), reaped + 1);
            }
            self.vanish(now, path, out);
            return;
        }
        if let Some(lock) = self.locks.get_mut(path) {
            lock.gone_since.get_or_insert(now);
            lock.tally.reaped += 1;
        }
        self.refresh(now, path, seen, out);
    }

    /// Brings a lock's holders and verdict in line with the believed tree.
    pub(super) fn refresh(&mut self, now: TimeMs, path: &str, seen: Seen, out: &mut Vec<Change>) {
        let revision = self.revision + 1;
        let Some(AssessedLock { lock, .. }) = self.locks.get_mut(path) else { return };
        let Some(view) = self.roots.get(lock.root.0 as usize) else { return };
        let seen = if view.status.is_comparing { Seen::AfterGap } else { seen };
        lock.revision = revision;
        let had_open_slice = lock.has_open_slice();
        let ended_before = lock.tally.past.front().map(|past| past.until);
        let news = follow_holders(lock, &view.mirror, &self.state.offset, now, seen);
        news.waits_ms.iter().for_each(|ms| self.state.ended.waits.note(*ms));
        news.holds_ms.iter().for_each(|ms| self.state.ended.holds.note(*ms));
        if seen == Seen::Watched && lock.tally.past.front().map(|past| past.until) != ended_before {
            note_woken(lock, &view.mirror, &self.evidence, now, self.state.session);
        }
        lock.watch_waiters(&view.mirror, &self.evidence, &self.state.offset, now, self.state.session);
        lock.tally.depth.note(lock.waiters_seen());
        if seen == Seen::AfterGap {
            lock.left_at = now;
        }
        identify_noted(lock, &self.evidence, &mut self.state.unlisted);
        self.index.note_changed(lock, had_open_slice);
        let path = Arc::clone(&lock.path);
        out.push(if news.changed {
            let node = lock.holders.first().map(|hold| hold.name.clone());
            Change::HolderChanged { lock: Arc::clone(&path), node }
        } else {
            Change::LockTouched { lock: Arc::clone(&path) }
        });
        self.plan_look(now, &path);
        for (session, node, what) in &news.told {
            self.tell(now, *session, &path, node, *what);
        }
        self.verify_cycles(now, &path, out);
        for (session, ..) in news.told.iter().filter(|(.., what)| *what == What::Held) {
            self.suspect(*session);
        }
        // A semaphore is waited for once a single one holds, although nobody new does.
        let last = self
            .locks
            .get(&path)
            .filter(|lock| news.changed && lock.standing.holders == 1)
            .and_then(|lock| lock.holders.first()?.owner);
        if let Some(session) = last.filter(|_| news.told.is_empty()) {
            self.suspect(session);
        }
        self.judge_again(now, &path, out);
    }

    /// Has a lock's findings looked for soon. An earlier plan stands, so a storm of changes does not put it off.
    pub(super) fn plan_look(&mut self, now: TimeMs, path: &Arc<str>) {
        let Some(lock) = self.locks.get(path) else { return };
        let due = now + LOOK_AFTER_MS + i64::from(lock.contender_count() / CONTENDERS_A_MS);
        if lock.assessment.look_at.is_some_and(|planned| planned <= due) {
            return;
        }
        let Some(lock) = self.locks.get_mut(path) else { return };
        if let Some(later) =
            lock.assessment.look_at.replace(due).filter(|later| lock.assessment.recheck_at != Some(*later))
        {
            self.rechecks.remove(&(later, Arc::clone(path)));
        }
        self.rechecks.insert((due, Arc::clone(path)));
    }

    /// Works out the verdict again and plans the next look.
    pub(super) fn judge_again(&mut self, now: TimeMs, path: &str, out: &mut Vec<Change>) {
        let Some(AssessedLock { lock, assessment }) = self.locks.get(path) else { return };
        let Some(view) = self.roots.get(lock.root.0 as usize) else { return };
        let (verdict, recheck_at) =
            verdict::judge(lock, assessment, (&view.mirror, &self.state.offset), now, &self.settings.thresholds);
        // Mostly nothing is new.
        if (verdict, recheck_at) == (assessment.verdict, assessment.recheck_at) {
            return;
        }
        let Some(AssessedLock { lock, assessment }) = self.locks.get_mut(path) else { return };
        if recheck_at != assessment.recheck_at {
            if let Some(due) = assessment.recheck_at.filter(|due| assessment.look_at != Some(*due)) {
                self.rechecks.remove(&(due, Arc::clone(&lock.path)));
            }
            assessment.recheck_at = recheck_at;
            self.rechecks.extend(recheck_at.map(|due| (due, Arc::clone(&lock.path))));
        }
        if verdict != assessment.verdict {
            assessment.verdict = verdict;
            lock.revision = self.revision + 1;
            let path = Arc::clone(&lock.path);
            let has_findings = !assessment.findings.is_empty();
            out.push(Change::VerdictChanged { lock: Arc::clone(&path), verdict });
            if has_findings {
                // How bad one is may follow from the verdict, which changes although nothing happens.
                self.plan_look(now, &path);
            }
        }
    }

    /// A planned look is due: at a lease that may have run out, the verdict, the findings.
    pub(super) fn recheck(&mut self, now: TimeMs, path: &str, out: &mut Vec<Change>) {
        let Some(lock) = self.locks.get_mut(path) else { return };
        if lock.assessment.recheck_at.is_some_and(|due| due <= now) {
            lock.assessment.recheck_at = None;
            let ends = self.roots.get(lock.root.0 as usize).and_then(|view| lock.ends_at(&view.mirror));
            if ends.is_some() {
                self.refresh(now, path, Seen::Watched, out);
            }
            self.judge_again(now, path, out);
        }
        if self.locks.get(path).and_then(|lock| lock.assessment.look_at).is_some_and(|due| due <= now) {
            self.look_for_findings(now, path, out);
        }
    }

    fn look_for_findings(&mut self, now: TimeMs, path: &str, out: &mut Vec<Change>) {
        let Some(lock) = self.locks.get(path) else { return };
        let Some(view) = self.roots.get(lock.root.0 as usize) else { return };
        let looked = finding::look(&LintContext {
            held: LintContext::held(lock),
            lock,
            assessment: &lock.assessment,
            mirror: &view.mirror,
            now,
            evidence: &self.evidence,
            ours: self.state.session,
            offset: &self.state.offset,
            limits: &self.settings.limits,
            thresholds: &self.settings.thresholds,
            configured_max: self.configured_max(path),
            cycle: lock
                .assessment
                .deadlock
                .as_ref()
                .and_then(|deadlock| Some((self.cycles_of(path).next()?, &*deadlock.sentence))),
            order: self.orders.warning_of(path),
            seen_since: view.seen_since(self.state.link, now),
            contenders: lock.contenders(&view.mirror).take(finding::CONTENDERS_MAX).collect(),
        });
        let Some(lock) = self.locks.get_mut(path) else { return };
        lock.assessment.look_at = looked.again_at.map(|at| at.max(now + LOOK_AFTER_MS));
        lock.assessment.suspects = looked.suspects;
        let found = looked.found;
        self.rechecks.extend(lock.assessment.look_at.map(|due| (due, Arc::clone(&lock.path))));
        if found == lock.assessment.findings {
            return;
        }
        let change = |code, is_raised| Change::FindingChanged { lock: Arc::clone(&lock.path), code, is_raised };
        let raised = found
            .iter()
            .filter(|new| {
                let mut before = lock.assessment.findings.iter();
                before.all(|old| (old.code, old.severity) != (new.code, new.severity))
            })
            .map(|new| change(new.code, true));
        let cleared = lock
            .assessment
            .findings
            .iter()
            .filter(|old| found.iter().all(|new| old.code != new.code))
            .map(|old| change(old.code, false));
        out.extend(raised.chain(cleared));
        out.push(Change::LockTouched { lock: Arc::clone(&lock.path) });
        lock.assessment.findings = found;
        lock.revision = self.revision + 1;
    }
}

/// Counts whom the hold that just ended woke, when the tables were read while it lasted and who waits is in them.
fn note_woken(lock: &mut Lock, mirror: &Mirror, evidence: &MemberEvidence, now: TimeMs, ours: Option<SessionId>) {
    let Some(at) = evidence.watches_at(now).filter(|_| lock.is_woken_by_tables(mirror)) else { return };
    for past in
        lock.tally.past.iter_mut().take_while(|past| past.until == now && past.woke.is_none() && at > past.hold.since)
    {
        let mut sessions = evidence.watchers(now, &past.hold.path(), ours);
        past.hold.owner.map(|owner| sessions.remove(&owner));
        past.woke = u32::try_from(sessions.len()).ok();
    }
}

/// Updates the holders' client states. True when something changed.
pub(super) fn identify(lock: &mut Lock, evidence: &MemberEvidence) -> bool {
    let mut is_news = false;
    for hold in lock.holders.iter_mut().filter(|_| evidence.rounds() > 0) {
        let Some(session) = hold.owner else { continue };
        let peer = evidence.peer(session, hold.since);
        if hold.peer.as_deref() != Some(&peer) {
            hold.peer = Some(Box::new(peer));
            is_news = true;
        }
    }
    is_news
}

/// The same, and notes owners that the evidence does not know, of whom the next round says something.
pub(super) fn identify_noted(lock: &mut Lock, evidence: &MemberEvidence, unlisted: &mut BTreeSet<SessionId>) -> bool {
    if evidence.rounds() == 0 {
        return false;
    }
    let owners = lock.holders.iter().filter_map(|hold| hold.owner);
    unlisted.extend(owners.filter(|owner| evidence.session(*owner).is_none()));
    identify(lock, evidence)
}

/// The lock as it would be once a znode was deleted: the same function that will follow the deletion says who holds.
pub(crate) fn foresee(
    lock: &Lock,
    without: &Mirror,
    offset: &ClockOffset,
    evidence: &MemberEvidence,
    now: TimeMs,
) -> Lock {
    let mut after = lock.clone();
    follow_holders(&mut after, without, offset, now, Seen::Watched);
    identify(&mut after, evidence);
    after
}
