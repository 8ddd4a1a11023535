//! What of a lock's past is chosen: its range, and what it is compared with. The address of the lock's page keeps it.

use form_urlencoded::Serializer;

use crate::format::{middle, visible};

const SECOND_MS: i64 = 1_000;
const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;
/// The shortest range: holds are known to the millisecond.
pub const RANGE_MIN_MS: i64 = 10 * SECOND_MS;
/// The longest: so long minutes are kept, unless they are kept for longer.
pub const RANGE_MAX_MS: i64 = 90 * DAY_MS;
const TEXT_CHARS_MAX: usize = 4_096;

/// A range by its length, up to now; on a page of the past around its moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Length {
    QuarterHour,
    #[default]
    Hour,
    SixHours,
    Day,
    Week,
    /// 30 days.
    Month,
}

impl Length {
    /// Every length, the shortest first.
    pub const ALL: [Self; 6] = [Self::QuarterHour, Self::Hour, Self::SixHours, Self::Day, Self::Week, Self::Month];

    /// Its name in an address, and how long it is.
    fn name_and_ms(self) -> (&'static str, i64) {
        match self {
            Self::QuarterHour => ("15m", 15 * MINUTE_MS),
            Self::Hour => ("1h", HOUR_MS),
            Self::SixHours => ("6h", 6 * HOUR_MS),
            Self::Day => ("24h", DAY_MS),
            Self::Week => ("7d", 7 * DAY_MS),
            Self::Month => ("30d", 30 * DAY_MS),
        }
    }

    pub fn name(self) -> &'static str {
        self.name_and_ms().0
    }

    pub fn ms(self) -> i64 {
        self.name_and_ms().1
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    Last(Length),
    /// By its ends, ms since the epoch.
    Between(i64, i64),
}

/// What a range is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Former {
    Day,
    Week,
}

impl Former {
    pub const ALL: [Self; 2] = [Self::Day, Self::Week];

    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "1d",
            Self::Week => "1w",
        }
    }

    pub fn ms(self) -> i64 {
        match self {
            Self::Day => DAY_MS,
            Self::Week => 7 * DAY_MS,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The lock's ensemble; empty for the only one.
    pub ensemble: String,
    pub path: String,
    /// The moment of the page; None on a live one.
    pub at_ms: Option<i64>,
    pub range: Range,
    pub former: Option<Former>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongChoice {
    pub name: &'static str,
    pub value: String,
    pub remedy: &'static str,
}

impl WrongChoice {
    pub fn sentence(&self) -> String {
        let value = middle(&visible(&self.value), 60);
        format!("\"{value}\" is not a value of {}; use {}.", self.name, self.remedy)
    }
}

impl Choice {
    /// What is chosen of a lock where nothing is.
    pub fn of(ensemble: &str, path: &str) -> Self {
        let (ensemble, path) = (ensemble.to_owned(), path.to_owned());
        Self { ensemble, path, at_ms: None, range: Range::Last(Length::default()), former: None }
    }

    /// Whether a page's address says anything of it.
    pub fn is_in(pairs: &[(String, String)]) -> bool {
        pairs.iter().any(|(name, _)| ["range", "from", "to", "compare"].contains(&name.as_str()))
    }

    /// Reads the address of a lock's page; what else is in it is others' matter.
    ///
    /// # Errors
    /// One of its parameters can't be.
    pub fn read(pairs: &[(String, String)]) -> Result<Self, WrongChoice> {
        let value = |name: &str| {
            let found = pairs.iter().rev().find(|(of, _)| of == name);
            found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
        };
        let instant = |name: &'static str| {
            let read = |text: &str| text.parse().ok().filter(|ms| (0..=i64::MAX / 4).contains(ms));
            let wrong = |text: &str| wrong(name, text, "milliseconds since the epoch, like 1764041547412");
            value(name).map(|text| read(text).ok_or_else(|| wrong(text))).transpose()
        };
        let text = |name: &'static str| {
            let text = value(name).unwrap_or_default();
            let is_short = text.chars().count() <= TEXT_CHARS_MAX;
            is_short.then(|| text.to_owned()).ok_or_else(|| wrong(name, text, "at most 4096 characters"))
        };
        let (from, to): (Option<i64>, Option<i64>) = (instant("from")?, instant("to")?);
        let range = match (from, to, value("range")) {
            (Some(from), Some(to), None) => between(from, to)?,
            (None, None, name) => Range::Last(length(name)?),
            (Some(_), Some(_), Some(name)) => return Err(wrong("range", name, "either range, or from and to")),
            (Some(from), None, _) => return Err(wrong("from", &from.to_string(), "from together with to")),
            (None, Some(to), _) => return Err(wrong("to", &to.to_string(), "to together with from")),
        };
        let former = value("compare").map(|text| {
            let known = Former::ALL.into_iter().find(|former| former.name() == text);
            known.ok_or_else(|| wrong("compare", text, "1d or 1w"))
        });
        let (ensemble, path, at_ms) = (text("ensemble")?, text("path")?, instant("at")?);
        Ok(Self { ensemble, path, at_ms, range, former: former.transpose()? })
    }

    /// From when to when it is: up to now, or around the moment of the page as far as that is over.
    pub fn range_ms(&self, now_ms: i64) -> (i64, i64) {
        match self.range {
            Range::Between(from_ms, to_ms) => (from_ms, to_ms),
            Range::Last(length) => {
                let until_ms = self.at_ms.map_or(now_ms, |at_ms| (at_ms + length.ms() / 2).min(now_ms));
                (until_ms - length.ms(), until_ms)
            }
        }
    }

    pub fn follows_now(&self) -> bool {
        self.at_ms.is_none() && matches!(self.range, Range::Last(_))
    }

    pub fn url(&self) -> String {
        let mut query = Serializer::new(String::new());
        if !self.ensemble.is_empty() && self.ensemble != "default" {
            query.append_pair("ensemble", &self.ensemble);
        }
        query.append_pair("path", &self.path);
        match self.range {
            Range::Last(length) => query.append_pair("range", length.name()),
            Range::Between(from_ms, to_ms) => {
                query.append_pair("from", &from_ms.to_string()).append_pair("to", &to_ms.to_string())
            }
        };
        if let Some(former) = self.former {
            query.append_pair("compare", former.name());
        }
        if let Some(at_ms) = self.at_ms {
            query.append_pair("at", &at_ms.to_string());
        }
        format!("/lock?{}", query.finish())
    }

    pub fn with_range(&self, range: Range) -> Self {
        Self { range, ..self.clone() }
    }

    /// The same at a moment, with the range as it is drawn: whoever looks around keeps their picture.
    pub fn at(&self, at_ms: i64, (from_ms, to_ms): (i64, i64)) -> Self {
        Self { at_ms: Some(at_ms), range: Range::Between(from_ms, to_ms), ..self.clone() }
    }
}

/// Ranges beside one that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Earlier,
    Later,
    In,
    Out,
    FirstHalf,
    SecondHalf,
}

impl Step {
    pub(crate) const ALL: [Self; 6] =
        [Self::Earlier, Self::Later, Self::In, Self::Out, Self::FirstHalf, Self::SecondHalf];

    /// Where it leads from a range; None where there is nothing, or no further way.
    pub(crate) fn from(self, (from_ms, to_ms): (i64, i64), now_ms: i64) -> Option<(i64, i64)> {
        let length = to_ms - from_ms;
        let half = length / 2;
        let (from, to) = match self {
            Self::Earlier => (from_ms - half, to_ms - half),
            Self::Later if to_ms >= now_ms => return None,
            Self::Later => (from_ms + half, to_ms + half),
            Self::In => (from_ms + length / 4, to_ms - length / 4),
            Self::Out => (from_ms - half, to_ms + half),
            Self::FirstHalf => (from_ms, from_ms + half),
            Self::SecondHalf => (from_ms + half, to_ms),
        };
        // No part of it is yet to come.
        let late = (to - now_ms.max(to_ms)).max(0);
        let (from, to) = ((from - late).max(0), to - late);
        ((RANGE_MIN_MS..=RANGE_MAX_MS).contains(&(to - from)) && (from, to) != (from_ms, to_ms)).then_some((from, to))
    }
}

fn between(from_ms: i64, to_ms: i64) -> Result<Range, WrongChoice> {
    let length = to_ms - from_ms;
    if length < RANGE_MIN_MS {
        return Err(wrong("to", &to_ms.to_string(), "an instant at least 10 s after from"));
    }
    if length > RANGE_MAX_MS {
        return Err(wrong("from", &from_ms.to_string(), "an instant at most 90 days before to"));
    }
    Ok(Range::Between(from_ms, to_ms))
}

fn length(name: Option<&str>) -> Result<Length, WrongChoice> {
    let Some(name) = name else { return Ok(Length::default()) };
    let known = Length::ALL.into_iter().find(|length| length.name() == name);
    known.ok_or_else(|| wrong("range", name, "15m, 1h, 6h, 24h, 7d or 30d, or from and to"))
}

fn wrong(name: &'static str, value: &str, remedy: &'static str) -> WrongChoice {
    WrongChoice { name, value: value.to_owned(), remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> Result<Choice, WrongChoice> {
        Choice::read(&form_urlencoded::parse(query.as_bytes()).into_owned().collect::<Vec<_>>())
    }

    #[test]
    fn an_address_keeps_what_is_chosen() {
        for query in [
            "path=%2Fa%26b&range=6h",
            "ensemble=eu&path=%2Fa&range=30d&compare=1w",
            "path=%2Fa&from=1000&to=90000&compare=1d&at=5000",
        ] {
            assert_eq!(read(query).unwrap().url(), format!("/lock?{query}"));
        }
        let usual = read("path=/a&app=x&offset=5").unwrap();
        assert_eq!(usual, Choice::of("", "/a"));
        assert!(usual.follows_now() && !read("path=/a&at=7").unwrap().follows_now());
    }

    #[test]
    fn what_can_not_be_names_itself() {
        for (query, name) in [
            ("range=2h", "range"),
            ("from=1", "from"),
            ("to=1", "to"),
            ("from=5000&to=1000", "to"),
            ("from=1&to=99999999999", "from"),
            ("from=x&to=5", "from"),
            ("range=1h&from=1&to=50000", "range"),
            ("compare=2d", "compare"),
            ("at=zxid", "at"),
        ] {
            assert_eq!(read(query).map_err(|wrong| wrong.name), Err(name), "{query}");
        }
    }

    #[test]
    fn a_range_ends_now_or_lies_around_the_moment() {
        let at = |query: &str| read(query).unwrap().range_ms(10_000_000);
        assert_eq!(at("range=15m"), (9_100_000, 10_000_000));
        assert_eq!(at("range=15m&at=5000000"), (4_550_000, 5_450_000));
        assert_eq!(at("range=15m&at=9999000"), (9_100_000, 10_000_000));
    }

    #[test]
    fn steps_stay_within_what_was() {
        let range = (1_000_000, 2_000_000);
        let to = |step: Step| step.from(range, 2_000_000);
        assert_eq!(to(Step::Later), None);
        assert_eq!(to(Step::Out), Some((0, 2_000_000)));
        assert_eq!((to(Step::In), to(Step::SecondHalf)), (Some((1_250_000, 1_750_000)), Some((1_500_000, 2_000_000))));
        assert_eq!(Step::Later.from(range, 2_100_000), Some((1_100_000, 2_100_000)));
        assert_eq!(Step::In.from((0, 15_000), 15_000), None, "no shorter than that");
    }
}
