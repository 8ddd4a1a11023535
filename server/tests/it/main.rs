//! Integration tests against real ZooKeeper servers. One binary, so that they link once.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

mod access;
mod cli;
mod crate_facts;
mod ensembles;
mod evidence;
mod http_api;
mod live_socket;
mod made_up;
mod members;
mod outage;
mod recipes;
mod roots;
mod sample;
mod served;
mod servers;
mod tidy;
mod tree;
