//! The page: a Leptos app that the server renders (feature `ssr`) and the browser takes over (feature `hydrate`), and what
//! it needs from its host (`ports`).
#![recursion_limit = "512"]
#![expect(unreachable_pub, reason = "Leptos's component macro writes `pub` items into private modules")]

mod address;
mod app;
mod board;
mod charts;
mod copy;
mod current_user;
mod document_title;
mod erase;
#[cfg(feature = "ssr")]
mod exact;
#[cfg(feature = "hydrate")]
mod follow;
mod format;
mod html;
#[cfg(feature = "hydrate")]
mod hydrate;
mod initial_view;
mod live;
mod lock;
#[cfg(feature = "hydrate")]
mod palette;
mod parts;
pub mod ports;
mod release;
#[cfg(feature = "ssr")]
mod server_pages;
mod session;
mod sessions;
mod shell;
mod status;
mod waits;

pub use app::App;
pub use document_title::DocumentTitle;
#[cfg(feature = "ssr")]
pub use server_pages::{
    AuditView, FindView, LabDraft, LabSight, LabView, ServerPage, approve_page, audit_page, find_drawn, find_page, lab_drawn, lab_gone_page,
    lab_page, lab_run_page, release_plan, release_result, run_url,
};
pub use shell::{AssetNames, shell};
