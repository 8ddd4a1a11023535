//! Taking a znode of a lock away from its client: what would happen ([`plan`](mod@plan)), and the deletion itself
//! ([`act`]). Knows no actor, no limits and no record; those are the desk's.
//!
//! Nothing is ever written to make the deletion safer: a `setData` before it wakes and strands waiters that react to
//! the deletion only.

pub mod act;
mod plan;
mod target;
mod warn;

pub use act::{Act, Answer, Back, End, Ending, Fact, Input, Sent, Step};
pub use plan::{ContenderRole, FreesItself, MOVERS_MAX, Plan, Refusal, plan};
pub use target::{ChildCounters, Naming, Seen, Target, TargetSnapshot, Traffic};
pub use warn::Warning;
