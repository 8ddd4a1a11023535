//! The owner to whom a view's memory and time are charged. Knows no user: the caller decides what an owner stands for.

use std::sync::Arc;

/// Somebody who looks at views; the default is nobody in particular.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner(Arc<str>);

impl Owner {
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }
}

impl Default for Owner {
    fn default() -> Self {
        Self::new("")
    }
}
