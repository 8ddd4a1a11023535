//! The life of a contender, ended or not: what incidents are made of.

use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};

use crate::store::rows::{Charge, Span, SpanEnd};

/// Recipes whose contenders wait for nothing that anybody should let go: standbys, members, and those who wait for each
/// other.
const NO_WAITING: [&str; 5] = ["election", "barrier", "double_barrier", "queue", "membership"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    /// Its znode's identity.
    pub czxid: Zxid,
    pub lock: Box<str>,
    pub recipe: Box<str>,
    /// Others wait for it there, and it for others.
    pub is_waited_for: bool,
    pub session: Option<SessionId>,
    /// Who it says it is.
    pub label: Option<Box<str>>,
    pub host: Option<Box<str>>,
    pub joined_at: TimeMs,
    /// When it held first.
    pub held_at: Option<TimeMs>,
    /// When it left; None while it is there.
    pub left_at: Option<TimeMs>,
    pub how: Option<SpanEnd>,
    /// To whom its wait is charged in the end, where it is over.
    pub roots: Vec<Charge>,
}

impl Life {
    /// Whether the contenders of a recipe wait for each other.
    pub fn is_waiting_in(recipe: &str) -> bool {
        !NO_WAITING.contains(&recipe)
    }

    /// When it waited; without an end while it does.
    pub(super) fn wait(&self) -> Option<(TimeMs, Option<TimeMs>)> {
        self.is_waited_for.then_some((self.joined_at, self.held_at.or(self.left_at)))
    }

    /// When it held; without an end while it does.
    pub(super) fn hold(&self) -> Option<(TimeMs, Option<TimeMs>)> {
        Some((self.held_at?, self.left_at))
    }
}

impl From<Span> for Life {
    fn from(of: Span) -> Self {
        Self {
            czxid: of.czxid,
            is_waited_for: Self::is_waiting_in(&of.recipe),
            lock: of.lock,
            recipe: of.recipe,
            session: of.session,
            label: of.label,
            host: of.host,
            joined_at: of.joined_at,
            held_at: of.held_at,
            left_at: Some(of.left_at),
            how: Some(of.how),
            roots: of.charges.map(|charges| charges.root.to).unwrap_or_default(),
        }
    }
}
