//! Writes small logs and snapshots as ZooKeeper does.

use std::fs;
use std::path::Path;

#[derive(Default)]
pub(crate) struct Out(Vec<u8>);

impl Out {
    pub(crate) fn int(&mut self, value: i32) -> &mut Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub(crate) fn long(&mut self, value: i64) -> &mut Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.int(i32::try_from(text.len()).unwrap());
        self.0.extend(text.as_bytes());
        self
    }
}

/// One record: who, which, when, and what.
pub(crate) type Record = (i64, i64, i64, Vec<u8>);

fn record(session: i64, zxid: i64, time_ms: i64, kind: i32, body: impl FnOnce(&mut Out)) -> Record {
    let mut out = Out::default();
    out.long(session).int(1).long(zxid).long(time_ms).int(kind);
    body(&mut out);
    (session, zxid, time_ms, out.0)
}

pub(crate) fn create(session: i64, zxid: i64, time_ms: i64, path: &str, is_ephemeral: bool) -> Record {
    record(session, zxid, time_ms, 1, |out| {
        out.text(path).text("who").int(0);
        out.0.push(u8::from(is_ephemeral));
        out.int(-1);
    })
}

pub(crate) fn delete(session: i64, zxid: i64, time_ms: i64, path: &str) -> Record {
    record(session, zxid, time_ms, 2, |out| _ = out.text(path))
}

pub(crate) fn close(session: i64, zxid: i64, time_ms: i64) -> Record {
    record(session, zxid, time_ms, -11, |_| {})
}

/// A log, named by its first record.
pub(crate) fn log(directory: &Path, records: &[Record]) {
    let mut out = Out::default();
    out.int(0x5a4b_4c47).int(2).long(0);
    for (.., payload) in records {
        out.long(i64::from(adler2::adler32_slice(payload))).int(i32::try_from(payload.len()).unwrap());
        out.0.extend(payload);
        out.0.push(b'B');
    }
    fs::write(directory.join(format!("log.{:x}", records[0].1)), out.0).unwrap();
}

/// A snapshot of znodes below the root: path, czxid, owner.
pub(crate) fn snapshot(directory: &Path, zxid: i64, nodes: &[(&str, i64, i64)]) {
    let mut out = Out::default();
    out.int(0x5a4b_534e).int(2).long(0).int(0).int(0);
    for (path, czxid, owner) in [("", 0, 0), ("/zookeeper", 0, 0)].iter().chain(nodes) {
        out.text(path).text("who").long(-1).long(*czxid).long(*czxid).long(5).long(5).int(0).int(0).int(0);
        out.long(*owner).long(*czxid);
    }
    out.text("/");
    let checksum = i64::from(adler2::adler32_slice(&out.0));
    out.long(checksum).text("/");
    fs::write(directory.join(format!("snapshot.{zxid:x}")), out.0).unwrap();
}
