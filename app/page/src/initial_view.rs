//! The first view of a page: rendered by the server, and handed to the browser in the same document so that both
//! draw the same. In the compact encoding: the browser then needs no JSON, a tenth of the page's code.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::server::SharedValue;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ports::{InitialView, Source};

/// What the server saw, in the browser as well; None where there is no source, as while routes are listed.
pub(crate) fn initial_view<T: Serialize + DeserializeOwned>(
    look: impl FnOnce(&dyn Source) -> InitialView<T>,
) -> Option<InitialView<T>> {
    let mut seen = None;
    let packed = SharedValue::new_str(|| {
        seen = use_context::<Arc<dyn Source>>().map(|source| look(source.as_ref()));
        seen.as_ref().and_then(pack).unwrap_or_default()
    });
    seen.or_else(|| unpack(&packed.into_inner()))
}

#[cfg(feature = "ssr")]
pub(super) fn pack<T: Serialize>(first: &T) -> Option<String> {
    use base64::Engine as _;
    lockscope_view::encode_frame(first).map(|bytes| base64::engine::general_purpose::STANDARD.encode(bytes))
}

#[cfg(not(feature = "ssr"))]
pub(super) fn pack<T>(_: &T) -> Option<String> {
    None
}

#[cfg(feature = "hydrate")]
pub(super) fn unpack<T: DeserializeOwned>(packed: &str) -> Option<T> {
    // `atob` gives one character a byte.
    let bytes: Option<Vec<u8>> =
        window().atob(packed).ok()?.chars().map(|char| u8::try_from(u32::from(char)).ok()).collect();
    lockscope_view::decode_frame(&bytes?)
}

#[cfg(not(feature = "hydrate"))]
pub(super) fn unpack<T>(_: &str) -> Option<T> {
    None
}
