//! The browser's entry: takes over what the server rendered.

use leptos::prelude::{request_idle_callback, window};
use leptos::task::spawn_local;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::app::{App, fetch_pages, is_in_chunk};
use super::browser::first;
use super::parts::listen_for_returns;
use super::split::SplitLoaderError;
use super::{explain, find, lab, release};

/// Called once by the boot module of the document.
#[wasm_bindgen]
pub async fn hydrate() -> Result<(), JsValue> {
    console_error_panic_hook::set_once();
    // What the server drew is taken over with all its code at once. Where a chunk can't be had the page stays as it was drawn.
    fetch_drawn().await.map_err(said)?;
    find::listen();
    explain::listen();
    listen_for_returns();
    leptos::mount::hydrate_body(App);
    request_idle_callback(|| spawn_local(fetch_rest()));
    Ok(())
}

/// Called once by the boot module of the page of a run that is under way.
#[wasm_bindgen]
pub async fn draw_run() -> Result<(), JsValue> {
    console_error_panic_hook::set_once();
    find::listen();
    explain::listen();
    lab::draw_live().await.map_err(said)
}

async fn fetch_drawn() -> Result<(), SplitLoaderError> {
    let path = window().location().pathname().unwrap_or_default();
    if is_in_chunk(&path) {
        fetch_pages().await?;
    }
    if first::<web_sys::Element>("dialog.release").is_some() {
        release::fetch().await?;
    }
    Ok(())
}

/// What may be wanted later is there by then. Whoever wants what could not be fetched fetches it again.
async fn fetch_rest() {
    let _ = find::fetch_dialogs().await;
    let _ = fetch_pages().await;
}

fn said(error: SplitLoaderError) -> JsValue {
    error.to_string().into()
}
