//! The browser's entry: takes over what the server rendered.

use wasm_bindgen::prelude::wasm_bindgen;

use super::app::App;

/// Called once by the boot module of the document.
#[wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    leptos::mount::hydrate_body(App);
}
