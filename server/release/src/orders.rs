//! Orders that were taken: who asks again with a plan that was used is told what came of it, while it goes on and after.

use std::collections::BTreeMap;

use lockscope_wire::SignedBy;
use tokio::sync::watch;

use super::execute::Executed;
use identity::Actor;

/// Who ordered: names alone may be shared by a token and a user.
pub(super) type Who = (String, SignedBy);

/// Orders remembered; the oldest makes room. Nobody can ask for more than five a minute.
pub(super) const ORDERS_MAX: usize = 1_000;
/// How long they are.
pub(super) const ORDER_MS: i64 = 3_600_000;

/// An order that was taken, seen by those who want its outcome.
pub(super) type Following = watch::Receiver<Option<Executed>>;

#[derive(Debug)]
struct Taken {
    who: Who,
    at_ms: i64,
    outcome: Following,
}

/// Orders by their plan.
#[derive(Debug, Default)]
pub(super) struct Orders(BTreeMap<String, Taken>);

impl Orders {
    /// Remembers an order of a moment; its outcome goes where this leads.
    pub(super) fn begin(&mut self, at_ms: i64, plan_id: &str, who: Who) -> watch::Sender<Option<Executed>> {
        if self.0.len() >= ORDERS_MAX
            && let Some(oldest) = self.0.iter().min_by_key(|(_, taken)| taken.at_ms).map(|(id, _)| id.clone())
        {
            self.0.remove(&oldest);
        }
        let (tell, outcome) = watch::channel(None);
        self.0.insert(plan_id.to_owned(), Taken { who, at_ms, outcome });
        tell
    }

    /// What this actor ordered with a plan.
    pub(super) fn of(&mut self, now_ms: i64, plan_id: &str, actor: &Actor) -> Option<Following> {
        self.forget_old(now_ms);
        let taken = self.0.get(plan_id).filter(|taken| (&taken.who.0, taken.who.1) == (&actor.name, actor.by))?;
        Some(taken.outcome.clone())
    }

    fn forget_old(&mut self, now_ms: i64) {
        // Both ways: a clock may be set back.
        self.0.retain(|_, taken| (now_ms - taken.at_ms).abs() < ORDER_MS);
    }
}

#[cfg(test)]
mod tests {
    use lockscope_wire::{Outcome, Role};

    use super::*;
    use identity::Scope;

    fn actor(name: &str) -> Actor {
        Actor { name: name.to_owned(), role: Role::Operator, scope: Scope::default(), by: SignedBy::Token, address: None }
    }

    #[test]
    fn an_order_is_remembered_for_its_actor_and_for_a_while() {
        let mut orders = Orders::default();
        let tell = orders.begin(0, "p", ("anna".to_owned(), SignedBy::Token));
        assert!(orders.of(1, "p", &actor("ben")).is_none() && orders.of(1, "q", &actor("anna")).is_none());
        let following = orders.of(1, "p", &actor("anna")).unwrap();
        assert!(following.borrow().is_none(), "it goes on");
        tell.send_replace(Some(Executed::untried(Outcome::Released, String::new())));
        assert_eq!(following.borrow().as_ref().unwrap().result.outcome, Outcome::Released);
        assert!(orders.of(ORDER_MS - 1, "p", &actor("anna")).is_some());
        assert!(orders.of(ORDER_MS, "p", &actor("anna")).is_none());
        let many = i64::try_from(ORDERS_MAX).unwrap();
        let _tell: Vec<_> = (0..=many).map(|at| orders.begin(at, &at.to_string(), ("anna".to_owned(), SignedBy::Token))).collect();
        assert!(orders.of(many, "0", &actor("anna")).is_none(), "the oldest made room");
        assert!(orders.of(many, "1", &actor("anna")).is_some());
    }
}
