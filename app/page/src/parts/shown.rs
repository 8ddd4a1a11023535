//! A value whose type is forgotten and that can still be compared: one kind of memo then serves all parts and rows of
//! all pages.

use std::any::Any;
use std::sync::Arc;

#[derive(Clone)]
pub(super) struct Shown {
    value: Arc<dyn Any + Send + Sync>,
    is_equal: fn(&dyn Any, &dyn Any) -> bool,
}

impl Shown {
    pub(super) fn new<T: PartialEq + Send + Sync + 'static>(value: T) -> Self {
        Self { value: Arc::new(value), is_equal: |one, other| one.downcast_ref::<T>() == other.downcast_ref::<T>() }
    }

    /// The value; None for another type than it was made of.
    pub(super) fn get<T: 'static>(&self) -> Option<&T> {
        self.value.downcast_ref()
    }
}

impl PartialEq for Shown {
    fn eq(&self, other: &Self) -> bool {
        (self.is_equal)(&*self.value, &*other.value)
    }
}

/// What may take the place of what is shown.
pub(super) trait Show {
    /// Whether it is what is shown already.
    fn is(&self, shown: &Shown) -> bool;

    fn shown(&self) -> Shown;
}

impl<T: Clone + PartialEq + Send + Sync + 'static> Show for T {
    fn is(&self, shown: &Shown) -> bool {
        shown.get() == Some(self)
    }

    fn shown(&self) -> Shown {
        Shown::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_as_what_they_are() {
        assert!(Shown::new(1) == Shown::new(1));
        assert!(Shown::new(1) != Shown::new(2));
        assert!(Shown::new(1) != Shown::new("1"));
        assert_eq!(Shown::new(1).get(), Some(&1));
        assert_eq!(Shown::new(1).get::<&str>(), None);
    }

    #[test]
    fn what_is_shown_gives_way_to_what_differs() {
        assert!(1.is(&Shown::new(1)) && !1.is(&Shown::new(2)) && !1.is(&Shown::new("1")));
        assert_eq!("1".shown().get(), Some(&"1"));
    }
}
