//! Differences of whole views.

use serde::{Deserialize, Serialize};

use super::window::WindowPatch;
use super::{BoardHeadField, ContenderField, LockHeadField, LockRowField, Patched};
use crate::{
    Board, Body, Contender, ContenderRole, Frame, HoldEnd, LatelyDelta, LockHead, LockPage, LockRow, PastHolder,
    SessionsDelta, Window,
};

/// Holders that a row carries at most.
pub const ROW_HOLDERS_MAX: usize = 4;

/// What turns a view into its successor, in the compact encoding.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum BodyPatch {
    /// For a board.
    Board(BoardPatch),
    /// For a lock.
    Lock(LockPatch),
    /// For a list of sessions.
    Sessions(SessionsDelta),
    /// The view as a whole.
    Whole(Body),
    /// For what happened lately.
    Events(LatelyDelta),
}

/// From server to the page: differences have single fields.
pub type CompactFrame = Frame<BodyPatch>;

/// What turns one board into the next.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct BoardPatch {
    /// Of the head.
    pub head: Vec<BoardHeadField>,
    /// Of the rows.
    pub window: Option<WindowPatch<LockRow, Vec<LockRowField>>>,
}

/// What turns one lock page into the next.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct LockPatch {
    /// Of the contenders.
    pub window: Option<WindowPatch<Contender, Vec<ContenderField>>>,
    /// The head's holders are those among the contenders.
    pub holders_are_rows: bool,
    /// The first of the head's holders held no longer, and is the newest of those who held before.
    pub ended: Option<EndedHold>,
    /// Of the head.
    pub head: Vec<LockHeadField>,
}

/// The end of a hold, as far as the holder does not say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedHold {
    /// How long it lasted.
    pub hold_ms: i64,
    /// Its session ended.
    pub session_ended: bool,
    /// Sessions its release woke.
    pub woke: Option<u32>,
    /// So many holds before it stay in the list.
    pub kept: u32,
}

impl EndedHold {
    /// The end of the hold of whoever held first, where that turns one list of past holds into the next.
    fn between(old: &LockHead, next: &LockHead) -> Option<Self> {
        let (newest, before) = next.past.split_first()?;
        let kept = u32::try_from(before.len()).ok()?;
        let hold_ms = newest.until_ms.wrapping_sub(newest.from_ms);
        let ended = Self { hold_ms, session_ended: newest.session_ended, woke: newest.woke, kept };
        (old.past.starts_with(before) && ended.of(old.row.holders.first()?)? == *newest).then_some(ended)
    }

    fn of(self, holder: &Contender) -> Option<PastHolder> {
        let from_ms = holder.holding_since_ms?;
        Some(PastHolder {
            node: holder.node.clone()?,
            session_id: holder.session_id,
            label: holder.label.clone(),
            from_ms,
            until_ms: from_ms.wrapping_add(self.hold_ms),
            session_ended: self.session_ended,
            is_lower_bound: holder.holding_is_lower_bound,
            address: holder.client.as_ref().map(|client| client.address.clone()),
            woke: self.woke,
            how: if self.session_ended { HoldEnd::SessionEnded } else { HoldEnd::Released },
            released_by: None,
            record: None,
        })
    }
}

impl Body {
    /// What turns `self` into `next`; None when they are equal.
    pub fn patch_to(&self, next: &Self) -> Option<BodyPatch> {
        match (self, next) {
            (Self::Board(old), Self::Board(new)) => old.patch_to(new).map(BodyPatch::Board),
            (Self::Lock(Some(old)), Self::Lock(Some(new))) => old.patch_to(new).map(BodyPatch::Lock),
            (old, new) => old.diff(new).map(|delta| match delta {
                crate::DeltaBody::Sessions(delta) => BodyPatch::Sessions(delta),
                crate::DeltaBody::Events(delta) => BodyPatch::Events(delta),
                crate::DeltaBody::Whole(body) => BodyPatch::Whole(body),
                crate::DeltaBody::Board(_) | crate::DeltaBody::Lock(_) => BodyPatch::Whole(new.clone()),
            }),
        }
    }

    /// Applies what [`Body::patch_to`] made. False when it is for another kind of view; the state is then unchanged and
    /// the caller asks for a snapshot.
    #[must_use]
    pub fn apply_patch(&mut self, patch: BodyPatch) -> bool {
        match (self, patch) {
            (Self::Board(board), BodyPatch::Board(patch)) => board.apply_patch(patch),
            (Self::Lock(Some(page)), BodyPatch::Lock(patch)) => page.apply_patch(patch),
            (Self::Sessions(sessions), BodyPatch::Sessions(delta)) => sessions.apply(&delta),
            (Self::Events(lately), BodyPatch::Events(delta)) => return lately.apply(&delta),
            (state, BodyPatch::Whole(body)) => *state = body,
            _ => return false,
        }
        true
    }
}

impl Patched for Board {
    type Patch = BoardPatch;

    fn patch_to(&self, next: &Self) -> Option<BoardPatch> {
        let head = self.head.patch_to(&next.head).unwrap_or_default();
        let window = self.window.patch_to(&next.window);
        (!head.is_empty() || window.is_some()).then_some(BoardPatch { head, window })
    }

    fn apply_patch(&mut self, patch: BoardPatch) {
        self.head.apply_patch(patch.head);
        if let Some(window) = patch.window {
            self.window.apply_patch(window);
        }
    }
}

impl Patched for LockPage {
    type Patch = LockPatch;

    fn patch_to(&self, next: &Self) -> Option<LockPatch> {
        let window = self.window.patch_to(&next.window);
        let mut head = self.head.patch_to(&next.head).unwrap_or_default();
        let has_new = |head: &LockHead| head.row.holders != self.head.row.holders;
        let holders_are_rows = has_new(&next.head) && next.head.row.holders == holders_in(&next.window);
        if holders_are_rows {
            for field in &mut head {
                if let LockHeadField::Row(row) = field {
                    row.retain(|field| !matches!(field, LockRowField::Holders(_)));
                }
            }
            head.retain(|field| !matches!(field, LockHeadField::Row(row) if row.is_empty()));
        }
        let ended = EndedHold::between(&self.head, &next.head).filter(|_| self.head.past != next.head.past);
        if ended.is_some() {
            head.retain(|field| !matches!(field, LockHeadField::Past(_)));
        }
        (holders_are_rows || ended.is_some() || !head.is_empty() || window.is_some()).then_some(LockPatch {
            window,
            holders_are_rows,
            ended,
            head,
        })
    }

    fn apply_patch(&mut self, patch: LockPatch) {
        if let Some(ended) = patch.ended
            && let Some(past) = self.head.row.holders.first().and_then(|holder| ended.of(holder))
        {
            self.head.past.truncate(ended.kept as usize);
            self.head.past.insert(0, past);
        }
        if let Some(window) = patch.window {
            self.window.apply_patch(window);
        }
        if patch.holders_are_rows {
            self.head.row.holders = holders_in(&self.window);
            self.head.row.held_since_ms = self.head.row.held_since_first();
        }
        self.head.apply_patch(patch.head);
    }
}

/// The first of those that hold, as a row of the board shows them: without payloads.
fn holders_in(window: &Window<Contender>) -> Vec<Contender> {
    let holders = window.rows.iter().filter(|row| row.role == ContenderRole::Holder).take(ROW_HOLDERS_MAX);
    holders.map(|row| Contender { data: None, ..row.clone() }).collect()
}
