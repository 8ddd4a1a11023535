//! A field of several lines with a text in it.

use leptos::prelude::*;

use crate::erase::view;

/// The field. Its text is markup that reads as the text: Leptos writes what stands in a `<textarea>` as it is, so that a text
/// with `</textarea>` in it would end the field. The first line's end is no part of what is shown.
#[component]
pub(crate) fn TextArea(name: &'static str, rows: &'static str, maxlength: &'static str, text: String) -> AnyView {
    let mut markup = "\n".to_owned();
    crate::exact::escape(&text, &mut markup);
    view! { <textarea class="release-input" name=name rows=rows required="" maxlength=maxlength spellcheck="false" autocomplete="off" inner_html=markup></textarea> }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        view! { <TextArea name="a" rows="2" maxlength="9" text=text.to_owned() /> }.to_html()
    }

    #[test]
    fn a_text_never_ends_its_field() {
        let html = shown("</textarea><b>&amp;\"\u{202e}");
        assert!(html.ends_with(">\n&lt;/textarea&gt;&lt;b&gt;&amp;amp;&quot;&#8238;</textarea>"), "{html}");
        // The first of its lines may be empty.
        assert!(shown("\na").ends_with(">\n&#10;a</textarea>"));
    }

    /// Leptos escapes these by itself; `raw_text_has_no_children` (server/tests/it/tidy.rs) forbids the others.
    #[test]
    fn titles_are_escaped() {
        let title = || "</title><b>".to_owned();
        let html =
            [view! { <title>{title()}</title> }.to_html(), view! { <svg><title>{title()}</title></svg> }.to_html()]
                .concat();
        assert!(!html.contains("<b>"), "{html}");
    }
}
