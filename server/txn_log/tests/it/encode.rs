//! Writes what ZooKeeper writes, as `jute` and `FileTxnLog` do.

use lockscope_txn_log::{Acl, Change, Create, Lifetime, Multi, Transaction};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

#[derive(Default)]
pub(crate) struct Out(pub(crate) Vec<u8>);

impl Out {
    pub(crate) fn int(&mut self, value: i32) -> &mut Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub(crate) fn long(&mut self, value: i64) -> &mut Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub(crate) fn buffer(&mut self, bytes: Option<&[u8]>) -> &mut Self {
        let Some(bytes) = bytes else { return self.int(-1) };
        self.count(bytes.len()).0.extend(bytes);
        self
    }

    pub(crate) fn string(&mut self, text: &str) -> &mut Self {
        self.buffer(Some(text.as_bytes()))
    }

    pub(crate) fn count(&mut self, count: usize) -> &mut Self {
        self.int(i32::try_from(count).unwrap())
    }

    pub(crate) fn acl(&mut self, acl: &[Acl]) -> &mut Self {
        self.count(acl.len());
        for entry in acl {
            self.int(entry.permissions).string(&entry.scheme).string(&entry.id);
        }
        self
    }
}

fn create(create: &Create, out: &mut Out) -> i32 {
    out.string(&create.path).buffer(create.data.as_deref()).acl(&create.acl);
    match create.lifetime {
        Lifetime::Persistent | Lifetime::Ephemeral => {
            out.0.push(u8::from(create.lifetime == Lifetime::Ephemeral));
            out.int(create.parent_cversion);
            1
        }
        Lifetime::Container => {
            out.int(create.parent_cversion);
            19
        }
        Lifetime::Ttl { ttl_ms } => {
            out.int(create.parent_cversion).long(ttl_ms);
            21
        }
    }
}

/// The type and what follows it.
fn change(change: &Change, out: &mut Out) -> i32 {
    match change {
        Change::Create(node) => create(node, out),
        Change::Delete { path, by_server } => {
            out.string(path);
            if *by_server { 20 } else { 2 }
        }
        Change::SetData { path, data, version } => {
            out.string(path).buffer(data.as_deref()).int(*version);
            5
        }
        Change::SetAcl { path, acl, version } => {
            out.string(path).acl(acl).int(*version);
            7
        }
        Change::Check { path, version } => {
            out.string(path).int(*version);
            13
        }
        Change::Multi(Multi::Done(parts)) => {
            out.count(parts.len());
            for part in parts {
                let mut inner = Out::default();
                let kind = self::change(part, &mut inner);
                out.int(kind).buffer(Some(&inner.0));
            }
            14
        }
        Change::Multi(Multi::Failed(codes)) => {
            out.count(codes.len());
            for code in codes {
                let mut inner = Out::default();
                let kind = if *code == 0 {
                    self::change(&Change::Check { path: "/a".into(), version: 1 }, &mut inner)
                } else {
                    -1
                };
                if kind == -1 {
                    inner.int(*code);
                }
                out.int(kind).buffer(Some(&inner.0));
            }
            14
        }
        Change::CreateSession { timeout_ms } => {
            out.int(*timeout_ms);
            -10
        }
        Change::CloseSession { paths } => {
            if let Some(paths) = paths {
                out.count(paths.len());
                paths.iter().for_each(|path| _ = out.string(path));
            }
            -11
        }
        Change::Error { code } => {
            out.int(*code);
            -1
        }
        Change::Reconfig { data, version } => {
            out.string("/zookeeper/config").buffer(data.as_deref()).int(*version);
            16
        }
        Change::Unknown { kind } => *kind,
    }
}

pub(crate) fn payload(transaction: &Transaction, has_digest: bool) -> Vec<u8> {
    let mut body = Out::default();
    let kind = change(&transaction.change, &mut body);
    let mut out = Out::default();
    out.long(transaction.session).int(transaction.cxid).long(transaction.zxid).long(transaction.time_ms).int(kind);
    out.0.extend(body.0);
    if has_digest {
        out.int(2).long(0x1234_5678_9abc);
    }
    out.0
}

pub(crate) fn record(payload: &[u8]) -> Vec<u8> {
    let mut out = Out::default();
    out.long(i64::from(adler2::adler32_slice(payload))).buffer(Some(payload));
    out.0.push(b'B');
    out.0
}

pub(crate) fn header() -> Vec<u8> {
    let mut out = Out::default();
    out.int(0x5a4b_4c47).int(2).long(0);
    out.0
}

/// A log, and where each of its records begins.
pub(crate) fn log(transactions: &[Transaction], has_digest: bool) -> (Vec<u8>, Vec<usize>) {
    let mut bytes = header();
    let mut begins = Vec::new();
    for transaction in transactions {
        begins.push(bytes.len());
        bytes.extend(record(&payload(transaction, has_digest)));
    }
    (bytes, begins)
}

fn path() -> impl Strategy<Value = String> {
    "(/[a-zé鎖]{1,6}){1,3}"
}

fn acl() -> impl Strategy<Value = Vec<Acl>> {
    let entry = (any::<i32>(), "[a-z]{0,6}", "[a-z]{0,6}").prop_map(|(permissions, scheme, id)| Acl {
        permissions,
        scheme,
        id,
    });
    vec(entry, 0..3)
}

fn data() -> impl Strategy<Value = Option<Vec<u8>>> {
    option::of(vec(any::<u8>(), 0..40))
}

fn lifetime() -> impl Strategy<Value = Lifetime> {
    prop_oneof![
        Just(Lifetime::Persistent),
        Just(Lifetime::Ephemeral),
        Just(Lifetime::Container),
        any::<i64>().prop_map(|ttl_ms| Lifetime::Ttl { ttl_ms })
    ]
}

fn part() -> impl Strategy<Value = Change> {
    let create =
        (path(), data(), acl(), lifetime(), any::<i32>()).prop_map(|(path, data, acl, lifetime, parent_cversion)| {
            Change::Create(Create { path, data, acl, lifetime, parent_cversion })
        });
    prop_oneof![
        create,
        (path(), any::<bool>()).prop_map(|(path, by_server)| Change::Delete { path, by_server }),
        (path(), data(), any::<i32>()).prop_map(|(path, data, version)| Change::SetData { path, data, version }),
        (path(), acl(), any::<i32>()).prop_map(|(path, acl, version)| Change::SetAcl { path, acl, version }),
        (path(), any::<i32>()).prop_map(|(path, version)| Change::Check { path, version }),
    ]
}

fn any_change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => part(),
        1 => vec(part(), 0..4).prop_map(|parts| Change::Multi(Multi::Done(parts))),
        1 => vec(-120i32..=0, 0..4).prop_filter("one failed", |codes| codes.iter().any(|code| *code != 0)).prop_map(|codes| Change::Multi(Multi::Failed(codes))),
        1 => any::<i32>().prop_map(|timeout_ms| Change::CreateSession { timeout_ms }),
        1 => option::of(vec(path(), 0..4)).prop_map(|paths| Change::CloseSession { paths }),
        1 => any::<i32>().prop_map(|code| Change::Error { code }),
        1 => (data(), any::<i32>()).prop_map(|(data, version)| Change::Reconfig { data, version }),
        1 => (100..200i32).prop_map(|kind| Change::Unknown { kind }),
    ]
}

pub(crate) fn transactions(most: usize) -> impl Strategy<Value = Vec<Transaction>> {
    let one = (any::<i64>(), any::<i64>(), any::<i64>(), any::<i32>(), any_change())
        .prop_map(|(zxid, time_ms, session, cxid, change)| Transaction { zxid, time_ms, session, cxid, change });
    vec(one, 0..most)
}
