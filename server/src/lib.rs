//! Lockscope's server: watches ZooKeeper, owns the model, feeds browsers.
#![recursion_limit = "512"]

pub mod access;
pub mod accounts;
pub mod audit;
pub mod cli;
pub mod clock;
pub mod command;
pub mod config;
pub mod demo;
pub mod engine;
pub mod error;
pub mod evidence;
pub mod feed;
pub mod http;
pub mod lab;
pub mod lab_command;
pub mod lab_desk;
pub mod projector;
pub mod release;
pub mod serve;
pub mod shutdown;
pub mod telemetry;
pub mod transport;
pub mod zookeeper;
