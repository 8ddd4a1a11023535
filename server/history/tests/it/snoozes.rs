//! Arbitrary snoozes of lock orders.

use lockscope_core::lock_order::OrderSnooze;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use crate::strategies::{at, path, text};

pub(crate) fn snooze() -> impl Strategy<Value = OrderSnooze> {
    let classes = vec(path().prop_map(Into::into), 0..3);
    (any::<u64>(), classes, text(), text(), at(), of(at()))
        .prop_map(|(id, classes, by, reason, at, until)| OrderSnooze { id, classes, by, reason, at, until })
}
