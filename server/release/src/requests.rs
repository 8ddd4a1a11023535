//! Accepted requests: a repeated request with a used plan gets the outcome of the first, while it runs and after.

use std::collections::BTreeMap;

use lockscope_view::SignedBy;
use tokio::sync::watch;

use super::execute::Execution;
use lockscope_audit::Actor;

/// Who sent the request: names alone may be shared by a token and a user.
type Requester = (String, SignedBy);

/// Requests remembered; the oldest makes room. Nobody can ask for more than five a minute.
pub(super) const REQUESTS_MAX: usize = 1_000;
/// How long they are.
pub(super) const REQUEST_MS: i64 = 3_600_000;

pub(super) type OutcomeReceiver = watch::Receiver<Option<Execution>>;

#[derive(Debug)]
struct AcceptedRequest {
    who: Requester,
    at_ms: i64,
    outcome: OutcomeReceiver,
}

#[derive(Debug, Default)]
pub(super) struct RequestHistory(BTreeMap<String, AcceptedRequest>);

impl RequestHistory {
    /// Remembers a request of a moment; its outcome goes where this leads.
    pub(super) fn begin(&mut self, at_ms: i64, plan_id: &str, who: Requester) -> watch::Sender<Option<Execution>> {
        if self.0.len() >= REQUESTS_MAX
            && let Some(oldest) = self.0.iter().min_by_key(|(_, accepted)| accepted.at_ms).map(|(id, _)| id.clone())
        {
            self.0.remove(&oldest);
        }
        let (sender, outcome) = watch::channel(None);
        self.0.insert(plan_id.to_owned(), AcceptedRequest { who, at_ms, outcome });
        sender
    }

    pub(super) fn of(&mut self, now_ms: i64, plan_id: &str, actor: &Actor) -> Option<OutcomeReceiver> {
        self.forget_old(now_ms);
        let accepted =
            self.0.get(plan_id).filter(|accepted| (&accepted.who.0, accepted.who.1) == (&actor.name, actor.by))?;
        Some(accepted.outcome.clone())
    }

    fn forget_old(&mut self, now_ms: i64) {
        // Both ways: a clock may be set back.
        self.0.retain(|_, accepted| (now_ms - accepted.at_ms).abs() < REQUEST_MS);
    }
}

#[cfg(test)]
mod tests {
    use lockscope_view::{Outcome, Role};

    use super::*;
    use lockscope_view::Within;

    fn actor(name: &str) -> Actor {
        Actor {
            name: name.to_owned(),
            role: Role::Operator,
            scope: Within::default(),
            by: SignedBy::Token,
            address: None,
        }
    }

    #[test]
    fn an_order_is_remembered_for_its_actor_and_for_a_while() {
        let mut history = RequestHistory::default();
        let sender = history.begin(0, "p", ("anna".to_owned(), SignedBy::Token));
        assert!(history.of(1, "p", &actor("ben")).is_none() && history.of(1, "q", &actor("anna")).is_none());
        let following = history.of(1, "p", &actor("anna")).unwrap();
        assert!(following.borrow().is_none(), "it goes on");
        sender.send_replace(Some(Execution::of(Outcome::Released, String::new())));
        assert_eq!(following.borrow().as_ref().unwrap().result.outcome, Outcome::Released);
        assert!(history.of(REQUEST_MS - 1, "p", &actor("anna")).is_some());
        assert!(history.of(REQUEST_MS, "p", &actor("anna")).is_none());
        let many = i64::try_from(REQUESTS_MAX).unwrap();
        let _tell: Vec<_> =
            (0..=many).map(|at| history.begin(at, &at.to_string(), ("anna".to_owned(), SignedBy::Token))).collect();
        assert!(history.of(many, "0", &actor("anna")).is_none(), "the oldest made room");
        assert!(history.of(many, "1", &actor("anna")).is_some());
    }
}
