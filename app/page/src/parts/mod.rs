//! Small components that every page uses.

mod banner;
mod brand;
mod chip;
mod chrome;
#[cfg(feature = "ssr")]
mod client;
mod client_card;
mod current_user;
mod filter;
mod findings;
mod header;
mod help;
mod keys;
mod liveness;
mod not_found;
mod pager;
mod pause;
mod session;
#[cfg(feature = "ssr")]
mod table;
mod tag;
mod theme;
#[cfg(feature = "ssr")]
mod time;

pub(crate) use banner::current;
#[cfg(feature = "ssr")]
pub(crate) use chip::Chip;
pub(crate) use chip::chip;
pub(crate) use chrome::Chrome;
#[cfg(feature = "ssr")]
pub(crate) use client::{Client, ClientCard};
pub(crate) use client_card::{ClientCard, client_card, only_on};
pub(crate) use filter::{FilterBox, SortSelect, empty_filter, focus_filter, let_go_of_focus};
pub(crate) use findings::findings;
#[cfg(feature = "ssr")]
pub(crate) use header::{Header, Skip};
pub(crate) use help::HelpOpen;
pub(crate) use keys::{Key, use_keys};
#[cfg(feature = "ssr")]
pub(crate) use liveness::LivenessChip;
pub(crate) use liveness::{liveness_chip, runs_out};
pub(crate) use not_found::NotFound;
pub(crate) use pager::pager;
pub(crate) use session::{holder_name, missing_words, role_word, session_url, waiters_text};
#[cfg(feature = "ssr")]
pub(crate) use table::{Columns, Pair, Table, filled, mark};
#[cfg(feature = "ssr")]
pub(crate) use tag::Tag;
pub(crate) use tag::tag;
#[cfg(feature = "ssr")]
pub(crate) use time::{Age, Countdown, hold_least};

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
