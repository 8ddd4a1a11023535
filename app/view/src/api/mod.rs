//! Answers of the HTTP API in which ages as of the answer (`*_ms`) stand for the instants of the live rows. The server
//! writes them, the command line reads them.
//!
//! Either may be older than the other. A reader passes over fields that it does not know, fields that came later have
//! defaults, and words of closed sets are texts here, so that a new word fails no answer.

mod history;
mod lock;

pub use history::{Backtest, Firing, KeptHistory};
pub use lock::{AgedAsOf, AgedClient, AgedContender, AgedLock, Finding, Payload};
