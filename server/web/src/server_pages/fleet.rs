//! `GET /fleet` and `GET /api/v1/fleet`: many ensembles at a glance, the worst first.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_page::{FleetView, fleet_page};
use lockscope_view::{FLEET_TILES_MAX, Fleet, FleetQuery, Scope, Verdict};

use crate::Http;
use crate::api::share;
use crate::caller::Caller;
use crate::params::{NamedValues, Params, short};
use crate::problem::{ErrorResponse, wrong};
use crate::shared_answers::AnswerRequest;
use lockscope_live::FILTER_CHARS_MAX;
use lockscope_live::project::fleet;

const PAGE_TILES: u32 = 60;
pub(crate) const LABELS_MAX: usize = 16;

/// Reads an address; `usual`: how many tiles where it does not say.
fn asked(pairs: NamedValues, usual: u32) -> Result<FleetQuery, ErrorResponse> {
    let mut query = FleetQuery { limit: usual, ..FleetQuery::default() };
    for (name, value) in pairs {
        let number = || value.parse::<u32>().map_err(|_| wrong(&name, &value, "a whole number"));
        match name.as_str() {
            // What forms send for fields that are left empty.
            _ if value.is_empty() => {}
            "q" => query.q = short(&name, &value, FILTER_CHARS_MAX)?,
            "label" => query.labels = labels(&name, &short(&name, &value, FILTER_CHARS_MAX)?)?,
            "verdict" => {
                let found = Verdict::ALL.into_iter().find(|verdict| verdict.name() == value);
                let names = || Verdict::ALL.map(Verdict::name).join(", ");
                query.verdict = Some(found.ok_or_else(|| wrong(&name, &value, &format!("one of {}", names())))?);
            }
            "offset" => query.offset = number()?,
            "limit" => {
                query.limit = number()?;
                if !(1..=FLEET_TILES_MAX).contains(&query.limit) {
                    return Err(wrong(&name, &value, &format!("1 to {FLEET_TILES_MAX}")));
                }
            }
            _ => {}
        }
    }
    Ok(query)
}

fn labels(name: &str, text: &str) -> Result<Vec<(String, String)>, ErrorResponse> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let remedy = "pairs like env:prod, several separated by commas";
    let pair = |pair: &str| {
        let pair = pair.split_once(':').filter(|(key, value)| !key.is_empty() && !value.is_empty());
        pair.map(|(key, value)| (key.to_owned(), value.to_owned())).ok_or_else(|| wrong(name, text, remedy))
    };
    let pairs = text.split(',').map(pair).collect::<Result<Vec<_>, _>>()?;
    if pairs.len() > LABELS_MAX {
        return Err(wrong(name, text, &format!("at most {LABELS_MAX} pairs")));
    }
    Ok(pairs)
}

/// `GET /api/v1/fleet`.
pub(crate) async fn answer(
    State(http): State<Http>,
    request: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let query = asked(pairs, FLEET_TILES_MAX / 2)?;
    let make = move |http: &Http, scope| Ok::<Json<Fleet>, ErrorResponse>(Json(http.fleet(&scope, &query)));
    Ok(share(&http, request, make).await)
}

/// `GET /fleet`.
pub(crate) async fn show(
    State(http): State<Http>,
    caller: Caller,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let query = asked(pairs, PAGE_TILES)?;
    let Caller { scope, principal, .. } = caller.clone();
    let own = http.clone();
    let look = move || {
        let fleet = own.fleet(&scope, &query);
        FleetView { query, now_ms: fleet.server_time_ms, fleet }
    };
    let view = http.work.ask(&principal.owner, look).await?;
    super::page(&http, &caller, |of| fleet_page(of, &view))
}

impl Http {
    /// The ensembles of which somebody may see something, the worst first.
    fn fleet(&self, scope: &Scope, query: &FleetQuery) -> Fleet {
        fleet(self.hub.projection().fleet_tiles(scope), query, self.hub.now_ms())
    }
}
