//! Text from outside, safe to show: what steers, hides or turns what stands around it becomes a visible sign.

/// A name from outside: control characters, those that change the direction and those that are not seen become signs,
/// one for one, so that two names that differ also look different in their length.
pub fn visible(text: &str) -> String {
    text.chars().map(visible_char).collect()
}

fn visible_char(char: char) -> char {
    match char {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(char)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}' | '\u{fff0}'..='\u{fffb}' => '\u{fffd}',
        '\u{2028}' | '\u{2029}' => '\u{2424}',
        _ if is_hidden(char) => '\u{2425}',
        _ => char,
    }
}

/// Characters that show nothing, or turn the direction of what follows (Unicode: default ignorable and bidi controls).
fn is_hidden(char: char) -> bool {
    matches!(char,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hides_in_a_name() {
        assert_eq!(visible("a\u{202e}b\n\u{0}"), "a\u{2425}b\u{240a}\u{2400}");
        assert_eq!(visible("锁/قفل"), "锁/قفل");
    }
}
