//! The page: a Leptos app that the server renders and the browser takes over.

mod app;
mod board;
mod charts;
mod format;
#[cfg(feature = "hydrate")]
mod hydrate;
mod live;
mod lock;
mod parts;
mod shell;
mod status;

pub use app::App;
pub use shell::{AssetNames, shell};
