//! Words as they are typed: parts of words, and small mistakes.

use strsim::osa_distance;

/// From how many letters on a word may have one mistake, and two. Shorter ones would fit too much.
const ONE_MISTAKE_CHARS: usize = 4;
const TWO_MISTAKES_CHARS: usize = 8;

/// The words of a text.
pub(super) fn words(text: &str) -> Vec<String> {
    split(text).map(str::to_lowercase).collect()
}

/// Whether every word is in a text, in lower case, as it is typed.
pub(super) fn fits(words: &[String], text: &str) -> bool {
    words.iter().all(|word| text.contains(word.as_str()))
}

/// Whether every word is in a text, in lower case, as it is typed or with a small mistake.
pub(super) fn fits_nearly(words: &[String], text: &str) -> bool {
    words.iter().all(|word| text.contains(word.as_str()) || split(text).any(|other| is_near(word, other)))
}

/// Whether every word begins one of a text, in lower case, and is long enough to mean it.
pub(super) fn begins(words: &[String], text: &str) -> bool {
    let begins = |word: &String| split(text).any(|other| other.starts_with(word.as_str()) || is_near(word, other));
    !words.is_empty() && words.iter().all(begins) && words.iter().any(|word| word.chars().count() >= 3)
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn is_near(typed: &str, word: &str) -> bool {
    let length = typed.chars().count();
    let mistakes = usize::from(length >= ONE_MISTAKE_CHARS) + usize::from(length >= TWO_MISTAKES_CHARS);
    mistakes > 0 && word.chars().count().abs_diff(length) <= mistakes && osa_distance(typed, word) <= mistakes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_words_may_have_more_mistakes() {
        let near = |typed: &str, text: &str| fits_nearly(&words(typed), text);
        for (typed, text) in [
            ("lables", "/shipping/labels"),
            ("pasue", "pause or resume"),
            ("stck", "stuck"),
            ("shiping/labels", "/shipping/labels"),
            ("inventroies", "/inventories-eu"),
        ] {
            assert!(near(typed, text), "{typed}");
        }
        for (typed, text) in [("lap", "lab"), ("sxxck", "stuck"), ("order paid", "/order/open")] {
            assert!(!near(typed, text), "{typed}");
        }
    }

    #[test]
    fn a_few_letters_begin_a_word_and_two_mean_nothing() {
        assert!(begins(&words("dead"), "deadlocked") && begins(&words("two own"), "double owner two owners"));
        assert!(begins(&words("deadlcoked"), "deadlocked"));
        assert!(!begins(&words("lock"), "deadlocked") && !begins(&words("st"), "stuck") && !begins(&[], "stuck"));
    }
}
