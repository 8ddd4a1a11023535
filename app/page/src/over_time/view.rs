//! What is drawn of a lock over time, as plain data: the host puts it together.

pub use lockscope_view::past::Missing;

use lockscope_view::past::{Hold, Mark, Point};

use super::choice::Choice;
use crate::ports::PastAnswer;

/// Bars that are drawn one by one; of more holds it is drawn who held for how much of each piece.
pub const BARS_MAX: usize = 400;
pub const CLIENTS_MAX: usize = 40;
/// Holds of the list. Overflow policy: older ones are counted.
pub const HOLDS_LISTED_MAX: usize = 60;
/// Everything else of the list.
pub const FACTS_LISTED_MAX: usize = 140;

pub type OverTime = PastAnswer<OverTimeView>;

#[derive(Clone, Debug, PartialEq)]
pub struct OverTimeView {
    pub choice: Choice,
    pub range_ms: (i64, i64),
    pub now_ms: i64,
    /// From when on moments can be shown; None while none can.
    pub kept_from_ms: Option<i64>,
    pub grain_ms: i64,
    /// In order; of time in which nothing happened there are none.
    pub pieces: Vec<Point>,
    /// The same of the range before, moved here; None where nothing is compared.
    pub former: Option<Vec<Point>>,
    /// Those who held, the longest first.
    pub clients: Vec<ClientShare>,
    pub clients_left_out: usize,
    pub strip: Strip,
    /// Of which nothing is known, in order.
    pub gaps: Vec<Missing>,
    /// The part of the range that is known, in thousandths.
    pub known: u32,
    /// What happened, the newest first.
    pub happened: Vec<What>,
    /// Holds that the list leaves out; None: more than were counted.
    pub holds_left_out: Option<usize>,
    pub has_more_facts: bool,
    /// What is wrong with it now and what that was like before, and the address of the incident.
    pub incident: Option<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientShare {
    pub name: String,
    pub held_ms: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strip {
    /// Each hold, in the order of their beginnings.
    Holds(Vec<Bar>),
    Shares(Vec<PieceShares>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PieceShares {
    pub at_ms: i64,
    /// By place among the clients.
    pub held_ms: Vec<(Option<usize>, i64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar {
    /// Since when; earlier where that is not known.
    pub from_ms: i64,
    pub to_ms: i64,
    /// Who, by place among the clients.
    pub client: Option<usize>,
    pub is_going_on: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum What {
    Fact(Mark),
    /// Somebody began to hold, or waited and never did.
    Hold(Box<Hold>),
    /// Nothing is known for a while.
    Gap(Missing),
}

impl What {
    pub fn at_ms(&self) -> i64 {
        match self {
            Self::Fact(mark) => mark.at_ms,
            Self::Hold(hold) => hold.held_at_ms.unwrap_or(hold.joined_at_ms),
            Self::Gap(gap) => gap.from_ms,
        }
    }
}
