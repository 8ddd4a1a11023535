//! What a wait was spent on, in the columns of its row: those charged most as JSON, so that SQL can ask for them.

use lockscope_core::znode::SessionId;

use super::rows::{Charge, Charged, Charges};

/// The values of the columns; all absent where nothing is known.
#[derive(Debug, Default)]
pub(in crate::store) struct ChargeColumns {
    pub(in crate::store) charged_to: Option<i64>,
    pub(in crate::store) root: Option<i64>,
    /// `[[session, ms], …]`.
    pub(in crate::store) direct: Option<String>,
    /// The same, where it is another one.
    pub(in crate::store) roots: Option<String>,
    pub(in crate::store) others_ms: Option<i64>,
    pub(in crate::store) root_others_ms: Option<i64>,
    pub(in crate::store) hand_off_ms: Option<i64>,
    pub(in crate::store) unknown_ms: Option<i64>,
}

impl ChargeColumns {
    pub(in crate::store) fn of(charges: Option<&Charges>) -> Self {
        let Some(Charges { direct, root, hand_off_ms, unknown_ms }) = charges else { return Self::default() };
        let first = |charged: &Charged| charged.to.first().map(|charge| charge.session.0);
        Self {
            charged_to: first(direct),
            root: first(root),
            direct: Some(json(&direct.to)),
            roots: (direct.to != root.to).then(|| json(&root.to)),
            others_ms: Some(direct.others_ms),
            root_others_ms: Some(root.others_ms),
            hand_off_ms: Some(*hand_off_ms),
            unknown_ms: Some(*unknown_ms),
        }
    }
}

fn json(charges: &[Charge]) -> String {
    let pairs: Vec<String> = charges.iter().map(|charge| format!("[{},{}]", charge.session.0, charge.ms)).collect();
    format!("[{}]", pairs.join(","))
}

/// Reads such a list back.
pub(in crate::store) fn list(text: &str) -> serde_json::Result<Vec<Charge>> {
    let pairs: Vec<(i64, i64)> = serde_json::from_str(text)?;
    Ok(pairs.into_iter().map(|(session, ms)| Charge { session: SessionId(session), ms }).collect())
}
