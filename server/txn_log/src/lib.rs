//! Reads ZooKeeper's transaction logs and snapshots from bytes: no I/O, no clock, no panic on whatever the bytes are,
//! and never more memory than they hold.
//!
//! ```
//! let log = [b"ZKLG".as_slice(), &2i32.to_be_bytes(), &0i64.to_be_bytes(), &[0; 4096]].concat();
//! let mut reader = lockscope_txn_log::LogReader::new(&log);
//! assert!(reader.next().is_none());
//! assert_eq!(reader.end(), Some(lockscope_txn_log::End::Zeros { offset: 16 }));
//! ```

mod error;
mod jute;
mod log;
mod payload;
mod record;
mod snapshot;
mod unpack;

pub use error::{Problem, ReadError};
pub use log::{Damage, End, LogDecoder, LogEntry, LogReader, RECORD_BYTES_MAX, TolerantLogDecoder};
pub use record::{Acl, Change, Create, Lifetime, Multi, Transaction};
pub use snapshot::{AclId, Node, Session, SnapshotDecoder, SnapshotReader, Stat, TreeDigest};
