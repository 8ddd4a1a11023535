//! The orders in which locks are taken; since version 2. Which warnings are silenced; since version 3.

use lockscope_core::lock_order::{
    Approach, LockOrders, Nesting, OrderCircle, OrderEdge, OrderEnd, OrderKey, OrderSnooze, OrderUse, OrderWindow,
    PathClasses, Siblings,
};

use super::super::CodecError;
use super::super::coded::{Coded, coded_enum, coded_struct};
use super::super::tables::{Reader, Writer};

coded_enum!(Nesting { Apart = 0, Forward = 1, Backward = 2, ForwardAsText = 3, BackwardAsText = 4 });
coded_struct!(Siblings { names, are_many });
coded_struct!(PathClasses { places, entries });
coded_struct!(OrderKey { held, wanted, nesting, is_held_shared, is_wanted_shared });
coded_struct!(OrderUse { at, session, label, held, wanted });
coded_struct!(OrderEnd { session, at, held, wanted });
coded_struct!(Approach { ms, at, session, other });
coded_struct!(OrderEdge { count, last, sessions, gates, is_single_threaded, ends, closest });
coded_struct!(OrderWindow { key, held, wanted, holder, asker });
coded_struct!(OrderCircle { orders, since, locks });
coded_struct!(OrderSnooze { id, classes, by, reason, at, until });

/// Snoozes are a part of their own.
impl Coded for LockOrders {
    fn put(&self, out: &mut Writer) {
        let Self { classes, edges, windows, circles, snoozes: _, swept_at } = self;
        classes.put(out);
        edges.put(out);
        windows.put(out);
        circles.put(out);
        swept_at.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        Ok(Self {
            classes: Coded::take(from)?,
            edges: Coded::take(from)?,
            windows: Coded::take(from)?,
            circles: Coded::take(from)?,
            snoozes: Vec::new(),
            swept_at: Coded::take(from)?,
        })
    }
}
