//! Charts: pure geometry and a little SVG.

pub(crate) mod latency;
pub(crate) mod layers;
pub(crate) mod marks;
pub(crate) mod releases;
pub(crate) mod ring;
mod sparkline;

pub(crate) use sparkline::Sparkline;
