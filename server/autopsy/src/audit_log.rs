//! ZooKeeper's audit log (`audit.enable=true`): who wrote, and from where, by session. Logs of transactions don't have it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use crate::AutopsyError;

/// The longest line that is read; of a longer one the rest is skipped.
const LINE_BYTES_MAX: u64 = 64 << 10;
/// Sessions that are kept. Overflow policy: further ones stay unknown.
const SESSIONS_MAX: usize = 1_000_000;
/// The longest address or name of a user that is kept.
const TEXT_BYTES_MAX: usize = 256;

/// Who a session is, as the server that it wrote to says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writer {
    /// The address that it wrote from last.
    pub address: Box<str>,
    /// The user that it wrote as last.
    pub user: Box<str>,
}

/// Writers by session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditLog(HashMap<i64, Writer>);

impl AuditLog {
    /// Reads one.
    ///
    /// # Errors
    /// It can't be read, or has no line of an audit log.
    pub fn read(path: &Path) -> Result<Self, AutopsyError> {
        let unreadable = |why: String| AutopsyError::NothingFound(format!("--audit-log {}: {why}", path.display()));
        let mut file = BufReader::new(File::open(path).map_err(|error| unreadable(error.to_string()))?);
        let (mut log, mut line) = (Self::default(), Vec::new());
        loop {
            line.clear();
            let read = file.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
            if read.map_err(|error| unreadable(error.to_string()))? == 0 {
                break;
            }
            if !line.ends_with(b"\n") && line.len() as u64 == LINE_BYTES_MAX {
                file.skip_until(b'\n').map_err(|error| unreadable(error.to_string()))?;
            }
            log.take(&String::from_utf8_lossy(&line));
        }
        if log.0.is_empty() {
            return Err(unreadable("no line has a session and an address; is it ZooKeeper's audit log?".to_owned()));
        }
        Ok(log)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn writer(&self, session: i64) -> Option<&Writer> {
        self.0.get(&session)
    }

    /// Takes in a line. What a client chose (the znode) comes behind what the server says, so the first of each counts.
    fn take(&mut self, line: &str) {
        let is_between = if line.contains('\t') { |c: char| c == '\t' } else { |c: char| c == ' ' };
        // Before the first field are the time and the logger.
        let fields = || line.trim_end().split(is_between);
        let value = |key: &str| {
            fields().find_map(|field| {
                let (before, value) = field.split_once('=')?;
                (before.rsplit(' ').next() == Some(key)).then_some(value)
            })
        };
        let session = value("session").and_then(|text| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok());
        let (Some(session), Some(address)) = (session.map(u64::cast_signed), value("ip")) else { return };
        if self.0.len() >= SESSIONS_MAX && !self.0.contains_key(&session) {
            return;
        }
        let short =
            |text: &str| -> Box<str> { if text.len() <= TEXT_BYTES_MAX { text.into() } else { Box::default() } };
        self.0.insert(session, Writer { address: short(address), user: short(value("user").unwrap_or_default()) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<AuditLog, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        std::fs::write(&path, text).unwrap();
        AuditLog::read(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn who_wrote_is_known_by_session() {
        let log = of("2026-11-22 03:12:07,412 INFO audit.Slf4jAuditLogger: user=zk\toperation=serverStart\tresult=success\n\
            2026-11-22 03:12:08,001 INFO audit.Slf4jAuditLogger: session=0x19344730000\tuser=ada\tip=10.0.0.7\toperation=create\tznode=/a\tip=6.6.6.6\tznode_type=persistent\tresult=success\n\
            session=0xff00000000000001 user=bob ip=10.0.0.8 operation=delete znode=/x session=0x1 ip=6.6.6.6 result=success\n\
            session=nothing ip=1.1.1.1\n")
        .unwrap();
        assert_eq!(log.writer(0x0193_4473_0000), Some(&Writer { address: "10.0.0.7".into(), user: "ada".into() }));
        let other = log.writer(0xff00_0000_0000_0001_u64.cast_signed()).unwrap();
        assert_eq!((&*other.address, &*other.user), ("10.0.0.8", "bob"));
        assert_eq!(log.writer(1), None, "what a client named its znode says nothing");
    }

    #[test]
    fn something_else_is_refused_and_a_long_line_takes_no_memory() {
        assert!(of("hello\n").is_err_and(|why| why.contains("is it ZooKeeper's audit log?")));
        let long =
            format!("session=0x1 ip=1.1.1.1 znode=/{}\nsession=0x2 ip=1.1.1.2 result=success\n", "x".repeat(1 << 20));
        let log = of(&long).unwrap();
        assert!(log.writer(1).is_some() && log.writer(2).is_some());
    }
}
