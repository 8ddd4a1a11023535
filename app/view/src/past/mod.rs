//! What is answered about the past: one type a question, as the API writes it, the page draws it and the command line
//! prints it. Instants are ms since the Unix epoch on the server's clock.

mod blame;
mod coverage;
mod diff;
mod differs;
mod holds;
mod incidents;
mod marks;
mod over_time;

pub use blame::{Blame, BlameBy, BlameRow, HoldTimes};
pub use coverage::{Coverage, Gap, Missing, Unanswered};
pub use diff::{Diff, FindingChange, HolderChange, Membership};
pub use differs::{Differs, DiffersSelection, Dimension, DimensionKind, DimensionValue, OtherValues, WaitCounts};
pub use holds::{Charge, Hold, Holds, SpanEnd, Spent};
pub use incidents::{
    AlikeIncident, AlikeIncidents, EarlierIncident, Incident, IncidentAlert, IncidentEnd, IncidentLife,
    IncidentRelease, IncidentSignature, Incidents, OneIncident, WaitShape,
};
pub use marks::{Bucket, FactKind, Mark, Marks};
pub use over_time::{LockOverTime, Percentiles, Point};
