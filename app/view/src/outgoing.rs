//! Text that leaves Lockscope and may come from hostile clients, made safe for what shows it: bounded, visible, and escaped
//! for its target.

use crate::visible;

/// Ends a text that was cut.
const CUT: &str = "…";
/// At most `bytes_max` bytes of a text, whole characters, without any that steer, hide or turn what stands around them.
pub fn plain(text: &str, bytes_max: usize) -> String {
    // Each character takes a byte at least: what comes after these is cut in any case.
    let head: String = text.chars().take(bytes_max.saturating_add(1)).collect();
    bounded(&visible(&head), bytes_max, |_, char, _, out| out.push(char))
}

/// A text for Slack's mrkdwn: what begins a mention or link is escaped, what formats is replaced by what looks like it.
pub fn slack(text: &str, bytes_max: usize) -> String {
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
pub fn markdown(text: &str, bytes_max: usize) -> String {
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

/// A name in a code span, or in a cell of a table, that it can't end. It stays as it is but for what would, and what begins
/// a mention.
pub fn code_span(name: &str) -> String {
    let clean = bounded(&plain(name, usize::MAX), usize::MAX, |before, char, _, out| match char {
        '`' | '|' => out.push(full_width(char)),
        '@' if !before.is_some_and(char::is_alphanumeric) => out.push(full_width(char)),
        _ => out.push(char),
    });
    format!("`{clean}`")
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
    fn a_name_never_ends_its_code_span() {
        assert_eq!(code_span("/a`b|c\u{202e}\n"), "`/a｀b｜c\u{2425}\u{240a}`");
        assert_eq!(code_span("@channel worker_5@host <@here>"), "`＠channel worker_5@host <＠here>`");
    }
}
