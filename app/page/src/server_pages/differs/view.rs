//! What the page of how waits differ shows, as whoever serves it found it.

use lockscope_view::past::Differs;

use crate::ports::PastAnswer;
use crate::server_pages::WaitsFilter;

#[derive(Clone, Debug, Default)]
pub struct DiffersView {
    pub filter: WaitsFilter,
    pub chosen: ChosenWaits,
    /// Address of the page without a selection.
    pub whole: String,
    pub found: PastAnswer<DiffersFigures>,
}

/// Which waits are held against the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChosenWaits {
    /// When they joined: from then, and before that, ms since the epoch.
    pub joined_ms: (i64, i64),
    pub min_wait_ms: i64,
    /// They waited for less than this; None for any.
    pub max_wait_ms: Option<i64>,
    /// Somebody chose them; otherwise they are all.
    pub is_part: bool,
}

#[derive(Clone, Debug, Default)]
pub struct DiffersFigures {
    pub differs: Differs,
    /// All waits by when they began and how long they took, the longest first.
    pub rows: Vec<WaitsRow>,
}

/// Waits of about the same length, in the order of time.
#[derive(Clone, Debug, Default)]
pub struct WaitsRow {
    pub min_wait_ms: i64,
    /// And less than this; None for the longest ones.
    pub max_wait_ms: Option<i64>,
    /// A piece of the range each.
    pub cells: Vec<WaitsCell>,
}

/// Waits of about the same length that began at about the same time.
#[derive(Clone, Debug, Default)]
pub struct WaitsCell {
    pub count: u64,
    /// When they joined: from then, and before that, ms since the epoch.
    pub joined_ms: (i64, i64),
    pub is_chosen: bool,
    /// Address of the page with these selected; empty where there are none.
    pub url: String,
}
