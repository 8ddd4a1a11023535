//! `/events`: what happened, the newest first, for people: drawn by the server. A small script counts what is new.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use lockscope_page::ports::PRESENT;
use lockscope_page::{EventsView, events_page};
use lockscope_view::{Scope, SessionId};

use super::caller::Caller;
use super::history::happened::{Cursor, Kind, Page, Wanted};
use super::history::{Moment, with_kept_moment, with_moment};
use super::params::{NamedValues, Params, short};
use super::problem::{ErrorResponse, wrong};
use super::{Http, server_pages};
use lockscope_live::project::HappenedQuery;
use lockscope_live::{FILTER_CHARS_MAX, PATH_CHARS_MAX, absolute_or_none};

const PAGE_ROWS: usize = 100;
/// New rows that are counted; of more there is said that there are more.
const NEWS_MAX: usize = 1_000;

struct Asked {
    wanted: Wanted,
    after: Option<Cursor>,
    moment: Option<Moment>,
    /// As they came, without those that are empty.
    pairs: Vec<(String, String)>,
}

impl Asked {
    fn read(mut pairs: NamedValues) -> Result<Self, ErrorResponse> {
        // What forms send for fields that are left empty, and for "everything".
        pairs.retain(|(name, value)| {
            !(value.is_empty() || value == "any" && matches!(name.as_str(), "kind" | "ensemble"))
        });
        let (rest, moment) = with_moment(pairs.clone())?;
        let mut asked = Self { wanted: Wanted { limit: PAGE_ROWS, ..Wanted::default() }, after: None, moment, pairs };
        for (name, value) in &rest {
            asked.take(name, value)?;
        }
        Ok(asked)
    }

    fn take(&mut self, name: &str, value: &str) -> Result<(), ErrorResponse> {
        let wanted = &mut self.wanted;
        let cursor = || Cursor::of(value).ok_or_else(|| wrong(name, value, "what the page before links to"));
        match name {
            "before" => wanted.before = Some(cursor()?),
            "after" => self.after = Some(cursor()?),
            "kind" => {
                let kind = Kind::all().find(|kind| kind.name() == value);
                let names = || Kind::all().map(Kind::name).collect::<Vec<_>>().join(", ");
                wanted.kind = Some(kind.ok_or_else(|| wrong(name, value, &format!("one of {}", names())))?);
            }
            _ => wanted.take(name, value)?,
        }
        Ok(())
    }

    /// An address with the same filters, without the moment and the place in the list, and with something more.
    fn address(&self, path: &str, keeps_range: bool, more: Option<(&str, String)>) -> String {
        let is_kept = |name: &str| match name {
            "before" | "after" => false,
            "at" | "from" | "to" => keeps_range,
            _ => true,
        };
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(self.pairs.iter().filter(|(name, _)| is_kept(name)));
        query.extend_pairs(more);
        let query = query.finish();
        if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
    }
}

impl Wanted {
    /// Reads what the page and the API have in common.
    pub(super) fn take(&mut self, name: &str, value: &str) -> Result<(), ErrorResponse> {
        let ms = || value.parse().ok().filter(|at_ms| *at_ms >= 0_i64);
        let ms = || ms().ok_or_else(|| wrong(name, value, "milliseconds since the epoch"));
        match name {
            "ensemble" => self.ensemble = short(name, value, FILTER_CHARS_MAX)?,
            "path" => {
                self.path = short(name, value, PATH_CHARS_MAX)?;
                absolute_or_none(&self.path)?;
            }
            "session" => {
                let id = value.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok());
                let id = id.ok_or_else(|| wrong(name, value, "a session's id, like 0x100000a1b2c0001"))?;
                self.session = Some(SessionId(id.cast_signed()));
            }
            "from" => self.from_ms = Some(ms()?),
            "to" => self.to_ms = Some(ms()?),
            _ => {}
        }
        Ok(())
    }
}

/// `GET /events`.
pub(super) async fn show(
    State(http): State<Http>,
    caller: Caller,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let mut asked = Asked::read(pairs)?;
    let at_ms = match asked.moment.take() {
        None => None,
        Some(moment) => match http.kept_moment(&caller, moment, asked.address("/events", false, None)).await {
            Ok(at_ms) => Some(at_ms),
            Err(page) => return Ok(page),
        },
    };
    let Caller { scope, person, principal, .. } = caller.clone();
    if let Some(at_ms) = at_ms {
        let until_ms = at_ms.saturating_add(1);
        asked.wanted.to_ms = Some(asked.wanted.to_ms.map_or(until_ms, |to_ms| to_ms.min(until_ms)));
    }
    let page = http.happened(&principal.owner, &scope, asked.wanted.clone()).await?;
    let ensembles = http.ensembles(&scope);
    let view = view(&asked, at_ms, page, ensembles, person.keeps_history);
    let page = server_pages::page(&http, &caller, |of| events_page(of, &view))?;
    Ok(match at_ms {
        Some(at_ms) => with_kept_moment(page, at_ms).await,
        None => page,
    })
}

/// `GET /events/news?after=…`: how many rows are new, in words; empty where none is.
pub(super) async fn news(
    State(http): State<Http>,
    Caller { principal, scope, .. }: Caller,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let Asked { wanted, after, .. } = Asked::read(pairs)?;
    let own = http.clone();
    let count = move || own.count_new(&scope, &wanted, after);
    let count = http.work.ask(&principal.owner, count).await?;
    let text = match count {
        0 => String::new(),
        NEWS_MAX.. => format!("More than {NEWS_MAX} new: show"),
        count => format!("{count} new: show"),
    };
    Ok(text.into_response())
}

impl Http {
    /// Ensembles of which something may be seen, where there are several.
    fn ensembles(&self, scope: &Scope) -> Vec<String> {
        let all = self.hub.projection().happened(scope, &HappenedQuery::default());
        if all.len() < 2 { Vec::new() } else { all.into_iter().map(|view| view.ensemble).collect() }
    }

    fn count_new(&self, scope: &Scope, wanted: &Wanted, after: Option<Cursor>) -> usize {
        let Some(after) = after else { return 0 };
        let mut count = 0;
        for (place, ensemble) in self.places(scope) {
            if !(wanted.ensemble.is_empty() || wanted.ensemble == ensemble) {
                continue;
            }
            let Some(query) = wanted.newer_than(after, place, ensemble, NEWS_MAX) else { continue };
            count += self.hub.projection().happened(scope, &query).iter().map(|view| view.rows.len()).sum::<usize>();
        }
        count
    }
}

fn view(asked: &Asked, at_ms: Option<i64>, page: Page, ensembles: Vec<String>, keeps_history: bool) -> EventsView {
    let Page { lines, next, given_up_at_ms } = page;
    let value = |name: &str| {
        asked.pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let (is_now, is_first) = (at_ms.is_none() && asked.wanted.to_ms.is_none(), asked.wanted.before.is_none());
    // Where nothing is shown yet, everything that comes is new.
    let newest = lines.first().map_or_else(Cursor::default, |line| line.cursor);
    let news = if is_now && is_first {
        asked.address("/events/news", true, Some(("after", newest.text())))
    } else {
        String::new()
    };
    let range = asked.pairs.iter().filter(|(name, _)| matches!(name.as_str(), "from" | "to"));
    EventsView {
        path: value("path"),
        session: value("session"),
        kind: value("kind"),
        ensemble: value("ensemble"),
        range: range.cloned().collect(),
        rows: lines.into_iter().map(|line| line.shown).collect(),
        at_ms,
        newest: if is_now && is_first { String::new() } else { newest_url(asked, at_ms) },
        older: next.map(|next| asked.address("/events", true, Some(("before", next.text())))).unwrap_or_default(),
        news,
        given_up_at_ms,
        keeps_history,
        ensembles,
    }
}

/// The newest rows, now: also from a page of the past, whose links keep its moment.
fn newest_url(asked: &Asked, at_ms: Option<i64>) -> String {
    let url = asked.address("/events", false, None);
    if at_ms.is_some() { format!("{url}{PRESENT}") } else { url }
}
