//! What is answered for a moment of which nothing is known.

use super::ServerPage;
use crate::past::no_moment;
use crate::ports::{Neighbours, PastView};

/// The page: `why` without its full stop, and where something is known.
pub fn no_moment_page(plain: &ServerPage<'_>, past: &PastView, why: &str, nearest: Neighbours) -> String {
    super::page(plain, "Nothing kept", "", past.now_ms, || no_moment(past, why, nearest))
}
