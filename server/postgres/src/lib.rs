//! PostgreSQL as Lockscope uses it: an address with its TLS, connections that are bounded in number and in time, one that
//! writes and holds locks, and tables that are brought to the present version. Knows nothing of what is kept there.
//!
//! Whoever needs a database makes one [`Database`] of a [`Target`]; it connects when it is first asked. Looks go through
//! [`Database::read`], writes through a [`Lane`]. Each returns within a bound, whatever becomes of the database: work runs
//! on a thread of its own, and whoever waits for it gives up by itself. While no connection can be made, looks fail at once
//! until the next try.

mod bounded;
mod connection;
mod database;
mod error;
mod health;
mod lane;
mod migrate;
mod target;
mod tls;

pub use bounded::{READ_BYTES_MAX, rows_within};
pub use database::{Database, DatabaseStats, Job, READERS_MAX};
pub use error::DatabaseError;
pub use lane::{Lane, Session, WRITE_MAX};
pub use migrate::Tables;
pub use target::{Target, TargetError};
/// The client crate, for whoever writes queries.
pub use tokio_postgres as client;
