//! Lockscope's memory: what was observed is recorded as it came, and replayed through the same core. Knows the model's
//! inputs and nothing of pages, people or ZooKeeper.
//!
//! Whoever owns a model has a [`historian::Recorder`]: it hands over each applied batch, and the model's checkpoint when
//! [`historian::Recorder::wants_checkpoint`] says so. Whoever wants to look back asks the [`historian::HistoryHandle`] for
//! the [`store::Store`], and makes a [`replay::Rewound`] of it.

pub mod backfill;
pub mod blame;
pub mod codec;
pub mod derive;
pub mod differs;
pub mod historian;
pub mod incident;
mod names;
mod payloads;
pub mod query;
pub mod replay;
pub mod resume;
pub mod store;
pub mod time_to_lock;
