//! Rounds of evidence as differences to the tables that the same members reported before, over chunks. Nothing is left
//! out: whatever a member said of any session can be seen on some page, and all of it decides what later rounds mean.
//!
//! Who writes and who reads keep the same tables. They begin with none at each checkpoint and after each gap, and a
//! chunk says how many rounds were told since: whoever has read others reads no difference to what it has not.

mod list;
mod tables;

use std::collections::BTreeMap;
use std::sync::Arc;

use lockscope_core::evidence::{Connection, MemberAnswer, Report, Round, SessionTable, WatchTable};

use super::CodecError;
use super::coded::{Coded, element};
use super::tables::{Reader, Writer};

/// Entries of tables that are kept to tell differences; of more nothing is kept, and the next round is told whole.
const KEPT_MAX: usize = 1 << 21;

/// What a member said last.
#[derive(Clone, Debug, Default)]
struct MemberTables {
    connections: Arc<Vec<Connection>>,
    sessions: Arc<SessionTable>,
    watches: Arc<WatchTable>,
}

impl MemberTables {
    fn entries(&self) -> usize {
        let paths: usize = self.sessions.ephemerals.values().map(Vec::len).sum();
        let sessions = &self.sessions;
        let watchers: usize = self.watches.by_path.values().map(|sessions| sessions.len() + 1).sum();
        let of_sessions = sessions.expiries.len() + sessions.timeouts_ms.len() + sessions.local.len();
        self.connections.len() + of_sessions + sessions.ephemerals.len() + paths + watchers
    }
}

/// The tables that differences are told to. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Rounds {
    members: BTreeMap<Box<str>, MemberTables>,
    /// Rounds since there were none.
    pub(super) told: u64,
}

impl Rounds {
    pub(super) fn put(&mut self, out: &mut Writer, round: &Round) {
        let Round { reports } = round;
        out.len(reports.len());
        let mut kept = BTreeMap::new();
        for report in reports {
            let mut tables = self.members.get(&report.member).cloned().unwrap_or_default();
            put_report(out, &mut tables, report);
            kept.insert(report.member.clone(), tables);
        }
        self.keep(kept);
    }

    pub(super) fn take(&mut self, from: &mut Reader<'_>) -> Result<Round, CodecError> {
        let (mut reports, mut kept) = (Vec::new(), BTreeMap::new());
        for _ in 0..from.bytes.count()? {
            let member = element(from, Box::<str>::take)?;
            let mut tables = self.members.get(&member).cloned().unwrap_or_default();
            reports.push(take_report(from, &mut tables, member.clone())?);
            kept.insert(member, tables);
        }
        self.keep(kept);
        Ok(Round { reports })
    }

    fn keep(&mut self, members: BTreeMap<Box<str>, MemberTables>) {
        self.told += 1;
        let is_much = members.values().map(MemberTables::entries).sum::<usize>() > KEPT_MAX;
        self.members = if is_much { BTreeMap::new() } else { members };
    }
}

fn put_report(out: &mut Writer, tables: &mut MemberTables, report: &Report) {
    let Report { member, number, by, is_down, connections, sessions, watches, health } = report;
    member.put(out);
    number.put(out);
    by.put(out);
    is_down.put(out);
    if let Some(value) = put_answer(out, connections) {
        tables::put_connections(out, &tables.connections, value);
        tables.connections = Arc::new(value.clone());
    }
    if let Some(value) = put_answer(out, sessions) {
        tables::put_sessions(out, &tables.sessions, value);
        tables.sessions = Arc::new(value.clone());
    }
    if let Some(value) = put_answer(out, watches) {
        tables::put_watches(out, &tables.watches, value);
        tables.watches = Arc::new(value.clone());
    }
    if let Some(value) = put_answer(out, health) {
        value.put(out);
    }
}

fn take_report(from: &mut Reader<'_>, tables: &mut MemberTables, member: Box<str>) -> Result<Report, CodecError> {
    let (number, by, is_down) = (Coded::take(from)?, Coded::take(from)?, Coded::take(from)?);
    let connections = take_answer(from, |from| tables::take_connections(from, &tables.connections))?;
    if let Some((_, value)) = connections.value() {
        tables.connections = Arc::new(value.clone());
    }
    let sessions = take_answer(from, |from| tables::take_sessions(from, &tables.sessions))?;
    if let Some((_, value)) = sessions.value() {
        tables.sessions = Arc::new(value.clone());
    }
    let watches = take_answer(from, |from| tables::take_watches(from, &tables.watches))?;
    if let Some((_, value)) = watches.value() {
        tables.watches = Arc::new(value.clone());
    }
    let health = take_answer(from, Coded::take)?;
    Ok(Report { member, number, by, is_down, connections, sessions, watches, health })
}

/// Writes all of an answer but its value, which it gives back.
fn put_answer<'a, T>(out: &mut Writer, answer: &'a MemberAnswer<T>) -> Option<&'a T> {
    match answer {
        MemberAnswer::NotAsked => out.byte(0),
        MemberAnswer::None { trouble, remedy } => {
            out.byte(1);
            trouble.put(out);
            remedy.put(out);
        }
        MemberAnswer::Ok { asked_at, value } => {
            out.byte(2);
            asked_at.put(out);
            return Some(value);
        }
    }
    None
}

fn take_answer<T>(
    from: &mut Reader<'_>,
    value: impl FnOnce(&mut Reader<'_>) -> Result<T, CodecError>,
) -> Result<MemberAnswer<T>, CodecError> {
    match from.bytes.byte()? {
        0 => Ok(MemberAnswer::NotAsked),
        1 => Ok(MemberAnswer::None { trouble: Coded::take(from)?, remedy: Coded::take(from)? }),
        2 => Ok(MemberAnswer::Ok { asked_at: Coded::take(from)?, value: value(from)? }),
        _ => Err(CodecError::Malformed("unknown MemberAnswer")),
    }
}
