//! Questions to the server: a small JSON body there, the compact encoding back. Browser only.

use js_sys::{JSON, Reflect, Uint8Array};
use leptos::prelude::window;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Headers, Request, RequestInit, RequestMode, Response};

use crate::wire::{SUBPROTOCOL_BIN, decode_frame};

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// One sentence.
    pub(super) why: String,
    /// Nobody is signed in any more.
    pub(super) signed_out: bool,
}

/// Asks; an answer of the wanted kind comes with any status.
pub(super) async fn ask<T: DeserializeOwned>(url: &str, pairs: &[(&str, &str)]) -> Result<T, Failure> {
    let failure = |why: String, signed_out| Failure { why, signed_out };
    let response = send(url, pairs).await.map_err(|_| {
        failure(
            "The server did not answer. Whether the order arrived is not known: look at the lock and at the record before you try again.".to_owned(),
            false,
        )
    })?;
    let is_ours = response.headers().get("content-type").ok().flatten().is_some_and(|kind| kind.contains(SUBPROTOCOL_BIN));
    if !is_ours {
        let detail = detail(&response).await;
        let why = detail.unwrap_or_else(|| format!("The server answered {} without a word on why.", response.status()));
        return Err(failure(why, response.status() == 401));
    }
    let bytes = match response.array_buffer() {
        Ok(promise) => JsFuture::from(promise).await.map(|buffer| Uint8Array::new(&buffer).to_vec()),
        Err(error) => Err(error),
    };
    let unread = || failure("The answer could not be read: the page is of another version than the server. Load it again.".to_owned(), false);
    decode_frame(&bytes.map_err(|_| unread())?).ok_or_else(unread)
}

async fn send(url: &str, pairs: &[(&str, &str)]) -> Result<Response, JsValue> {
    let init = RequestInit::new();
    init.set_method("POST");
    init.set_mode(RequestMode::SameOrigin);
    init.set_body(&body(pairs)?);
    let headers = Headers::new()?;
    headers.set("content-type", "application/json")?;
    headers.set("accept", &format!("application/{SUBPROTOCOL_BIN}"))?;
    init.set_headers(&headers);
    let request = Request::new_with_str_and_init(url, &init)?;
    JsFuture::from(window().fetch_with_request(&request)).await?.dyn_into()
}

/// An object of texts.
fn body(pairs: &[(&str, &str)]) -> Result<JsValue, JsValue> {
    let object = js_sys::Object::new();
    for (name, value) in pairs {
        Reflect::set(&object, &JsValue::from_str(name), &JsValue::from_str(value))?;
    }
    JSON::stringify(&object).map(JsValue::from)
}

/// The sentence of a problem.
async fn detail(response: &Response) -> Option<String> {
    let json = JsFuture::from(response.json().ok()?).await.ok()?;
    Reflect::get(&json, &JsValue::from_str("detail")).ok()?.as_string()
}
