//! Charts: pure geometry and a little SVG.

pub(crate) mod latency;
pub(crate) mod layers;
pub(crate) mod marks;
#[cfg(feature = "ssr")]
pub(crate) mod over_time;
pub(crate) mod releases;
pub(crate) mod ring;
mod sparkline;
mod strip;
mod words;

pub(crate) use sparkline::{Sparkline, sparkline_markup};
pub(crate) use strip::{SIZE as STRIP_SIZE, along, paths as strip_paths};
