//! Answers in the compact encoding. Browser only.

use js_sys::{Object, Reflect, Uint8Array};
use lockscope_view::{COMPACT_TYPE, decode_frame};
use serde::de::DeserializeOwned;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Headers, Request, RequestInit, Response};

#[cfg(feature = "hydrate")]
pub(crate) async fn get<T: DeserializeOwned>(url: &str) -> Result<T, JsValue> {
    /// No answer takes longer than this; the server gives up earlier.
    const ANSWER_MS_MAX: u32 = 15_000;
    let init = web_sys::RequestInit::new();
    init.set_signal(Some(&web_sys::AbortSignal::timeout_with_u32(ANSWER_MS_MAX)));
    let response: Response =
        JsFuture::from(leptos::prelude::window().fetch_with_str_and_init(url, &init)).await?.into();
    if is_compact(&response) { decode(&response).await } else { Err(JsValue::NULL) }
}

/// An object for JSON.
pub(crate) fn object(pairs: &[(&str, JsValue)]) -> Result<JsValue, JsValue> {
    let object = Object::new();
    for (name, value) in pairs {
        Reflect::set(&object, &JsValue::from_str(name), value)?;
    }
    Ok(object.into())
}

/// Sends JSON, and asks for an answer in this encoding.
pub(crate) async fn send(method: &str, url: &str, body: Option<&JsValue>) -> Result<Response, JsValue> {
    let headers = Headers::new()?;
    headers.set("accept", COMPACT_TYPE)?;
    let init = RequestInit::new();
    init.set_method(method);
    if let Some(body) = body {
        headers.set("content-type", "application/json")?;
        init.set_body(body);
    }
    init.set_headers(&headers);
    let request = Request::new_with_str_and_init(url, &init)?;
    Ok(JsFuture::from(leptos::prelude::window().fetch_with_request(&request)).await?.into())
}

/// Whether a response is in this encoding; errors are not.
pub(crate) fn is_compact(response: &Response) -> bool {
    response.headers().get("content-type").is_ok_and(|kind| kind.is_some_and(|kind| kind == COMPACT_TYPE))
}

pub(crate) async fn decode<T: DeserializeOwned>(response: &Response) -> Result<T, JsValue> {
    let bytes = Uint8Array::new(&JsFuture::from(response.array_buffer()?).await?).to_vec();
    decode_frame(&bytes).ok_or(JsValue::NULL)
}
