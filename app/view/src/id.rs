//! The tag of an ensemble, and 64-bit identifiers. In JSON these are `"0x…"` strings as ZooKeeper prints them, because a
//! JSON number loses bits above 2^53; in the compact encoding they are plain integers.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::EnsembleColor;

/// Digits of 64 bits.
const HEX_DIGITS_MAX: usize = 16;
/// What they look like.
#[cfg(feature = "schema")]
const ID_PATTERN: &str = "^0x[0-9a-fA-F]{1,16}$";

macro_rules! hex_id {
    ($(#[doc = $doc:literal])* $name:ident) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:#x}", self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                text.strip_prefix("0x")
                    .filter(|hex| hex.len() <= HEX_DIGITS_MAX)
                    .and_then(|hex| u64::from_str_radix(hex, 16).ok())
                    .map(|bits| Self(bits.cast_signed()))
                    .ok_or_else(|| format!("`{text}` is not a hexadecimal id like 0x100000a1b2c0001"))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() { serializer.collect_str(self) } else { serializer.serialize_i64(self.0) }
            }
        }

        /// As in JSON.
        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "description": concat!($($doc),*).trim(),
                    "type": "string",
                    "pattern": ID_PATTERN,
                    "examples": ["0x100000a1b2c0001"]
                })
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
                } else {
                    i64::deserialize(deserializer).map(Self)
                }
            }
        }
    };
}

hex_id!(
    /// A ZooKeeper session id.
    SessionId
);
hex_id!(
    /// A ZooKeeper transaction id; also used for czxids.
    Zxid
);
hex_id!(
    /// Names one run of the server's feed; sequence numbers only compare within one epoch.
    Epoch
);

/// The name and colour of an ensemble, shown wherever something of it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EnsembleTag {
    /// Its name.
    pub name: String,
    /// Its colour.
    pub color: EnsembleColor,
}
