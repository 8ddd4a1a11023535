//! The palette: a dialog that finds locks, sessions, pages and acts by a few letters. Browser only. The server finds and
//! draws (`server_pages::find`, at `/find` a page of its own); here is what the keys do.

use std::cell::Cell;
use std::time::Duration;

use js_sys::Reflect;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::JsValue;
use wasm_bindgen::closure::Closure;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{AbortSignal, Element, Event, HtmlDialogElement, HtmlElement, HtmlInputElement, KeyboardEvent, RequestInit, Response};

use super::clipboard::copy;

/// Typing pauses this long before it is asked; after no answer it is asked again.
const TYPING_PAUSE: Duration = Duration::from_millis(80);
const NO_ANSWER_PAUSE: Duration = Duration::from_secs(1);
/// No answer takes longer than this; the server gives up earlier.
const ANSWER_MS_MAX: u32 = 15_000;
const NO_ANSWER: &str = "<p class=\"palette-none\" role=\"status\">No answer from Lockscope.</p>";
const INNER: &str = "<input class=\"palette-input\" type=\"text\" role=\"combobox\" aria-expanded=\"true\" aria-autocomplete=\"list\" \
    aria-controls=\"palette-options\" aria-label=\"Find a lock, a session, a page\" placeholder=\"Lock path, session id, page\" autocomplete=\"off\" \
    spellcheck=\"false\" maxlength=\"400\"><div class=\"palette-list\" id=\"palette-list\"></div>";

thread_local! {
    /// Rises with each question: only the answer to the last one counts.
    static QUESTION: Cell<u32> = const { Cell::new(0) };
}

/// Listens for the keys, for buttons that open it, and for buttons that copy; as long as the page lives.
pub(super) fn listen() {
    window_event_listener(leptos::ev::keydown, |event| {
        if (event.ctrl_key() || event.meta_key()) && !event.alt_key() && !event.shift_key() && event.key().eq_ignore_ascii_case("k") {
            event.prevent_default();
            open();
        }
    });
    window_event_listener(leptos::ev::click, |event| {
        if let Some(text) = closest(&event, "[data-copy]").and_then(|button| button.get_attribute("data-copy")) {
            copy(text.replace("{origin}", &location().origin().unwrap_or_default()));
        } else if !event.ctrl_key() && !event.meta_key() && closest(&event, "[data-palette]").is_some() {
            event.prevent_default();
            open();
        }
    });
}

fn closest(event: &Event, selector: &str) -> Option<Element> {
    event.target()?.dyn_into::<Element>().ok()?.closest(selector).ok()?
}

/// Opens it, unless another dialog is in front.
fn open() {
    if document().query_selector("dialog[open]").is_ok_and(|found| found.is_some()) {
        return;
    }
    let Some(dialog) = dialog() else { return };
    // Fails only for a dialog that is open already.
    let _ = dialog.show_modal();
    if let Some(input) = input(&dialog) {
        input.set_value("");
    }
    ask(&dialog);
}

/// The dialog; made when it is first wanted.
fn dialog() -> Option<HtmlDialogElement> {
    if let Some(there) = document().get_element_by_id("palette") {
        return there.dyn_into().ok();
    }
    let dialog: HtmlDialogElement = document().create_element("dialog").ok()?.dyn_into().ok()?;
    dialog.set_id("palette");
    dialog.set_class_name("palette");
    dialog.set_attribute("aria-label", "Find").ok()?;
    dialog.set_inner_html(INNER);
    let heard = Closure::<dyn Fn(Event)>::new({
        let dialog = dialog.clone();
        move |event: Event| match event.dyn_ref::<KeyboardEvent>() {
            Some(key) => pressed(&dialog, key),
            None if event.type_() == "click" => clicked(&dialog, &event),
            None => ask_in(TYPING_PAUSE, &dialog),
        }
    });
    for name in ["input", "keydown", "click"] {
        dialog.add_event_listener_with_callback(name, heard.as_ref().unchecked_ref()).ok()?;
    }
    // It lives as long as the page, as the dialog does.
    heard.forget();
    document().body()?.append_child(&dialog).ok()?;
    Some(dialog)
}

/// Asks after a pause, unless it is asked before.
fn ask_in(pause: Duration, dialog: &HtmlDialogElement) {
    let (mine, dialog) = (question(), dialog.clone());
    set_timeout(
        move || {
            if QUESTION.get() == mine && dialog.open() {
                ask(&dialog);
            }
        },
        pause,
    );
}

fn question() -> u32 {
    QUESTION.set(QUESTION.get().wrapping_add(1));
    QUESTION.get()
}

fn input(dialog: &HtmlDialogElement) -> Option<HtmlInputElement> {
    dialog.query_selector("input").ok()??.dyn_into().ok()
}

/// Asks for what fits what is typed.
fn ask(dialog: &HtmlDialogElement) {
    let (Some(input), Some(list)) = (input(dialog), document().get_element_by_id("palette-list")) else { return };
    let (mine, dialog) = (question(), dialog.clone());
    let typed = String::from(js_sys::encode_uri_component(&input.value()));
    spawn_local(async move {
        let drawn = drawing(&format!("/find/drawn?q={typed}")).await.ok();
        if QUESTION.get() != mine {
            return;
        }
        if drawn.is_none() {
            ask_in(NO_ANSWER_PAUSE, &dialog);
        }
        list.set_inner_html(&drawn.unwrap_or_else(|| NO_ANSWER.to_owned()));
        choose(&dialog, 0);
    });
}

/// What the server found and drew.
async fn drawing(url: &str) -> Result<String, JsValue> {
    let init = RequestInit::new();
    init.set_signal(Some(&AbortSignal::timeout_with_u32(ANSWER_MS_MAX)));
    let response: Response = JsFuture::from(window().fetch_with_str_and_init(url, &init)).await?.dyn_into()?;
    if !response.ok() {
        return Err(JsValue::NULL);
    }
    JsFuture::from(response.text()?).await?.as_string().ok_or(JsValue::NULL)
}

/// What can be chosen. Acts are for pages that have what they act on.
fn options(dialog: &HtmlDialogElement) -> Vec<HtmlElement> {
    let found = dialog.query_selector_all("body[data-hydrated] [role=option],a[role=option]");
    let found = found.map(|found| (0..found.length()).filter_map(|at| found.item(at)?.dyn_into().ok()).collect());
    found.unwrap_or_default()
}

fn chosen(options: &[HtmlElement]) -> usize {
    options.iter().position(|option| option.get_attribute("aria-selected").as_deref() == Some("true")).unwrap_or_default()
}

fn choose(dialog: &HtmlDialogElement, at: usize) {
    for (place, option) in options(dialog).iter().enumerate() {
        let is_it = place == at;
        // Names and values are ours.
        let _ = option.set_attribute("aria-selected", if is_it { "true" } else { "false" });
        if let Some(input) = input(dialog).filter(|_| is_it) {
            let _ = input.set_attribute("aria-activedescendant", &option.id());
            let nearest = web_sys::ScrollIntoViewOptions::new();
            let _ = Reflect::set(&nearest, &"block".into(), &"nearest".into());
            option.scroll_into_view_with_scroll_into_view_options(&nearest);
        }
    }
}

fn pressed(dialog: &HtmlDialogElement, event: &KeyboardEvent) {
    // The page behind does not hear what is typed here.
    event.stop_propagation();
    let options = options(dialog);
    let (at, last) = (chosen(&options), options.len().saturating_sub(1));
    match event.key().as_str() {
        "ArrowDown" => choose(dialog, if at == last { 0 } else { at + 1 }),
        "ArrowUp" => choose(dialog, if at == 0 { last } else { at - 1 }),
        "Enter" if !event.is_composing() => {
            if let Some(option) = options.get(at) {
                option.click();
            }
        }
        "k" | "K" if event.ctrl_key() || event.meta_key() => dialog.close(),
        _ => return,
    }
    event.prevent_default();
}

fn clicked(dialog: &HtmlDialogElement, event: &Event) {
    let act = closest(event, "[data-act]").and_then(|option| option.get_attribute("data-act"));
    let is_outside = event.target().is_some_and(|target| target == *AsRef::<web_sys::EventTarget>::as_ref(dialog));
    if is_outside || closest(event, "[role=option]").is_some() {
        // The link itself is followed by whoever follows links.
        dialog.close();
    }
    match act.as_deref() {
        Some("copy") => copy(location().href().unwrap_or_default()),
        // The others press a button that is there.
        Some(button) => {
            let found = document().query_selector(&format!("[data-testid={button}]")).ok().flatten();
            if let Some(button) = found.and_then(|found| found.dyn_into::<HtmlElement>().ok()) {
                button.click();
            }
        }
        None => {}
    }
}
