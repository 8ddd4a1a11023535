//! The pure core.
pub mod change;
pub mod observation;
pub mod time;
pub mod verdict;
pub mod znode;
