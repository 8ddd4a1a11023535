//! What the lab's pages say of runs that are at another server.

pub(super) const ELSEWHERE: &str = "This run is not at this server";
pub(super) const AS_JSON: &str = "What is known of it now, as JSON";
pub(super) const KEPT_HERE: &str = "The runs that are kept here";

/// Who has a run.
pub(super) fn carried_out_by(replica: &str) -> String {
    format!("The replica {replica} carries it out, or did. Its page shows it as it goes on.")
}
