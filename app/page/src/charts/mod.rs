//! Charts: pure geometry and a little SVG.

pub(crate) mod latency;
pub(crate) mod layers;
pub(crate) mod marks;
pub(crate) mod releases;
mod sparkline;

pub(crate) use sparkline::Sparkline;
