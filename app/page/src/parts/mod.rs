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
#[cfg(feature = "ssr")]
mod fetched;
#[cfg(feature = "ssr")]
mod fields;
mod filter;
mod findings;
mod header;
mod help;
mod keys;
mod liveness;
#[cfg(feature = "ssr")]
mod marked;
mod markup;
mod markup_rows;
mod not_found;
mod pager;
mod part;
mod pause;
mod rows;
mod session;
#[cfg(feature = "ssr")]
mod severity;
mod shown;
mod step;
mod table;
mod tag;
#[cfg(feature = "ssr")]
mod text_area;
mod theme;
mod time;
pub(crate) mod words;
mod zone;

#[cfg(feature = "hydrate")]
pub(crate) use arrival::listen as listen_for_returns;
pub(crate) use arrival::{Arrivals, Place, focus_heading};
pub(crate) use banner::current;
#[cfg(feature = "ssr")]
pub(crate) use banner::{LinkBanner, link_script};
pub(crate) use chip::{Chip, chip_markup};
pub(crate) use chrome::Chrome;
pub(crate) use client::{Client, ClientCard, only_on_markup};
pub(crate) use density::toggle_density;
pub(crate) use export::export;
#[cfg(feature = "ssr")]
pub(crate) use fetched::fetched_script;
#[cfg(feature = "ssr")]
pub(crate) use fields::{ensemble_field, hidden_fields, option, reason_field, select_field, text_field, tool_link};
pub(crate) use filter::{FilterBox, SortSelect, empty_filter, focus_filter, let_go_of_focus};
pub(crate) use findings::Findings;
#[cfg(feature = "ssr")]
pub(crate) use header::{Header, Skip};
pub(crate) use help::HelpOpen;
pub(crate) use keys::{Key, use_keys};
pub(crate) use liveness::{LivenessChip, liveness_markup, session_end_markup};
#[cfg(feature = "ssr")]
pub(crate) use marked::{definition, head, marked, marked_table, numbers_way, table_of};
#[cfg(feature = "ssr")]
pub(crate) use markup::text;
pub(crate) use markup::{Markup, Piece};
pub(crate) use markup_rows::{Lane, RowMarkup, markup_rows};
pub(crate) use not_found::NotFound;
pub(crate) use pager::pager;
pub(crate) use part::part;
pub(crate) use rows::{Item, Keyed, rows, rows_in_parts};
pub(crate) use session::{holder_name, lock_url, session_url};
#[cfg(feature = "ssr")]
pub(crate) use severity::severity;
pub(crate) use step::{RELEASE_HASH, StepPlace, headline, looked_after, step};
#[cfg(feature = "ssr")]
pub(crate) use table::linked;
pub(crate) use table::{Columns, Pair, Section, Table, Total, filled, mark, outside_link, shortened, shortened_code};
pub(crate) use tag::{Tag, tag_markup};
#[cfg(feature = "ssr")]
pub(crate) use text_area::TextArea;
#[cfg(feature = "ssr")]
pub(crate) use theme::SCRIPT as THEME_SCRIPT;
pub(crate) use time::{Age, AgeOf, AgeText, Countdown, Since};
pub(crate) use words::{
    and_more, does, finding_word, hold_least, missing_words, no_match, role_word, verdict_word, wait_least,
    waiters_text,
};
pub(crate) use zone::{Instant, ShownZone, stamp};
#[cfg(feature = "ssr")]
pub(crate) use zone::{SCRIPT as ZONE_SCRIPT, ZoneSwitch};

/// The mark of what is in a cycle of sessions that wait for each other; the style sheets know it.
pub(crate) fn cycle_mark(verdict: Option<lockscope_view::Verdict>) -> Option<&'static str> {
    verdict.map(|verdict| if verdict == lockscope_view::Verdict::Deadlocked { "true" } else { "maybe" })
}
