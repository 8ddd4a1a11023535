//! Alerts: rules over what a model shows, who is told of what they find, and until when.

pub mod evaluator;
pub mod notification;
pub mod route;
pub mod rule;
