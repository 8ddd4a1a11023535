//! A lock over time on its page: `GET /lock/over-time` for the page's script, and inside documents whose address
//! chooses a moment or a range.

use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use lockscope_page::{Choice, OverTime, OverTimeMarkup, over_time_markup};

use super::ask::give_up_at;
use super::over_time_view::over_time;
use crate::Http;
use crate::caller::Caller;
use crate::params::Params;
use crate::problem::ErrorResponse;
use crate::shared_answers::{Answer, AnswerRequest};
use lockscope_runtime::clock;
use lockscope_view::Scope;

/// The page that has the section.
const PAGE: &str = "/lock";
const MEDIA_TYPE: &str = "text/html; charset=utf-8";
/// A document waits no longer for the section; the page's script fetches it then.
const PATIENCE: Duration = Duration::from_secs(1);

/// The section alone, as markup.
pub(crate) async fn show(
    State(http): State<Http>,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    if !pairs.iter().any(|(name, value)| name == "path" && !value.is_empty()) {
        return Err(ErrorResponse::bad_request("`path` is missing: the path of a lock"));
    }
    let (own, scope) = (http.clone(), asked.scope.clone());
    let make = move || Answer::Text(MEDIA_TYPE, own.section(&scope, &pairs).into());
    Ok(http.past_shared.answer(asked, make).await)
}

/// The section for a live page whose address chooses something of it; None where it takes too long.
pub(super) async fn of_live_page(
    http: &Http,
    caller: &Caller,
    page: &str,
    pairs: &[(String, String)],
) -> Option<OverTimeMarkup> {
    if page != PAGE || !Choice::is_in(pairs) {
        return None;
    }
    let (own, scope, pairs) = (http.clone(), caller.scope.clone(), pairs.to_vec());
    let made = http.past_work.ask(&caller.principal.owner, move || own.section_soon(&scope, &pairs, None));
    tokio::time::timeout(PATIENCE, made).await.ok()?.ok()?
}

impl Http {
    /// The section, or why there is none.
    fn section(&self, scope: &Scope, pairs: &[(String, String)]) -> String {
        let (choice, wrong) = chosen(pairs, None);
        let mut of = wrong.unwrap_or_else(|| {
            over_time(self, scope, &choice, give_up_at()).unwrap_or_else(|| OverTime::Refused(TOO_LONG.to_owned()))
        });
        if let OverTime::Found(view) = &mut of
            && choice.at_ms.is_none()
        {
            view.incident = self.incident_now(scope, &choice.ensemble, &choice.path);
        }
        over_time_markup(&of, &choice, self.hub.now_ms())
    }

    /// The section for a document; None where it takes too long.
    pub(super) fn section_soon(
        &self,
        scope: &Scope,
        pairs: &[(String, String)],
        at_ms: Option<i64>,
    ) -> Option<OverTimeMarkup> {
        let (choice, wrong) = chosen(pairs, at_ms);
        let of = match wrong {
            Some(wrong) => wrong,
            None => over_time(self, scope, &choice, clock::instant() + PATIENCE)?,
        };
        Some(OverTimeMarkup(over_time_markup(&of, &choice, self.hub.now_ms())))
    }
}

const TOO_LONG: &str = "That takes too long to find out; choose a shorter range, or try again.";

/// What an address chooses; where that can't be, the usual choice and what is wrong.
fn chosen(pairs: &[(String, String)], at_ms: Option<i64>) -> (Choice, Option<OverTime>) {
    match Choice::read(pairs) {
        Ok(choice) => (Choice { at_ms: at_ms.or(choice.at_ms), ..choice }, None),
        Err(wrong) => {
            let of = |name: &str| {
                pairs.iter().find(|(of, _)| of == name).map(|(_, value)| value.as_str()).unwrap_or_default()
            };
            let usual = Choice { at_ms, ..Choice::of(of("ensemble"), of("path")) };
            (usual, Some(OverTime::Refused(wrong.sentence())))
        }
    }
}
