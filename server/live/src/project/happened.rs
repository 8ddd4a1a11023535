//! The event log backwards, as a list for people: with who it was, where the log itself says so later or the model knows.

use std::collections::HashMap;

use lockscope_core::change::{Change, Event, EventRecord};
use lockscope_core::znode::SessionId;
use lockscope_view::{self as view, EventKind, EventRow};

use super::ProjectionContext;
use super::events::lies_below;

/// Which event: when it was applied, and its number.
pub type EventKey = (i64, u64);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HappenedQuery {
    /// The ensemble; empty: each of them.
    pub ensemble: String,
    /// Only what is at or below this path; empty: all.
    pub path: String,
    pub session: Option<view::SessionId>,
    pub kind: Option<EventKind>,
    /// Only what came before this one; None: the newest.
    pub before: Option<EventKey>,
    pub after: Option<EventKey>,
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HappenedRow {
    /// The event. Of one who joined or began to hold it has the session too, as far as that is known.
    pub row: EventRow,
    /// Who: a label, or an address.
    pub client: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HappenedView {
    pub ensemble: String,
    /// The newest first.
    pub rows: Vec<HappenedRow>,
    /// The oldest event that is kept, whether it is wanted or not; None while there is none.
    pub oldest: Option<EventKey>,
}

pub fn happened(look: &ProjectionContext<'_>, query: &HappenedQuery) -> HappenedView {
    let log = look.observatory.recorder();
    let mut owners: HashMap<(&str, &str), SessionId> = HashMap::new();
    let mut rows = Vec::new();
    for recorded in log.after(0).rev() {
        if let Event::Changed(Change::Left { lock, node, owner: Some(owner), .. }) = &recorded.what {
            // Of a name that was used again, who had it next leaves next.
            owners.insert((lock, node), *owner);
        }
        let key = key_of(recorded);
        if query.after.is_some_and(|after| key <= after) || rows.len() >= query.limit {
            break;
        }
        if query.before.is_some_and(|before| key >= before) || !look.is_at(recorded, &query.path) {
            continue;
        }
        rows.extend(look.happened(recorded, query, &owners));
    }
    HappenedView { ensemble: look.ensemble.name.clone(), rows, oldest: log.after(0).next().map(key_of) }
}

fn key_of(recorded: &EventRecord) -> EventKey {
    (recorded.at.0, recorded.number)
}

impl ProjectionContext<'_> {
    fn is_at(&self, recorded: &EventRecord, path: &str) -> bool {
        path.is_empty() || self.place(recorded).is_some_and(|place| lies_below(place, path))
    }

    fn happened(
        &self,
        recorded: &EventRecord,
        query: &HappenedQuery,
        owners: &HashMap<(&str, &str), SessionId>,
    ) -> Option<HappenedRow> {
        let mut row = self.event(recorded).filter(|row| query.kind.is_none_or(|kind| kind == row.kind))?;
        if let (None, Some(lock), Some(node)) = (row.session_id, &row.path, &row.node) {
            let left = owners.get(&(lock.as_str(), node.as_str())).copied();
            row.session_id = left.or_else(|| self.owner(lock, node)).map(|session| view::SessionId(session.0));
        }
        if query.session.is_some_and(|session| row.session_id != Some(session)) {
            return None;
        }
        let client = row.session_id.and_then(|session| self.who(SessionId(session.0), &row));
        Some(HappenedRow { row, client })
    }

    fn owner(&self, lock: &str, node: &str) -> Option<SessionId> {
        let lock = self.observatory.lock(lock)?;
        let mirror = self.observatory.mirror_of(lock)?;
        let directories = [Some(&lock.parts.main), lock.parts.second.as_ref()];
        let mut found = directories.into_iter().flatten().filter_map(|path| mirror.directory(path)?.child(node));
        found.find_map(|(_, child)| child.owner())
    }

    /// Who a session is: what it says of itself where it holds or waits, or held; else where it comes from.
    fn who(&self, session: SessionId, row: &EventRow) -> Option<String> {
        let label = || self.spots(session).find_map(|spot| self.label_of(&spot));
        let held = || {
            let lock = self.observatory.lock(row.path.as_deref()?)?;
            let past = lock.tally.past.iter().find(|past| past.hold.owner == Some(session))?;
            past.hold.label.as_deref().map(str::to_owned)
        };
        label().or_else(held).or_else(|| self.peer(session, self.now).0.map(|client| client.address))
    }
}
