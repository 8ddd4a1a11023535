//! HTML as text, for what is made by the dozen: a browser reads a row as text in a tenth of the time in which it is made
//! element by element.

#[cfg(feature = "ssr")]
use leptos::prelude::*;

use crate::exact::escape;
#[cfg(feature = "ssr")]
use crate::live::Live;

/// HTML. What stands in the program is in it as it is, everything else is escaped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Markup(String);

/// What is put in for a `{}`.
#[derive(Clone, Copy)]
pub(crate) enum Piece<'a> {
    /// What stands in the program.
    Html(&'static str),
    Text(&'a str),
    /// An attribute of the element whose tag is open; left out for None.
    Attribute(&'static str, Option<&'a str>),
    Markup(&'a Markup),
}

impl Markup {
    /// What stands in the program, with one piece for each `{}` in it.
    pub(crate) fn fill(template: &'static str, pieces: &[Piece<'_>]) -> Self {
        let mut made = Self::default();
        let mut pieces = pieces.iter();
        for part in template.split("{}") {
            made.add(&Piece::Html(part));
            pieces.next().into_iter().for_each(|piece| made.add(piece));
        }
        made
    }

    pub(crate) fn add(&mut self, piece: &Piece<'_>) {
        match piece {
            Piece::Html(html) => self.0.push_str(html),
            Piece::Text(text) => escape(text, &mut self.0),
            Piece::Attribute(name, Some(value)) => {
                self.0.extend([" ", name, "=\""]);
                escape(value, &mut self.0);
                self.0.push('"');
            }
            Piece::Attribute(_, None) => {}
            Piece::Markup(markup) => self.0.push_str(&markup.0),
        }
    }

    #[cfg(any(feature = "hydrate", test))]
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

/// Components as text. Their clock stands at an instant.
#[cfg(feature = "ssr")]
pub(crate) fn text<V: IntoView>(now_ms: i64, view: impl FnOnce() -> V) -> String {
    let owner = Owner::new_root(None);
    let html = owner.with(|| {
        provide_context(Live::at(now_ms));
        view().into_view().to_html()
    });
    owner.cleanup();
    // Marks for whoever takes a page over, which nobody does here. No text has one: it would be escaped.
    html.replace("<!>", "")
}

#[cfg(test)]
mod tests {
    use super::Piece::{Attribute, Text};
    use super::*;

    #[test]
    fn nothing_that_is_put_in_becomes_markup() {
        let hostile = "\"><script>alert('1')</script>&amp;{}";
        let pieces = [Attribute("title", Some(hostile)), Attribute("id", None), Text(hostile)];
        let made = Markup::fill("<b{}{}>{}</b>", &pieces);
        let escaped = "&quot;&gt;&lt;script&gt;alert('1')&lt;/script&gt;&amp;amp;{}";
        assert_eq!(made.as_str(), format!("<b title=\"{escaped}\">{escaped}</b>"));
    }

    #[test]
    fn what_is_hidden_goes_as_a_number() {
        let made = Markup::fill("<b{}>", &[Attribute("data-path", Some("/a\u{202e}\r"))]);
        assert_eq!(made.into_string(), "<b data-path=\"/a&#8238;&#13;\">");
    }
}
