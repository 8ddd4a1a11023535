//! The query of the page's address, decoded once. The router's own map decodes values twice, so that a name like
//! `a%2Fb` would turn into another.

use leptos::prelude::*;
use leptos_router::hooks::use_location;

/// Decoded names and values, in the order of the address; follows it.
pub(crate) fn use_pairs() -> Memo<Vec<(String, String)>> {
    let search = use_location().search;
    Memo::new(move |_| search.with(|search| pairs(search)))
}

pub(crate) fn pairs(search: &str) -> Vec<(String, String)> {
    form_urlencoded::parse(search.trim_start_matches('?').as_bytes()).into_owned().collect()
}

pub(crate) fn borrowed(pairs: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()))
}

/// An address with one parameter more.
pub(crate) fn with_parameter(address: &str, parameter: &str) -> String {
    let sign = if address.contains('?') { '&' } else { '?' };
    format!("{address}{sign}{parameter}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_once() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(pairs("?path=%2Fa%252Fb&q=x+y"), [pair("path", "/a%2Fb"), pair("q", "x y")]);
        assert_eq!(pairs(""), []);
    }
}
