//! How values of values are written and read.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::CodecError;
use super::coded::{Coded, element};
use super::tables::{Reader, Writer};

impl<T: Coded> Coded for Option<T> {
    fn put(&self, out: &mut Writer) {
        out.byte(u8::from(self.is_some()));
        if let Some(value) = self {
            value.put(out);
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        bool::take(from)?.then(|| T::take(from)).transpose()
    }
}

impl<T: Coded> Coded for Box<T> {
    fn put(&self, out: &mut Writer) {
        (**self).put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        T::take(from).map(Self::new)
    }
}

/// What is shared is mostly a path.
impl Coded for Arc<str> {
    fn put(&self, out: &mut Writer) {
        out.path(self);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        from.path().map(Into::into)
    }
}

impl<A: Coded, B: Coded> Coded for (A, B) {
    fn put(&self, out: &mut Writer) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        Ok((A::take(from)?, B::take(from)?))
    }
}

impl<A: Coded, B: Coded, C: Coded> Coded for (A, B, C) {
    fn put(&self, out: &mut Writer) {
        self.0.put(out);
        self.1.put(out);
        self.2.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        Ok((A::take(from)?, B::take(from)?, C::take(from)?))
    }
}

impl<T: Coded + Copy + Default, const N: usize> Coded for [T; N] {
    fn put(&self, out: &mut Writer) {
        self.iter().for_each(|value| value.put(out));
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        let mut values = [T::default(); N];
        for value in &mut values {
            *value = T::take(from)?;
        }
        Ok(values)
    }
}

/// Writes how many there are, and each.
fn put_all<'a, T: Coded + 'a>(out: &mut Writer, all: impl ExactSizeIterator<Item = &'a T>) {
    out.len(all.len());
    all.for_each(|value| value.put(out));
}

/// Each element takes a byte at least, so a count is no larger than what is left to read.
fn take_all<T: Coded, All: FromIterator<T>>(from: &mut Reader<'_>) -> Result<All, CodecError> {
    (0..from.bytes.count()?).map(|_| element(from, T::take)).collect()
}

impl<T: Coded> Coded for Vec<T> {
    fn put(&self, out: &mut Writer) {
        put_all(out, self.iter());
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        take_all(from)
    }
}

impl<T: Coded> Coded for VecDeque<T> {
    fn put(&self, out: &mut Writer) {
        put_all(out, self.iter());
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        take_all(from)
    }
}

impl<T: Coded + Ord> Coded for BTreeSet<T> {
    fn put(&self, out: &mut Writer) {
        put_all(out, self.iter());
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        take_all(from)
    }
}

impl<K: Coded + Ord, V: Coded> Coded for BTreeMap<K, V> {
    fn put(&self, out: &mut Writer) {
        out.len(self.len());
        for (key, value) in self {
            key.put(out);
            value.put(out);
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        take_all::<(K, V), Self>(from)
    }
}
