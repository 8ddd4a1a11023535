//! The page: a Leptos app that the server renders (feature `ssr`) and the browser takes over (feature `hydrate`), and what
//! it needs from its host (`ports`).
#![recursion_limit = "512"]
#![expect(unreachable_pub, reason = "Leptos's component macro writes `pub` items into private modules")]

mod address;
mod app;
mod at_once;
mod board;
mod charts;
mod copy;
#[cfg(feature = "ssr")]
mod exact;
mod first;
#[cfg(feature = "hydrate")]
mod follow;
mod format;
mod html;
#[cfg(feature = "hydrate")]
mod hydrate;
mod live;
mod lock;
#[cfg(feature = "hydrate")]
mod palette;
mod parts;
#[cfg(feature = "ssr")]
mod plain;
pub mod ports;
mod release;
mod session;
mod sessions;
mod shell;
mod status;
mod tab;
mod visitor;
mod waits;

pub use app::App;
#[cfg(feature = "ssr")]
pub use plain::{
    AuditView, FindView, LabDraft, LabSight, LabView, Plain, approve_page, audit_page, find_drawn, find_page, lab_drawn, lab_gone_page, lab_page,
    lab_run_page, release_plan, release_result, run_url,
};
pub use shell::{AssetNames, shell};
pub use tab::Tab;
