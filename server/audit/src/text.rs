//! What people and clients wrote, made fit for a record: bounded, on one line, nothing hidden. Pure.

use std::fmt::Write as _;

use lockscope_core::label::is_hidden;

pub const REASON_CHARS_MAX: usize = 500;
pub const DETAIL_CHARS_MAX: usize = 2_000;
pub const NAME_CHARS_MAX: usize = 256;
pub const PATH_CHARS_MAX: usize = 4_096;

pub fn is_shown(char: char) -> bool {
    !(char.is_whitespace() || char.is_control() || is_hidden(char))
}

/// A text with at most so many characters; what is cut is marked with an ellipsis, and characters that steer, hide or
/// turn the direction of what follows are visible escapes.
pub(super) fn bounded(text: &str, chars_max: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    // Where the text is to be cut if it turns out too long: there is room for the ellipsis then.
    let mut cut_at = 0;
    for char in text.chars() {
        let before = out.len();
        if char.is_control() || is_hidden(char) || matches!(char, '\u{2028}' | '\u{2029}') {
            // Writing to a string can't fail.
            let _ = write!(out, "{}", char.escape_unicode());
        } else {
            out.push(char);
        }
        used += out.get(before..).map_or(0, |written| written.chars().count());
        if used > chars_max {
            out.truncate(cut_at);
            out.push('…');
            return out;
        }
        if used < chars_max {
            cut_at = out.len();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hidden_characters_come_out_as_escapes() {
        assert_eq!(bounded("a\nb\u{202e}c\u{7}\u{2028}", 100), "a\\u{a}b\\u{202e}c\\u{7}\\u{2028}");
        assert_eq!(bounded("wörter 主机", 100), "wörter 主机");
    }

    #[test]
    fn long_texts_are_cut_with_a_mark_and_never_inside_an_escape() {
        assert_eq!(bounded("abcdef", 6), "abcdef");
        assert_eq!(bounded("abcdefg", 6), "abcde…");
        assert_eq!(bounded("abc\u{202e}", 6), "abc…");
        assert_eq!(bounded("", 0), "");
    }

    proptest! {
        #[test]
        fn every_text_is_bounded_and_on_one_line(text in "\\PC{0,40}|.{0,40}", max in 1_usize..40) {
            let out = bounded(&text, max);
            prop_assert!(out.chars().count() <= max);
            prop_assert!(!out.chars().any(|char| char.is_control() || is_hidden(char)));
            prop_assert_eq!(bounded(&out, max), out);
        }
    }
}
