//! The pure core: what is believed of an ensemble's locks, and the one function that changes it.
//!
//! Standard library only. No I/O, no clock, no logging, no serialisation, no async: time comes in as an
//! argument, everything else is an adapter's. The same inputs always give the same outputs.

#![warn(missing_docs)]

pub mod assessment;
pub mod change;
pub mod configured;
pub mod deadlock;
pub mod departure;
pub mod diagnosis;
pub mod differences;
pub mod durations;
pub mod evidence;
pub mod finding;
pub mod history;
pub mod keyed_hash;
pub mod label;
pub mod lock;
pub mod lock_order;
pub mod mirror;
pub mod missing;
pub mod observation;
pub mod observatory;
pub mod offset;
mod path_map;
pub mod pending;
pub mod proof;
pub mod recipe;
pub mod recollection;
pub mod release;
pub mod root;
pub mod sentence;
pub mod sequence;
pub mod settings;
pub mod tally;
pub mod time;
pub mod time_to_lock;
pub mod verdict;
pub mod visits;
pub mod wait_graph;
pub mod znode;
