//! The judge is judged: planted lies are each seen and named, honest captures are clean.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod alerts;
mod faults;
mod honest;
mod lies;
mod many;
mod releases;
mod restore;
mod truth;
mod world;
