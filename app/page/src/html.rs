//! Parts of the page that are made of text, not of components: HTML as a value that can't be unsafe, and an element that
//! keeps itself in line with it.
//!
//! A component for each kind of row costs kilobytes of code in the browser; a table made of text costs what its words cost.
//! Every text and every attribute is escaped here and nowhere else, so a name from outside can't become markup.

use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use web_sys::{Element, HtmlTemplateElement, Node};

use super::format::{age, clock, left, visible};

/// A piece of HTML.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Html(String);

/// Attributes: names are ours, values are escaped, and made visible where people read them; one with an empty value is left
/// out.
pub(crate) type Attributes<'a> = &'a [(&'static str, &'a str)];

impl Html {
    /// Text, made visible and safe.
    pub(crate) fn text(text: &str) -> Self {
        let mut out = String::new();
        escape(&visible(text), &mut out);
        Self(out)
    }

    /// An element around something.
    pub(crate) fn tag(name: &'static str, attributes: Attributes<'_>, inner: Self) -> Self {
        let mut out = String::with_capacity(inner.0.len() + 32);
        out.push('<');
        out.push_str(name);
        for (key, value) in attributes.iter().filter(|(_, value)| !value.is_empty()) {
            out.push(' ');
            out.push_str(key);
            out.push_str("=\"");
            // What is read must show all that is in it; the others are read by machines.
            if matches!(*key, "title" | "aria-label") {
                escape(&visible(value), &mut out);
            } else {
                escape_exactly(value, &mut out);
            }
            out.push('"');
        }
        out.push('>');
        out.push_str(&inner.0);
        out.push_str("</");
        out.push_str(name);
        out.push('>');
        Self(out)
    }

    /// An element around text.
    pub(crate) fn of(name: &'static str, attributes: Attributes<'_>, text: &str) -> Self {
        Self::tag(name, attributes, Self::text(text))
    }

    /// One after another.
    pub(crate) fn all(parts: Vec<Self>) -> Self {
        Self(parts.into_iter().map(|part| part.0).collect())
    }

    /// A link.
    pub(crate) fn link(class: &str, href: &str, whole: &str, text: &str) -> Self {
        Self::tag("a", &[("class", class), ("href", href), ("title", &visible(whole))], Self::of("bdi", &[], text))
    }

    /// A table in a box of its own that scrolls when it is too wide. Columns are names with their classes.
    pub(crate) fn table(class: &str, testid: &str, columns: &[(&str, &str)], rows: Vec<Self>) -> Self {
        let column = |(name, class): &(&str, &str)| Self::of("th", &[("scope", "col"), ("class", class)], name);
        let head = Self::tag("tr", &[], Self::all(columns.iter().map(column).collect()));
        let inner = vec![Self::tag("thead", &[], head), Self::tag("tbody", &[], Self::all(rows))];
        let table = Self::tag("table", &[("class", class), ("data-testid", testid)], Self::all(inner));
        // What scrolls must be reachable by keyboard.
        Self::tag("div", &[("class", "overflow-x-auto"), ("tabindex", "0"), ("role", "group"), ("aria-label", "Table")], table)
    }

    /// A term and what it is.
    pub(crate) fn pair(term: &str, class: &str, inner: Self) -> Self {
        Self::all(vec![Self::of("dt", &[], term), Self::tag("dd", &[("class", class)], inner)])
    }

    /// A number with its name, large.
    pub(crate) fn total(name: &str, inner: Self) -> Self {
        Self::tag("div", &[("class", "total")], Self::pair(name, "", inner))
    }

    /// A time that grows while it is looked at; nothing for None.
    pub(crate) fn age(since_ms: Option<i64>, at_least: bool, now_ms: i64) -> Self {
        Self::since(since_ms, at_least, "At least: it was already held when we first looked", now_ms)
    }

    /// The same of a wait.
    pub(crate) fn wait(since_ms: Option<i64>, at_least: bool, now_ms: i64) -> Self {
        Self::since(since_ms, at_least, "At least: it may have waited before it was first seen, or others longer", now_ms)
    }

    fn since(since_ms: Option<i64>, at_least: bool, why: &str, now_ms: i64) -> Self {
        let Some(since) = since_ms else { return Self::default() };
        let (sign, title) = if at_least { ("≥ ", why) } else { ("", "") };
        let (text, since) = (format!("{sign}{}", age(since, now_ms)), since.to_string());
        Self::of("span", &[("class", "age"), ("title", title), ("data-since", &since), ("data-sign", sign)], &text)
    }

    /// A time that runs down while it is looked at, after a few words; once it has passed, that it has.
    pub(crate) fn countdown(words: &str, until_ms: i64, now_ms: i64) -> Self {
        let (text, until) = (left(words, until_ms, now_ms), until_ms.to_string());
        Self::of("span", &[("class", "until"), ("data-until", &until), ("data-sign", words)], &text)
    }

    /// This, or a dash where there is nothing.
    pub(crate) fn or_dash(self) -> Self {
        if self.0.is_empty() { Self::text("–") } else { self }
    }
}

impl Html {
    /// Markup that the server drew, with all that came from outside escaped there.
    pub(crate) fn drawn(markup: String) -> Self {
        Self(markup)
    }

    /// As it goes into a document.
    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

fn escape(text: &str, out: &mut String) {
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
}

/// A value that is read back to the letter: what is hidden in it goes as a number, so that the document itself holds nothing
/// hidden. C1 controls can't: HTML reads their numbers as letters of windows-1252.
fn escape_exactly(value: &str, out: &mut String) {
    let is_numbered = |char: char| !matches!(char, '\0' | '\u{80}'..='\u{9f}') && !visible(char.encode_utf8(&mut [0; 4])).contains(char);
    for char in value.chars() {
        if is_numbered(char) {
            out.push_str(&format!("&#{};", u32::from(char)));
        } else {
            escape(char.encode_utf8(&mut [0; 4]), out);
        }
    }
}

/// An element whose content follows HTML. What did not change stays the same node, so focus and selection stay too; elements
/// with a `data-key` are known by it wherever they move.
#[component]
pub(crate) fn Living(class: &'static str, html: Signal<Html>) -> impl IntoView {
    let node = NodeRef::<Div>::new();
    let first = use_rows(node, move || html.get());
    view! { <div class=class node_ref=node inner_html=first></div> }
}

/// Keeps the content of a list in line with its rows; what it holds at first is for `inner_html`.
pub(crate) fn use_rows(list: NodeRef<Div>, rows: impl Fn() -> Html + Send + Sync + 'static) -> String {
    let rows = Signal::derive(rows);
    Effect::new(move |before: Option<Html>| {
        let next = rows.get();
        if let Some(list) = list.get().filter(|_| before.as_ref() != Some(&next)) {
            follow(&list, &next);
        }
        next
    });
    rows.get_untracked().0
}

/// Brings the content of an element in line with HTML.
pub(crate) fn follow(element: &Element, html: &Html) {
    if let Some(fresh) = parsed(&html.0) {
        follow_children(element, &fresh);
    }
}

/// The same for the content of an SVG element.
pub(crate) fn follow_svg(element: &Element, html: &Html) {
    if let Some(svg) = parsed(&format!("<svg>{}</svg>", html.0)).and_then(|fresh| fresh.first_child()) {
        follow_children(element, &svg);
    }
}

/// HTML as nodes that are in no document yet; None only where a template can't be made, which no browser refuses.
fn parsed(html: &str) -> Option<Node> {
    let template = document().create_element("template").ok()?.dyn_into::<HtmlTemplateElement>().ok()?;
    template.set_inner_html(html);
    Some(template.content().into())
}

fn follow_children(old: &Node, new: &Node) {
    let mut at = old.first_child();
    let mut next = new.first_child();
    while let Some(fresh) = next {
        next = fresh.next_sibling();
        let key = key_of(&fresh);
        let known = match &key {
            Some(_) => siblings(at.clone()).find(|node| key_of(node) == key),
            None => at.clone().filter(|node| key_of(node).is_none()),
        };
        match known.filter(|node| node.node_name() == fresh.node_name()) {
            Some(node) => {
                if at.as_ref().is_some_and(|at| at.is_same_node(Some(&node))) {
                    at = node.next_sibling();
                } else {
                    // Both are children of `old`; inserting cannot fail.
                    let _ = old.insert_before(&node, at.as_ref());
                }
                follow_node(&node, &fresh);
            }
            None => {
                let _ = old.insert_before(&fresh, at.as_ref());
            }
        }
    }
    let rest: Vec<Node> = siblings(at).collect();
    for node in rest {
        let _ = old.remove_child(&node);
    }
}

fn siblings(first: Option<Node>) -> impl Iterator<Item = Node> {
    std::iter::successors(first, Node::next_sibling)
}

fn key_of(node: &Node) -> Option<String> {
    node.dyn_ref::<Element>()?.get_attribute("data-key")
}

fn follow_node(old: &Node, new: &Node) {
    // Most of what is drawn anew is as it was, and one call into the browser tells so for a whole branch.
    if old.is_equal_node(Some(new)) {
        return;
    }
    let (Some(old_element), Some(new_element)) = (old.dyn_ref::<Element>(), new.dyn_ref::<Element>()) else {
        if old.node_value() != new.node_value() {
            old.set_node_value(new.node_value().as_deref());
        }
        return;
    };
    for name in old_element.get_attribute_names().iter().filter_map(|name| name.as_string()) {
        if !new_element.has_attribute(&name) {
            // Names come from an element; they are names.
            let _ = old_element.remove_attribute(&name);
        }
    }
    for name in new_element.get_attribute_names().iter().filter_map(|name| name.as_string()) {
        let value = new_element.get_attribute(&name);
        if old_element.get_attribute(&name) != value {
            let _ = old_element.set_attribute(&name, value.as_deref().unwrap_or_default());
        }
    }
    follow_children(old, new);
}

/// Lets every age on the page grow, every countdown run down and every clock go. Browser only.
pub(crate) fn let_times_move(now_ms: i64) {
    let Ok(found) = document().query_selector_all("[data-since],[data-until],[data-clock]") else { return };
    for at in 0..found.length() {
        let Some(element) = found.item(at).and_then(|node| node.dyn_into::<Element>().ok()) else { continue };
        let instant = |name: &str| element.get_attribute(name).and_then(|text| text.parse().ok());
        let sign = element.get_attribute("data-sign").unwrap_or_default();
        let text = match instant("data-since") {
            Some(since) => Some(format!("{sign}{}", age(since, now_ms))),
            None => Some(instant("data-until").map_or_else(|| clock(now_ms), |until| left(&sign, until, now_ms))),
        };
        if element.text_content() != text {
            element.set_text_content(text.as_deref());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_becomes_markup() {
        let hostile = "<img src=x onerror=\"alert(1)\">&amp;";
        let made = Html::link("\"x", "/lock?path=\"><script>", hostile, hostile);
        assert_eq!(
            made.0,
            "<a class=\"&quot;x\" href=\"/lock?path=&quot;&gt;&lt;script&gt;\" \
             title=\"&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;amp;\"><bdi>&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;amp;</bdi></a>"
        );
        let exact = Html::of("form", &[("data-lock", "/a\u{202e}\r\u{1b}\"é")], "a").0;
        assert_eq!(exact, "<form data-lock=\"/a&#8238;&#13;&#27;&quot;é\">a</form>");
        assert_eq!(Html::of("p", &[("class", "")], "a").0, "<p>a</p>");
        assert_eq!(Html::age(None, true, 5), Html::default());
        assert_eq!(Html::age(None, true, 5).or_dash().0, "–");
        assert_eq!(Html::countdown("≤ ", 90_000, 48_000).0, "<span class=\"until\" data-until=\"90000\" data-sign=\"≤ \">≤ 00:42</span>");
    }
}
