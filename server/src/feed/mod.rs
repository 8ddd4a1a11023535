//! From the model to many viewers.

pub mod project;
