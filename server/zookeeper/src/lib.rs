//! The ZooKeeper side: turns watches and reads into `Observation`s, queries the members of an ensemble over their
//! administrative interfaces, and executes a release in a session of its own. Knows neither `view`, `live` nor the
//! page. `observer` runs sessions; `root` holds the pure state of one watched root.

mod acl;
mod alarm;
mod batch;
mod child_watch;
mod config;
mod connect_string;
mod credentials;
mod directory_watch;
mod epoch_guard;
mod exclusions;
mod link;
pub mod members;
mod observer;
mod outbox;
mod own_sessions;
mod probe;
mod read_pace;
mod reads;
mod reconnect;
mod release_session;
mod request;
mod request_counts;
mod root;
mod seen_history;
mod server_kind;
mod session;
mod stat_counters;
mod tls_trouble;
mod translate;
mod unreadable;
mod watch;
mod watched_roots;

pub use acl::{DeletePermission, Right};
pub use config::{ConfigError, ObserverConfig, SESSION_TIMEOUT_MIN, ZNODES_MAX, check_roots};
pub use connect_string::{Fault, check_connect, split_chroot};
pub use credentials::{Credentials, Login, Secret, TlsIdentity, ZkTls, check_tls_hosts};
pub use exclusions::{EXCLUSIONS_MAX, Exclusions, check_exclusion};
pub use observer::{BATCHES_MAX, observe};
pub use outbox::BATCH_MAX;
pub use own_sessions::is_ours;
pub use release_session::{MakeConnector, ReleaseClient, RevokeOutcome};
pub use request_counts::RequestCounts;
