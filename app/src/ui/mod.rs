//! The page.

use leptos::prelude::*;

/// Hashed names of the page's files, served under `/pkg/`.
#[derive(Clone, Debug, Default)]
pub struct AssetNames {
    /// Style sheet.
    pub css: String,
    /// JavaScript glue.
    pub js: String,
    /// The page's code.
    pub wasm: String,
}

/// The document.
pub fn shell(_assets: AssetNames) -> impl IntoView {}

/// The page.
#[component]
pub fn App() -> impl IntoView {}
