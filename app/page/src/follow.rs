//! Keeps a page that the server draws in line with the server. Browser only.
//!
//! The element `follow` holds one child, whose `data-next` is the address of the next drawing of the element's content; a
//! drawing without it is the last. The server answers when there is something new, so asking again at once is no haste.

use js_sys::Promise;
use leptos::prelude::{document, window};
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, Element, RequestInit, Response};

/// Shortest time between two drawings.
const APART_MS: i32 = 100;
/// How often a hidden page looks whether it is seen again.
const HIDDEN_MS: i32 = 500;
/// No answer takes longer than this; the server gives up earlier.
const ANSWER_MS_MAX: u32 = 15_000;
/// Wait after the first failure; it doubles up to the greatest.
const BACK_OFF_MS: i32 = 500;
const BACK_OFF_MS_MAX: i32 = 5_000;
const OK: u16 = 200;
const NO_CONTENT: u16 = 204;

/// Follows until a drawing is the last.
pub(super) async fn follow_page() {
    let Some(element) = document().get_element_by_id("follow") else { return };
    // For those who wait until the page follows.
    let _ = element.set_attribute("data-following", "");
    let mut back_off_ms = BACK_OFF_MS;
    while let Some(next) = element.first_element_child().and_then(|drawn| drawn.get_attribute("data-next")) {
        if document().hidden() {
            pause(HIDDEN_MS).await;
            continue;
        }
        match drawing(&next).await {
            Ok(drawn) => {
                tell(&element, "");
                if let Some(drawn) = drawn {
                    element.set_inner_html(&drawn);
                }
                back_off_ms = BACK_OFF_MS;
                pause(APART_MS).await;
            }
            Err(_) => {
                tell(&element, "Link lost, trying again. What you see is the last that came.");
                pause(back_off_ms).await;
                back_off_ms = (back_off_ms * 2).min(BACK_OFF_MS_MAX);
            }
        }
    }
    let _ = element.remove_attribute("data-following");
}

/// The next drawing; None when nothing changed meanwhile.
pub(super) async fn drawing(url: &str) -> Result<Option<String>, JsValue> {
    let init = RequestInit::new();
    init.set_signal(Some(&AbortSignal::timeout_with_u32(ANSWER_MS_MAX)));
    let response: Response = JsFuture::from(window().fetch_with_str_and_init(url, &init)).await?.dyn_into()?;
    match response.status() {
        OK => Ok(JsFuture::from(response.text()?).await?.as_string()),
        NO_CONTENT => Ok(None),
        _ => Err(JsValue::NULL),
    }
}

/// Says whether the link is there, once.
fn tell(element: &Element, words: &str) {
    let Some(place) = document().get_element_by_id("follow-lost") else { return };
    if place.text_content().as_deref() != Some(words) {
        place.set_text_content(Some(words));
        // Setting an attribute to a word cannot fail.
        let _ = element.set_attribute("data-link", if words.is_empty() { "live" } else { "lost" });
    }
}

async fn pause(ms: i32) {
    let wait = Promise::new(&mut |done, _| {
        // A browser that sets no timer would never come back; none is known.
        let _ = window().set_timeout_with_callback_and_timeout_and_arguments_0(&done, ms);
    });
    // It is only ever resolved.
    let _ = JsFuture::from(wait).await;
}
