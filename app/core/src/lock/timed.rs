//! Leases that end by the clock: kazoo's `NonBlockingLease` keeps who holds, and until when, in a persistent znode as
//! `{"version": 1, "holder": "…", "end": "2026-01-31T23:59:59"}`, in UTC on the clients' clocks.

use super::Lock;
use crate::mirror::{Child, Mirror};
use crate::recipe::{NodeRole, Shape};
use crate::time::TimeMs;

/// When a lease ends by itself; None for everything that is no such lease.
fn end_of(child: &Child) -> Option<TimeMs> {
    let text = std::str::from_utf8(&child.read.as_ref()?.payload).ok()?;
    let after = text.split_once("\"end\"")?.1.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    parse_utc(after.split('"').next()?)
}

impl Lock {
    /// The lease that ran out: its znode stays until somebody takes it again.
    pub(super) fn lapsed_lease<'a>(&'a self, mirror: &'a Mirror, now: TimeMs) -> Option<&'a str> {
        if self.recognition.shape != Shape::Fixed {
            return None;
        }
        let mut timed =
            mirror.directory(&self.parts.main)?.plain().filter(|(_, child)| child.role() == Some(NodeRole::Timed));
        timed.find(|(_, child)| end_of(child).is_some_and(|end| end <= now)).map(|(key, _)| key.name())
    }

    /// When the holder's lease runs out by itself.
    pub fn ends_at(&self, mirror: &Mirror) -> Option<TimeMs> {
        let hold =
            self.holders.first().filter(|hold| self.recognition.shape == Shape::Fixed && hold.owner.is_none())?;
        end_of(self.child_of(mirror, hold)?.1)
    }
}

/// `2026-01-31T23:59:59`, with or without a fraction.
fn parse_utc(text: &str) -> Option<TimeMs> {
    let (date, time) = text.split_once('T')?;
    let mut date = date.splitn(3, '-').map(str::parse::<i64>);
    let (year, month, day) = (date.next()?.ok()?, date.next()?.ok()?, date.next()?.ok()?);
    let mut time = time.get(..8)?.splitn(3, ':').map(str::parse::<i64>);
    let (hour, minute, second) = (time.next()?.ok()?, time.next()?.ok()?, time.next()?.ok()?);
    let fits = (1970..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    (fits && hour < 24 && minute < 60 && second <= 60)
        .then(|| TimeMs(((days_to(year, month) + day - 1) * 86_400 + hour * 3_600 + minute * 60 + second) * 1_000))
}

/// Days from the epoch to the first of a month.
fn days_to(year: i64, month: i64) -> i64 {
    const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let leaps = |year: i64| year / 4 - year / 100 + year / 400;
    let before = usize::try_from(month - 1).ok().and_then(|at| BEFORE.get(at)).copied().unwrap_or(0);
    (year - 1970) * 365 + leaps(year - 1) - leaps(1969) + before + i64::from(is_leap && month > 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_read() {
        assert_eq!(parse_utc("1970-01-01T00:00:00"), Some(TimeMs(0)));
        assert_eq!(parse_utc("2000-03-01T00:00:01"), Some(TimeMs(951_868_801_000)));
        assert_eq!(parse_utc("2026-11-21T05:30:00.123456"), Some(TimeMs(1_795_239_000_000)));
        assert_eq!(parse_utc("2026-13-21T05:30:00"), None);
        assert_eq!(parse_utc("tomorrow"), None);
    }
}
