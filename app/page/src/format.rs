//! Ages, sizes and names as people read them on the page. Pure: the same on the server and in the browser.

pub(crate) use lockscope_view::visible;
pub(crate) use lockscope_view::words::{bytes, clock, count, date, duration, plural};

/// The time from `since_ms` to now; `…` while the clock is not known. What changes many times a second says nothing.
pub(crate) fn age(since_ms: i64, now_ms: i64) -> String {
    match now_ms.saturating_sub(since_ms) {
        _ if now_ms == 0 => "…".to_owned(),
        ..1_000 => "< 1 s".to_owned(),
        ms => duration(ms),
    }
}

/// The time left until `until_ms` after a few words, `in 00:42`; `overdue` once it has passed.
pub(crate) fn left(words: &str, until_ms: i64, now_ms: i64) -> String {
    let seconds = match until_ms.saturating_sub(now_ms) {
        _ if now_ms == 0 => return format!("{words}…"),
        ..=0 => return "overdue".to_owned(),
        ms => (ms - 1) / 1_000 + 1,
    };
    let (minutes, rest) = (seconds / 60, seconds % 60);
    match minutes {
        ..60 => format!("{words}{minutes:02}:{rest:02}"),
        _ => format!("{words}{}:{:02}:{rest:02}", minutes / 60, minutes % 60),
    }
}

/// At most `limit` characters: the start and the end, with `…` between. A path's end says more than its middle.
pub(crate) fn middle(text: &str, limit: usize) -> String {
    let length = text.chars().count();
    if length <= limit || limit < 3 {
        return text.to_owned();
    }
    let head = (limit - 1) / 3;
    let tail = limit - 1 - head;
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{start}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_never_negative() {
        assert_eq!(age(1_000, 3_500), "2.5 s");
        assert_eq!(age(9_000, 3_500), "< 1 s");
        assert_eq!(age(9_000, 0), "…");
    }

    #[test]
    fn what_is_left_is_never_negative() {
        assert_eq!(left("in ", 43_000, 1_000), "in 00:42");
        assert_eq!(left("≤ ", 43_001, 1_000), "≤ 00:43");
        assert_eq!(left("in ", 3_900_000, 1), "in 1:05:00");
        assert_eq!(left("in ", 1_000, 1_000), "overdue");
        assert_eq!(left("in ", 1_000, 9_000), "overdue");
        assert_eq!(left("in ", 1_000, 0), "in …");
    }

    #[test]
    fn the_middle_goes_first() {
        assert_eq!(middle("/short", 10), "/short");
        assert_eq!(middle("0123456789", 7), "01…6789");
    }
}
