//! The orders in which locks are taken; since version 2.

use lockscope_core::lock_order::{
    Approach, LockOrders, Nesting, OrderCircle, OrderEdge, OrderEnd, OrderKey, OrderUse, OrderWindow, PathClasses,
    Siblings,
};

use super::super::coded::{coded_enum, coded_struct};

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
coded_struct!(LockOrders { classes, edges, windows, circles, swept_at });
