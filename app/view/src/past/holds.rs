//! Who held and who waited.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Coverage;
use crate::name::named_enum;

named_enum! {
    /// How a contender's life ended.
    SpanEnd {
        /// Its client deleted it after it held.
        Released = "released",
        /// It left the queue and never held.
        GaveUp = "gave_up",
        /// Its session ended.
        SessionEnded = "session_ended",
        /// Lockscope deleted it.
        Forced = "forced",
        /// It was gone after a gap.
        Unknown = "unknown",
    }
}

/// Lives of contenders.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Holds {
    /// The ensemble.
    pub ensemble: String,
    /// The newest first. Those that go on come before them, where a lock is asked for and the range reaches up to now.
    pub holds: Vec<Hold>,
    /// What goes into `before` for older ones; null when there is none.
    pub next_before: Option<String>,
    /// How much of the range is known.
    pub coverage: Coverage,
}

/// The life of a contender.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hold {
    /// Identity of its znode.
    pub czxid: String,
    /// The lock.
    pub lock: String,
    /// The name of its znode.
    pub node: String,
    /// Its session; null for a persistent znode.
    pub session_id: Option<String>,
    /// Who it said it is; null where payloads are not shown.
    pub label: Option<String>,
    /// The host of its client; null where that was not reported.
    pub client: Option<String>,
    /// When its znode was created, on this server's clock.
    pub joined_at_ms: i64,
    /// When it held first; null when it never did.
    pub held_at_ms: Option<i64>,
    /// When its znode was gone; null while it is there.
    pub left_at_ms: Option<i64>,
    /// How it ended: `released`, `gave_up`, `session_ended`, `forced` (through Lockscope), `unknown` (in a gap), or `still`.
    pub how: Cow<'static, str>,
    /// How long it waited.
    pub wait_ms: i64,
    /// How long it held; null when it never did.
    pub hold_ms: Option<i64>,
    /// It may have waited or held for longer.
    pub is_lower_bound: bool,
    /// What it waited for.
    #[serde(flatten)]
    pub spent: Spent,
}

impl Hold {
    /// Who it was: what it says of itself, or where it came from, or its session.
    pub fn who(&self) -> &str {
        let names = [&self.label, &self.client, &self.session_id];
        names.into_iter().flatten().find(|name| !name.is_empty()).unwrap_or(&self.node)
    }
}

/// What a wait was spent on; all null while it goes on, and in days that were written before this was kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spent {
    /// Who held meanwhile, each with its part of the wait: the 8 with the most. Several that hold at once share evenly.
    pub charges: Option<Vec<Charge>>,
    /// The part of further ones, and of those of whom nothing says who they were.
    pub charges_others_ms: Option<i64>,
    /// The same, passed on from holders that waited themselves to who those waited for in the end; null where not all of
    /// the ensemble may be seen.
    pub root_charges: Option<Vec<Charge>>,
    /// The part of further ones.
    pub root_charges_others_ms: Option<i64>,
    /// The time in which nobody held.
    pub hand_off_ms: Option<i64>,
    /// The time in which nobody looked. With `hand_off_ms` and all charges it makes `wait_ms`.
    pub unknown_ms: Option<i64>,
}

/// The part of a wait that a session is charged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Charge {
    /// The session; null for a znode that no session owns.
    pub session_id: Option<String>,
    /// How long.
    pub ms: i64,
}
