//! The page: a Leptos app that the server renders (feature `ssr`) and the browser takes over (feature `hydrate`), and
//! what it needs from its host (`ports`).
#![recursion_limit = "512"]
#![expect(unreachable_pub, reason = "Leptos's component macro writes `pub` items into private modules")]

#[cfg(not(erase_components))]
compile_error!(
    "the page is compiled with `--cfg erase_components`, as .cargo/config.toml says; RUSTFLAGS in the environment replaces that: add it there"
);

mod address;
#[cfg(feature = "ssr")]
mod alert_banner;
mod app;
mod board;
mod browser;
mod charts;
mod clipboard;
#[cfg(feature = "ssr")]
mod cluster;
mod compact;
mod copy;
mod current_user;
mod document_title;
mod erase;
mod exact;
mod explain;
mod find;
mod follow;
mod form_token;
mod format;
#[cfg(feature = "hydrate")]
mod hydrate;
mod initial_view;
mod lab;
mod live;
mod lock;
#[cfg(feature = "ssr")]
mod lock_orders;
#[cfg(feature = "ssr")]
mod over_time;
mod parts;
mod past;
pub mod ports;
mod release;
mod sections;
#[cfg(feature = "ssr")]
mod server_pages;
mod session;
#[cfg(feature = "ssr")]
mod session_timeout;
mod sessions;
#[cfg(feature = "ssr")]
mod shell;
mod split;
mod status;
#[cfg(feature = "ssr")]
mod time_to_lock;
mod waits;
mod wall;

#[cfg(feature = "ssr")]
pub use alert_banner::{AlertBanner, alert_banner};
pub use app::App;
#[cfg(feature = "ssr")]
pub use cluster::cluster_markup;
pub use document_title::DocumentTitle;
#[cfg(feature = "ssr")]
pub use find::find_places;
pub use lab::LabSight;
#[cfg(feature = "ssr")]
pub use lock_orders::lock_orders_markup;
#[cfg(feature = "ssr")]
pub use over_time::{
    BARS_MAX, Bar, CLIENTS_MAX, Choice, ClientShare, FACTS_LISTED_MAX, Former, HOLDS_LISTED_MAX, Length, Missing,
    OverTime, OverTimeMarkup, OverTimeView, PieceShares, Range, Strip, What, WrongChoice, over_time_markup, piece_ms,
};
#[cfg(feature = "ssr")]
pub use server_pages::{
    AlertDone, AlertFilter, AlertsView, AuditView, BlameFigures, BlameLinks, BlameView, ChosenWaits, DiffersFigures,
    DiffersView, EventLine, EventsView, FleetView, IncidentView, IncidentsView, LabDraft, LabView, RangeWay,
    ServerPage, TriedView, WaitsCell, WaitsFilter, WaitsRow, alert_test_page, alerts_page, approve_page, audit_page,
    blame_page, differs_page, events_page, find_page, fleet_page, help_page, incident_page, incidents_page,
    lab_gone_page, lab_page, lab_run_page, no_moment_page, plain_header, run_url,
};
#[cfg(feature = "ssr")]
pub use session_timeout::{SessionTimeoutMarkup, session_timeout_markup};
#[cfg(feature = "ssr")]
pub use shell::{AssetNames, shell};
#[cfg(feature = "ssr")]
pub use time_to_lock::{TimeToLockMarkup, time_to_lock_first, time_to_lock_markup};
