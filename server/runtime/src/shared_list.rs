//! A list that several parts of a server read while it changes: whoever reads has it whole, as it was at an instant.

use std::sync::Arc;

use parking_lot::RwLock;

#[derive(Debug)]
pub struct SharedList<T>(Arc<RwLock<Arc<Vec<T>>>>);

impl<T> Clone for SharedList<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for SharedList<T> {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl<T> From<Vec<T>> for SharedList<T> {
    fn from(items: Vec<T>) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(items))))
    }
}

impl<T> SharedList<T> {
    pub fn now(&self) -> Arc<Vec<T>> {
        Arc::clone(&self.0.read())
    }
}

impl<T: Clone> SharedList<T> {
    pub fn push(&self, item: T) {
        self.change(|items| items.push(item));
    }

    pub fn take(&self, fits: impl Fn(&T) -> bool) -> Vec<T> {
        let mut taken = Vec::new();
        self.change(|items| {
            let (gone, left) = items.drain(..).partition(|item| fits(item));
            (taken, *items) = (gone, left);
        });
        taken
    }

    pub fn change_each(&self, change: impl FnMut(&mut T)) {
        self.change(|items| items.iter_mut().for_each(change));
    }

    /// Changes it at once for all; who reads it meanwhile has it as it was before.
    fn change(&self, change: impl FnOnce(&mut Vec<T>)) {
        change(Arc::make_mut(&mut self.0.write()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_reads_has_it_as_it_was() {
        let list = SharedList::from(vec![1, 2, 3]);
        let (before, other) = (list.now(), list.clone());
        other.push(4);
        assert_eq!(list.take(|item| item % 2 == 0), [2, 4]);
        assert_eq!((&**before, &**other.now()), (&[1, 2, 3][..], &[1, 3][..]));
    }
}
