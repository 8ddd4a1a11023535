//! What a wait was spent on, as it is shown.

use lockscope_history::store::rows::{Charge, Charged, Charges};
use schemars::JsonSchema;
use serde::Serialize;

use super::ask::id;

/// What a wait was spent on; all null while it goes on, and in days that were written before this was kept.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct SpentJson {
    /// Who held meanwhile, each with its part of the wait: the 8 with the most. Several that hold at once share evenly.
    charges: Option<Vec<ChargeJson>>,
    /// The part of further ones, and of those of whom nothing says who they were.
    charges_others_ms: Option<i64>,
    /// The same, passed on from holders that waited themselves to who those waited for in the end; null where not all of
    /// the ensemble may be seen.
    root_charges: Option<Vec<ChargeJson>>,
    /// The part of further ones.
    root_charges_others_ms: Option<i64>,
    /// The time in which nobody held.
    hand_off_ms: Option<i64>,
    /// The time in which nobody looked. With `hand_off_ms` and all charges it makes `wait_ms`.
    unknown_ms: Option<i64>,
}

/// The part of a wait that a session is charged.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChargeJson {
    /// The session; null for a znode that no session owns.
    session_id: Option<String>,
    /// How long.
    ms: i64,
}

impl SpentJson {
    /// `elsewhere`: whether sessions that hold other locks are shown.
    pub(super) fn new(charges: Charges, elsewhere: bool) -> Self {
        let Charges { direct, root, hand_off_ms, unknown_ms } = charges;
        let (charges, charges_others_ms) = listed(direct);
        let (root_charges, root_charges_others_ms) = Some(root).filter(|_| elsewhere).map(listed).unzip();
        Self {
            charges: Some(charges),
            charges_others_ms: Some(charges_others_ms),
            root_charges,
            root_charges_others_ms,
            hand_off_ms: Some(hand_off_ms),
            unknown_ms: Some(unknown_ms),
        }
    }
}

fn listed(charged: Charged) -> (Vec<ChargeJson>, i64) {
    let one = |charge: Charge| ChargeJson {
        session_id: (charge.session.0 != 0).then(|| id(charge.session.0)),
        ms: charge.ms,
    };
    (charged.to.into_iter().map(one).collect(), charged.others_ms)
}
