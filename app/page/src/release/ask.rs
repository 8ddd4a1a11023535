//! Requests to the release service: a small JSON body there, an answer in the compact encoding back. Browser only.

use js_sys::{JSON, Reflect};
use serde::de::DeserializeOwned;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

use super::words;
use crate::compact::{decode, is_compact, object, send};

/// Why there is no answer, in one sentence.
pub(super) type Refusal = String;

/// Asks; never fails but in words.
pub(super) async fn ask<T: DeserializeOwned>(url: &str, pairs: &[(&str, &str)]) -> Result<T, Refusal> {
    asked(url, pairs).await.unwrap_or_else(|_| Err(words::NO_ANSWER.to_owned()))
}

async fn asked<T: DeserializeOwned>(url: &str, pairs: &[(&str, &str)]) -> Result<Result<T, Refusal>, JsValue> {
    let pairs: Vec<(&str, JsValue)> = pairs.iter().map(|(name, value)| (*name, JsValue::from_str(value))).collect();
    let response = send("POST", url, Some(JSON::stringify(&object(&pairs)?)?.as_ref())).await?;
    if is_compact(&response) {
        return decode(&response).await.map(Ok);
    }
    let problem = JsFuture::from(response.json()?).await?;
    let detail = Reflect::get(&problem, &JsValue::from_str("detail"))?;
    Ok(Err(detail.as_string().unwrap_or_default()))
}
