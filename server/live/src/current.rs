//! A value that may be replaced at any time, with a count of its changes.

use std::sync::Arc;

use parking_lot::{RwLock, RwLockReadGuard};
use tokio::sync::watch;

/// Clones share it.
#[derive(Clone, Debug)]
pub struct Current<T>(Arc<(RwLock<T>, watch::Sender<u64>)>);

impl<T: Default> Default for Current<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Current<T> {
    pub fn new(value: T) -> Self {
        Self(Arc::new((RwLock::new(value), watch::Sender::new(0))))
    }

    /// From now on this. The same as before wakes nobody.
    pub fn set(&self, value: T)
    where
        T: PartialEq,
    {
        if *self.read() != value {
            self.edit(|kept| *kept = value);
        }
    }

    pub(crate) fn edit(&self, edit: impl FnOnce(&mut T)) {
        edit(&mut self.0.0.write());
        self.0.1.send_modify(|revision| *revision += 1);
    }

    pub fn now(&self) -> T
    where
        T: Clone,
    {
        self.read().clone()
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.0.read()
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.0.1.subscribe()
    }
}
