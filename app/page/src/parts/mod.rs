//! Small components that every page uses.

mod banner;
mod chip;
mod chrome;
mod dossier;
mod filter;
mod findings;
mod help;
mod keys;
mod liveness;
mod not_found;
mod pager;
mod pause;
mod session;
mod tag;
mod theme;

pub(crate) use banner::current;
pub(crate) use chip::chip;
pub(crate) use chrome::Chrome;
#[cfg(feature = "ssr")]
pub(crate) use chrome::{audit_link, brand, find_link, visitor_line};
pub(crate) use dossier::{Person, dossier, only_on};
pub(crate) use filter::{FilterBox, SortSelect, empty_filter, focus_filter, let_go_of_focus};
pub(crate) use findings::findings;
pub(crate) use help::HelpOpen;
pub(crate) use keys::{Key, use_keys};
pub(crate) use liveness::{liveness_chip, runs_out};
pub(crate) use not_found::NotFound;
pub(crate) use pager::pager;
pub(crate) use session::{holder_name, missing_words, role_word, session_url, waiters_text};
pub(crate) use tag::tag;

/// A verdict as a word for people.
pub(crate) fn verdict_word(verdict: lockscope_wire::Verdict) -> &'static str {
    use lockscope_wire::Verdict;
    match verdict {
        Verdict::Free => "free",
        Verdict::Healthy => "healthy",
        Verdict::Unknown => "unknown",
        Verdict::Slow => "slow",
        Verdict::Expiring => "expiring",
        Verdict::NobodyHome => "nobody home",
        Verdict::Orphan => "orphan",
        Verdict::Stuck => "stuck",
        Verdict::MaybeDeadlocked => "maybe deadlocked",
        Verdict::DoubleOwner => "double owner",
        Verdict::Deadlocked => "deadlocked",
    }
}

/// The mark of what is in a cycle of sessions that wait for each other; the style sheets know it.
pub(crate) fn cycle_mark(verdict: Option<lockscope_wire::Verdict>) -> &'static str {
    match verdict {
        None => "",
        Some(lockscope_wire::Verdict::Deadlocked) => "true",
        Some(_) => "maybe",
    }
}
