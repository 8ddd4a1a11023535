//! Who held and who waited, the newest first.

use std::ops::ControlFlow;

use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};
use lockscope_view::past::{self, Hold, Holds, Spent};

use super::{Question, chosen};
use crate::store::rows::{Charge, Charged, Charges, Span, SpanQuery};
use crate::store::{Store, StoreError};

/// Rows that are read at once; not all of them may be seen.
const PAGE: usize = 1_000;

#[derive(Clone, Copy, Debug)]
pub struct HoldsQuery<'a> {
    /// Only this lock; empty for all.
    pub path: &'a str,
    pub session: Option<SessionId>,
    /// Only clients of this host; empty for all.
    pub client: &'a str,
    /// Only those that come behind this one: when it left, and its czxid.
    pub before: Option<(i64, i64)>,
    pub limit: usize,
    /// So many bytes of names are enough; there is always one span.
    pub bytes_max: usize,
}

/// Who held and who waited, of those that left in the range.
///
/// # Errors
/// The store can't be read, or it takes too long.
pub fn holds(question: &Question<'_>, of: HoldsQuery<'_>) -> Result<Holds, StoreError> {
    let (spans, next_before) = spans(question, of)?;
    let holds = spans.into_iter().map(|span| hold_of(span, question)).collect();
    Ok(Holds { ensemble: question.ensemble.to_owned(), holds, next_before, coverage: question.coverage()? })
}

/// The spans that may be seen, until there are enough, and the cursor behind the last of them where there are more.
///
/// # Errors
/// The store can't be read, or it takes too long.
pub fn spans(question: &Question<'_>, of: HoldsQuery<'_>) -> Result<(Vec<Span>, Option<String>), StoreError> {
    let query = SpanQuery {
        range: question.range.clone(),
        lock: chosen(of.path),
        session: of.session,
        host: chosen(of.client),
        joined_before: None,
        before: of.before.map(|(left_at, czxid)| (TimeMs(left_at), Zxid(czxid))),
        limit: PAGE,
        give_up_at: Some(question.give_up_at),
    };
    let (mut found, mut next, mut bytes) = (Vec::new(), None, 0_usize);
    each(question.store, query, |span| {
        if !question.scope.covers(question.ensemble, &span.lock) {
            return ControlFlow::Continue(());
        }
        bytes = bytes.saturating_add(bytes_of(&span));
        if found.len() == of.limit || (bytes > of.bytes_max && !found.is_empty()) {
            next = found.last().map(|span: &Span| cursor((span.left_at.0, span.czxid.0)));
            return ControlFlow::Break(());
        }
        found.push(span);
        ControlFlow::Continue(())
    })?;
    Ok((found, next))
}

/// Each that a query is for, the newest first, however many there are.
pub(super) fn each(
    store: &dyn Store,
    mut query: SpanQuery,
    mut take: impl FnMut(Span) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    query.limit = PAGE;
    loop {
        let page = store.spans(&query)?;
        let (is_last, last) = (page.len() < PAGE, page.last().map(|span| (span.left_at, span.czxid)));
        if page.into_iter().try_for_each(&mut take).is_break() || is_last {
            return Ok(());
        }
        query.before = last;
    }
}

/// Bytes of what a span is called by.
fn bytes_of(span: &Span) -> usize {
    let of = |text: &Option<Box<str>>| text.as_ref().map_or(0, |text| text.len());
    span.lock.len() + span.node.len() + of(&span.label) + of(&span.host)
}

/// A span, as far as it may be shown.
pub fn hold_of(span: Span, question: &Question<'_>) -> Hold {
    let is_everywhere = question.sees_roots();
    Hold {
        czxid: span.czxid.to_string(),
        lock: span.lock.into(),
        node: span.node.into(),
        session_id: span.session.map(|session| session.to_string()),
        label: span.label.filter(|_| question.scope.payloads()).map(Into::into),
        client: span.host.map(Into::into),
        joined_at_ms: span.joined_at.0,
        held_at_ms: span.held_at.map(|at| at.0),
        left_at_ms: Some(span.left_at.0),
        how: span.how.name().into(),
        wait_ms: span.wait_ms,
        hold_ms: span.held_at.map(|at| span.left_at.since(at)),
        is_lower_bound: span.is_lower_bound,
        spent: span.charges.map(|charges| spent(charges, is_everywhere)).unwrap_or_default(),
    }
}

/// `is_everywhere`: whether sessions that hold other locks are shown.
fn spent(charges: Charges, is_everywhere: bool) -> Spent {
    let Charges { direct, root, hand_off_ms, unknown_ms } = charges;
    let (charges, charges_others_ms) = listed(direct);
    let (root_charges, root_charges_others_ms) = Some(root).filter(|_| is_everywhere).map(listed).unzip();
    Spent {
        charges: Some(charges),
        charges_others_ms: Some(charges_others_ms),
        root_charges,
        root_charges_others_ms,
        hand_off_ms: Some(hand_off_ms),
        unknown_ms: Some(unknown_ms),
    }
}

fn listed(charged: Charged) -> (Vec<past::Charge>, i64) {
    let one = |charge: Charge| past::Charge {
        session_id: (charge.session.0 != 0).then(|| charge.session.to_string()),
        ms: charge.ms,
    };
    (charged.to.into_iter().map(one).collect(), charged.others_ms)
}

/// Where a list goes on: behind the one that left then, with this czxid.
fn cursor((left_at_ms, czxid): (i64, i64)) -> String {
    format!("{left_at_ms}-0x{czxid:x}")
}

pub fn parse_cursor(value: &str) -> Option<(i64, i64)> {
    // An instant may have a sign.
    let (left_at_ms, czxid) = value.split_once("-0x")?;
    Some((left_at_ms.parse().ok()?, u64::from_str_radix(czxid, 16).ok()?.cast_signed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back() {
        for pair in [(0, 0), (1_790_000_000_000, 0x2a6), (-5, i64::MIN)] {
            assert_eq!(parse_cursor(&cursor(pair)), Some(pair));
        }
        assert_eq!((parse_cursor("1"), parse_cursor("x-0x1"), parse_cursor("1-0x")), (None, None, None));
    }
}
