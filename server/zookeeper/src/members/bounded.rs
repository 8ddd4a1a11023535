//! Lists in an answer, counted while they are parsed: elements beyond a maximum are skipped and not kept, so an answer
//! takes no more memory than the largest one that is accepted.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::fault::Malformed;

/// A list of at most `MAX`.
#[derive(Debug)]
pub(super) struct List<T, const MAX: usize> {
    items: Vec<T>,
    is_over: bool,
}

/// Lists by a key: at most `MAX` keys, and at most `MAX` items in all lists together.
#[derive(Debug)]
pub(super) struct Lists<K, T, const MAX: usize> {
    lists: BTreeMap<K, Vec<T>>,
    is_over: bool,
}

impl<T, const MAX: usize> Default for List<T, MAX> {
    fn default() -> Self {
        Self { items: Vec::new(), is_over: false }
    }
}

impl<T, const MAX: usize> List<T, MAX> {
    pub(super) fn whole(self, what: &'static str) -> Result<Vec<T>, Malformed> {
        if self.is_over { Err(Malformed::TooMany { what, max: MAX }) } else { Ok(self.items) }
    }
}

impl<K, T, const MAX: usize> Lists<K, T, MAX> {
    pub(super) fn whole(self, what: &'static str) -> Result<BTreeMap<K, Vec<T>>, Malformed> {
        if self.is_over { Err(Malformed::TooMany { what, max: MAX }) } else { Ok(self.lists) }
    }
}

/// Reads one list into what room is left; the rest of it is passed over.
struct Items<'a, T> {
    items: &'a mut Vec<T>,
    left: &'a mut usize,
    is_over: &'a mut bool,
}

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for Items<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Items<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while *self.left > 0 {
            let Some(item) = seq.next_element()? else { return Ok(()) };
            self.items.push(item);
            *self.left -= 1;
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {
            *self.is_over = true;
        }
        Ok(())
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for List<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut list = Self::default();
        let mut left = MAX;
        Items { items: &mut list.items, left: &mut left, is_over: &mut list.is_over }.deserialize(deserializer)?;
        Ok(list)
    }
}

impl<'de, K: Deserialize<'de> + Ord, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for Lists<K, T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ByKey(PhantomData))
    }
}

struct ByKey<K, T, const MAX: usize>(PhantomData<(K, T)>);

impl<'de, K: Deserialize<'de> + Ord, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for ByKey<K, T, MAX> {
    type Value = Lists<K, T, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("lists by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut lists, mut left, mut is_over) = (BTreeMap::new(), MAX, false);
        while lists.len() < MAX && !is_over {
            let Some(key) = map.next_key()? else { return Ok(Lists { lists, is_over }) };
            let mut items = Vec::new();
            map.next_value_seed(Items { items: &mut items, left: &mut left, is_over: &mut is_over })?;
            lists.insert(key, items);
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            is_over = true;
        }
        Ok(Lists { lists, is_over })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_whole_and_what_does_not_is_known() {
        let list = |text: &str| serde_json::from_str::<List<i64, 3>>(text).unwrap().whole("things");
        assert_eq!((list("[]"), list("[1,2,3]")), (Ok(vec![]), Ok(vec![1, 2, 3])));
        assert_eq!(list("[1,2,3,{\"a\":[4]}]"), Err(Malformed::TooMany { what: "things", max: 3 }));
        let lists = |text: &str| serde_json::from_str::<Lists<i64, i64, 3>>(text).unwrap().whole("things");
        assert_eq!(
            lists(r#"{"1":[1,2],"-2":[3],"3":[]}"#),
            Ok(BTreeMap::from([(1, vec![1, 2]), (-2, vec![3]), (3, vec![])]))
        );
        for over in
            [r#"{"1":[1,2],"2":[3,4]}"#, r#"{"1":[],"2":[],"3":[],"4":[]}"#, r#"{"1":[1,2,3,4],"2":"not a list"}"#]
        {
            assert!(lists(over).is_err(), "{over}");
        }
        assert!(
            serde_json::from_str::<List<i64, 3>>("{}").is_err()
                && serde_json::from_str::<List<i64, 3>>("[1,2").is_err()
        );
    }
}
