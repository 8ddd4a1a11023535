//! What the ensemble itself says of its sessions, asked slowly and never needed: who is connected from where, what is
//! heard of each, when a dead one runs out, and who watches what.

mod report;

pub use report::*;
