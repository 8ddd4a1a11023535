//! What happened, the newest first, as far back as it is kept. The event log of the live model has the newest of it, and
//! that of the model as it was has what came before: one list without a seam, since both are the same log. Blocking.

use std::time::Instant;

use lockscope_history::store::Store;
use lockscope_page::EventLine;
use lockscope_view::{EventKind, Scope, SessionId, past};

use super::Moments;
use super::ask::give_up_at;
use super::moments::gaps_in;
use super::snapshots::Missing;
use crate::Http;
use crate::problem::ErrorResponse;
use lockscope_audit::QuotaOwner;
use lockscope_live::Hub;
use lockscope_live::project::{EventKey, HappenedQuery, HappenedRow};
use lockscope_runtime::clock;

/// Moments of the past at which one question looks.
const LOOKS_MAX: usize = 64;
/// Moments are looked at on this grid where that is near enough: whoever reads on then finds them made.
const GRID_MS: i64 = 60_000;
/// Behind all events of its millisecond.
const BEHIND: u64 = u64::MAX;

#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) ensemble: String,
    /// At or below this path; empty: all.
    pub(crate) path: String,
    pub(crate) session: Option<SessionId>,
    pub(crate) kind: Option<Kind>,
    pub(crate) before: Option<Cursor>,
    pub(crate) from_ms: Option<i64>,
    /// Not included.
    pub(crate) to_ms: Option<i64>,
    pub(crate) limit: usize,
}

impl Wanted {
    /// What of an ensemble's live log is newer than a row of the list; None where no event is wanted.
    pub(crate) fn newer_than(
        &self,
        row: Cursor,
        place: usize,
        ensemble: String,
        limit: usize,
    ) -> Option<HappenedQuery> {
        let kind = match self.kind {
            None => None,
            Some(Kind::Event(kind)) => Some(kind),
            Some(Kind::Gap) => return None,
        };
        // Of one number, that of a later ensemble is newer.
        let number = if place > row.place { row.number.saturating_sub(1) } else { row.number };
        let after = Some((row.at_ms, number));
        let (path, session) = (self.path.clone(), self.session);
        Some(HappenedQuery { ensemble, path, session, kind, before: None, after, limit })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Event(EventKind),
    /// Nothing is known for a while.
    Gap,
}

impl Kind {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        EventKind::ALL.into_iter().map(Self::Event).chain([Self::Gap])
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Event(kind) => kind.name(),
            Self::Gap => "gap",
        }
    }
}

/// A place in the list: its order is that of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cursor {
    pub(crate) at_ms: i64,
    number: u64,
    /// Which ensemble, of all.
    place: usize,
}

impl Cursor {
    pub(crate) fn text(self) -> String {
        let Self { at_ms, number, place } = self;
        format!("{at_ms}.{number}.{place}")
    }

    pub(crate) fn of(text: &str) -> Option<Self> {
        let (at_ms, rest) = text.split_once('.')?;
        let (number, place) = rest.split_once('.')?;
        Some(Self { at_ms: at_ms.parse().ok()?, number: number.parse().ok()?, place: place.parse().ok()? })
    }

    /// Before which event of an ensemble it is.
    fn key(self, place: usize) -> EventKey {
        (self.at_ms, if place < self.place { self.number.saturating_add(1) } else { self.number })
    }
}

/// A row of the list, and its place.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) cursor: Cursor,
    pub(crate) shown: EventLine,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    /// The newest first.
    pub(crate) lines: Vec<Line>,
    pub(crate) next: Option<Cursor>,
    /// It was given up before there were enough rows: so far back all was looked through.
    pub(crate) given_up_at_ms: Option<i64>,
}

struct Part {
    name: String,
    place: usize,
    rows: Vec<HappenedRow>,
    /// All that is wanted from here on was found.
    below: EventKey,
    /// The log that was looked through last begins there: only one of another process has something earlier.
    is_first: bool,
    is_over: bool,
}

/// A search, which begins in the present.
pub(crate) struct Search {
    wanted: Wanted,
    parts: Vec<Part>,
    is_given_up: bool,
}

impl Search {
    /// Looks through what is live.
    pub(crate) fn begin(http: &Http, scope: &Scope, wanted: Wanted) -> Self {
        let mut search = Self { wanted, parts: Vec::new(), is_given_up: false };
        let is_wanted = |name: &str| search.wanted.ensemble.is_empty() || search.wanted.ensemble == name;
        let names: Vec<_> = http.places(scope).into_iter().filter(|(_, name)| is_wanted(name)).collect();
        for (place, name) in names {
            let below = search.begins_at(place);
            let is_over = search.wanted.kind == Some(Kind::Gap);
            let mut part = Part { name, place, rows: Vec::new(), below, is_first: false, is_over };
            search.look(&mut part, &http.hub, scope);
            search.parts.push(part);
        }
        search
    }

    fn begins_at(&self, place: usize) -> EventKey {
        let before = self.wanted.before.map(|before| before.key(place));
        let to = self.wanted.to_ms.map(|to_ms| (to_ms, 0));
        before.into_iter().chain(to).min().unwrap_or((i64::MAX, BEHIND))
    }

    fn oldest_ms(&self) -> i64 {
        self.wanted.from_ms.unwrap_or(i64::MIN)
    }

    /// Takes what one log has; false when that was nothing further.
    fn look(&self, part: &mut Part, hub: &Hub, scope: &Scope) -> bool {
        if part.is_over {
            return false;
        }
        let query = HappenedQuery {
            ensemble: part.name.clone(),
            path: self.wanted.path.clone(),
            session: self.wanted.session,
            kind: match self.wanted.kind {
                Some(Kind::Event(kind)) => Some(kind),
                None | Some(Kind::Gap) => None,
            },
            before: Some(part.below),
            after: None,
            limit: (self.wanted.limit + 1).saturating_sub(part.rows.len()),
        };
        let Some(view) = hub.projection().happened(scope, &query).pop() else { return false };
        part.rows.extend(view.rows.into_iter().filter(|found| found.row.at_ms >= self.oldest_ms()));
        part.is_first = view.oldest.is_none_or(|(_, number)| number == 1);
        let Some(oldest) = view.oldest.filter(|oldest| *oldest < part.below) else { return false };
        part.below = oldest;
        part.is_over = part.rows.len() > self.wanted.limit || oldest.0 < self.oldest_ms();
        true
    }

    /// Whether there may be more in what was recorded.
    pub(crate) fn is_open(&self, http: &Http) -> bool {
        http.moments.is_some() && self.parts.iter().any(|part| !part.is_over)
    }

    pub(crate) fn look_back(&mut self, http: &Http, scope: &Scope, give_up_at: Instant) {
        let Some(moments) = http.moments.as_deref() else { return };
        let mut parts = std::mem::take(&mut self.parts);
        for part in &mut parts {
            self.look_back_in(part, moments, scope, give_up_at);
        }
        self.parts = parts;
    }

    fn look_back_in(&mut self, part: &mut Part, moments: &Moments, scope: &Scope, give_up_at: Instant) {
        let store =
            moments.recordings(scope).find(|(name, _)| *name == part.name).and_then(|(_, handle)| handle?.store());
        let Some(store) = store else { return part.is_over = true };
        let mut at_ms = None;
        for _ in 0..LOOKS_MAX {
            if part.is_over {
                return;
            }
            if clock::instant() >= give_up_at {
                break;
            }
            let now_ms = moments.now_ms();
            let exactly_ms = part.below.0.min(now_ms);
            let on_grid_ms = exactly_ms.saturating_add(GRID_MS - 1).div_euclid(GRID_MS) * GRID_MS;
            let near_ms = if on_grid_ms <= now_ms { on_grid_ms } else { exactly_ms };
            let wanted_ms = match at_ms {
                Some(at_ms) => at_ms,
                None if part.is_first => match gap_before(&*store, exactly_ms) {
                    Some(at_ms) => at_ms,
                    None => return part.is_over = true,
                },
                None => near_ms,
            };
            at_ms = match moments.of_ensemble(&part.name, wanted_ms, give_up_at) {
                Ok(hub) if self.look(part, &hub, scope) => None,
                // Too much happened since: from nearer.
                Ok(_) if wanted_ms > exactly_ms => Some(exactly_ms),
                Err(Missing::Failed(_) | Missing::TooLong(_)) => break,
                nothing => {
                    let earlier_ms = match nothing {
                        Err(Missing::Gap(gap)) => Some(gap.from.0),
                        Err(Missing::NothingKept { before, .. }) => before,
                        // This model knows of nothing earlier. One before a gap may.
                        Ok(_) | Err(_) => gap_before(&*store, wanted_ms),
                    };
                    let Some(earlier_ms) = earlier_ms.filter(|at_ms| *at_ms < wanted_ms) else {
                        return part.is_over = true;
                    };
                    Some(earlier_ms)
                }
            };
        }
        self.is_given_up |= !part.is_over;
    }

    pub(crate) fn page(self, http: &Http, scope: &Scope) -> Page {
        let is_open = |part: &&Part| part.rows.len() > self.wanted.limit || (!part.is_over && http.moments.is_some());
        // Of a part that has more than is shown, only what it shows is whole.
        let whole = |part: &Part| match part.rows.last() {
            Some(last) if part.rows.len() > self.wanted.limit => (last.row.at_ms, last.row.number),
            _ => part.below,
        };
        // From there on it is whole in each part.
        let whole_from = self.parts.iter().filter(is_open).map(whole).max();
        let gaps = self.gaps(http, scope, whole_from);
        let (limit, is_given_up) = (self.wanted.limit, self.is_given_up);
        let rows = self.parts.into_iter().flat_map(|Part { name, place, rows, .. }| {
            rows.into_iter().map(move |HappenedRow { row, client }| Line {
                cursor: Cursor { at_ms: row.at_ms, number: row.number, place },
                shown: EventLine { ensemble: name.clone(), what: Ok(row), client },
            })
        });
        let is_whole = |line: &Line| whole_from.is_none_or(|from| (line.cursor.at_ms, line.cursor.number) >= from);
        let mut lines: Vec<Line> = rows.chain(gaps).filter(is_whole).collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.cursor));
        let has_more = lines.len() > limit;
        lines.truncate(limit);
        let next = match (has_more, whole_from) {
            (true, _) => lines.last().map(|line| line.cursor),
            (false, Some((at_ms, number))) => Some(Cursor { at_ms, number, place: 0 }),
            (false, None) => None,
        };
        let given_up_at_ms = whole_from.filter(|_| is_given_up && !has_more).map(|(at_ms, _)| at_ms);
        Page { lines, next, given_up_at_ms }
    }

    fn gaps(&self, http: &Http, scope: &Scope, whole_from: Option<EventKey>) -> Vec<Line> {
        let Some(moments) = &http.moments else { return Vec::new() };
        if self.wanted.kind.is_some_and(|kind| kind != Kind::Gap) {
            return Vec::new();
        }
        let mut lines = Vec::new();
        for part in &self.parts {
            let (from, to) =
                (whole_from.map_or(i64::MIN, |(at_ms, _)| at_ms).max(self.oldest_ms()), self.begins_at(part.place));
            let handle = moments.recordings(scope).find(|(name, _)| *name == part.name).and_then(|(_, handle)| handle);
            let gaps = handle.and_then(|handle| Some(gaps_in(&*handle.store()?, from, i64::MAX)));
            let inside = gaps.into_iter().flatten().filter(|gap| gap.from.0 >= from && (gap.from.0, BEHIND) < to);
            lines.extend(inside.map(|gap| Line {
                cursor: Cursor { at_ms: gap.from.0, number: BEHIND, place: part.place },
                shown: EventLine { ensemble: part.name.clone(), what: Err(past::Missing::from(gap)), client: None },
            }));
        }
        lines
    }
}

/// The end of what is known before the newest gap up to an instant.
fn gap_before(store: &dyn Store, at_ms: i64) -> Option<i64> {
    gaps_in(store, i64::MIN, at_ms).iter().map(|gap| gap.from.0).filter(|from_ms| *from_ms < at_ms).max()
}

impl Http {
    pub(crate) async fn happened(
        &self,
        caller: &QuotaOwner,
        scope: &Scope,
        wanted: Wanted,
    ) -> Result<Page, ErrorResponse> {
        let (own, seen) = (self.clone(), scope.clone());
        let begin = move || {
            let search = Search::begin(&own, &seen, wanted);
            if search.is_open(&own) { Err(Box::new(search)) } else { Ok(search.page(&own, &seen)) }
        };
        let mut search = match self.work.ask(caller, begin).await? {
            Ok(page) => return Ok(page),
            Err(search) => search,
        };
        let (own, seen) = (self.clone(), scope.clone());
        let look_back = move || {
            search.look_back(&own, &seen, give_up_at());
            search.page(&own, &seen)
        };
        self.past_work.ask(caller, look_back).await
    }

    /// The ensembles of which something may be seen, each with which of all it is.
    pub(crate) fn places(&self, scope: &Scope) -> Vec<(usize, String)> {
        let all = self.hub.projection().happened(&Scope::ALL, &HappenedQuery::default());
        let names = all.into_iter().map(|view| view.ensemble).enumerate();
        names.filter(|(_, name)| scope.covers_ensemble(name)).collect()
    }
}
