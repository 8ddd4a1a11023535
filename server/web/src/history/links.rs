//! Links of a page of the past: within the past they keep its moment.

use lockscope_page::ports::PRESENT;

/// Pages that can be shown of the past.
pub(super) const PAGES: [&str; 7] = ["/", "/lock", "/waits", "/sessions", "/session", "/events", "/blame"];

/// Answers of the API to which pages link, that can be given of the past.
const ANSWERS: [&str; 3] = ["/api/v1/locks", "/api/v1/lock", "/api/v1/sessions"];

/// The same page with its moment in every link to such a page and in every form that leads to one. Only tags are looked
/// at: a text has no `<` of its own.
pub(super) fn keep_moment(html: &str, at_ms: i64) -> String {
    let mut kept = String::with_capacity(html.len() + html.len() / 16);
    let mut done = 0;
    for (at, sign) in html.match_indices("=\"") {
        let Some((name, from)) = html.get(done..at).and_then(|before| Some((attribute(html, at)?, before.len())))
        else {
            continue;
        };
        let begin = done + from + sign.len();
        let after = html.get(begin..).unwrap_or_default();
        let (address, tail) = after.split_at(after.find('"').unwrap_or(after.len()));
        kept.push_str(html.get(done..begin).unwrap_or_default());
        done = begin + address.len();
        match name {
            Attribute::Href => kept.push_str(&with_moment(address, at_ms)),
            Attribute::Action => kept.push_str(address),
        }
        if name == Attribute::Action && is_page(address) {
            // Behind the form's own tag.
            let tag = tail.find('>').map_or(tail.len(), |at| at + 1);
            kept.push_str(tail.get(..tag).unwrap_or_default());
            kept.push_str(&format!("<input type=\"hidden\" name=\"at\" value=\"{at_ms}\">"));
            done += tag;
        }
    }
    kept.push_str(html.get(done..).unwrap_or_default());
    kept
}

/// What leads somewhere.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attribute {
    Href,
    Action,
}

/// Which attribute ends here, if it is one that leads somewhere, inside a tag.
fn attribute(html: &str, end: usize) -> Option<Attribute> {
    let before = html.get(..end)?;
    let (name, before) = match before.strip_suffix(" href") {
        Some(before) => (Attribute::Href, before),
        None => (Attribute::Action, before.strip_suffix(" action")?),
    };
    let edge = before.rfind(['<', '>'])?;
    before.get(edge..)?.starts_with('<').then_some(name)
}

fn is_page(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    PAGES.contains(&path)
}

fn is_answer(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    ANSWERS.contains(&path)
}

/// An address as it stands in an attribute. One that names a moment keeps it, and the way back to the present has none.
fn with_moment(address: &str, at_ms: i64) -> String {
    let names_one = ["?at=", "&amp;at=", PRESENT].iter().any(|part| address.contains(part));
    if names_one || !(is_page(address) || is_answer(address)) {
        return address.replace(PRESENT, "");
    }
    let (before, hash) = address.find('#').map_or((address, ""), |at| address.split_at(at));
    let sign = if before.contains('?') { "&amp;" } else { "?" };
    format!("{before}{sign}at={at_ms}{hash}")
}

pub(super) fn at_moment(url: &str, at_ms: i64) -> String {
    format!("{url}{}at={at_ms}", if url.contains('?') { '&' } else { '?' })
}

pub(super) fn with(path: &str, pairs: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(pairs);
    format!("{path}?{}", query.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_within_the_past_stay_there() {
        let of = |html: &str| keep_moment(html, 7);
        assert_eq!(of("<a href=\"/\">x</a>"), "<a href=\"/?at=7\">x</a>");
        assert_eq!(of("<a href=\"/lock?path=/a&amp;q=b#c\">"), "<a href=\"/lock?path=/a&amp;q=b&amp;at=7#c\">");
        assert_eq!(of("<a href=\"/waits\"><a href=\"/status\">"), "<a href=\"/waits?at=7\"><a href=\"/status\">");
        assert_eq!(of("<a href=\"/lock?path=/a&amp;at=9\">"), "<a href=\"/lock?path=/a&amp;at=9\">");
        assert_eq!(of("<a href=\"/lock?path=/a#present\">"), "<a href=\"/lock?path=/a\">");
        assert_eq!(
            of("<form action=\"/sessions\" method=\"get\"><b>"),
            "<form action=\"/sessions\" method=\"get\"><input type=\"hidden\" name=\"at\" value=\"7\"><b>"
        );
        assert_eq!(
            of("<form action=\"/sign-out\"><a href=\"https://a/\">"),
            "<form action=\"/sign-out\"><a href=\"https://a/\">"
        );
        assert_eq!(
            of("<a download href=\"/api/v1/lock?path=/a&amp;format=csv\"><a href=\"/api/v1/events\">"),
            "<a download href=\"/api/v1/lock?path=/a&amp;format=csv&amp;at=7\"><a href=\"/api/v1/events\">"
        );
        let text = "<b title=\"x\">a label href=\"/\" action=\"/\" it is</b>";
        assert_eq!(of(text), text, "what a client wrote stays");
    }
}
