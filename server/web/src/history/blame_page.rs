//! `/blame`: who made others wait, for people: drawn by the server, without a script of its own.

use std::collections::HashMap;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use lockscope_core::time::TimeMs;
use lockscope_history::query::{missing, missing_of_any};
use lockscope_page::ports::PastAnswer;
use lockscope_page::{BlameFigures, BlameLinks, BlameView, Length, RangeWay, WaitsFilter, blame_page};
use lockscope_view::past::{Blame, BlameBy, BlameRow};
use lockscope_view::{LockQuery, Scope, SessionId, SessionQuery};

use super::ask::{Asked, LENGTHS};
use super::blame::{BLAME_MAX, found};
use super::{Moment, with_kept_moment, with_moment};
use crate::caller::Caller;
use crate::params::{NamedValues, Params};
use crate::problem::ErrorResponse;
use crate::{Http, server_pages};
use lockscope_live::absolute_or_none;
use lockscope_runtime::clock;

const PAGE: &str = "/blame";
const ROWS_USUAL: usize = 25;
/// So long it is looked for when ZooKeeper was out of sight; gaps are said in any case.
const PATIENCE: Duration = Duration::from_secs(1);

struct PageAsked {
    of: Asked,
    /// None where the range is named by its ends.
    length: Option<Length>,
    moment: Option<Moment>,
    /// As they came, without those that are empty.
    pairs: Vec<(String, String)>,
}

impl PageAsked {
    fn read(mut pairs: NamedValues, scope: &Scope) -> Result<Self, ErrorResponse> {
        // What forms send for fields that are left empty.
        pairs.retain(|(_, value)| !value.is_empty());
        let (rest, moment) = with_moment(pairs.clone())?;
        let mut of = Asked::read(&rest, BLAME_MAX)?;
        absolute_or_none(&of.path)?;
        of.limit.get_or_insert(ROWS_USUAL);
        if of.by == BlameBy::Ensemble {
            // Ensembles are compared with each other: the page is of all of them.
            of.ensemble.clear();
            pairs.retain(|(name, _)| name != "ensemble");
        }
        if !rest.iter().any(|(name, _)| name == "by") && !scope.payloads() {
            of.by = BlameBy::Host;
        }
        let length = of.length(&rest)?;
        Ok(Self { of, length, moment, pairs })
    }

    /// The question with both ends of its range, up to now or to the moment of the page.
    fn fixed(mut self, end_ms: i64) -> Result<Self, ErrorResponse> {
        let until_ms = end_ms.saturating_add(1);
        let to_ms = self.of.to_ms.map_or(until_ms, |to_ms| to_ms.min(until_ms));
        self.of.to_ms = Some(to_ms);
        if let Some(length) = self.length {
            self.of.from_ms = Some(to_ms.saturating_sub(length.ms()));
        }
        let range = self.of.range(end_ms)?;
        self.of.from_ms = Some(range.start.0);
        Ok(self)
    }

    /// An address of the page, with the parameters that it is to keep and one more.
    fn address(&self, is_kept: impl Fn(&str) -> bool, more: Option<(&str, &str)>) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(self.pairs.iter().filter(|(name, _)| is_kept(name)));
        query.extend_pairs(more);
        let query = query.finish();
        if query.is_empty() { PAGE.to_owned() } else { format!("{PAGE}?{query}") }
    }

    /// The same of the API.
    fn answer_url(&self, ensemble: &str) -> String {
        let limit = [("limit", i64::try_from(BLAME_MAX).ok())];
        self.of.address(&format!("/api/v1/history/blame?by={}", self.of.by.name()), ensemble, &limit)
    }
}

/// `GET /blame`.
pub(crate) async fn show(
    State(http): State<Http>,
    person: Caller,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let mut asked = PageAsked::read(pairs, &person.scope)?;
    let at_ms = match asked.moment.take() {
        None => None,
        Some(moment) => match http.kept_moment(&person, moment, asked.address(|name| name != "at", None)).await {
            Ok(at_ms) => Some(at_ms),
            Err(page) => return Ok(page),
        },
    };
    let Caller { scope, principal, .. } = person.clone();
    let asked = asked.fixed(at_ms.unwrap_or_else(|| http.hub.now_ms()))?;
    let own = http.clone();
    let view = http.past_work.ask(&principal.owner, move || own.blame_view(&scope, asked, at_ms)).await??;
    let page = server_pages::page(&http, &person, |of| blame_page(of, &view))?;
    Ok(match at_ms {
        Some(at_ms) => with_kept_moment(page, at_ms).await,
        None => page,
    })
}

impl Http {
    fn blame_view(&self, scope: &Scope, mut asked: PageAsked, at_ms: Option<i64>) -> Result<BlameView, ErrorResponse> {
        let names = || self.moments.iter().flat_map(|moments| moments.recordings(scope).map(|(name, _)| name));
        let ensembles: Vec<String> = if names().count() > 1 { names().collect() } else { Vec::new() };
        // The first of several, until one is chosen.
        let is_of_all = asked.of.by == BlameBy::Ensemble;
        if asked.of.ensemble.is_empty() && !is_of_all {
            asked.of.ensemble = ensembles.first().cloned().unwrap_or_default();
        }
        let named = if ensembles.is_empty() { String::new() } else { asked.of.ensemble.clone() };
        let is_off = match is_of_all {
            true => self.recorded_ensembles(scope, "").is_empty(),
            false => self.recording(scope, &asked.of.ensemble)?.1.is_none(),
        };
        let found = if is_off { PastAnswer::Off } else { self.blamed(scope, &asked.of, &named)? };
        let is_kept = |name: &str| !matches!(name, "range" | "from" | "to" | "at");
        let ways = LENGTHS.map(|length| RangeWay {
            length,
            url: asked.address(is_kept, Some(("range", length.name()))),
            is_chosen: asked.length == Some(length),
        });
        let hidden = asked.pairs.iter().filter(|(name, _)| matches!(name.as_str(), "range" | "from" | "to" | "limit"));
        let offered = BlameBy::ALL.into_iter().filter(|by| match by {
            BlameBy::Client => scope.payloads(),
            BlameBy::Ensemble => is_of_all || !ensembles.is_empty(),
            BlameBy::Host | BlameBy::Session | BlameBy::Lock => true,
        });
        Ok(BlameView {
            by: asked.of.by,
            offered: offered.collect(),
            hidden: hidden.cloned().collect(),
            at_ms,
            all: asked.address(|name| name != "limit", Some(("limit", &BLAME_MAX.to_string()))),
            differs: asked.of.address("/differs", &named, &[]),
            filter: WaitsFilter {
                path: asked.of.path.clone(),
                // By ensemble there is none to choose.
                ensembles: if is_of_all { Vec::new() } else { ensembles },
                ways: ways.into(),
                range_ms: (asked.of.from_ms.unwrap_or(0), asked.of.to_ms.unwrap_or(0)),
                csv: format!("{}&format=csv", asked.answer_url(&named)),
                json: asked.answer_url(&named),
                ensemble: named,
            },
            found,
        })
    }

    fn blamed(&self, scope: &Scope, asked: &Asked, named: &str) -> Result<PastAnswer<BlameFigures>, ErrorResponse> {
        let sentence = |error: ErrorResponse| match error.status().is_server_error() {
            true => Ok(PastAnswer::Refused(error.sentence().to_owned())),
            false => Err(error),
        };
        match found(self, scope, asked) {
            Ok(blame) => self
                .figures(scope, asked, named, blame)
                .map_or_else(sentence, |figures| Ok(PastAnswer::Found(Box::new(figures)))),
            Err(error) => sentence(error),
        }
    }

    fn figures(&self, scope: &Scope, asked: &Asked, named: &str, blame: Blame) -> Result<BlameFigures, ErrorResponse> {
        let range = asked.range(self.hub.now_ms())?;
        let is_of_all = asked.by == BlameBy::Ensemble;
        // What was counted first is of one of several: that does not say of another that it was recorded then.
        let first_at = blame.first_at_ms.filter(|_| !is_of_all).map(TimeMs);
        let (mut gaps, mut kept_from_ms) = (Vec::new(), HashMap::new());
        let (found, _) = self.ask_each(scope, &blame.ensemble, &range, clock::instant() + PATIENCE, |question| {
            let path = if scope.covers(question.ensemble, &asked.path) { asked.path.as_str() } else { "" };
            let missing = missing(question, path, first_at)?;
            Ok((question.ensemble.to_owned(), missing, question.store.coverage()?.from))
        })?;
        for (ensemble, missing, kept) in found {
            kept_from_ms.insert(ensemble.clone(), kept.map(|at| at.0));
            gaps.push((ensemble, missing));
        }
        // Addresses name the ensemble where there are several.
        let is_one = gaps.len() == 1;
        let links = |row: &BlameRow| {
            let ensemble = if is_of_all { &row.key } else { &blame.ensemble };
            let kept_from_ms = kept_from_ms.get(ensemble).copied().flatten();
            links(row, asked.by, if is_of_all && !is_one { &row.key } else { named }, kept_from_ms)
        };
        Ok(BlameFigures {
            links: blame.rows.iter().map(links).collect(),
            has_roots: blame.charged_root_others_ms.is_some() && !matches!(asked.by, BlameBy::Lock | BlameBy::Ensemble),
            missing: missing_of_any(gaps),
            blame,
        })
    }
}

fn links(row: &BlameRow, by: BlameBy, ensemble: &str, kept_from_ms: Option<i64>) -> BlameLinks {
    // The wait is over at its end: the moment before shows it.
    let before_ms = row.worst_at_ms.saturating_sub(1);
    let lock_url = |path: &str| {
        LockQuery { ensemble: ensemble.to_owned(), path: path.to_owned(), ..LockQuery::default() }.to_url()
    };
    let is_kept = kept_from_ms.is_some_and(|from_ms| from_ms <= before_ms);
    let key = match by {
        BlameBy::Lock => Some(lock_url(&row.key)),
        BlameBy::Session => row.key.parse().ok().filter(|_| is_kept).map(|id: SessionId| {
            let query = SessionQuery { ensemble: ensemble.to_owned(), id, ..SessionQuery::default() };
            format!("{}&at={before_ms}", query.to_url())
        }),
        BlameBy::Client | BlameBy::Host | BlameBy::Ensemble => None,
    };
    BlameLinks { key, worst: is_kept.then(|| format!("{}&at={before_ms}", lock_url(&row.worst_lock))) }
}
