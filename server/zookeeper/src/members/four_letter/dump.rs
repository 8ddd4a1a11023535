//! `dump`: which sessions there are, when they run out, and what they own. A leader (or a standalone server) prints
//! when sessions run out, the others print time-outs.

use lockscope_core::evidence::{Expiry, SessionTable};
use lockscope_core::znode::SessionId;

use super::super::fault::{EPHEMERALS_MAX, Malformed, SESSIONS_MAX, count};
use super::{opening, session};

const QUARTER_S: i64 = 900;

#[derive(Clone, Copy)]
enum Part {
    Before,
    Local,
    Global,
    Ephemerals,
    /// The connections, which `cons` reports better.
    Connections,
}

struct Reading {
    table: SessionTable,
    part: Part,
    expiry: Option<Expiry>,
    owner: Option<SessionId>,
    sessions: usize,
    ephemerals: usize,
}

/// The sessions and what they own.
pub fn parse(text: &str) -> Result<SessionTable, Malformed> {
    opening(text)?;
    let mut reading = Reading {
        table: SessionTable::default(),
        part: Part::Before,
        expiry: None,
        owner: None,
        sessions: 0,
        ephemerals: 0,
    };
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if !reading.begins(line) {
            match reading.part {
                Part::Before if line == "SessionTracker dump:" => {}
                Part::Before => return Err(Malformed::strange(line)),
                Part::Local | Part::Global => reading.session(line)?,
                Part::Ephemerals => reading.ephemeral(line)?,
                Part::Connections => return Ok(reading.table),
            }
        }
    }
    if matches!(reading.part, Part::Connections) { Ok(reading.table) } else { Err(Malformed::CutOff) }
}

impl Reading {
    fn begins(&mut self, line: &str) -> bool {
        let part = if line.starts_with('/') {
            // A path may read like anything.
            None
        } else if line.starts_with("Local Session") {
            Some(Part::Local)
        } else if line.starts_with("Global Session") || line.starts_with("Session Sets") {
            Some(Part::Global)
        } else if line == "ephemeral nodes dump:" || line.starts_with("Sessions with Ephemerals (") {
            Some(Part::Ephemerals)
        } else if line == "Connections dump:" {
            Some(Part::Connections)
        } else {
            None
        };
        let Some(part) = part else { return false };
        (self.expiry, self.owner) = (None, None);
        self.part = part;
        true
    }

    /// `N expire at DATE:`, `\t0x…` under it, or `0x…\t8000ms`.
    fn session(&mut self, line: &str) -> Result<(), Malformed> {
        if let Some((_, date)) = line.split_once(" expire at ") {
            self.expiry = Some(quarter_hour(date).ok_or_else(|| Malformed::strange(line))?);
            return Ok(());
        }
        let mut words = line.split_whitespace();
        let id = words.next().and_then(session).ok_or_else(|| Malformed::strange(line))?;
        count(&mut self.sessions, "sessions", SESSIONS_MAX)?;
        if let Some(timeout_ms) = words.next().and_then(|word| word.strip_suffix("ms")).and_then(|ms| ms.parse().ok()) {
            self.table.timeouts_ms.insert(id, timeout_ms);
        }
        if let Some(expiry) = self.expiry {
            self.table.expiries.insert(id, expiry);
        }
        if matches!(self.part, Part::Local) {
            self.table.local.push(id);
        }
        Ok(())
    }

    /// `0x…:` and `\t/path` under it.
    fn ephemeral(&mut self, line: &str) -> Result<(), Malformed> {
        if line.starts_with('/') {
            let owner = self.owner.ok_or_else(|| Malformed::strange(line))?;
            count(&mut self.ephemerals, "ephemerals", EPHEMERALS_MAX)?;
            self.table.ephemerals.entry(owner).or_default().push(line.into());
            return Ok(());
        }
        let owner = line.strip_suffix(':').and_then(session).ok_or_else(|| Malformed::strange(line))?;
        self.owner = Some(owner);
        self.table.ephemerals.entry(owner).or_default();
        Ok(())
    }
}

/// Which second of every quarter of an hour: the zone is printed as letters that several zones share.
fn quarter_hour(date: &str) -> Option<Expiry> {
    let time = date.split_whitespace().find(|word| word.bytes().filter(|byte| *byte == b':').count() == 2)?;
    let mut numbers =
        time.split(':').map(|number| number.parse::<i64>().ok().filter(|number| (0..=60).contains(number)));
    let (_, minutes, seconds) = (numbers.next()??, numbers.next()??, numbers.next()??);
    Some(Expiry::QuarterHour((minutes * 60 + seconds).rem_euclid(QUARTER_S) * 1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From a real leader and follower, 3.8.0.
    const TAIL: &str = "ephemeral nodes dump:\nSessions with Ephemerals (2):\n0x200016dbe4b0000:\n\t/l/x-0000000001\n0x100016dbe330001:\n\t/l/x-0000000000\n\t/l/a b expire at:\nConnections dump:\nConnections Sets (2)/(2):\n1 expire at Sat Nov 21 08:34:27 UTC 2026:\n\tip: /127.0.0.1:43638 sessionId: 0x200016dbe4b0000\n";
    const SESSION: SessionId = SessionId(0x0100_016d_be33_0001);

    fn owns(table: &SessionTable) -> Vec<&str> {
        table.ephemerals[&SESSION].iter().map(AsRef::as_ref).collect()
    }

    #[test]
    fn a_real_leader() {
        let head = "SessionTracker dump:\nSession Sets (1)/(2):\n2 expire at Sat Nov 21 08:34:26 UTC 2026:\n\t0x300016dbe330000\n\t0x100016dbe330001\n";
        let table = parse(&format!("{head}{TAIL}")).unwrap();
        assert_eq!(table.expiries.get(&SESSION), Some(&Expiry::QuarterHour(266_000)));
        assert_eq!((table.expiries.len(), table.timeouts_ms.len(), table.ephemerals.len()), (2, 0, 2));
        assert_eq!(owns(&table), ["/l/x-0000000000", "/l/a b expire at:"]);
    }

    #[test]
    fn a_real_follower_and_one_with_local_sessions() {
        let follower = "SessionTracker dump:\nGlobal Sessions(1):\n0x100016dbe330001\t8000ms\n";
        let table = parse(&format!("{follower}{TAIL}")).unwrap();
        assert_eq!((table.expiries.len(), table.timeouts_ms.get(&SESSION)), (0, Some(&8_000)));
        let local = "SessionTracker dump:\nLocal Session Sets (1)/(1):\n1 expire at Sat Nov 21 08:59:59 CET 2026:\n\t0x7\nGlobal Sessions(1):\n0x100016dbe330001\t8000ms\n";
        let table = parse(&format!("{local}{TAIL}")).unwrap();
        assert_eq!(
            (&table.local[..], table.expiries.get(&SessionId(7))),
            (&[SessionId(7)][..], Some(&Expiry::QuarterHour(899_000)))
        );
        assert_eq!(table.expiries.get(&SESSION), None);
    }

    #[test]
    fn half_an_answer_is_none() {
        let head = "SessionTracker dump:\nGlobal Sessions(0):\n";
        assert_eq!(parse(head), Err(Malformed::CutOff));
        assert_eq!(parse(&format!("{head}{}", &TAIL[..60])), Err(Malformed::strange("0x200016")));
        assert!(matches!(parse("SSH-2.0-OpenSSH_9.2\r\n"), Err(Malformed::Strange { .. })));
    }
}
