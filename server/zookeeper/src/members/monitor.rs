//! AdminServer's `monitor`: of its many values only those that are used are kept while it is read.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::health::COUNTERS;

#[derive(Default)]
pub(super) struct Monitor {
    pub(super) server_state: Option<String>,
    pub(super) version: Option<String>,
    pub(super) counters: Vec<(&'static str, u64)>,
}

impl<'de> Deserialize<'de> for Monitor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MonitorVisitor)
    }
}

struct MonitorVisitor;

impl<'de> Visitor<'de> for MonitorVisitor {
    type Value = Monitor;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("counters by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Monitor, A::Error> {
        let mut monitor = Monitor::default();
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "server_state" => monitor.server_state = map.next_value::<Scalar>()?.text(),
                "version" => monitor.version = map.next_value::<Scalar>()?.text(),
                _ => match COUNTERS.iter().find(|known| **known == name) {
                    Some(known) => {
                        let value = map.next_value::<Scalar>()?.number();
                        monitor.counters.retain(|(other, _)| other != known);
                        monitor.counters.extend(value.map(|value| (*known, value)));
                    }
                    None => drop(map.next_value::<IgnoredAny>()?),
                },
            }
        }
        Ok(monitor)
    }
}

/// A value of which only a text or a count is of use.
enum Scalar {
    Text(String),
    Number(u64),
    Other,
}

impl Scalar {
    fn text(self) -> Option<String> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    fn number(self) -> Option<u64> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(text.to_owned()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Scalar, E> {
        Ok(Scalar::Number(number))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }

    fn visit_unit<E>(self) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Scalar, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }
}
