//! What is drawn of a lock over time on its page: put together of minutes, lives, facts and gaps. Blocking, and bounded in
//! time and rows. Facts that take too long to find are left out, and that is said.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Instant;

use lockscope_core::diagnosis::Verdict as ModelVerdict;
use lockscope_core::time::TimeMs;
use lockscope_history::derive::{is_trouble, verdict_of};
use lockscope_history::query::{self, Point, hold_of, mark, missing, points, view_verdict};
use lockscope_history::store::rows::{Fact, FactKind, FactQuery, SpanQuery};
use lockscope_history::store::{Store, StoreError};
use lockscope_page::{
    BARS_MAX, Bar, CLIENTS_MAX, Choice, ClientShare, FACTS_LISTED_MAX, HOLDS_LISTED_MAX, OverTime, OverTimeView,
    PieceShares, Strip, What, piece_ms,
};
use lockscope_view::past::{self, Hold};
use lockscope_view::{Scope, Verdict};

use super::ask::{Asked, refused};
use super::going_on::{lock_named, still};
use crate::Http;
use crate::problem::ErrorResponse;

/// Lives that are read: more are too many to be drawn one by one.
const LIVES_MAX: usize = 2_000;
/// Of minutes: what held was a znode that no session owns.
const NO_SESSION: &str = "0x0";
/// Facts that are read; verdicts between minutes are told from them.
const FACTS_MAX: usize = 2_000;

/// What there is to draw of what is chosen, for somebody; None where it takes too long.
pub(super) fn over_time(http: &Http, scope: &Scope, choice: &Choice, give_up_at: Instant) -> Option<OverTime> {
    let now_ms = http.hub.now_ms();
    Some(match Question::new(http, scope, choice, now_ms, give_up_at) {
        Ok(None) => OverTime::Off,
        Ok(Some(question)) => match question.answer() {
            Ok(view) => OverTime::Found(Box::new(view)),
            Err(StoreError::TooLong) => return None,
            Err(error) => OverTime::Refused(refused(error, &question.range).sentence().to_owned()),
        },
        Err(error) => OverTime::Refused(format!("{}.", error.sentence())),
    })
}

struct Question<'a> {
    http: &'a Http,
    scope: &'a Scope,
    choice: &'a Choice,
    ensemble: String,
    /// The lock: the address may name a znode in it.
    path: String,
    store: std::sync::Arc<dyn Store>,
    now_ms: i64,
    range: Range<TimeMs>,
    grain_ms: i64,
    give_up_at: Instant,
}

impl<'a> Question<'a> {
    /// None where nothing is recorded.
    fn new(
        http: &'a Http,
        scope: &'a Scope,
        choice: &'a Choice,
        now_ms: i64,
        give_up_at: Instant,
    ) -> Result<Option<Self>, ErrorResponse> {
        let (ensemble, path) = lock_named(http, scope, &choice.ensemble, &choice.path)?;
        if http.recording(scope, &ensemble)?.1.is_none() {
            return Ok(None);
        }
        let (ensemble, store) = http.recorded(scope, &ensemble)?;
        let (from_ms, to_ms) = choice.range_ms(now_ms);
        let (range, grain_ms) = (TimeMs(from_ms)..TimeMs(to_ms), piece_ms(to_ms - from_ms));
        Ok(Some(Self { http, scope, choice, ensemble, path, store, now_ms, range, grain_ms, give_up_at }))
    }

    fn ask(&self, range: Range<TimeMs>) -> query::Question<'_> {
        let Self { scope, ensemble, store, give_up_at, .. } = self;
        query::Question { store: &**store, ensemble, scope, range, give_up_at: *give_up_at }
    }

    fn answer(&self) -> Result<OverTimeView, StoreError> {
        let is_seen = self.scope.covers(&self.ensemble, &self.path);
        let points = if is_seen { self.points(0)? } else { Vec::new() };
        let former = match self.choice.former {
            Some(former) if is_seen => Some(self.points(former.ms())?),
            Some(_) => Some(Vec::new()),
            None => None,
        };
        let (lives, is_cut) = if is_seen { self.lives()? } else { (Vec::new(), false) };
        let (facts, has_more_facts) = if is_seen { self.facts() } else { (Vec::new(), false) };
        let first = points.first().map(|point| TimeMs(point.at_ms));
        let question = self.ask(self.range.clone());
        let missing = missing(&question, &self.path, first)?;
        let clients = Clients::new(self, &points, &lives, is_cut);
        let strip = clients.strip(self, &points, &lives);
        let pieces = self.pieces(&points, &facts, &clients);
        let former = former.map(|points| {
            let by_ms = self.choice.former.map_or(0, |former| former.ms());
            points.iter().map(|point| past::Point { at_ms: point.at_ms + by_ms, ..point.answer() }).collect()
        });
        let length_ms = self.range.end.since(self.range.start).max(1);
        let missing_ms: i64 = missing.iter().map(|gap| gap.to_ms - gap.from_ms).sum();
        // Whoever waits still is in the queue, and not in the list.
        let listed: Vec<&Hold> =
            lives.iter().filter(|life| life.held_at_ms.is_some() || life.left_at_ms.is_some()).collect();
        let holds_left_out = (!is_cut).then(|| listed.len().saturating_sub(HOLDS_LISTED_MAX));
        let mut happened: Vec<What> =
            listed.into_iter().take(HOLDS_LISTED_MAX).map(|life| What::Hold(Box::new(life.clone()))).collect();
        let has_more_facts = has_more_facts || facts.len() > FACTS_LISTED_MAX;
        happened.extend(facts.into_iter().take(FACTS_LISTED_MAX).map(|fact| What::Fact(mark(fact, &question))));
        happened.extend(missing.iter().cloned().map(What::Gap));
        happened.sort_by_key(|one| std::cmp::Reverse(one.at_ms()));
        Ok(OverTimeView {
            choice: self.choice.clone(),
            range_ms: (self.range.start.0, self.range.end.0),
            now_ms: self.now_ms,
            kept_from_ms: self.store.coverage()?.from.map(|at| at.0),
            grain_ms: self.grain_ms,
            pieces,
            former,
            clients_left_out: clients.left_out,
            clients: clients.shares,
            strip,
            gaps: missing,
            known: u32::try_from(1_000 - (missing_ms * 1_000 / length_ms).clamp(0, 1_000)).unwrap_or(0),
            happened,
            holds_left_out,
            has_more_facts,
            incident: None,
        })
    }

    /// Whole pieces from the one in which the range begins, so long before.
    fn points(&self, before_ms: i64) -> Result<Vec<Point>, StoreError> {
        let begin_ms = self.range.start.0.div_euclid(self.grain_ms) * self.grain_ms - before_ms;
        let range = TimeMs(begin_ms)..TimeMs(self.range.end.0 - before_ms);
        points(&self.ask(range), &self.path, self.grain_ms)
    }

    /// Lives that reach into the range, the newest first, and whether there are more.
    fn lives(&self) -> Result<(Vec<Hold>, bool), StoreError> {
        let Range { start, end } = self.range;
        let read = |range: Range<TimeMs>| {
            let lock = Some(self.path.as_str().into());
            let give_up_at = Some(self.give_up_at);
            self.store.spans(&SpanQuery { range, lock, limit: LIVES_MAX, give_up_at, ..SpanQuery::default() })
        };
        // Those that ended later may have begun in it.
        let later = TimeMs((end.0 + end.since(start)).min(self.now_ms)).max(end);
        let after = read(end..later)?;
        let within = read(start..end)?;
        let is_cut = after.len() >= LIVES_MAX || within.len() >= LIVES_MAX;
        let begun = after.into_iter().filter(|span| span.held_at.unwrap_or(span.joined_at) < end);
        let asked = Asked::of(&self.ensemble, &self.path);
        let still = still(self.http, self.scope, &self.ensemble, &asked, self.now_ms).unwrap_or_default();
        let mut lives: Vec<Hold> =
            still.into_iter().filter(|life| life.held_at_ms.unwrap_or(life.joined_at_ms) < end.0).collect();
        let question = self.ask(self.range.clone());
        lives.extend(begun.chain(within).map(|span| hold_of(span, &question)));
        Ok((lives, is_cut))
    }

    /// The newest facts, and whether there may be more.
    fn facts(&self) -> (Vec<Fact>, bool) {
        let lock = Some(self.path.as_str().into());
        let (range, give_up_at) = (self.range.clone(), Some(self.give_up_at));
        let query = FactQuery { range, lock, limit: FACTS_MAX, give_up_at, ..FactQuery::default() };
        match self.store.facts(&query) {
            Ok(facts) => {
                let is_cut = facts.len() >= FACTS_MAX;
                (facts, is_cut)
            }
            Err(error) => {
                tracing::debug!(%error, "facts of a lock over time are left out");
                (Vec::new(), true)
            }
        }
    }

    /// Pieces with their verdicts: a minute in which nothing happened has none, and keeps what a fact said before.
    fn pieces(&self, points: &[Point], facts: &[Fact], clients: &Clients) -> Vec<past::Point> {
        let mut pieces: BTreeMap<i64, past::Point> = points.iter().map(|point| (point.at_ms, point.answer())).collect();
        for point in points {
            let longest = point.held.iter().max_by_key(|(_, ms)| *ms);
            if let (Some((session, _)), Some(piece)) = (longest, pieces.get_mut(&point.at_ms)) {
                piece.client = clients.of_session(&session.to_string());
            }
        }
        for (from_ms, to_ms, verdict) in self.troubles(facts) {
            let mut at_ms = from_ms.max(self.range.start.0).div_euclid(self.grain_ms) * self.grain_ms;
            while at_ms < to_ms.min(self.range.end.0) {
                let piece = pieces.entry(at_ms).or_insert_with(|| past::Point { at_ms, ..past::Point::default() });
                piece.worst = piece.worst.max(verdict);
                at_ms += self.grain_ms;
            }
        }
        pieces.into_values().collect()
    }

    /// From when to when something was wrong, as facts tell: each says what the verdict became.
    fn troubles(&self, facts: &[Fact]) -> Vec<(i64, i64, Verdict)> {
        let verdicts = facts.iter().rev().filter(|fact| fact.kind == FactKind::Verdict);
        let verdicts: Vec<(i64, ModelVerdict)> =
            verdicts.filter_map(|fact| Some((fact.at.0, verdict_of(&fact.code)?))).collect();
        let ends = verdicts.iter().skip(1).map(|(at_ms, _)| *at_ms).chain([self.range.end.0]);
        let runs = verdicts.iter().zip(ends);
        let trouble = |((at_ms, verdict), end_ms): (&(i64, ModelVerdict), i64)| {
            is_trouble(*verdict).then(|| (*at_ms, end_ms, view_verdict(*verdict)))
        };
        runs.filter_map(trouble).collect()
    }
}

/// Those who held, the longest first.
struct Clients {
    shares: Vec<ClientShare>,
    left_out: usize,
    /// Names of sessions, where a life tells one.
    sessions: BTreeMap<String, String>,
    /// Each hold can be drawn.
    is_whole: bool,
}

impl Clients {
    fn new(question: &Question<'_>, points: &[Point], lives: &[Hold], is_cut: bool) -> Self {
        let sessions: BTreeMap<String, String> =
            lives.iter().rev().filter_map(|life| Some((life.session_id.clone()?, life.who().to_owned()))).collect();
        let bars = lives.iter().filter(|life| life.held_at_ms.is_some()).count();
        let acquired: usize = points.iter().map(|point| point.acquired as usize).sum();
        // Of a busy minute not all lives are kept.
        let is_whole = !is_cut && bars <= BARS_MAX && acquired <= bars + bars / 8 + 3;
        let mut clients = Self { shares: Vec::new(), left_out: 0, sessions, is_whole };
        let mut held: BTreeMap<String, i64> = BTreeMap::new();
        if is_whole {
            for (life, (from_ms, to_ms)) in lives.iter().filter_map(|life| Some((life, question.held(life)?))) {
                *held.entry(life.who().to_owned()).or_default() += to_ms - from_ms;
            }
        } else {
            for (session, ms) in points.iter().flat_map(|point| &point.held) {
                *held.entry(clients.name_of_session(&session.to_string())).or_default() += ms;
            }
        }
        clients.left_out = held.len().saturating_sub(CLIENTS_MAX);
        let mut shares: Vec<ClientShare> =
            held.into_iter().map(|(name, held_ms)| ClientShare { name, held_ms }).collect();
        shares.sort_by(|one, other| other.held_ms.cmp(&one.held_ms).then_with(|| one.name.cmp(&other.name)));
        shares.truncate(CLIENTS_MAX);
        clients.shares = shares;
        clients
    }

    fn name_of_session(&self, session: &str) -> String {
        let unnamed = || if session == NO_SESSION { "no session".to_owned() } else { session.to_owned() };
        self.sessions.get(session).cloned().unwrap_or_else(unnamed)
    }

    fn of_session(&self, session: &str) -> Option<usize> {
        self.of_name(&self.name_of_session(session))
    }

    fn of_name(&self, name: &str) -> Option<usize> {
        self.shares.iter().position(|share| share.name == name)
    }

    fn strip(&self, question: &Question<'_>, points: &[Point], lives: &[Hold]) -> Strip {
        if !self.is_whole {
            let of =
                |(session, ms): &(lockscope_core::znode::SessionId, i64)| (self.of_session(&session.to_string()), *ms);
            let piece =
                |point: &Point| PieceShares { at_ms: point.at_ms, held_ms: point.held.iter().map(of).collect() };
            return Strip::Shares(points.iter().map(piece).collect());
        }
        let bar = |life: &Hold| {
            let (from_ms, to_ms) = question.held(life)?;
            let is_going_on = life.left_at_ms.is_none();
            Some(Bar { from_ms, to_ms, client: self.of_name(life.who()), is_going_on })
        };
        let mut bars: Vec<Bar> = lives.iter().filter_map(bar).collect();
        bars.sort_by_key(|bar| (bar.from_ms, bar.to_ms));
        Strip::Holds(bars)
    }
}

impl Question<'_> {
    /// From when to when somebody held, within the range.
    fn held(&self, life: &Hold) -> Option<(i64, i64)> {
        let (from_ms, to_ms) = (life.held_at_ms?, life.left_at_ms.unwrap_or(self.now_ms));
        let (from_ms, to_ms) = (from_ms.max(self.range.start.0), to_ms.min(self.range.end.0));
        (from_ms <= to_ms).then_some((from_ms, to_ms))
    }
}
