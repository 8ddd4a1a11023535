//! Names that what is stored and what is answered have in common.

pub use lockscope_view::past::{DimensionKind, FactKind, IncidentEnd, SpanEnd, WaitShape};
