//! Integration tests against real ZooKeeper servers. One binary, so that they link once.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

mod access;
mod ask_command;
mod audit;
mod budgets;
mod cli;
mod crate_facts;
mod deploy;
mod disagreeing;
mod documents;
mod ensembles;
mod events;
mod evidence;
mod freshness;
mod guard;
mod http_api;
mod identity;
mod lab;
mod lab_api;
mod lab_command;
mod lab_served;
mod lagging;
mod live_socket;
mod made_up;
mod members;
mod metrics;
mod openapi;
mod outage;
mod pages;
mod reading;
mod recipes;
mod release;
mod reload;
mod roots;
mod sample;
mod served;
mod servers;
mod session_end;
mod supply;
mod tidy;
mod transport;
mod tree;
mod txn_log;
mod walls;
