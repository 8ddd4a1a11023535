//! The browser's entry: takes over what the server rendered.

use wasm_bindgen::prelude::wasm_bindgen;

use super::app::App;
use super::{follow, palette};

/// Called once by the boot module of the document.
#[wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    palette::listen();
    leptos::mount::hydrate_body(App);
}

/// Called once by the boot module of a page that the server draws and draws anew.
#[wasm_bindgen]
pub fn follow_page() {
    console_error_panic_hook::set_once();
    palette::listen();
    wasm_bindgen_futures::spawn_local(follow::follow_page());
}
