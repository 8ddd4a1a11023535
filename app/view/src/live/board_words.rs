//! What stands above a board, in words. Pure.

use crate::BoardHead;
use crate::words::{count, plural};

/// How many problems need somebody.
pub fn need_you(problems: u32) -> String {
    if problems == 1 { "1 needs you".to_owned() } else { format!("{} need you", count(problems)) }
}

/// What may be said where no problem is seen: that all is fine only where all is known.
pub fn calm(head: &BoardHead, is_live: bool) -> String {
    let (locks, unknown) = (head.totals.locks, head.unknown_locks());
    match (is_live, head.is_all_known(), unknown) {
        (false, ..) => "No problem was seen; what is so now is not known.".to_owned(),
        (true, true, _) if locks == 1 => "1 lock is fine.".to_owned(),
        (true, true, _) => format!("All {} locks are fine.", count(locks)),
        (true, false, 0) => "No problem is seen, but not every root can be read.".to_owned(),
        (true, false, _) => {
            format!("No problem is seen; of {} it is not known.", plural(unknown.into(), "lock", "locks"))
        }
    }
}
