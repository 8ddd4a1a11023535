//! Lockscope's server: watches ZooKeeper, owns the model, feeds browsers.
#![recursion_limit = "512"]

pub mod accounts;
pub mod ask_command;
pub mod cli;
pub mod command;
pub mod config;
pub mod error;
pub mod healthcheck;
pub mod lab_command;
pub mod manual;
pub mod notify;
pub mod reload;
pub mod remote;
pub mod serve;
pub mod telemetry;
