//! Who holds and who waits: rules of this crate's own, which share nothing with those that are judged.

/// How the children of a directory are a lock. The contenders stand in the order of their sequence numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The lowest sequence number holds, the others wait (Curator's mutex, kazoo's Lock, elections).
    Queue,
    /// The same with readers, who share: those with no writer before them hold.
    ReadWrite,
    /// The lock is a directory whose ephemeral child holds; who waits has no znode, so waiters are not judged.
    FixedChild,
    /// The lock is the ephemeral znode itself, and whoever owns it holds; waiters as before.
    FixedNode,
}

/// Digits of a sequence number.
const DIGITS: usize = 10;
/// How a counter that ran over prints: two signs, or one behind an underscore; one alone belongs to the name.
const MINUS: [&str; 2] = ["--", "_-"];
/// What the names of readers have before their number.
const READERS: [&str; 5] = ["__READ__", "__rlock__", "read-", "readLock-", "__rlock__-"];

/// The sequence number at the end of a name, in the order of creation also where the counter ran over.
pub(super) fn sequence(name: &str) -> Option<u32> {
    let (stem, digits) = name.split_at_checked(name.len().checked_sub(DIGITS)?)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u32 = digits.parse().ok()?;
    Some(if MINUS.iter().any(|minus| stem.ends_with(minus)) { number.wrapping_neg() } else { number })
}

/// Whether a numbered name is that of a reader.
pub(super) fn is_reader(name: &str) -> bool {
    let stem = name.get(..name.len().saturating_sub(DIGITS)).unwrap_or_default();
    READERS.iter().any(|mark| stem.ends_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_real_clients() {
        assert_eq!(sequence("_c_6e1b2c1e-lock-0000000012"), Some(12));
        assert_eq!(sequence("fbd0f1c2__lock__0000000003"), Some(3));
        assert_eq!(sequence("lock-0000000000"), Some(0));
        assert_eq!(sequence("0000000007"), Some(7));
        assert_eq!(sequence("lock--2147483648"), Some(2_147_483_648));
        assert_eq!(sequence("fbd0__lock__-2147483647"), Some(2_147_483_649));
        assert_eq!(sequence("lock"), None);
        assert_eq!(sequence("lock-000000001"), None);
        assert_eq!(sequence("鎖0000000001"), Some(1));
        assert_eq!(sequence("鎖鎖鎖鎖"), None);
        assert!(
            is_reader("_c_6e-__READ__0000000001") && is_reader("aa__rlock__0000000001") && is_reader("read-0000000001")
        );
        assert!(
            !is_reader("_c_6e-__WRIT__0000000001")
                && !is_reader("aa__lock__0000000001")
                && !is_reader("lock-0000000001")
        );
    }
}
