//! Integration tests against real ZooKeeper servers. One binary, so that they link once.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

mod access;
mod audit;
mod cli;
mod crate_facts;
mod disagreeing;
mod ensembles;
mod evidence;
mod guard;
mod http_api;
mod identity;
mod lab;
mod lagging;
mod live_socket;
mod made_up;
mod members;
mod outage;
mod recipes;
mod release;
mod roots;
mod sample;
mod served;
mod servers;
mod tidy;
mod transport;
mod tree;
