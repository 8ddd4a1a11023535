//! Lockscope's server: watches ZooKeeper, owns the model, feeds browsers.

pub mod accounts;
pub mod ask_command;
pub mod cli;
pub mod command;
pub mod config;
#[cfg(feature = "demo")]
pub mod demo_command;
pub mod error;
pub mod healthcheck;
#[cfg(feature = "lab")]
pub mod lab_command;
pub mod manual;
pub mod notify;
pub mod reload;
pub mod remote;
pub mod serve;
pub mod telemetry;
