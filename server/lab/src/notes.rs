//! What limits the figures of a run, in words. Pure.

use lockscope_view::LabOrder;

use super::client::drains;

/// What limits the figures.
pub(super) fn notes(order: &LabOrder) -> Vec<String> {
    let mut notes =
        vec!["Latencies are those that this process saw, through a relay on loopback for each client; its own lag is in them.".to_owned()];
    if drains(order) {
        notes.push(
            "Each holder let go only when all the others waited again, so that each release met the whole queue."
                .to_owned(),
        );
    } else {
        notes.push(
            "The theory is about draining once; with more rounds a release meets whoever happens to wait.".to_owned(),
        );
    }
    if !order.is_one_at_a_time() {
        notes.push(
            "The strategies ran at the same time on the same members and this machine, so each slowed the others and their latencies can't be compared; in_turn keeps them apart."
                .to_owned(),
        );
    }
    notes
}
