//! Words as they are typed: parts of words, and small mistakes.

use strsim::osa_distance;

/// From how many letters on a word may have one mistake, and two. Shorter ones would fit too much.
const ONE_MISTAKE_CHARS: usize = 4;
const TWO_MISTAKES_CHARS: usize = 8;

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

fn mistakes(length: usize) -> usize {
    usize::from(length >= ONE_MISTAKE_CHARS) + usize::from(length >= TWO_MISTAKES_CHARS)
}

fn is_near(typed: &str, word: &str) -> bool {
    let length = typed.chars().count();
    let mistakes = mistakes(length);
    mistakes > 0 && word.chars().count().abs_diff(length) <= mistakes && osa_distance(typed, word) <= mistakes
}

/// Longest word, and most words, of which mistakes are forgiven among the names of all locks.
const NAME_WORD_CHARS_MAX: usize = 40;
const NAME_WORDS_MAX: usize = 8;
/// Letters compared until it is given up: some 30 ms.
const STEPS_MAX: usize = 20_000_000;

/// A word that is looked for in many names.
struct Typed {
    text: String,
    chars: usize,
    mistakes: usize,
    letters: u64,
}

/// Looks for words in many names, with small mistakes, within a bound of work.
pub(super) struct NearNames {
    words: Vec<Typed>,
    steps_left: usize,
    /// The name in lower case; kept for its memory.
    lower: String,
}

impl NearNames {
    /// None where nothing is typed, or more than anybody types by hand.
    pub(super) fn new(words: &[String]) -> Option<Self> {
        let mut words: Vec<&String> = words.iter().collect();
        words.sort_unstable();
        words.dedup();
        let typed = |text: &&String| {
            let chars = text.chars().count();
            Typed { text: text.to_string(), chars, mistakes: mistakes(chars), letters: letters(text) }
        };
        let words: Vec<Typed> = words.iter().map(typed).collect();
        let is_bounded =
            (1..=NAME_WORDS_MAX).contains(&words.len()) && words.iter().all(|word| word.chars <= NAME_WORD_CHARS_MAX);
        is_bounded.then(|| Self { words, steps_left: STEPS_MAX, lower: String::new() })
    }

    /// Whether every word is in a name as it is typed or with a small mistake; None once it took too long.
    pub(super) fn fits(&mut self, name: &str) -> Option<bool> {
        self.lower.clear();
        if name.is_ascii() {
            self.lower.extend(name.chars().map(|char| char.to_ascii_lowercase()));
        } else {
            self.lower.push_str(&name.to_lowercase());
        }
        let mut steps = name.len();
        let mut is_near = |typed: &Typed, word: &str| {
            if !typed.may_be(word) {
                return false;
            }
            steps += typed.chars * typed.chars;
            osa_distance(&typed.text, word) <= typed.mistakes
        };
        let mut words = self.words.iter();
        let fits =
            words.all(|typed| self.lower.contains(&typed.text) || split(&self.lower).any(|word| is_near(typed, word)));
        self.steps_left = self.steps_left.checked_sub(steps)?;
        Some(fits)
    }
}

impl Typed {
    /// Whether a word may be this one with mistakes: each mistake changes the length by one at most, and takes and brings
    /// one letter at most.
    fn may_be(&self, word: &str) -> bool {
        if self.mistakes == 0 || word.chars().count().abs_diff(self.chars) > self.mistakes {
            return false;
        }
        let other = letters(word);
        let differ = |one: u64, other: u64| (one & !other).count_ones() as usize;
        differ(self.letters, other) <= self.mistakes && differ(other, self.letters) <= self.mistakes
    }
}

/// Which letters a word has; several may share a place.
fn letters(word: &str) -> u64 {
    word.chars().fold(0, |letters, char| letters | 1 << (u32::from(char) % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn among_fifty_thousand_names_one_is_found_with_little_work() {
        let names: Vec<String> =
            (0..50_000).map(|at| format!("/services/billing-{:03}/Locks/invoice-{at:05}", at % 500)).collect();
        let mut near = NearNames::new(&words("shiping lables")).expect("two words");
        let fits = |near: &mut NearNames, name: &str| near.fits(name).expect("within bounds");
        assert!(!names.iter().any(|name| fits(&mut near, name)));
        assert!(fits(&mut near, "/Shipping/labels"));
        assert!(STEPS_MAX - near.steps_left < 5_000_000, "{}", STEPS_MAX - near.steps_left);
        // Many that are nearly meant, as a whole population is by a word of its own.
        let mut near = NearNames::new(&words("invoixe-49999")).expect("two words");
        let found = names.iter().filter(|name| fits(&mut near, name)).count();
        assert!(found > 10 && near.steps_left > 0, "{found}");
        let mut near = NearNames::new(&words("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab")).expect("one word");
        let hostile = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaba-".repeat(1_000);
        assert!((0..1_000).any(|_| near.fits(&hostile).is_none()), "it gives up");
        for too_much in [String::new(), "a b c d e f g h i".to_owned(), "x".repeat(41)] {
            assert!(NearNames::new(&words(&too_much)).is_none(), "{too_much}");
        }
    }

    #[test]
    fn names_are_compared_as_words_are() {
        for (typed, text) in [
            ("lables", "/shipping/labels"),
            ("stck", "/stuck"),
            ("inventroies", "/inventories-eu"),
            ("ünter", "/Üntre"),
        ] {
            assert!(NearNames::new(&words(typed)).expect("a word").fits(text) == Some(true), "{typed}");
        }
        for (typed, text) in [("lap", "/lab"), ("sxxck", "/stuck"), ("order paid", "/order/open")] {
            assert!(NearNames::new(&words(typed)).expect("a word").fits(text) == Some(false), "{typed}");
        }
    }

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
