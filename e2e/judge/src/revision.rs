//! Views of several sockets under one number: whether a snapshot is what differences make.

use std::collections::HashMap;

use crate::{Capture, Report, Revision, Wrong};

/// Compares each revision with the first of the same view, epoch and number.
pub(crate) fn compare(captures: &[Capture], report: &mut Report) {
    let mut first: HashMap<(&str, &str, u64), &Revision> = HashMap::new();
    for capture in captures {
        let Capture::Revision(revision) = capture else { continue };
        let known = *first.entry((&revision.view, &revision.epoch, revision.seq)).or_insert(revision);
        if std::ptr::eq(known, revision) {
            continue;
        }
        report.counts.revisions += 1;
        if known.digest != revision.digest {
            report.push(Wrong::SnapshotDiffers {
                view: revision.view.clone(),
                seq: revision.seq,
                sockets: [known.socket, revision.socket],
                arrived_at_ms: revision.arrived_at_ms,
            });
        }
    }
}
