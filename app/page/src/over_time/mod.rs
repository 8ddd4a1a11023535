//! A lock over time, and what happened there: a section of the lock's page (see `sections`), with a picture. Its script
//! fetches it anew, and zooms.

mod choice;
mod picture;
mod script;
mod section;
mod tables;
#[cfg(test)]
mod tests;
mod view;
mod words;

pub use choice::{Choice, Former, Length, Range, WrongChoice};
pub(crate) use script::script;
pub(crate) use section::initial;
pub use section::{OverTimeMarkup, over_time_markup};
pub use view::{
    BARS_MAX, Bar, CLIENTS_MAX, ClientShare, FACTS_LISTED_MAX, HOLDS_LISTED_MAX, Missing, OverTime, OverTimeView,
    PieceShares, Strip, What,
};
pub(crate) use words::{length, more_gaps};

const PIECES_MAX: i64 = 240;

pub fn piece_ms(range_ms: i64) -> i64 {
    crate::charts::over_time::grain_ms(range_ms, PIECES_MAX)
}
