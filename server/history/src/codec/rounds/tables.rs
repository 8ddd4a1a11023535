//! The tables that members report, as differences to those they reported before.

use lockscope_core::evidence::{Connection, Expiry, SessionTable, WatchTable};
use lockscope_core::znode::SessionId;

use super::super::CodecError;
use super::super::bytes::{unzigzag, zigzag};
use super::super::coded::{Coded, coded_struct};
use super::super::tables::{Reader, Writer};
use super::list;

coded_struct!(Connection { session, address, timeout_ms, established_ms, answered_ms, received, last_operation });

const ADDRESS: u8 = 1;
const TIMEOUT: u8 = 1 << 1;
const ESTABLISHED: u8 = 1 << 2;
const ANSWERED: u8 = 1 << 3;
const RECEIVED: u8 = 1 << 4;
const LAST_OPERATION: u8 = 1 << 5;

const ALL: u8 = (1 << 6) - 1;

pub(super) fn put_connections(out: &mut Writer, before: &[Connection], after: &[Connection]) {
    list::put(out, (before, after), |one| one.session, put_connection, |out, one| one.put(out));
}

pub(super) fn take_connections(from: &mut Reader<'_>, before: &[Connection]) -> Result<Vec<Connection>, CodecError> {
    let bytes = |one: &Connection| one.address.len() + one.last_operation.as_ref().map_or(0, |text| text.len());
    list::take(from, before, take_connection, Connection::take, bytes)
}

fn put_connection(out: &mut Writer, before: &Connection, after: &Connection) {
    let Connection { session: _, address, timeout_ms, established_ms, answered_ms, received, last_operation } = after;
    let flag = |is_other: bool, flag: u8| if is_other { flag } else { 0 };
    let flags = flag(*address != before.address, ADDRESS)
        | flag(*timeout_ms != before.timeout_ms, TIMEOUT)
        | flag(*established_ms != before.established_ms, ESTABLISHED)
        | flag(*answered_ms != before.answered_ms, ANSWERED)
        | flag(*received != before.received, RECEIVED)
        | flag(*last_operation != before.last_operation, LAST_OPERATION);
    out.byte(flags);
    if flags & ADDRESS != 0 {
        address.put(out);
    }
    if flags & TIMEOUT != 0 {
        timeout_ms.put(out);
    }
    if flags & ESTABLISHED != 0 {
        put_grown(out, before.established_ms, *established_ms);
    }
    if flags & ANSWERED != 0 {
        put_grown(out, before.answered_ms, *answered_ms);
    }
    if flags & RECEIVED != 0 {
        put_grown(out, before.received.map(u64::cast_signed), received.map(u64::cast_signed));
    }
    if flags & LAST_OPERATION != 0 {
        last_operation.put(out);
    }
}

fn take_connection(from: &mut Reader<'_>, before: &Connection) -> Result<Connection, CodecError> {
    let flags = from.bytes.byte()?;
    if flags & !ALL != 0 {
        return Err(CodecError::Malformed("unknown change of a connection"));
    }
    let mut after = before.clone();
    if flags & ADDRESS != 0 {
        after.address = Coded::take(from)?;
    }
    if flags & TIMEOUT != 0 {
        after.timeout_ms = Coded::take(from)?;
    }
    if flags & ESTABLISHED != 0 {
        after.established_ms = take_grown(from, before.established_ms)?;
    }
    if flags & ANSWERED != 0 {
        after.answered_ms = take_grown(from, before.answered_ms)?;
    }
    if flags & RECEIVED != 0 {
        after.received = take_grown(from, before.received.map(u64::cast_signed))?.map(i64::cast_unsigned);
    }
    if flags & LAST_OPERATION != 0 {
        after.last_operation = Coded::take(from)?;
    }
    from.spend(after.address.len() + after.last_operation.as_ref().map_or(0, |text| text.len()))?;
    Ok(after)
}

/// What may be absent, by how much it grew: 0 for nothing, 1 for a number that does not fit, or two more than it.
fn put_grown(out: &mut Writer, before: Option<i64>, after: Option<i64>) {
    let Some(after) = after else { return out.u64(0) };
    let grown = after.wrapping_sub(before.unwrap_or(0));
    match zigzag(grown).checked_add(2) {
        Some(code) => out.u64(code),
        None => {
            out.u64(1);
            out.i64(grown);
        }
    }
}

fn take_grown(from: &mut Reader<'_>, before: Option<i64>) -> Result<Option<i64>, CodecError> {
    let grown = match from.bytes.u64()? {
        0 => return Ok(None),
        1 => from.bytes.i64()?,
        code => unzigzag(code - 2),
    };
    Ok(Some(grown.wrapping_add(before.unwrap_or(0))))
}

fn listed<K: Copy, V: Clone>(map: &std::collections::BTreeMap<K, V>) -> Vec<(K, V)> {
    map.iter().map(|(key, value)| (*key, value.clone())).collect()
}

pub(super) fn put_sessions(out: &mut Writer, before: &SessionTable, after: &SessionTable) {
    let SessionTable { expiries, timeouts_ms, local, ephemerals } = after;
    let pair = (&*listed(&before.expiries), &*listed(expiries));
    list::put(out, pair, |one| one.0, |out, old, new| put_expiry(out, old.1, new.1), |out, one| one.put(out));
    let pair = (&*listed(&before.timeouts_ms), &*listed(timeouts_ms));
    list::put(out, pair, |one| one.0, |out, _, new| new.1.put(out), |out, one| one.put(out));
    list::put(out, (&before.local, local), |one| *one, |_, _, _| {}, |out, one| one.put(out));
    let (before, after): (Vec<_>, Vec<_>) = (before.ephemerals.iter().collect(), ephemerals.iter().collect());
    list::put(
        out,
        (&before, &after),
        |one| *one.0,
        |out, old, new| put_paths(out, old.1, new.1),
        |out, one| {
            one.0.put(out);
            put_paths(out, &[], one.1);
        },
    );
}

pub(super) fn take_sessions(from: &mut Reader<'_>, before: &SessionTable) -> Result<SessionTable, CodecError> {
    let change = |from: &mut Reader<'_>, old: &(SessionId, Expiry)| Ok((old.0, take_expiry(from, old.1)?));
    let expiries = list::take(from, &listed(&before.expiries), change, Coded::take, |_| 0)?;
    let change = |from: &mut Reader<'_>, old: &(SessionId, i64)| Ok((old.0, i64::take(from)?));
    let timeouts_ms = list::take(from, &listed(&before.timeouts_ms), change, Coded::take, |_| 0)?;
    let local = list::take(from, &before.local, |_, old| Ok(*old), Coded::take, |_| 0)?;
    let old = listed(&before.ephemerals);
    let change = |from: &mut Reader<'_>, old: &(SessionId, Vec<Box<str>>)| Ok((old.0, take_paths(from, &old.1)?));
    let new = |from: &mut Reader<'_>| Ok((SessionId::take(from)?, take_paths(from, &[])?));
    let bytes = |one: &(SessionId, Vec<Box<str>>)| one.1.iter().map(|path| path.len() + 16).sum();
    let ephemerals = list::take(from, &old, change, new, bytes)?;
    Ok(SessionTable {
        expiries: expiries.into_iter().collect(),
        timeouts_ms: timeouts_ms.into_iter().collect(),
        local,
        ephemerals: ephemerals.into_iter().collect(),
    })
}

/// The kind, and by how much the end moved. Sessions run out on whole ticks, so most move by as much as the one before.
fn put_expiry(out: &mut Writer, before: Expiry, after: Expiry) {
    let kind = match after {
        Expiry::Running(_) => 0,
        Expiry::QuarterHour(_) => 1,
    };
    let moved = ms_of(after).wrapping_sub(ms_of(before));
    if moved == out.last.moved_ms {
        return out.byte(kind | AS_BEFORE);
    }
    out.byte(kind);
    out.i64(moved);
    out.last.moved_ms = moved;
}

fn take_expiry(from: &mut Reader<'_>, before: Expiry) -> Result<Expiry, CodecError> {
    let kind = from.bytes.byte()?;
    if kind & AS_BEFORE == 0 {
        from.last.moved_ms = from.bytes.i64()?;
    }
    let ms = ms_of(before).wrapping_add(from.last.moved_ms);
    match kind & !AS_BEFORE {
        0 => Ok(Expiry::Running(ms)),
        1 => Ok(Expiry::QuarterHour(ms)),
        _ => Err(CodecError::Malformed("unknown Expiry")),
    }
}

const AS_BEFORE: u8 = 2;

fn ms_of(expiry: Expiry) -> i64 {
    match expiry {
        Expiry::Running(ms) | Expiry::QuarterHour(ms) => ms,
    }
}

fn put_paths(out: &mut Writer, before: &[Box<str>], after: &[Box<str>]) {
    list::put(out, (before, after), |path| (**path).to_owned(), |_, _, _| {}, |out, path| out.path(path));
}

fn take_paths(from: &mut Reader<'_>, before: &[Box<str>]) -> Result<Vec<Box<str>>, CodecError> {
    list::take(from, before, |_, old| Ok(old.clone()), |from| from.path(), |path| path.len())
}

pub(super) fn put_watches(out: &mut Writer, before: &WatchTable, after: &WatchTable) {
    let WatchTable { by_path } = after;
    let (before, after): (Vec<_>, Vec<_>) = (before.by_path.iter().collect(), by_path.iter().collect());
    list::put(
        out,
        (&before, &after),
        |one| one.0.clone(),
        |out, old, new| put_watchers(out, old.1, new.1),
        |out, one| {
            out.path(one.0);
            put_watchers(out, &[], one.1);
        },
    );
}

pub(super) fn take_watches(from: &mut Reader<'_>, before: &WatchTable) -> Result<WatchTable, CodecError> {
    let old: Vec<(Box<str>, Vec<SessionId>)> =
        before.by_path.iter().map(|(path, sessions)| (path.clone(), sessions.clone())).collect();
    let change = |from: &mut Reader<'_>, old: &(Box<str>, Vec<SessionId>)| {
        from.spend(old.0.len())?;
        Ok((old.0.clone(), take_watchers(from, &old.1)?))
    };
    let new = |from: &mut Reader<'_>| Ok((from.path()?, take_watchers(from, &[])?));
    let bytes = |one: &(Box<str>, Vec<SessionId>)| one.0.len() + 8 * one.1.len();
    let by_path = list::take(from, &old, change, new, bytes)?;
    Ok(WatchTable { by_path: by_path.into_iter().collect() })
}

fn put_watchers(out: &mut Writer, before: &[SessionId], after: &[SessionId]) {
    list::put(out, (before, after), |session| *session, |_, _, _| {}, |out, session| session.put(out));
}

fn take_watchers(from: &mut Reader<'_>, before: &[SessionId]) -> Result<Vec<SessionId>, CodecError> {
    list::take(from, before, |_, old| Ok(*old), SessionId::take, |_| 0)
}
