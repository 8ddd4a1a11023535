//! A list as the difference to the one before it: runs of what is the same, what changed, what is new. The order is kept
//! as it is, so that whoever reads it gets exactly what was written.

use std::collections::HashMap;
use std::hash::Hash;

use super::super::CodecError;
use super::super::coded::element;
use super::super::tables::{Reader, Writer};

/// So many as before follow, less one.
const SAME: u64 = 0;
/// The next one as before, changed.
const CHANGED: u64 = 1;
/// What follows stood elsewhere: so far from where it was expected.
const MOVED: u64 = 2;
const NEW: u64 = 3;

/// Writes a list. `key` finds an element again; `change` writes what became of one, `new` one that was not there.
pub(super) fn put<T: PartialEq, K: Eq + Hash>(
    out: &mut Writer,
    (before, after): (&[T], &[T]),
    key: impl Fn(&T) -> K,
    change: impl Fn(&mut Writer, &T, &T),
    new: impl Fn(&mut Writer, &T),
) {
    out.len(after.len());
    let mut places: Option<HashMap<K, usize>> = None;
    let (mut expected, mut same) = (0, 0);
    for element in after {
        let wanted = key(element);
        let place = if before.get(expected).is_some_and(|old| key(old) == wanted) {
            Some(expected)
        } else {
            let places = places.get_or_insert_with(|| before.iter().map(&key).zip(0..).collect());
            places.get(&wanted).copied()
        };
        let Some((place, old)) = place.and_then(|place| Some((place, before.get(place)?))) else {
            put_same(out, &mut same);
            out.u64(NEW);
            new(out, element);
            continue;
        };
        if place != expected {
            put_same(out, &mut same);
            let by = place as i64 - expected as i64;
            out.u64(MOVED);
            out.i64(by);
        }
        expected = place + 1;
        if old == element {
            same += 1;
        } else {
            put_same(out, &mut same);
            out.u64(CHANGED);
            change(out, old, element);
        }
    }
    put_same(out, &mut same);
}

fn put_same(out: &mut Writer, same: &mut u64) {
    if *same > 0 {
        out.u64(SAME | (*same - 1) << 2);
        *same = 0;
    }
}

pub(super) fn take<T: Clone>(
    from: &mut Reader<'_>,
    before: &[T],
    change: impl Fn(&mut Reader<'_>, &T) -> Result<T, CodecError>,
    new: impl Fn(&mut Reader<'_>) -> Result<T, CodecError>,
    bytes: impl Fn(&T) -> usize,
) -> Result<Vec<T>, CodecError> {
    let len = usize::try_from(from.bytes.u64()?).map_err(|_| CodecError::CutOff)?;
    let mut after = Vec::with_capacity(len.min(before.len() + from.bytes.len()));
    let mut expected: usize = 0;
    while after.len() < len {
        let token = from.bytes.u64()?;
        match token & 3 {
            SAME => {
                let same = usize::try_from((token >> 2) + 1).map_err(|_| CodecError::CutOff)?;
                let end = expected.checked_add(same).ok_or(CodecError::CutOff)?;
                let run = before.get(expected..end).ok_or(NOT_THERE)?;
                if len - after.len() < same {
                    return Err(CodecError::Malformed("a list is longer than it says"));
                }
                for old in run {
                    element(from, |from| from.spend(bytes(old)))?;
                    after.push(old.clone());
                }
                expected = end;
            }
            CHANGED => {
                let old = before.get(expected).ok_or(NOT_THERE)?;
                after.push(element(from, |from| change(from, old))?);
                expected += 1;
            }
            MOVED => {
                let by = isize::try_from(from.bytes.i64()?).map_err(|_| NOT_THERE)?;
                expected = expected.checked_add_signed(by).ok_or(NOT_THERE)?;
            }
            _ => after.push(element(from, &new)?),
        }
    }
    Ok(after)
}

const NOT_THERE: CodecError = CodecError::Malformed("a difference to what is not there");
