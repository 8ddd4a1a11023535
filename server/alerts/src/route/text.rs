//! Text that may come from hostile clients, made safe for what shows it: bounded, visible, and escaped for its target.

use lockscope_wire::visible;
use reqwest::Url;

/// Ends a text that was cut.
const CUT: &str = "…";
/// A link that is longer is left out, in bytes: a part of an address leads nowhere.
pub(super) const LINK_BYTES_MAX: usize = 800;

/// At most `bytes_max` bytes of a text, whole characters, without any that steer, hide or turn what stands around them.
pub(super) fn plain(text: &str, bytes_max: usize) -> String {
    // Each character takes a byte at least: what comes after these is cut in any case.
    let head: String = text.chars().take(bytes_max.saturating_add(1)).collect();
    bounded(&visible(&head), bytes_max, |_, char, _, out| out.push(char))
}

/// A text for Slack's mrkdwn: what begins a mention or link is escaped, what formats is replaced by what looks like it.
pub(super) fn slack(text: &str, bytes_max: usize) -> String {
    bounded(&plain(text, bytes_max), bytes_max, |_, char, _, out| match char {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '*' => out.push('∗'),
        '_' => out.push('\u{ff3f}'),
        '~' => out.push('∼'),
        '`' => out.push('\u{2cb}'),
        '@' => out.push('\u{ff20}'),
        _ => out.push(char),
    })
}

/// A text for the Markdown of chats that know no escaping: what formats, links or mentions becomes its full-width twin.
/// An underscore between letters and digits formats nothing and stays, as names of locks are full of them.
pub(super) fn markdown(text: &str, bytes_max: usize) -> String {
    bounded(&plain(text, bytes_max), bytes_max, |before, char, after, out| match char {
        '_' if before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric) => out.push('_'),
        // The first two characters of `//` after a scheme are what makes a chat turn an address into a link.
        ':' if after == Some('/') => out.push('\u{ff1a}'),
        '!' | '#' | '&' | '(' | ')' | '*' | '<' | '>' | '@' | '[' | '\\' | ']' | '_' | '`' | '{' | '|' | '}' | '~' => {
            out.push(full_width(char));
        }
        _ => out.push(char),
    })
}

fn full_width(char: char) -> char {
    char::from_u32(u32::from(char) + 0xfee0).unwrap_or('\u{fffd}')
}

/// Writes a text by characters, each with its neighbours, as far as it fits; what an escape writes is never cut.
fn bounded(text: &str, bytes_max: usize, write: impl Fn(Option<char>, char, Option<char>, &mut String)) -> String {
    let mut out = String::new();
    let mut fits_with_cut = 0;
    let mut before = None;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        write(before, char, chars.peek().copied(), &mut out);
        if out.len() > bytes_max {
            out.truncate(fits_with_cut);
            if bytes_max >= CUT.len() {
                out.push_str(CUT);
            }
            return out;
        }
        if out.len() + CUT.len() <= bytes_max {
            fits_with_cut = out.len();
        }
        before = Some(char);
    }
    out
}

/// An address that can stand in any target as it is: http or https, and what formats anywhere is percent-encoded.
pub(super) fn link(text: Option<&str>) -> Option<String> {
    let url = Url::parse(text.filter(|text| text.len() <= LINK_BYTES_MAX)?).ok()?;
    // A host may have more in it than names have: `*` and `)` too.
    let is_name = |host: &str| host.chars().all(|char| char.is_ascii_alphanumeric() || "-.:[]".contains(char));
    if !matches!(url.scheme(), "https" | "http") || !url.host_str().is_some_and(is_name) {
        return None;
    }
    let mut out = url.origin().ascii_serialization();
    // What has a user or a password in it does not begin so.
    for char in url.as_str().strip_prefix(&out)?.chars() {
        match char {
            '!' | '\'' | '(' | ')' | '*' | '<' | '>' | '@' | '[' | '\\' | ']' | '^' | '`' | '{' | '|' | '}' | '"' => {
                out.push_str(&format!("%{:02X}", u32::from(char)));
            }
            _ => out.push(char),
        }
    }
    (out.len() <= LINK_BYTES_MAX).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_longer_than_it_may_be_and_no_character_is_halved() {
        assert_eq!(plain("abc", 3), "abc");
        assert_eq!(plain("abcd", 3), "…");
        assert_eq!(plain("abcdef", 5), "ab…");
        assert_eq!(plain("锁锁锁", 8), "锁…");
        assert_eq!(plain("abcd", 2), "");
        assert_eq!(plain("a\u{202e}\n", 99), "a\u{2425}\u{240a}");
        // No escape is cut in its middle.
        assert_eq!(slack("<<<<", 9), "&lt;…");
        assert_eq!(slack("<<", 8), "&lt;&lt;");
    }

    #[test]
    fn nothing_formats() {
        assert_eq!(slack("<!channel> & *b* @here", 99), "&lt;!channel&gt; &amp; ∗b∗ ＠here");
        assert_eq!(markdown("[a](http://b) **c** <@all>", 99), "［a］（http：//b） ＊＊c＊＊ ＜＠all＞");
        assert_eq!(markdown("/my_job/_c_1-lock_", 99), "/my_job/＿c_1-lock＿");
    }

    #[test]
    fn links_are_addresses_of_pages() {
        assert_eq!(link(Some("https://a.example/x?y=(1)|*")).as_deref(), Some("https://a.example/x?y=%281%29%7C%2A"));
        for wrong in [
            "javascript:alert(1)",
            "https://ann:word@a.example/",
            "nothing",
            "data:text/html,x",
            "file:///x",
            "https://a)*b*/",
        ] {
            assert_eq!(link(Some(wrong)), None, "{wrong}");
        }
        assert_eq!(link(Some(&format!("https://a.example/{}", "x".repeat(LINK_BYTES_MAX)))), None);
        assert_eq!(link(Some("http://[::1]:9/[x]?y")).as_deref(), Some("http://[::1]:9/%5Bx%5D?y"));
        assert_eq!(link(None), None);
    }
}
