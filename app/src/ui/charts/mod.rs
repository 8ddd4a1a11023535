//! Charts: pure geometry and a little SVG.

mod sparkline;

pub(crate) use sparkline::Sparkline;
