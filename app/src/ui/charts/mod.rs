//! Charts: pure geometry and a little SVG.

pub(crate) mod layers;
mod sparkline;

pub(crate) use sparkline::sparkline;
