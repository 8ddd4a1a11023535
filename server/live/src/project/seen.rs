//! The part of a model inside a visibility scope. Every projection reads through this, so that nothing outside gets in;
//! for a scope of everything no path is compared.

use lockscope_core::assessment::AssessedLock;
use lockscope_core::deadlock::Cycle;
use lockscope_core::finding::{Code, Finding, PATHS_MAX, Severity};
use lockscope_core::mirror::Mirror;
use lockscope_core::observation::RootId;
use lockscope_core::observatory::{RootView, SessionLock};
use lockscope_core::sentence::sentence;
use lockscope_core::verdict::Verdict;
use lockscope_core::znode::{SessionId, join_path};
use lockscope_view as view;

use super::english::{HIDDEN_CIRCLE, HIDDEN_MAYBE, HIDDEN_ORDER};
use super::words::{root_help, view_root_state};
use super::{ProjectionContext, count32, details};

impl<'a> ProjectionContext<'a> {
    /// Whether what is at a path may be seen.
    pub(super) fn sees(&self, path: &str) -> bool {
        self.scope.covers_path(path)
    }

    /// Every lock that may be seen, in path order.
    pub(super) fn locks(&self) -> impl Iterator<Item = &'a AssessedLock> {
        let bounds = Some(self.scope).filter(|scope| scope.is_bounded());
        self.observatory.locks().filter(move |lock| bounds.is_none_or(|scope| scope.covers_path(&lock.path)))
    }

    /// What a session holds and waits for, in locks that may be seen.
    pub(super) fn spots(&self, session: SessionId) -> impl Iterator<Item = SessionLock<'a>> {
        let scope = self.scope;
        self.observatory.spots(session).filter(move |spot| scope.covers_path(&spot.lock.path))
    }

    /// How many of the znodes that a session owns may be seen; `all`: how many there are.
    pub(super) fn owned(&self, session: SessionId, all: u32) -> u32 {
        if !self.scope.is_bounded() {
            return all;
        }
        let owned = self.roots().flat_map(|(_, view)| view.mirror.owned_by(session));
        count32(owned.filter(|(directory, key, _)| self.sees(&join_path(directory, key.name()))).count())
    }

    pub(super) fn sees_all_of(&self, cycle: &Cycle) -> bool {
        cycle.steps.iter().all(|step| self.sees(&step.lock))
    }

    /// Sessions of a circle that hold or wait where it may be seen.
    pub(super) fn sessions_of(&self, cycle: &'a Cycle) -> impl Iterator<Item = SessionId> {
        let scope = self.scope;
        cycle.steps.iter().filter(move |step| scope.covers_path(&step.lock)).flat_map(|step| [step.from, step.to])
    }

    /// The sentence of a lock. Of a deadlock it names other locks and who holds them, so it is given only to those who
    /// may see all of these.
    pub(super) fn sentence(&self, lock: &AssessedLock, mirror: &Mirror) -> String {
        let hidden = match lock.assessment.verdict {
            Verdict::Deadlocked => HIDDEN_CIRCLE,
            Verdict::MaybeDeadlocked => HIDDEN_MAYBE,
            _ => "",
        };
        if self.scope.is_bounded() && !hidden.is_empty() {
            let seen = self.observatory.cycles_of(&lock.path).next().filter(|cycle| self.sees_all_of(cycle));
            return seen.map_or_else(|| hidden.to_owned(), |cycle| self.observatory.cycle_sentence(cycle));
        }
        sentence(lock, mirror, &self.observatory.settings().thresholds)
    }

    /// A finding of a lock that may be seen. One of a deadlock, or of an order, names other locks, too.
    pub(super) fn finding(&self, finding: &Finding) -> view::FindingRow {
        let row = details::finding(finding);
        let hidden = match finding.code {
            Code::Deadlock if finding.severity == Severity::Critical => HIDDEN_CIRCLE,
            Code::Deadlock => HIDDEN_MAYBE,
            Code::LockOrder => HIDDEN_ORDER,
            _ => return row,
        };
        if !self.scope.is_bounded() {
            return row;
        }
        // A finding may be older than the circles are by now, and its list may have been cut.
        let is_seen = finding.paths.len() < PATHS_MAX && finding.paths.iter().all(|path| self.sees(path));
        if is_seen {
            return row;
        }
        let paths = row.paths.into_iter().filter(|path| self.sees(path)).collect();
        view::FindingRow { text: hidden.to_owned(), paths, ..row }
    }

    /// What is odd about the ensemble as a whole, for those who see the whole of it.
    pub(super) fn oddities(&self) -> Vec<view::FindingRow> {
        if !self.scope.covers_path("/") {
            return Vec::new();
        }
        self.observatory.oddities(self.now).iter().map(details::finding).collect()
    }

    /// Roots under which something may be seen.
    pub(super) fn roots(&self) -> impl Iterator<Item = (RootId, &'a RootView)> {
        let scope = self.scope;
        (0..).map(RootId).zip(self.observatory.roots()).filter(move |(_, view)| scope.overlaps(&view.path))
    }

    fn locks_under(&self) -> Vec<u32> {
        let mut counts = vec![0; self.observatory.roots().len()];
        for lock in self.locks() {
            if let Some(count) = counts.get_mut(lock.root.0 as usize) {
                *count += 1;
            }
        }
        counts
    }

    pub(super) fn root_briefs(&self) -> Vec<view::RootBrief> {
        let counts = self.locks_under();
        let brief = |(at, view): (RootId, &RootView)| {
            let (state, since, why) = self.observatory.root_state(at, self.now);
            let locks = counts.get(at.0 as usize).copied().unwrap_or_default();
            let help = if locks == 0 {
                root_help(view_root_state(state), self.znodes(view), &self.ensemble.connect)
            } else {
                String::new()
            };
            view::RootBrief {
                tag: self.ensemble.tag(),
                path: view.path.to_string(),
                state: view_root_state(state),
                since_ms: since.0,
                why: why.to_owned(),
                locks,
                help,
            }
        };
        let mut briefs: Vec<view::RootBrief> = self.roots().map(brief).collect();
        // Without a link the same holds for all: once is enough.
        briefs
            .iter_mut()
            .skip(1)
            .filter(|brief| brief.state == view::RootState::Stale)
            .for_each(|brief| brief.help.clear());
        briefs
    }

    pub(super) fn root_statuses(&self) -> Vec<view::RootStatus> {
        let status = |(brief, (_, view)): (view::RootBrief, (RootId, &RootView))| view::RootStatus {
            path: brief.path,
            state: brief.state,
            since_ms: brief.since_ms,
            why: brief.why,
            locks: u64::from(brief.locks),
            znodes: self.znodes(view),
        };
        self.root_briefs().into_iter().zip(self.roots()).map(status).collect()
    }

    /// Znodes below a root that may be seen.
    fn znodes(&self, view: &RootView) -> u64 {
        if self.sees(&view.path) {
            return view.mirror.nodes();
        }
        let seen = view
            .mirror
            .directories()
            .flat_map(|(path, directory)| directory.children().map(move |(key, _)| join_path(path, key.name())));
        seen.filter(|path| self.sees(path)).count() as u64
    }
}
