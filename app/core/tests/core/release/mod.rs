//! Releases: what a plan says of each recipe, and the deletion against a small ZooKeeper that races it.

mod identity;
mod plans;
mod races;
mod zookeeper;
