//! What the page of who made others wait shows, as whoever serves it found it.

use lockscope_view::past::{Blame, BlameBy, BlameRow, Missing};

use crate::ports::PastAnswer;
use crate::server_pages::WaitsFilter;

#[derive(Clone, Debug, Default)]
pub struct BlameView {
    pub filter: WaitsFilter,
    /// What tells rows apart.
    pub by: BlameBy,
    pub offered: Vec<BlameBy>,
    /// What else the form keeps.
    pub hidden: Vec<(String, String)>,
    /// The moment of the page; None: now.
    pub at_ms: Option<i64>,
    /// Address of the page with all rows.
    pub all: String,
    /// Address of the page of what differs, of the same range.
    pub differs: String,
    pub found: PastAnswer<BlameFigures>,
}

#[derive(Clone, Debug, Default)]
pub struct BlameFigures {
    pub blame: Blame,
    /// Where rows lead, in their order.
    pub links: Vec<BlameLinks>,
    /// Who was waited for in the end is shown beside who held.
    pub has_roots: bool,
    pub missing: Vec<Missing>,
}

#[derive(Clone, Debug, Default)]
pub struct BlameLinks {
    /// The page of the lock or session that is charged.
    pub key: Option<String>,
    /// The lock at the moment before the wait ended of which they are charged most.
    pub worst: Option<String>,
}

impl BlameFigures {
    /// Something is known of the range a week before.
    pub(super) fn has_week_before(&self) -> bool {
        self.blame.week_before_part.is_some_and(|part| part > 0.0)
    }

    /// The figure that rows are ordered by.
    pub(super) fn charged(&self, row: &BlameRow) -> i64 {
        row.charged_root_ms.filter(|_| self.has_roots).unwrap_or(row.charged_ms)
    }

    /// What rows are charged that are not listed: in the end, and as who held.
    pub(super) fn others_ms(&self) -> (i64, i64) {
        let direct_ms = self.blame.charged_others_ms;
        (self.blame.charged_root_others_ms.unwrap_or(direct_ms), direct_ms)
    }
}
