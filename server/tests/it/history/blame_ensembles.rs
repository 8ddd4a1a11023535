//! Who made others wait in two ensembles at once: a row each, and all of it is all waiting of both.

use std::io::Write as _;

use serde_json::Value;

use super::now_ms;
use crate::harness::{Truth, zookeeper};
use crate::recipes::lockscope::Lockscope;
use crate::served::until;

const LOCK: &str = "/order";

/// One holds while another waits at least so long, and both go.
async fn one_waits(lockscope: &Lockscope, truth: &Truth, ensemble: &str, ms: i64) {
    truth.make(LOCK).await;
    let first = truth.queue(&format!("{LOCK}/lock-")).await;
    let second = truth.queue(&format!("{LOCK}/lock-")).await;
    let at = format!("/api/v1/lock?ensemble={ensemble}&path={LOCK}");
    let lock = async || lockscope.ask(&at).await.1;
    until(async || lock().await["contenders"][1]["waiting_ms"].as_i64().is_some_and(|waits| waits >= ms)).await;
    truth.delete(&first).await;
    until(async || lock().await["contenders"][0]["path"] == *second).await;
    truth.delete(&second).await;
    let holds = format!("/api/v1/history/holds?ensemble={ensemble}");
    let lives = async || lockscope.ask(&holds).await.1["holds"].as_array().map(Vec::len);
    until(async || lives().await == Some(2)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_ensembles_are_a_row_each_and_their_waits_add_up() {
    let (one, two) = (zookeeper().await, zookeeper().await);
    let place = tempfile::tempdir().unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let table = |name: &str, zk: &str| format!("[[ensemble]]\nname = \"{name}\"\nzk = \"{zk}\"\n");
    write!(file, "{}{}", table("prod", &one.address()), table("test", &two.address())).unwrap();
    let (config, data) = (file.path().to_str().unwrap(), place.path().to_str().unwrap());
    let lockscope = Lockscope::run(&["--config", config, "--data-dir", data]).await;
    let from = now_ms();
    one_waits(&lockscope, &Truth::new(&one.address()).await, "prod", 600).await;
    one_waits(&lockscope, &Truth::new(&two.address()).await, "test", 100).await;
    let range = format!("from={from}&to={}", now_ms());

    let blame = lockscope.ask(&format!("/api/v1/history/blame?{range}&by=ensemble")).await.1;
    let of = |value: &Value| value.as_i64().unwrap();
    let rows = blame["rows"].as_array().unwrap();
    let mut keys: Vec<&str> = rows.iter().map(|row| row["key"].as_str().unwrap()).collect();
    assert!(rows.len() == 2 && of(&rows[0]["charged_ms"]) >= of(&rows[1]["charged_ms"]), "{blame:#}");
    let charged: i64 = rows.iter().map(|row| of(&row["charged_ms"])).sum();
    let rest = of(&blame["charged_others_ms"]) + of(&blame["hand_off_ms"]) + of(&blame["unknown_ms"]);
    assert_eq!(charged + rest, of(&blame["waits_ms"]), "{blame:#}");
    let mut alone = 0;
    for name in ["prod", "test"] {
        let one = lockscope.ask(&format!("/api/v1/history/blame?{range}&ensemble={name}")).await.1;
        alone += of(&one["waits_ms"]);
    }
    assert_eq!(alone, of(&blame["waits_ms"]));

    // The page has the same rows, whichever ensemble an address names, and leads to the lock of each.
    for more in ["", "&ensemble=test"] {
        let page = lockscope.text(&format!("/blame?{range}&by=ensemble{more}")).await;
        let first = keys.first().unwrap();
        assert!(page.contains(&format!("In the ensemble <bdi title=\"{first}\">")), "{page}");
        assert!(page.contains("<option value=\"ensemble\" selected"), "{page}");
        assert!(!page.contains("name=\"ensemble\"") && !page.contains("Charged in the end"), "{page}");
        for name in ["prod", "test"] {
            assert!(page.contains(&format!("<bdi title=\"{name}\">{name}</bdi>")), "{name}: {page}");
            assert!(page.contains(&format!("/lock?ensemble={name}&amp;path={LOCK}&amp;at=")), "{name}: {page}");
        }
    }
    keys.sort_unstable();
    assert_eq!(keys, ["prod", "test"]);
    let page = lockscope.text(&format!("/blame?{range}&by=client&ensemble=test")).await;
    assert!(page.contains("<option value=\"ensemble\"") && page.contains("name=\"ensemble\""), "{page}");
}
