//! Which of the known paths somebody meant who named one that is not known. Pure.

const SHOWN_MAX: usize = 3;
/// Characters of a path that are compared.
const CHARS_MAX: usize = 200;

/// The nearest, best first; none when nothing is near.
pub(super) fn similar_paths<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut scored: Vec<(usize, &str)> =
        known.into_iter().filter_map(|path| Some((distance(wanted, path)?, path))).collect();
    scored.sort_unstable();
    scored.dedup();
    scored.into_iter().map(|(_, path)| path).take(SHOWN_MAX).collect()
}

/// How far a path is from what was typed; None when too far to be meant.
fn distance(wanted: &str, path: &str) -> Option<usize> {
    let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_lowercase();
    let (wanted_last, path_last) = (last(wanted), last(path));
    let steps = edits(&wanted.to_lowercase(), &path.to_lowercase());
    let few = (wanted.chars().count() / 4).max(2);
    if steps <= few {
        return Some(steps);
    }
    // The same name somewhere else, or a name that was cut short.
    let is_same = path_last == wanted_last;
    let is_part = wanted_last.len() >= 3
        && (path_last.contains(&wanted_last) || path.to_lowercase().contains(&wanted.to_lowercase()));
    (is_same || is_part).then_some(CHARS_MAX + steps)
}

/// Inserted, removed or changed characters, of both texts' beginnings.
fn edits(one: &str, other: &str) -> usize {
    let begin = |text: &str| text.chars().take(CHARS_MAX).collect::<String>();
    strsim::levenshtein(&begin(one), &begin(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_and_a_wrong_folder_are_both_understood() {
        let known = ["/shop/order", "/shop/orders", "/shop/stock", "/test/order", "/锁/订单"];
        assert_eq!(similar_paths("/shop/oder", known), ["/shop/order", "/shop/orders", "/test/order"][..2]);
        assert_eq!(similar_paths("/order", known), ["/shop/order", "/test/order", "/shop/orders"]);
        assert_eq!(similar_paths("/SHOP/STOCK", known), ["/shop/stock"]);
        assert_eq!(similar_paths("/锁/订車", known), ["/锁/订单"]);
        assert!(similar_paths("/nothing/like/it", known).is_empty());
    }

    #[test]
    fn edits_are_counted() {
        for (one, other, count) in
            [("", "", 0), ("abc", "", 3), ("", "ab", 2), ("kitten", "sitting", 3), ("订单", "订車", 1)]
        {
            assert_eq!(edits(one, other), count, "{one} {other}");
        }
        assert!(edits(&"a".repeat(9_000), &"b".repeat(9_000)) <= CHARS_MAX);
    }
}
