//! The query of a request. A parameter comes at most once, and one that the route does not take is refused: it would be
//! ignored without a word. What a route of the API takes is what its operation describes.

use std::sync::Arc;

use axum::extract::{FromRequestParts, MatchedPath, Query};
use axum::http::request::Parts;

use super::problem::{ErrorResponse, echo, wrong};

/// Parameters as they came, in their order.
pub(super) type NamedValues = Vec<(String, String)>;

/// The names of the parameters that a route takes; an extension of its requests.
#[derive(Clone)]
pub(super) struct ParamNames(pub(super) Arc<[&'static str]>);

/// The parameters of a request, none of which its route does not take.
pub(super) struct Params(pub(super) NamedValues);

impl<S: Send + Sync> FromRequestParts<S> for Params {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let Query(pairs) = Query::<NamedValues>::try_from_uri(&parts.uri).map_err(|error| {
            ErrorResponse::bad_request(format!("the query could not be read: {}", error.body_text()))
        })?;
        let path = parts.extensions.get::<MatchedPath>().map_or(parts.uri.path(), MatchedPath::as_str);
        let taken = parts.extensions.get::<ParamNames>().map_or(&[][..], |names| &names.0);
        check(&pairs, path, taken)?;
        Ok(Self(pairs))
    }
}

fn check(pairs: &NamedValues, path: &str, taken: &[&str]) -> Result<(), ErrorResponse> {
    for (at, (name, _)) in pairs.iter().enumerate() {
        let refused = if pairs.iter().take(at).any(|(before, _)| before == name) {
            format!("`{}` came more than once; send it once", echo(name))
        } else if !taken.contains(&name.as_str()) {
            let taken = match taken {
                [] => "none".to_owned(),
                [one] => (*one).to_owned(),
                [first @ .., last] => format!("{} and {last}", first.join(", ")),
            };
            format!("`{}` is not a parameter of {path}; it takes {taken}", echo(name))
        } else {
            continue;
        };
        return Err(ErrorResponse::bad_request(refused));
    }
    Ok(())
}

pub(super) fn short(name: &str, value: &str, chars_max: usize) -> Result<String, ErrorResponse> {
    if value.chars().count() > chars_max {
        return Err(wrong(name, value, &format!("at most {chars_max} characters")));
    }
    Ok(value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_and_repeated_parameters_are_refused() {
        let refusal = |names: &[&str], taken: &[&str]| {
            let pairs = names.iter().map(|name| ((*name).to_owned(), String::new())).collect();
            check(&pairs, "/x", taken).err().map(|refused| refused.sentence().to_owned())
        };
        assert_eq!(refusal(&["b", "a"], &["a", "b"]), None);
        assert_eq!(refusal(&["a", "a"], &["a"]).unwrap(), "`a` came more than once; send it once");
        assert_eq!(refusal(&["c"], &["a", "b", "d"]).unwrap(), "`c` is not a parameter of /x; it takes a, b and d");
        assert_eq!(refusal(&["c"], &["a"]).unwrap(), "`c` is not a parameter of /x; it takes a");
        assert_eq!(refusal(&["c"], &[]).unwrap(), "`c` is not a parameter of /x; it takes none");
    }
}
