//! Small differences, for the compact encoding: of a value its fields that changed, of a text what is between the
//! beginning and the end that it keeps, of a list what came before, behind and in between. `apply(diff(a, b)) == b`, for
//! any two values of a type. (JSON frames carry whole rows instead: see [`super::WindowDelta`].)

mod body;
mod fields;
mod list;
mod text;
mod window;

pub use body::{BoardPatch, BodyPatch, CompactFrame, EndedHold, LockPatch, ROW_HOLDERS_MAX};
pub(crate) use fields::{BoardHeadField, ContenderField, LockHeadField, LockRowField};
pub use list::{Appended, ListPatch};
pub use text::TextPatch;
pub use window::{PatchedRow, RowPatch, Run, WindowPatch};

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What can be turned into its successor by less than the successor.
pub trait Patched: Sized {
    /// What turns one value into another.
    type Patch: Debug + PartialEq + Serialize + DeserializeOwned;

    /// What turns `self` into `next`; None when they are equal.
    fn patch_to(&self, next: &Self) -> Option<Self::Patch>;

    /// Applies what [`Patched::patch_to`] made.
    fn apply_patch(&mut self, patch: Self::Patch);
}

/// What is patched within an option or a list, too: where that saves more bytes than the code for it costs.
pub trait Part: Patched + Clone + Debug + PartialEq + Serialize + DeserializeOwned {}

/// Values that are sent whole.
macro_rules! whole {
    ($($type:ty),+ $(,)?) => {
        $(impl Patched for $type {
            type Patch = Self;

            fn patch_to(&self, next: &Self) -> Option<Self> {
                (self != next).then(|| next.clone())
            }

            fn apply_patch(&mut self, patch: Self) {
                *self = patch;
            }
        })+
    };
}

use whole;

whole!(bool, u32, u64, i32);

/// A number that is close to the one before is sent as the difference.
impl Patched for i64 {
    type Patch = Self;

    fn patch_to(&self, next: &Self) -> Option<Self> {
        (self != next).then(|| next.wrapping_sub(*self))
    }

    fn apply_patch(&mut self, patch: Self) {
        *self = self.wrapping_add(patch);
    }
}

impl Patched for super::SessionId {
    type Patch = i64;

    fn patch_to(&self, next: &Self) -> Option<i64> {
        self.0.patch_to(&next.0)
    }

    fn apply_patch(&mut self, patch: i64) {
        self.0.apply_patch(patch);
    }
}

impl Patched for super::Zxid {
    type Patch = i64;

    fn patch_to(&self, next: &Self) -> Option<i64> {
        self.0.patch_to(&next.0)
    }

    fn apply_patch(&mut self, patch: i64) {
        self.0.apply_patch(patch);
    }
}

/// What turns one optional value into another.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum OptionPatch<T, P> {
    /// There is none any more.
    None,
    /// There was none.
    New(T),
    /// It changed.
    Changed(P),
}

impl Part for i64 {}
impl Part for String {}
impl Part for super::SessionId {}
impl Part for super::Zxid {}

impl<T: Part> Patched for Option<T> {
    type Patch = OptionPatch<T, T::Patch>;

    fn patch_to(&self, next: &Self) -> Option<Self::Patch> {
        match (self, next) {
            (None, None) => None,
            (Some(_), None) => Some(OptionPatch::None),
            (None, Some(next)) => Some(OptionPatch::New(next.clone())),
            (Some(old), Some(next)) => old.patch_to(next).map(OptionPatch::Changed),
        }
    }

    fn apply_patch(&mut self, patch: Self::Patch) {
        match (self, patch) {
            (this, OptionPatch::None) => *this = None,
            (this, OptionPatch::New(next)) => *this = Some(next),
            (Some(this), OptionPatch::Changed(change)) => this.apply_patch(change),
            (None, OptionPatch::Changed(_)) => {}
        }
    }
}
