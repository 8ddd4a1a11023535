//! Times, names and counts as people read them on a terminal. Pure.

use clap::ValueEnum;
use lockscope_view::api::{AgedContender, AgedLock};
use lockscope_view::visible;
use lockscope_view::words::plural;
pub(in crate::commands) use lockscope_view::words::{date as instant, duration};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// What stands where nothing is known.
pub(in crate::commands) const NONE: &str = "-";

/// How long somebody holds or waits; it may be longer than was seen.
pub(super) fn held(ms: Option<i64>, is_lower_bound: bool) -> String {
    ms.map_or_else(|| NONE.to_owned(), |ms| format!("{}{}", if is_lower_bound { "≥ " } else { "" }, duration(ms)))
}

/// How many wait: `3`, `≥ 3` where there may be more, `?` where waiters can't be seen, `-` where they wait for no lock.
pub(super) fn waiters<F>(lock: &AgedLock<F>) -> String {
    match lock.waiter_count {
        Some(1..) if lock.is_free_of_waits() => NONE.to_owned(),
        Some(count) if lock.is_complete() => count.to_string(),
        Some(count) => format!("≥ {count}"),
        None => "?".to_owned(),
    }
}

/// The same in words: `3 wait, the longest for 4 min`.
pub(super) fn waiting<F>(lock: &AgedLock<F>) -> String {
    let least = if lock.is_complete() { "" } else { "at least " };
    match lock.waiter_count {
        None => "waiters can't be seen here".to_owned(),
        Some(0) => "nobody waits".to_owned(),
        Some(_) if lock.is_free_of_waits() => "nobody waits for a lock".to_owned(),
        Some(count) => format!("{least}{}{}", plural(count.into(), "waits", "wait"), longest(lock)),
    }
}

/// `, the longest for 4 min`; nothing while nobody is seen to wait.
pub(super) fn longest<F>(lock: &AgedLock<F>) -> String {
    let longest = lock.oldest_wait_ms.map(|ms| held(Some(ms), lock.wait_is_lower_bound));
    longest.map_or_else(String::new, |longest| format!(", the longest for {longest}"))
}

/// `1 lock`, `2 locks`.
pub(super) fn locks(count: u32) -> String {
    plural(count.into(), "lock", "locks")
}

/// Who a contender is: what it says of itself, else its session, else its znode.
pub(super) fn name(contender: &AgedContender) -> String {
    let own = contender.label.clone().filter(|label| !label.is_empty());
    let session = || contender.session_id.map(|id| id.to_string());
    let name = own.or_else(session).or_else(|| contender.node.clone());
    name.map_or_else(|| "somebody".to_owned(), |name| visible(&name))
}

/// The host it is or was connected from.
pub(super) fn host(contender: &AgedContender) -> Option<String> {
    let address = contender.client.as_ref()?.address.as_str();
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    (!host.is_empty()).then(|| visible(host))
}

/// Who, and where from unless the name contains it.
pub(super) fn name_at(contender: &AgedContender) -> String {
    let name = name(contender);
    match host(contender) {
        Some(host) if !name.contains('@') && !name.contains(&host) => format!("{name} @ {host}"),
        _ => name,
    }
}

/// The word of a choice on the command line: the API's too.
pub(super) fn word(choice: impl ValueEnum) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// The columns a text takes.
pub(in crate::commands) fn width(text: &str) -> usize {
    text.width()
}

/// At most so many columns: the start and the end with `…` between. A path's end says more than its start.
pub(in crate::commands) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let start = fitting(text.chars(), room / 3);
    let rest = room - width(&start);
    let end: String = fitting(text.chars().rev(), rest).chars().rev().collect();
    format!("{start}…{end}")
}

/// As many characters as fit in so many columns.
pub(in crate::commands) fn fitting(chars: impl Iterator<Item = char>, columns: usize) -> String {
    let mut taken = 0;
    let fits = |char: &char| {
        taken += char.width().unwrap_or(0);
        taken <= columns
    };
    chars.take_while(fits).collect()
}

/// JSON that a terminal can be shown: what would steer it or hide becomes an escape, which means the same.
pub(in crate::commands) fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_ascii() && char != '\u{7f}' || visible(char.encode_utf8(&mut [0; 4])).starts_with(char) {
            out.push(char);
            continue;
        }
        for unit in char.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_that_may_be_longer_says_so() {
        assert_eq!(
            (held(Some(5), true), held(Some(5), false), held(None, true)),
            ("≥ 5 ms".to_owned(), "5 ms".to_owned(), "-".to_owned())
        );
    }

    #[test]
    fn the_middle_goes_first_and_wide_characters_count_twice() {
        assert_eq!(cut("/locks/order", 12), "/locks/order");
        assert_eq!(cut("/locks/a/long/way/down/order", 13), "/loc…wn/order");
        assert_eq!((width("订单锁"), width("e\u{301}")), (6, 1));
        for columns in 1..14 {
            assert!(width(&cut("/锁/订单/订单锁", columns)) <= columns, "{columns}");
        }
        assert_eq!(cut("/锁/订单/订单锁", 10), "/锁…订单锁");
    }

    #[test]
    fn json_keeps_its_meaning_and_steers_nothing() {
        let value = serde_json::json!({ "a": "x\u{1b}[31m\u{9b}1m\u{202e}y锁\u{7f}\u{e0001}\n" });
        let shown = json(&value.to_string());
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        assert!(
            shown.contains('锁') && !shown.contains(['\u{1b}', '\u{9b}', '\u{202e}', '\u{7f}', '\u{e0001}']),
            "{shown}"
        );
    }
}
