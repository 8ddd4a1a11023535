//! The recording over real files, and the codec over whatever there may be.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests take what they made themselves for granted")]

mod alike;
mod bundle;
mod charges;
mod codec;
mod conformance;
mod contenders;
mod derive;
mod differs;
mod faults;
mod faulty;
mod fuzz;
mod golden;
mod hindsight;
mod historian;
mod incidents;
#[path = "../../../../app/core/tests/core/language.rs"]
#[expect(dead_code, reason = "the core's own tests ask more of it")]
mod language;
#[path = "../../../../app/core/tests/core/members.rs"]
#[expect(dead_code, reason = "the core's own tests ask more of it")]
mod members;
mod packed;
#[cfg(feature = "postgres")]
mod postgres;
mod recalled;
mod replay;
mod resume;
mod resume_edges;
mod resume_gaps;
mod snoozes;
mod sqlite;
mod stories;
mod strategies;
mod time_to_lock;
