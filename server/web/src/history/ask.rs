//! What the questions about a range of the past have in common: their parameters, and how long they may take.

use std::ops::Range;
use std::time::{Duration, Instant};

use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;
use lockscope_history::query::{Question, parse_cursor};
use lockscope_history::store::StoreError;
use lockscope_page::Length;
use lockscope_view::Scope;
use lockscope_view::past::{BlameBy, Unanswered};

use crate::Http;
use crate::params::{NamedValues, short};
use crate::problem::{ErrorResponse, wrong};
use lockscope_live::{FILTER_CHARS_MAX, PATH_CHARS_MAX};
use lockscope_runtime::clock;

pub(super) const QUESTION_MAX: Duration = Duration::from_secs(5);
/// The range where none is named: up to now.
const USUAL_RANGE_MS: i64 = 3_600_000;
const RANGE_MAX_MS: i64 = 400 * 86_400_000;

/// Ranges of pages by their length, up to now.
pub(super) const LENGTHS: [Length; 4] = [Length::Hour, Length::SixHours, Length::Day, Length::Week];

#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    pub(super) ensemble: String,
    pub(super) path: String,
    pub(super) session: Option<SessionId>,
    pub(super) client: String,
    pub(super) from_ms: Option<i64>,
    pub(super) to_ms: Option<i64>,
    pub(super) limit: Option<usize>,
    pub(super) before: Option<(i64, i64)>,
    pub(super) grain_ms: Option<i64>,
    pub(super) format: ExportFormat,
    pub(super) by: BlameBy,
    /// A text that has to be somewhere in it.
    pub(super) q: String,
    pub(super) min_ms: i64,
    pub(super) part: AskedPart,
}

/// A part of a range, and of waits by how long they took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AskedPart {
    pub(super) from_ms: Option<i64>,
    pub(super) to_ms: Option<i64>,
    pub(super) min_wait_ms: Option<i64>,
    pub(super) max_wait_ms: Option<i64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ExportFormat {
    /// A table: a line a contender.
    #[default]
    Csv,
    /// Trace events, which Perfetto opens.
    Perfetto,
    /// A history of its own: an SQLite database.
    Sqlite,
}

impl ExportFormat {
    pub(crate) const ALL: [Self; 3] = [Self::Csv, Self::Perfetto, Self::Sqlite];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Perfetto => "perfetto",
            Self::Sqlite => "sqlite",
        }
    }
}

impl Asked {
    /// All of a lock, up to now.
    pub(super) fn of(ensemble: &str, path: &str) -> Self {
        Self { ensemble: ensemble.to_owned(), path: path.to_owned(), ..Self::default() }
    }

    pub(super) fn read(pairs: &NamedValues, limit_max: usize) -> Result<Self, ErrorResponse> {
        let mut asked = Self::default();
        for (name, value) in pairs {
            asked.take(name, value, limit_max)?;
        }
        Ok(asked)
    }

    fn take(&mut self, name: &str, value: &str, limit_max: usize) -> Result<(), ErrorResponse> {
        let instant = || value.parse().ok().filter(|at_ms| *at_ms >= 0_i64);
        let ms = || instant().map(Some).ok_or_else(|| wrong(name, value, "milliseconds since the epoch"));
        match name {
            "ensemble" => self.ensemble = short(name, value, FILTER_CHARS_MAX)?,
            "path" => self.path = short(name, value, PATH_CHARS_MAX)?,
            "client" => self.client = short(name, value, FILTER_CHARS_MAX)?,
            "q" => self.q = short(name, value, FILTER_CHARS_MAX)?,
            "min_ms" if value.is_empty() => {}
            "min_ms" => self.min_ms = instant().ok_or_else(|| wrong(name, value, "a number of milliseconds"))?,
            "session" => {
                let session =
                    id_of(value).ok_or_else(|| wrong(name, value, "a session's id, like 0x100000a1b2c0001"))?;
                self.session = Some(SessionId(session));
            }
            "sel_from" | "sel_to" | "min_wait_ms" | "max_wait_ms" if value.is_empty() => {}
            "sel_from" => self.part.from_ms = ms()?,
            "sel_to" => self.part.to_ms = ms()?,
            "min_wait_ms" | "max_wait_ms" => {
                let wait_ms = instant().ok_or_else(|| wrong(name, value, "a number of milliseconds"))?;
                let end = if name == "min_wait_ms" { &mut self.part.min_wait_ms } else { &mut self.part.max_wait_ms };
                *end = Some(wait_ms);
            }
            "from" => self.from_ms = ms()?,
            "to" => self.to_ms = ms()?,
            "limit" if value.is_empty() => {}
            "limit" => {
                let limit = value.parse().ok().filter(|limit| (1..=limit_max).contains(limit));
                let remedy = || wrong(name, value, &format!("a number from 1 to {limit_max}"));
                self.limit = Some(limit.ok_or_else(remedy)?);
            }
            "before" => {
                let cursor =
                    parse_cursor(value).ok_or_else(|| wrong(name, value, "`next_before` of the answer before"))?;
                self.before = Some(cursor);
            }
            "grain" => {
                let grain_ms = instant().filter(|ms| *ms > 0 && ms % 60_000 == 0);
                self.grain_ms = Some(grain_ms.ok_or_else(|| wrong(name, value, "whole minutes, in milliseconds"))?);
            }
            "by" if value.is_empty() => {}
            "by" => {
                self.by = BlameBy::named(value)
                    .ok_or_else(|| wrong(name, value, "client, host, session, lock or ensemble"))?;
            }
            "format" if value.is_empty() => {}
            "format" => {
                let format = ExportFormat::ALL.into_iter().find(|format| format.name() == value);
                self.format = format.ok_or_else(|| wrong(name, value, "csv, perfetto or sqlite"))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The range that is meant.
    pub(super) fn range(&self, now_ms: i64) -> Result<Range<TimeMs>, ErrorResponse> {
        self.range_of(now_ms, USUAL_RANGE_MS)
    }

    /// The same, where another one is meant when none is named.
    pub(super) fn range_of(&self, now_ms: i64, usual_ms: i64) -> Result<Range<TimeMs>, ErrorResponse> {
        let to_ms = self.to_ms.unwrap_or(now_ms.saturating_add(1));
        let from_ms = self.from_ms.unwrap_or(to_ms.saturating_sub(usual_ms));
        if from_ms >= to_ms {
            return Err(ErrorResponse::bad_request("`from` has to be before `to`"));
        }
        if to_ms.saturating_sub(from_ms) > RANGE_MAX_MS {
            return Err(ErrorResponse::bad_request("the range is longer than 400 days; ask for a part of it"));
        }
        Ok(TimeMs(from_ms)..TimeMs(to_ms))
    }

    /// The length of the range of a page, up to now, of those that are offered; None where its ends are named.
    pub(super) fn length(&self, pairs: &NamedValues) -> Result<Option<Length>, ErrorResponse> {
        let has_ends = self.from_ms.is_some() || self.to_ms.is_some();
        match pairs.iter().find(|(name, _)| name == "range") {
            None => Ok((!has_ends).then_some(Length::Hour)),
            Some((_, name)) if has_ends => Err(wrong("range", name, "either range, or from and to")),
            Some((_, name)) => {
                let length = LENGTHS.into_iter().find(|length| length.name() == name);
                length.map(Some).ok_or_else(|| wrong("range", name, "1h, 6h, 24h or 7d"))
            }
        }
    }

    /// An address that asks for the same range and lock, and more; what is empty is left out.
    pub(super) fn address(&self, path: &str, ensemble: &str, more: &[(&str, Option<i64>)]) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let texts = [("ensemble", ensemble), ("path", self.path.as_str())];
        query.extend_pairs(texts.into_iter().filter(|(_, value)| !value.is_empty()));
        let ends = [("from", self.from_ms), ("to", self.to_ms)];
        let numbers = ends.iter().chain(more);
        query.extend_pairs(numbers.filter_map(|(name, number)| Some((*name, (*number)?.to_string()))));
        format!("{path}{}{}", if path.contains('?') { '&' } else { '?' }, query.finish())
    }

    pub(super) fn is_up_to_now(&self, now_ms: i64) -> bool {
        self.to_ms.is_none_or(|to_ms| to_ms >= now_ms)
    }
}

fn id_of(text: &str) -> Option<i64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok().map(u64::cast_signed)
}

pub(crate) fn give_up_at() -> Instant {
    clock::instant() + QUESTION_MAX
}

/// What an error of the store means to who asks, and which range would do.
pub(super) fn refused(error: StoreError, range: &Range<TimeMs>) -> ErrorResponse {
    match error {
        StoreError::TooLong => {
            let ms = (range.end.since(range.start) / 8).max(60_000);
            let from_ms = range.end.0 - ms;
            ErrorResponse::unavailable(format!(
                "that takes more than {} s; a shorter range would do, such as from={from_ms}&to={}",
                QUESTION_MAX.as_secs(),
                range.end.0
            ))
        }
        error => ErrorResponse::unavailable(error.to_string()),
    }
}

impl Http {
    /// Asks about a range of the past of one ensemble, the only one where none is named.
    pub(super) fn ask_past<T>(
        &self,
        scope: &Scope,
        ensemble: &str,
        range: Range<TimeMs>,
        ask: impl FnOnce(&Question<'_>) -> Result<T, StoreError>,
    ) -> Result<T, ErrorResponse> {
        let (ensemble, store) = self.recorded(scope, ensemble)?;
        let question = Question { store: &*store, ensemble: &ensemble, scope, range, give_up_at: give_up_at() };
        ask(&question).map_err(|error| refused(error, &question.range))
    }

    /// Asks every recorded ensemble, or the one that is named, all by one instant. One that can't answer hides no other.
    ///
    /// # Errors
    /// None of them can answer.
    pub(super) fn ask_each<T>(
        &self,
        scope: &Scope,
        named: &str,
        range: &Range<TimeMs>,
        give_up_at: Instant,
        ask: impl Fn(&Question<'_>) -> Result<T, StoreError>,
    ) -> Result<(Vec<T>, Vec<Unanswered>), ErrorResponse> {
        let (mut answers, mut unanswered, mut first) = (Vec::new(), Vec::new(), None);
        for ensemble in self.recorded_ensembles(scope, named) {
            let answer = self.recorded(scope, &ensemble).map_err(|not_open| ("store_failed", not_open));
            let answer = answer.and_then(|(_, store)| {
                let question =
                    Question { store: &*store, ensemble: &ensemble, scope, range: range.clone(), give_up_at };
                ask(&question).map_err(|error| {
                    let reason = if matches!(error, StoreError::TooLong) { "too_long" } else { "store_failed" };
                    (reason, refused(error, range))
                })
            });
            match answer {
                Ok(answer) => answers.push(answer),
                Err((reason, failed)) => {
                    let detail = failed.sentence().to_owned();
                    unanswered.push(Unanswered { ensemble, reason, detail, nearest: None });
                    first.get_or_insert(failed);
                }
            }
        }
        match first {
            Some(failed) if answers.is_empty() => Err(failed),
            _ => Ok((answers, unanswered)),
        }
    }
}
