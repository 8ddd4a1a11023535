//! The wallboard in words. Pure.

use crate::format::{count, visible};

pub(super) fn tile(is_live: bool, problems: u32, is_all_known: bool) -> &'static str {
    match (is_live, problems) {
        (false, _) => "not known now",
        (true, 0) if is_all_known => "All fine",
        (true, 0) => "problems seen, not all is known",
        (true, 1) => "needs you",
        (true, _) => "need you",
    }
}

pub(super) fn rest(locks: u32, waiters: u32) -> String {
    format!("{} locks, {} waiting", count(locks), count(waiters))
}

pub(super) fn ensemble(name: &str, locks: u32, is_read: bool) -> String {
    let state = if is_read { "" } else { ", not all read" };
    format!("{}: {} locks{state}", visible(name), count(locks))
}

pub(super) fn as_of(age: &str) -> String {
    format!("as of {age} ago")
}

/// Of a picture that is not live, and why.
pub(super) fn doubted(word: &str, age: &str) -> String {
    format!("{word} · as of {age} ago")
}
