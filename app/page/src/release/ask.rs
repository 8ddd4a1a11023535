//! Questions to the server: a small JSON body there, a drawn answer back. Browser only.

use js_sys::{JSON, Object, Reflect};
use leptos::prelude::window;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Headers, Request, RequestInit, Response};

/// The server's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// A plan or a result, as markup of ours.
    Drawn(String),
    /// Why there is none, in one sentence.
    Refused(String),
}

const NO_ANSWER: &str = "The server did not answer. Whether the order arrived is not known: look at the lock and at the record before you try again.";

/// Asks; never fails but in words.
pub(super) async fn ask(url: &str, pairs: &[(&str, &str)]) -> Answer {
    asked(url, pairs).await.unwrap_or_else(|_| Answer::Refused(NO_ANSWER.to_owned()))
}

async fn asked(url: &str, pairs: &[(&str, &str)]) -> Result<Answer, JsValue> {
    let object = Object::new();
    for (name, value) in pairs {
        Reflect::set(&object, &JsValue::from_str(name), &JsValue::from_str(value))?;
    }
    let headers = Headers::new()?;
    headers.set("content-type", "application/json")?;
    headers.set("accept", "text/html")?;
    let init = RequestInit::new();
    init.set_method("POST");
    init.set_body(JSON::stringify(&object)?.as_ref());
    init.set_headers(&headers);
    let request = Request::new_with_str_and_init(url, &init)?;
    let response: Response = JsFuture::from(window().fetch_with_request(&request)).await?.dyn_into()?;
    let is_drawn = response.headers().get("content-type")?.is_some_and(|kind| kind.starts_with("text/html"));
    if is_drawn {
        let text = JsFuture::from(response.text()?).await?;
        return Ok(Answer::Drawn(text.as_string().unwrap_or_default()));
    }
    let problem = JsFuture::from(response.json()?).await?;
    let detail = Reflect::get(&problem, &JsValue::from_str("detail"))?;
    Ok(Answer::Refused(detail.as_string().unwrap_or_default()))
}
