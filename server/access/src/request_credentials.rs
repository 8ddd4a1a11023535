//! What a request proves itself with: a cookie or a bearer token.

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, COOKIE};

use super::secret::Secret;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denied {
    /// Nothing was shown, and that is not enough here.
    Nobody,
    /// A token was shown that is none, or is none any more.
    Token(&'static str),
    /// A header of a trusted proxy that can't be believed.
    Proxy(String),
}

/// What a cookie of this name holds, when there is just one.
pub(super) fn cookie_of(headers: &HeaderMap, name: &str) -> Option<Secret> {
    let pairs =
        headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(';'));
    let mut ids = pairs.filter_map(|pair| pair.trim().split_once('=')).filter(|(key, _)| *key == name);
    let (_, id) = ids.next()?;
    if ids.next().is_some() {
        return None;
    }
    Some(Secret::new(id.to_owned()))
}

/// The token of a request that brings credentials. Whatever else comes in that header is refused, never passed over:
/// who sends it believes to be known.
pub(super) fn bearer(headers: &HeaderMap) -> Result<Secret, Denied> {
    const FORM: &str = "send one header like `Authorization: Bearer lks_…`, or none";
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return Err(Denied::Token(FORM)) };
    let (scheme, token) = value.to_str().ok().and_then(|text| text.split_once(' ')).ok_or(Denied::Token(FORM))?;
    if scheme.eq_ignore_ascii_case("bearer") {
        Ok(Secret::new(token.trim().to_owned()))
    } else {
        Err(Denied::Token(FORM))
    }
}
