//! Small components that every page uses.

mod announce;
mod arrival;
mod banner;
mod brand;
mod chip;
mod chrome;
mod client;
mod current_user;
mod density;
mod export;
mod filter;
mod findings;
mod header;
mod help;
mod keys;
mod liveness;
mod not_found;
mod pager;
mod part;
mod pause;
mod rows;
mod session;
mod shown;
mod step;
mod table;
mod tag;
mod theme;
mod time;
mod zone;

#[cfg(feature = "hydrate")]
pub(crate) use arrival::listen as listen_for_returns;
pub(crate) use arrival::{Arrivals, Place, focus_heading};
pub(crate) use banner::current;
#[cfg(feature = "ssr")]
pub(crate) use banner::{LinkBanner, link_script};
pub(crate) use chip::Chip;
pub(crate) use chrome::Chrome;
pub(crate) use client::{Client, ClientCard, OnlyOn};
pub(crate) use density::toggle_density;
pub(crate) use export::export;
pub(crate) use filter::{FilterBox, SortSelect, empty_filter, focus_filter, let_go_of_focus, no_match};
pub(crate) use findings::Findings;
#[cfg(feature = "ssr")]
pub(crate) use header::{Header, Skip};
pub(crate) use help::HelpOpen;
pub(crate) use keys::{Key, use_keys};
pub(crate) use liveness::{LivenessChip, SessionEnd};
pub(crate) use not_found::NotFound;
pub(crate) use pager::pager;
pub(crate) use part::part;
pub(crate) use rows::{Item, rows, rows_in_parts};
pub(crate) use session::{holder_name, missing_words, role_word, session_url, waiters_text};
pub(crate) use step::{RELEASE_HASH, StepPlace, headline, step};
pub(crate) use table::{Columns, Pair, Section, Table, Total, filled, mark, outside_link};
pub(crate) use tag::Tag;
#[cfg(feature = "ssr")]
pub(crate) use theme::SCRIPT as THEME_SCRIPT;
pub(crate) use time::{Age, AgeOf, Countdown, Since, hold_least, wait_least};
pub(crate) use zone::{Instant, ShownZone, stamp};
#[cfg(feature = "ssr")]
pub(crate) use zone::{SCRIPT as ZONE_SCRIPT, ZoneSwitch};

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
        Verdict::DoubleOwner => "two owners",
        Verdict::Deadlocked => "deadlocked",
    }
}

/// The code of a finding as words for people.
pub(crate) fn finding_word(code: &str) -> String {
    code.replace('_', " ")
}

/// The mark of what is in a cycle of sessions that wait for each other; the style sheets know it.
pub(crate) fn cycle_mark(verdict: Option<lockscope_wire::Verdict>) -> Option<&'static str> {
    verdict.map(|verdict| if verdict == lockscope_wire::Verdict::Deadlocked { "true" } else { "maybe" })
}
