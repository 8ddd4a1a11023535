//! What people send with a form.

use axum::extract::Form;
use axum::extract::rejection::FormRejection;

use super::problem::ErrorResponse;

pub(super) type Typed = Result<Form<Vec<(String, String)>>, FormRejection>;

pub(super) fn typed_in(typed: Typed) -> Result<Vec<(String, String)>, ErrorResponse> {
    let Form(pairs) = typed
        .map_err(|error| ErrorResponse::bad_request(format!("the form could not be read: {}", error.body_text())))?;
    Ok(pairs)
}

/// The first value of a name.
pub(super) fn value<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}
