//! What the disk took and could not make durable is not on record.

use std::os::unix::fs::symlink;

use super::{act, dir};
use crate::chain::ChainHead;
use crate::verify::Segment;
use crate::writer::Writer;
use crate::{Entry, files};
use lockscope_runtime::clock::Clock;
use lockscope_view::AuditKind;

/// `/dev/null` takes every byte and refuses to make it durable.
#[test]
fn what_is_written_and_not_durable_is_not_on_record() {
    let place = dir();
    let path = place.path().join(files::LOG);
    symlink("/dev/null", &path).unwrap();
    let file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    let mut writer = Writer {
        dir: place.path().to_owned(),
        clock: Clock::manual(0),
        rotate_bytes: 4_000,
        file,
        segment: Segment { path, first_id: 1, bytes: 0 },
        tip: ChainHead::default(),
        is_dirty: false,
        pending: Some(Entry::of_server(AuditKind::Started, "record started".to_owned())),
        _lock: files::take(place.path()).unwrap(),
    };
    assert!(writer.write(vec![act(1)]).is_err());
    assert!(!place.path().join(files::HEAD).exists(), "nor does the head name it");
}
