//! Charts: pure geometry and a little SVG.

#[cfg(feature = "ssr")]
pub(crate) mod latency;
pub(crate) mod layers;
#[cfg(feature = "ssr")]
pub(crate) mod marks;
#[cfg(feature = "ssr")]
pub(crate) mod releases;
mod sparkline;

pub(crate) use sparkline::Sparkline;
