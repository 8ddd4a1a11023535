//! Sequence numbers in znode names.
//!
//! ZooKeeper appends the parent's counter as `%010d` (`PrepRequestProcessor.pRequest2TxnCreate`): ten digits
//! while it is not negative. Past 2147483647 a wrapped counter prints with a sign: eleven characters down from
//! -1000000000, ten above (ZOOKEEPER-2944). The dash in front of the digits is nearly always the recipe's own
//! separator; it is a minus sign only right after another separator (`--`, `_-`).

/// A name taken apart: `stem` is everything before the sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequenced<'a> {
    /// The name without its number.
    pub stem: &'a str,
    /// The number.
    pub number: i32,
}

/// Digits that `%010d` prints at least.
const DIGITS: usize = 10;

/// Finds the sequence number at the end of a name; None when the name does not end in one.
pub fn parse(name: &str) -> Option<Sequenced<'_>> {
    let bytes = name.as_bytes();
    if is_uuid(bytes) {
        return None;
    }
    let digits = bytes.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let width = digits.min(DIGITS);
    if width + 1 < DIGITS {
        return None;
    }
    // Only ASCII digits lie behind the cut, so it is a character boundary.
    let (stem, text) = name.split_at(name.len() - width);
    let magnitude: i64 = text.parse().ok()?;
    let signed = stem.ends_with("--") || stem.ends_with("_-") || stem == "-";
    let widths_fit = if width == DIGITS { digits == DIGITS && magnitude >= 1_000_000_000 } else { true };
    if signed && widths_fit && magnitude > 0 {
        let number = i32::try_from(-magnitude).ok()?;
        return Some(Sequenced { stem: &stem[..stem.len() - 1], number });
    }
    if width < DIGITS {
        return None;
    }
    i32::try_from(magnitude).ok().map(|number| Sequenced { stem, number })
}

/// 32 hexadecimal digits, with or without a uuid's dashes: the last ten may happen to be decimal.
fn is_uuid(name: &[u8]) -> bool {
    let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    match name.len() {
        32 => name.iter().all(is_hex),
        36 => name
            .iter()
            .enumerate()
            .all(|(at, byte)| if matches!(at, 8 | 13 | 18 | 23) { *byte == b'-' } else { is_hex(byte) }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expect: Option<(&str, i32)>) {
        assert_eq!(parse(name).map(|found| (found.stem, found.number)), expect, "{name}");
    }

    #[test]
    fn takes_the_last_ten_digits() {
        check("lock-0000000007", Some(("lock-", 7)));
        check("0000000007", Some(("", 7)));
        check("x-72057655109877762-0000000012", Some(("x-72057655109877762-", 12)));
        check("8f0c3b1e__lock__2147483647", Some(("8f0c3b1e__lock__", i32::MAX)));
        check("order420000000003", Some(("order42", 3)));
    }

    #[test]
    fn tells_a_minus_sign_from_a_separator() {
        check("lock--2147483648", Some(("lock-", i32::MIN)));
        check("ab__lock__-2147483640", Some(("ab__lock__", -2_147_483_640)));
        check("lock--000000005", Some(("lock-", -5)));
        check("n_-000000005", Some(("n_", -5)));
        check("n_-000000000", None);
        check("lock-1000000005", Some(("lock-", 1_000_000_005)));
        check("lock_-0000000005", Some(("lock_-", 5)));
    }

    #[test]
    fn leaves_other_names_alone() {
        check("lock", None);
        check("lock-123", None);
        check("lock-123456789", None);
        check("lock-9999999999", None);
        check("", None);
        check("锁-0000000001", Some(("锁-", 1)));
        check("锁", None);
        check("6f1e2d3c00004a4a8b8b010123456789", None);
        check("6f1e2d3c-0000-4a4a-8b8b-010123456789", None);
    }
}
