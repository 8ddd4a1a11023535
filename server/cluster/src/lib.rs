//! Several servers that watch the same: who there is, who leads, and whose turn an act is. All of
//! it lives below one znode of one ensemble; nothing of it is needed to watch.
//!
//! `shared_rows` exchanges what replicas share in PostgreSQL.
//! Pure: `member`, `lease`, `paths`, `state`. The rest speaks to ZooKeeper.

mod cluster;
mod document;
mod latch;
mod lease;
pub mod member;
mod membership;
mod mutex;
mod paths;
mod replica;
mod session;
mod settings;
#[cfg(feature = "postgres")]
pub mod shared_rows;
mod state;

pub use cluster::Cluster;
pub use document::{DOCUMENT_BYTES_MAX, Document, DocumentError};
pub use lease::Lease;
pub use mutex::{ActMutex, MutexError};
pub use settings::Settings;
pub use state::Counts;
