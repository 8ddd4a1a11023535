//! Directories as well-known systems lay them out, containers and lives of one session in several locks.

use std::collections::BTreeMap;

use serde_json::Value;
use zookeeper_client::{Acls, CreateMode};

use super::{autopsy, spans, text};
use crate::harness::{Truth, options, started};
use crate::served::until;
use lockscope_history::store::rows::SpanEnd;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_well_known_systems_do_is_recognised() {
    let java = ["-Dznode.container.checkIntervalMs=200"];
    let server = started(options(&[], &java)).await;
    let truth = Truth::new(&server.address()).await;
    let ephemeral = CreateMode::Ephemeral.with_acls(Acls::anyone_all());
    let container = CreateMode::Container.with_acls(Acls::anyone_all());
    for path in ["/overseer_elect/election", "/hbase/backup-masters", "/brokers/ids", "/order"] {
        truth.make(path).await;
    }
    truth.queue("/overseer_elect/election/72057655109877762-10.0.0.1:8983_solr-n_").await;
    let leader = br#"{"id":"72057655109877762-10.0.0.1:8983_solr-n_0000000000"}"#;
    truth.client.create("/overseer_elect/leader", leader, &ephemeral).await.unwrap();
    truth.client.create("/hbase/master", b"host1", &ephemeral).await.unwrap();
    truth.client.create("/controller", br#"{"version":1,"brokerid":1,"timestamp":"1"}"#, &ephemeral).await.unwrap();
    truth.client.create("/brokers/ids/1", b"{}", &ephemeral).await.unwrap();
    // A container goes by itself, some time after its last child.
    truth.client.create("/reaped", b"", &container).await.unwrap();
    let inside = truth.queue("/reaped/lock-").await;
    truth.delete(&inside).await;
    until(async || truth.client.check_stat("/reaped").await.unwrap().is_none()).await;
    // One session lets two go at once and goes on; another ends with two.
    let other = Truth::new(&server.address()).await;
    let let_go = [other.queue("/order/lock-").await, other.queue("/order/lock-").await];
    for path in &let_go {
        other.delete(path).await;
    }
    let fallen = [other.queue("/order/lock-").await, other.queue("/order/lock-").await];
    drop(other);
    until(async || truth.client.check_stat(&fallen[1]).await.unwrap().is_none()).await;
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let (code, report, said) = autopsy(&[text(server.folder()), "--out", text(&out)]).await;
    assert_eq!(code, 0, "{said}");
    let found: BTreeMap<&str, &Value> =
        report["locks"].as_array().unwrap().iter().map(|lock| (lock["path"].as_str().unwrap(), lock)).collect();
    for path in ["/overseer_elect", "/hbase/master", "/controller", "/order", "/reaped"] {
        assert!(found.contains_key(path), "{path} is not among {:?}", found.keys());
    }
    assert!(found["/reaped"]["recipe"].is_null(), "it is gone: {report:#}");
    assert!(found.keys().all(|path| !path.starts_with("/zookeeper")), "{report:#}");
    let ends: BTreeMap<String, SpanEnd> =
        spans(&out).into_values().map(|span| (format!("{}/{}", span.lock, span.node), span.how)).collect();
    let how = |path: &String| ends.get(path).copied();
    assert_eq!(let_go.each_ref().map(how), [Some(SpanEnd::Released); 2], "{ends:?}");
    assert_eq!(fallen.each_ref().map(how), [Some(SpanEnd::SessionEnded); 2], "{ends:?}");
}
