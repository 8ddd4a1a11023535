//! Alerts: rules over what a model shows, who is told of what they find, and until when.

pub mod backtest;
pub mod book;
pub mod deliver;
pub mod draft;
pub mod duty;
pub mod evaluator;
pub mod notification;
pub mod route;
pub mod rule;
pub mod service;
pub mod store;
