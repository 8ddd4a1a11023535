//! The ZooKeeper side: turns watches and reads into `Observation`s. Owns sessions, watches and reads; must not know
//! the wire, the feed or the page. `observer` runs sessions, `root` is the pure heart of one watched root.

mod act;
mod backoff;
mod children;
mod config;
mod counts;
mod credentials;
mod elsewhere;
mod link;
mod observer;
mod outbox;
mod own;
mod probe;
mod reads;
mod request;
mod right;
mod root;
mod scratch;
mod session;
mod silent;
mod tally;
mod translate;
mod watch;

pub use act::{Acting, Asked, MakeConnector};
pub use backoff::{Backoff, BackoffError};
pub use config::{ConfigError, Fault, ObserverConfig, SESSION_TIMEOUT_MIN, check_connect, check_roots, split_chroot};
pub use counts::Counts;
pub use credentials::{Credentials, Login, Secret, TlsIdentity, ZkTls, check_tls_hosts};
pub use observer::{BATCHES_MAX, observe, observe_counted};
pub use outbox::BATCH_MAX;
pub use own::is_ours;
pub(crate) use own::note as note_ours;
pub use right::{May, Right};
pub use scratch::{ScratchConfig, compare_clocks};
