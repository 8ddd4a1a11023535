//! The evidence collector: queries every member of an ensemble through its AdminServer or four-letter words, slowly and
//! within bounds, and passes on one round of answers at a time. Nothing here is
//! needed for the view of locks, and nothing here changes anything. Must not know `view`, `live` or the page.

mod admin;
mod bounded;
mod chroot;
mod collector;
mod config;
mod cooldown;
mod epochs;
mod failure;
mod fault;
pub mod four_letter;
mod health;
mod hint;
mod http;
mod lookup;
mod member;
mod monitor;
mod roster;
mod shared;
mod source;
mod stamp;
mod tcp;
mod url;

pub use admin::{connections, dump, identity, monitor, server_stats, watches_by_path};
pub use collector::{Demand, MEMBERS_EVERY, ROUND_EVERY, WAITERS_EVERY, WATCHES_EVERY};
pub use config::Config;
pub(crate) use epochs::{ANSWER_MAX, EVERY as EPOCHS_EVERY, Led, MemberEpoch, MemberEpochs};
pub use failure::BODY_BYTES_MAX;
pub use fault::{CONNECTIONS_MAX, EPHEMERALS_MAX, Malformed, SESSIONS_MAX, WATCHES_MAX};
pub use member::WATCHES_ASK_MAX;
pub use shared::SharedRounds;
pub use tcp::ask_word;
pub use url::check_admin_url;
