//! Moments of an ensemble that another replica watches, for live sockets: whoever has its history makes the snapshot, for
//! whom it is and no more of it than they may see, and says it the same way as it does to other replicas' reads. Nothing
//! is handed on a second time.

use std::time::Duration;

use axum::http::{StatusCode, Uri};
use bytes::Bytes;
use lockscope_wire::View;
use serde::de::IgnoredAny;

use super::Http;
use super::act_elsewhere::refusal;
use super::history::moment_of;
use super::problem::ErrorResponse;
use super::replica_request::{ReplicaAddress, ReplicaRequest};
use feed::VisibilityScope;
use identity::{Actor, QuotaOwner, Right};

/// What stands for a moment among the addresses that replicas ask each other for. Nobody else has it: it is no route.
const MOMENT: &str = "/moment";
/// How long one owner may take.
const ANSWER_MAX: Duration = Duration::from_millis(4_500);

/// The address of a view at a moment.
fn target(view: &View, at: &str) -> Result<String, ErrorResponse> {
    let view = serde_json::to_string(view).map_err(|error| ErrorResponse::internal(error.to_string()))?;
    let pairs =
        form_urlencoded::Serializer::new(String::new()).append_pair("view", &view).append_pair("at", at).finish();
    Ok(format!("{MOMENT}?{pairs}"))
}

/// The view and the moment that another replica asks for; None: it asks for something else.
fn asked(uri: &Uri) -> Option<Result<(View, String), ErrorResponse>> {
    if uri.path() != MOMENT {
        return None;
    }
    let pairs: Vec<(String, String)> =
        form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
    let given = |name: &str| pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let view = given("view").and_then(|view| serde_json::from_str(view).ok());
    let asked = view.zip(given("at").map(str::to_owned));
    Some(asked.ok_or_else(|| {
        ErrorResponse::bad_request("the moment that is asked for is none; replicas need the same version".to_owned())
    }))
}

impl Http {
    /// What a snapshot says beside its head, made by an owner; None where this replica makes it.
    pub(super) async fn moment_elsewhere(
        &self,
        (actor, scope): (&Actor, &VisibilityScope),
        view: &View,
        at: &str,
    ) -> Option<Result<Bytes, ErrorResponse>> {
        let there = self.elsewhere(view.ensemble(), scope)?;
        Some(self.ask_for_moment(there, (actor, scope), view, at).await)
    }

    async fn ask_for_moment(
        &self,
        there: feed::Elsewhere,
        (actor, scope): (&Actor, &VisibilityScope),
        view: &View,
        at: &str,
    ) -> Result<Bytes, ErrorResponse> {
        let view = feed::normalise(view.clone())?;
        let request = ReplicaRequest::for_actor(&target(&view, at)?, actor, scope.payloads());
        let caller = actor.quota_owner();
        // As many at once as of what is made here.
        let _waiting = self.past_work.admit(&caller)?;
        let mut refused = ErrorResponse::elsewhere(there.why);
        for (id, address) in there.owners {
            let of = ReplicaAddress { id, address };
            match self.ask_replica(&of, &request, ANSWER_MAX).await {
                Ok(answer) if answer.status == StatusCode::OK.as_u16() => {
                    if is_object(&answer.body) {
                        return Ok(answer.body);
                    }
                    refused = ErrorResponse::owner_unreachable(format!("the replica {} answers nonsense", of.id));
                }
                // Two that look at each other for it are of different minds for a moment.
                Ok(answer) if answer.status == StatusCode::MISDIRECTED_REQUEST.as_u16() => {}
                Ok(answer) => {
                    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::BAD_GATEWAY);
                    return Err(refusal(status, &answer.body));
                }
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }

    /// The same for another replica; None where it asks for something else.
    pub(super) async fn moment_for_replica(
        &self,
        uri: &Uri,
        actor: &Actor,
        payloads: bool,
    ) -> Option<Result<Bytes, ErrorResponse>> {
        let asked = asked(uri)?;
        if !actor.may(Right::View) {
            return Some(Err(ErrorResponse::new(StatusCode::FORBIDDEN, format!("{} may not look here", actor.name))));
        }
        let scope = self.scope_of(actor).with_payloads_if(payloads);
        Some(match asked {
            Ok((view, at)) => self.own_moment(view, &at, scope, actor.quota_owner()).await,
            Err(refused) => Err(refused),
        })
    }

    async fn own_moment(
        &self,
        view: View,
        at: &str,
        scope: VisibilityScope,
        caller: QuotaOwner,
    ) -> Result<Bytes, ErrorResponse> {
        let moment = moment_of(at, view.ensemble())?;
        if let Some(there) = self.elsewhere(view.ensemble(), &scope) {
            return Err(ErrorResponse::elsewhere(there.why));
        }
        let http = self.clone();
        let make = move || Ok(http.at(Some(&moment), &scope)?.hub.moment(view, &scope)?);
        self.past_work.ask(&caller, make).await.flatten().map_err(|refused: ErrorResponse| {
            // Where it is shown there is one sentence for it.
            ErrorResponse::new(refused.status(), refused.sentence_with_nearest())
        })
    }
}

fn is_object(body: &[u8]) -> bool {
    body.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(body).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_wire::{BoardQuery, LockQuery};

    #[test]
    fn what_is_asked_for_is_what_arrives() {
        let lock = LockQuery { path: "/a b/ö&at=1?".to_owned(), ensemble: "eu".to_owned(), ..LockQuery::default() };
        for view in [View::Lock(lock), View::Board(BoardQuery::default()), View::Status {}] {
            let uri: Uri = target(&view, "zxid:0x2a6").unwrap().parse().unwrap();
            assert_eq!(asked(&uri).unwrap().unwrap(), (view, "zxid:0x2a6".to_owned()));
        }
        assert!(asked(&"/api/v1/locks?at=1".parse().unwrap()).is_none());
        for wrong in ["/moment", "/moment?view=1&at=1", "/moment?view=%7B%7D"] {
            assert!(asked(&wrong.parse().unwrap()).unwrap().is_err(), "{wrong}");
        }
        assert!(is_object(b"{\"a\":1}") && !is_object(b"{\"a\":1") && !is_object(b"[1]") && !is_object(b"{} x"));
    }
}
