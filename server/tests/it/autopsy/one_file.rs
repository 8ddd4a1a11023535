//! What was rebuilt as one file: it is a bundle, it is whole or not there, and the logs stay as they are.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use lockscope_history::store::Store as _;
use lockscope_history::store::rows::SpanQuery;
use lockscope_history::store::sqlite::SqliteStore;

use super::{autopsy, contents, copy, text};
use crate::harness::{Truth, zookeeper};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_file_is_written_once_and_apart_from_the_logs() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/order").await;
    for _ in 0..5 {
        let path = truth.queue("/order/lock-").await;
        truth.delete(&path).await;
    }
    let place = tempfile::tempdir().unwrap();
    let logs = copy(server.folder(), &place.path().join("copy"));
    let before = contents(&logs);
    let out = place.path().join("incident.db");
    let (code, report, said) = autopsy(&[text(&logs), "--root", "/order", "--out", text(&out)]).await;
    assert_eq!((code, report["holds"].as_u64()), (0, Some(5)), "{said}{report:#}");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2, "the logs and the file, and nothing beside it");
    assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o600);
    let opened = SqliteStore::open_bundle(&out).unwrap();
    let spans = opened.spans(&SpanQuery::default()).unwrap();
    assert!(spans.len() == 5 && spans.iter().all(|span| &*span.lock == "/order"), "{spans:?}");

    // A file that is there is somebody's, and logs are only read.
    let bytes = fs::read(&out).unwrap();
    let (code, _, said) = autopsy(&[text(&logs), "--out", text(&out)]).await;
    assert!(code == 64 && said.contains(text(&out)) && said.contains("exists already; name a file"), "{code} {said}");
    assert!(bytes == fs::read(&out).unwrap());
    for inside in [logs.join("out.db"), logs.join("version-2/out")] {
        let (code, _, said) = autopsy(&[text(&logs), "--out", text(&inside)]).await;
        assert!(code == 64 && said.contains("is only read; name a place outside"), "{code} {said}");
    }
    assert_eq!(contents(&logs), before);

    // Without anything to read there is no file.
    let (empty, none) = (place.path().join("empty"), place.path().join("none.db"));
    fs::create_dir(&empty).unwrap();
    assert_eq!(autopsy(&[text(&empty), "--out", text(&none)]).await.0, 66);
    assert!(!none.exists());
}
