//! The receiving end of the live socket: what was sent so far, how long to wait before the next try, and whether what is
//! shown may be called live. Pure, and one for the page and the terminal.

mod board_words;
mod cadence;
mod link;
pub mod link_words;
mod model;
pub mod policy;

pub use board_words::{calm, need_you};
pub use cadence::{CALM_MS, Cadence};
pub use link::{Connection, LinkState, as_of, link_state};
pub use model::{AppliedFrame, LiveModel, beside};
