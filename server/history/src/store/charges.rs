//! What a wait was spent on, in the columns of its row: those charged most as JSON, so that SQL can ask for them.

use std::convert::Infallible;
use std::fmt::Write as _;

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
        let Ok(columns) = Self::named(charges, |session| Ok::<_, Infallible>(session.0));
        columns
    }

    /// The same, where sessions have other names.
    pub(in crate::store) fn named<E>(
        charges: Option<&Charges>,
        mut name: impl FnMut(SessionId) -> Result<i64, E>,
    ) -> Result<Self, E> {
        let Some(Charges { direct, root, hand_off_ms, unknown_ms }) = charges else { return Ok(Self::default()) };
        let first = |charged: &Charged| charged.to.first().map(|charge| charge.session.0);
        Ok(Self {
            charged_to: first(direct),
            root: first(root),
            direct: Some(json(&direct.to, &mut name)?),
            roots: if direct.to == root.to { None } else { Some(json(&root.to, &mut name)?) },
            others_ms: Some(direct.others_ms),
            root_others_ms: Some(root.others_ms),
            hand_off_ms: Some(*hand_off_ms),
            unknown_ms: Some(*unknown_ms),
        })
    }
}

fn json<E>(charges: &[Charge], mut name: impl FnMut(SessionId) -> Result<i64, E>) -> Result<String, E> {
    let mut text = String::from("[");
    for Charge { session, ms } in charges {
        let before = if text.len() > 1 { "," } else { "" };
        // A text takes whatever is written to it.
        let _ = write!(text, "{before}[{},{ms}]", name(*session)?);
    }
    text.push(']');
    Ok(text)
}

pub(in crate::store) fn list(text: &str) -> serde_json::Result<Vec<Charge>> {
    let pairs: Vec<(i64, i64)> = serde_json::from_str(text)?;
    Ok(pairs.into_iter().map(|(session, ms)| Charge { session: SessionId(session), ms }).collect())
}
