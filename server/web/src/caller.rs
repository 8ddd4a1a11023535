//! Who asks: the one thing that handlers take to know them.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use lockscope_view::{Person, Scope};
use tokio::sync::watch;

use crate::problem::ErrorResponse;
use crate::{Http, Payloads};
use lockscope_access::Principal;
use lockscope_audit::Actor;

#[derive(Clone)]
pub(super) struct Caller {
    pub(super) actor: Actor,
    pub(super) scope: Scope,
    pub(super) person: Person,
    /// How that is known, and until when.
    pub(super) principal: Principal,
    /// Changes of who is shown payloads, from before they were looked at.
    pub(super) payloads: PayloadChanges,
}

impl Caller {
    pub(super) fn new(http: &Http, principal: Principal, payloads: PayloadChanges) -> Self {
        let actor = principal.actor.clone();
        let scope = http.scope_of(&actor);
        let (keeps_history, has_fleet) = (http.moments.is_some(), http.hub.projection().has_fleet(&scope));
        let person = Person { keeps_history, has_fleet, ..http.access.person(&actor) };
        Self { scope, person, actor, principal, payloads }
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        // Never without: authentication lets nobody pass to a handler that asks for it.
        parts
            .extensions
            .get::<Self>()
            .cloned()
            .ok_or_else(|| ErrorResponse::internal("nobody was authenticated before this was answered; report this"))
    }
}

#[derive(Clone)]
pub(super) struct PayloadChanges(watch::Receiver<Payloads>);

impl PayloadChanges {
    /// From now on.
    pub(super) fn begin(http: &Http) -> Self {
        let mut payloads = http.payloads.clone();
        payloads.mark_unchanged();
        Self(payloads)
    }

    /// Waits for the next; for ever where there will be none.
    pub(super) async fn next(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending().await
        }
    }
}
