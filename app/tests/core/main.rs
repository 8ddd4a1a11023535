//! Tests of the core through its one door, `Observatory::apply`.

mod fixtures;
mod histories;
mod language;
mod views;
