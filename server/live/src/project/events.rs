//! The event log, within a visibility scope.

use lockscope_core::change::{Change, Departure, Event, EventRecord};
use lockscope_core::observation::Link;
use lockscope_core::znode::{SessionId, Zxid};
use lockscope_view::words::plural;
use lockscope_view::{self as view, EventKind, EventRow, EventsQuery, Lately, LatelyIn};

use super::ProjectionContext;
use super::words::{view_root_state, view_verdict};

/// What there is of one ensemble, without the server's epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventsView {
    pub ensemble: String,
    /// In the order they happened.
    pub events: Vec<EventRow>,
    /// What to ask after next.
    pub next_after: u64,
    /// How many are kept no more.
    pub lost: u64,
}

/// The newest rows of every ensemble that is meant.
pub fn lately(looks: &[ProjectionContext<'_>], query: &EventsQuery) -> Lately {
    let meant = looks.iter().filter(|look| look.is_meant(&query.ensemble));
    let told = meant.map(|look| events(look, query, None));
    Lately { ensembles: told.map(|EventsView { ensemble, events, .. }| LatelyIn { ensemble, events }).collect() }
}

/// One ensemble's rows with a greater number than `after`; without one, its newest.
pub fn events(look: &ProjectionContext<'_>, query: &EventsQuery, after: Option<u64>) -> EventsView {
    let recorder = look.observatory.recorder();
    let limit = query.limit as usize;
    // Most rows are filtered before anything is made of them.
    let is_below =
        |recorded| query.path.is_empty() || look.place(recorded).is_some_and(|path| lies_below(path, &query.path));
    let rows = |recorded| is_below(recorded).then(|| look.event(recorded)).flatten();
    let (events, next_after) = match after {
        None => {
            let mut newest: Vec<EventRow> = recorder.after(0).rev().filter_map(rows).take(limit).collect();
            newest.reverse();
            (newest, recorder.last())
        }
        Some(after) => {
            let events: Vec<EventRow> = recorder.after(after).filter_map(rows).take(limit).collect();
            // A full answer may have more behind it.
            let next = events.last().filter(|_| events.len() == limit).map_or(recorder.last(), |last| last.number);
            (events, next)
        }
    };
    let lost = after.map_or(0, |after| recorder.lost_after(after));
    EventsView { ensemble: look.ensemble.name.clone(), events, next_after, lost }
}

pub(super) fn lies_below(path: &str, top: &str) -> bool {
    path.strip_prefix(top.trim_end_matches('/')).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[derive(Default)]
struct About {
    path: Option<String>,
    node: Option<String>,
    czxid: Option<Zxid>,
    session: Option<SessionId>,
    verdict: Option<view::Verdict>,
    finding: Option<String>,
}

impl About {
    fn lock(path: &str) -> Self {
        Self { path: Some(path.to_owned()), ..Self::default() }
    }
}

impl ProjectionContext<'_> {
    /// The lock or root that it is about.
    pub(super) fn place<'a>(&'a self, recorded: &'a EventRecord) -> Option<&'a str> {
        match &recorded.what {
            Event::Root(root, _) => self.observatory.roots().get(root.0 as usize).map(|root| &*root.path),
            Event::Changed(change) => change.lock(),
        }
    }

    /// One row, if what it is about may be seen.
    pub(super) fn event(&self, recorded: &EventRecord) -> Option<EventRow> {
        let (kind, about, text) = match &recorded.what {
            Event::Root(root, state) => {
                let path = &self.observatory.roots().get(root.0 as usize)?.path;
                let state = view_root_state(*state);
                self.scope
                    .overlaps(path)
                    .then(|| (EventKind::Root, About::lock(path), format!("The root is {}.", state.name())))?
            }
            Event::Changed(change) => self.told(change)?,
        };
        let About { path, node, czxid, session, verdict, finding } = about;
        let czxid = czxid.map(|zxid| view::Zxid(zxid.0));
        let session_id = session.map(|session| view::SessionId(session.0));
        Some(EventRow {
            number: recorded.number,
            at_ms: recorded.at.0,
            kind,
            path,
            node,
            czxid,
            session_id,
            verdict,
            finding,
            text,
        })
    }

    fn told(&self, change: &Change) -> Option<(EventKind, About, String)> {
        let of = |lock: &str| self.sees(lock).then(|| About::lock(lock));
        Some(match change {
            Change::LinkChanged(link) => (EventKind::Link, About::default(), link_text(*link)),
            Change::LockAppeared { lock } => (EventKind::LockAppeared, of(lock)?, "A lock was recognised.".to_owned()),
            Change::LockVanished { lock } => (EventKind::LockVanished, of(lock)?, "The lock is no more.".to_owned()),
            Change::Arrived { lock, node } => {
                (EventKind::Arrived, About { node: Some(node.to_string()), ..of(lock)? }, format!("{node} joined."))
            }
            Change::Identified { lock, czxid, owner } => {
                let text = owner.map_or_else(
                    || "No session owns it.".to_owned(),
                    |owner| format!("Session {} owns it.", view::SessionId(owner.0)),
                );
                (EventKind::Identified, About { czxid: Some(*czxid), session: *owner, ..of(lock)? }, text)
            }
            Change::Left { lock, node, czxid, owner, how } => {
                let about = About { node: Some(node.to_string()), czxid: *czxid, session: *owner, ..of(lock)? };
                (EventKind::Left, about, format!("{node} {}.", departure(*how)))
            }
            Change::HolderChanged { lock, node } => {
                let text =
                    node.as_ref().map_or_else(|| "Nobody holds it.".to_owned(), |node| format!("{node} holds it."));
                (EventKind::HolderChanged, About { node: node.as_ref().map(ToString::to_string), ..of(lock)? }, text)
            }
            Change::SessionEnded { session, znodes } => {
                let text = format!(
                    "Session {} ended; {} went with it.",
                    view::SessionId(session.0),
                    plural(u64::from(*znodes), "znode", "znodes")
                );
                self.sees("/")
                    .then(|| (EventKind::SessionEnded, About { session: Some(*session), ..About::default() }, text))?
            }
            Change::DeadlockChanged { locks, is_closed } => {
                let is_seen = locks.iter().all(|lock| self.sees(lock));
                let names = locks.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
                let (kind, done) = if *is_closed {
                    (EventKind::DeadlockClosed, "closed")
                } else {
                    (EventKind::DeadlockOpened, "came apart")
                };
                is_seen.then(|| {
                    (kind, About::lock(locks.first().map_or("", AsRef::as_ref)), format!("A deadlock {done}: {names}."))
                })?
            }
            Change::FindingChanged { lock, code, is_raised } => {
                let (kind, done) = if *is_raised {
                    (EventKind::FindingRaised, "found")
                } else {
                    (EventKind::FindingCleared, "no longer so")
                };
                (
                    kind,
                    About { finding: Some(code.name().to_owned()), ..of(lock)? },
                    format!("{}: {done}.", code.name()),
                )
            }
            Change::VerdictChanged { lock, verdict } => {
                let verdict = view_verdict(*verdict);
                (
                    EventKind::VerdictChanged,
                    About { verdict: Some(verdict), ..of(lock)? },
                    format!("The verdict is {}.", verdict.name()),
                )
            }
            Change::RootChanged(_) | Change::EvidenceChanged | Change::LockTouched { .. } => return None,
        })
    }
}

fn link_text(link: Link) -> String {
    let state = match link {
        Link::Live => "live",
        Link::Stale => "stale",
        Link::Lost => "lost",
    };
    format!("The link to ZooKeeper is {state}.")
}

fn departure(how: Departure) -> &'static str {
    match how {
        Departure::Deleted => "left",
        Departure::SessionEnded => "left: its session ended",
        Departure::DuringGap => "was gone after a gap in our view",
    }
}
