//! Whose share of memory and time a view uses. Knows no person: whoever makes one knows what it stands for.

use std::sync::Arc;

/// Somebody who looks at views; the default is nobody in particular.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner(Arc<str>);

impl Owner {
    /// Whoever this text stands for.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }
}

impl Default for Owner {
    fn default() -> Self {
        Self::new("")
    }
}
