//! Lockscope's server: watches ZooKeeper, owns the model, feeds browsers.
#![recursion_limit = "512"]

pub mod demo;
pub mod feed;
pub mod zookeeper;
