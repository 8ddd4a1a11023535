//! Requests to the release service: a small JSON body there, an answer in the compact encoding back. Browser only.

use js_sys::{JSON, Object, Reflect};
use leptos::prelude::window;
use lockscope_wire::COMPACT_TYPE;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Headers, Request, RequestInit, Response};

use crate::compact::{decode, is_compact};

/// Why there is no answer, in one sentence.
pub(super) type Refusal = String;

const NO_ANSWER: &str = "The server did not answer. Whether the request arrived is not known: look at the lock and at the audit log before you try again.";

/// Asks; never fails but in words.
pub(super) async fn ask<T: DeserializeOwned>(url: &str, pairs: &[(&str, &str)]) -> Result<T, Refusal> {
    asked(url, pairs).await.unwrap_or_else(|_| Err(NO_ANSWER.to_owned()))
}

async fn asked<T: DeserializeOwned>(url: &str, pairs: &[(&str, &str)]) -> Result<Result<T, Refusal>, JsValue> {
    let object = Object::new();
    for (name, value) in pairs {
        Reflect::set(&object, &JsValue::from_str(name), &JsValue::from_str(value))?;
    }
    let headers = Headers::new()?;
    headers.set("content-type", "application/json")?;
    headers.set("accept", COMPACT_TYPE)?;
    let init = RequestInit::new();
    init.set_method("POST");
    init.set_body(JSON::stringify(&object)?.as_ref());
    init.set_headers(&headers);
    let request = Request::new_with_str_and_init(url, &init)?;
    let response: Response = JsFuture::from(window().fetch_with_request(&request)).await?.dyn_into()?;
    if is_compact(&response) {
        return decode(&response).await.map(Ok);
    }
    let problem = JsFuture::from(response.json()?).await?;
    let detail = Reflect::get(&problem, &JsValue::from_str("detail"))?;
    Ok(Err(detail.as_string().unwrap_or_default()))
}
