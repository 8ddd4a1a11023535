//! Several servers that watch the same: who there is, who leads, who owns which ensemble, and whose turn an act is. All of
//! it lives below one znode of one ensemble; nothing of it is needed to watch.
//!
//! Pure: `rendezvous`, `assignment`, `member`, `lease`, `paths`, `secret`, `handed_on`, `state`. The rest speaks to ZooKeeper.

pub mod assignment;
mod cluster;
mod document;
mod handed_on;
mod heads;
mod latch;
mod lease;
pub mod member;
mod membership;
mod mutex;
mod paths;
pub mod rendezvous;
mod replica;
mod secret;
mod session;
mod settings;
mod state;

pub use cluster::Cluster;
pub use document::{DOCUMENT_BYTES_MAX, Document, DocumentError};
pub use handed_on::{PIECE_BYTES_MAX, PIECES_TYPE, PieceError, PieceReader, PieceWriter};
pub use heads::LogHead;
pub use lease::Lease;
pub use mutex::{ActMutex, MutexError};
pub use secret::{
    ANSWER_HEADERS, Greeting, GreetingError, Greetings, PROOF_HEADER, ReplicaSecret, SECRET_BYTES_MIN, answer_text,
};
pub use settings::Settings;
pub use state::Counts;
