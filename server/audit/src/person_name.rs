//! Names of people, compared as people read them: letters that only look different do not make two persons of one.

use unicode_normalization::UnicodeNormalization as _;
use unicode_security::{GeneralSecurityProfile as _, MixedScript as _, skeleton};

/// What is the same for all names that look the same: of compatible forms, small and capital letters, letters of other
/// scripts that look alike, and characters that are not seen.
pub fn person_key(name: &str) -> String {
    let small = name.trim().nfkc().collect::<String>().to_lowercase();
    skeleton(&small).collect::<String>().to_lowercase()
}

/// Whether two names are to be taken for one person's. Names of plain letters are taken as they are written, but for
/// capitals: `rn` is no `m`.
pub fn is_same_person(one: &str, other: &str) -> bool {
    if one.is_ascii() && other.is_ascii() {
        return one.trim().eq_ignore_ascii_case(other.trim());
    }
    person_key(one) == person_key(other)
}

/// Whether a name from elsewhere may stand for somebody: letters of one script, and nothing that is not seen.
pub fn is_clear_name(name: &str) -> bool {
    let is_shown = |char: char| char.is_ascii_graphic() || char == ' ' || char.identifier_allowed();
    name.chars().all(is_shown) && name.is_single_script()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_person_in_other_letters_is_one_person() {
        // Capitals, full width, zero width, Cyrillic, Greek, a letter with its accent apart.
        for other in ["ADA", "ada ", "ａｄａ", "ad\u{200b}a", "аdа", "αda", "a\u{ad}da"] {
            assert!(is_same_person("ada", other), "{other:?}");
            assert_eq!(person_key("ada"), person_key(other), "{other:?}");
        }
        assert!(is_same_person("zoë", "ZOE\u{308}"));
        for other in ["adam", "ida", "a-da", "grace"] {
            assert!(!is_same_person("ada", other), "{other:?}");
        }
        assert!(!is_same_person("barn", "bam") && !is_same_person("op1", "opl"), "as they are written");
    }

    #[test]
    fn a_name_is_of_one_script_and_all_of_it_is_seen() {
        for name in
            ["ada", "Ada Lovelace", "ada@example.org", "d'Arcy, G.", "zoë", "Иван", "王小明", "やまだ太郎", "김철수"]
        {
            assert!(is_clear_name(name), "{name:?}");
        }
        for name in ["аda", "ad\u{200b}a", "\u{202e}ada", "ada\u{0}", "a\u{ad}da"] {
            assert!(!is_clear_name(name), "{name:?}");
        }
    }
}
