//! A value of an attribute that machines read back to the letter: a path to copy, to release, to compare.

use leptos::tachys::html::attribute::AttributeValue;
use leptos::tachys::renderer::types::Element;

use super::format::visible;

/// The value. In a document that the server writes, what is hidden in it goes as a number: the document itself then
/// holds nothing hidden, and a browser can't take a carriage return for a line's end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exact(pub(crate) String);

impl AttributeValue for Exact {
    type State = <String as AttributeValue>::State;
    type AsyncOutput = Self;
    type Cloneable = Self;
    type CloneableOwned = Self;

    fn html_len(&self) -> usize {
        self.0.len()
    }

    fn to_html(self, key: &str, buf: &mut String) {
        buf.push(' ');
        buf.push_str(key);
        buf.push_str("=\"");
        escape(&self.0, buf);
        buf.push('"');
    }

    fn to_template(_: &str, _: &mut String) {}

    fn hydrate<const FROM_SERVER: bool>(self, key: &str, element: &Element) -> Self::State {
        self.0.hydrate::<FROM_SERVER>(key, element)
    }

    fn build(self, element: &Element, key: &str) -> Self::State {
        self.0.build(element, key)
    }

    fn rebuild(self, key: &str, state: &mut Self::State) {
        self.0.rebuild(key, state);
    }

    fn into_cloneable(self) -> Self {
        self
    }

    fn into_cloneable_owned(self) -> Self {
        self
    }

    fn dry_resolve(&mut self) {}

    async fn resolve(self) -> Self {
        self
    }
}

/// Of what is hidden, C1 controls can't go as numbers: HTML reads those as letters of windows-1252.
pub(crate) fn escape(value: &str, out: &mut String) {
    let is_numbered = |char: char| {
        !matches!(char, '\0' | '\u{80}'..='\u{9f}') && !visible(char.encode_utf8(&mut [0; 4])).contains(char)
    };
    // Most of it needs nothing.
    let plain = |char: char| matches!(char, ' '..='~') && !matches!(char, '&' | '<' | '>' | '"');
    let rest = value.trim_start_matches(plain);
    out.push_str(value.strip_suffix(rest).unwrap_or_default());
    for char in rest.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            char if plain(char) => out.push(char),
            char if is_numbered(char) => out.push_str(&format!("&#{};", u32::from(char))),
            char => out.push(char),
        }
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use leptos::prelude::*;

    #[test]
    fn a_value_is_read_back_to_the_letter_and_hides_nothing() {
        let hostile = "/a\u{202e}\r\u{1b}\"é<script>";
        let html = view! { <form data-lock=Exact(hostile.to_owned())>"a"</form> }.to_html().replace("<!>", "");
        assert_eq!(html, "<form data-lock=\"/a&#8238;&#13;&#27;&quot;é&lt;script&gt;\">a</form>");
    }
}
