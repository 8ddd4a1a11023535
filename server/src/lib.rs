//! Lockscope's server: watches ZooKeeper, owns the model, feeds browsers.

pub mod api_client;
pub mod cli;
pub mod commands;
pub mod config;
pub mod error;
pub mod reload;
pub mod sd_notify;
pub mod serve;
pub mod stdout;
pub mod telemetry;
