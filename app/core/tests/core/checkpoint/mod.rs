//! Checkpoints: an observatory that took one in is the one it was taken of, whatever comes then.

mod coverage;
mod equality;
mod history;
mod kinds;
mod large;
mod restart;
mod rounds;
mod rules;
mod step;
