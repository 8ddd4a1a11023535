//! The browser's entry: takes over what the server rendered.

use wasm_bindgen::prelude::wasm_bindgen;

use super::app::App;
use super::parts::listen_for_returns;
use super::{explain, find, lab};

/// Called once by the boot module of the document.
#[wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    find::listen();
    explain::listen();
    listen_for_returns();
    leptos::mount::hydrate_body(App);
}

/// Called once by the boot module of the page of a run that is under way.
#[wasm_bindgen]
pub fn draw_run() {
    console_error_panic_hook::set_once();
    find::listen();
    explain::listen();
    lab::draw_live();
}
