//! Runs of the lab through other replicas than the one that carries them out: read anywhere, stopped and disturbed anywhere,
//! on record at both, and never said to be gone where that is not known.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::acts::{get, of_kind, post, records, same_token};
use super::{Server, secret, three};
use crate::harness::{Truth, zookeeper};
use crate::served::until;

const LAB: &str = "[lab]\nensembles = [\"default\"]\n";
const RUNS: &str = "/api/v1/lab/runs";

async fn stop(server: &Server, token: &str, id: &str) -> (u16, Value) {
    let asked = reqwest::Client::new().delete(format!("{}{RUNS}/{id}", server.url)).bearer_auth(token).send();
    let answer = asked.await.unwrap();
    (answer.status().as_u16(), serde_json::from_str(&answer.text().await.unwrap()).unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_found_and_stopped_from_anywhere() {
    let zookeeper = zookeeper().await;
    let truth = Truth::new(&zookeeper.address()).await;
    truth.make("/a").await;
    let place = tempfile::tempdir().unwrap();
    let [one, two, gateway] = three(&zookeeper, &secret(&place), LAB).await;
    let all = [&one, &two, &gateway];
    let token = same_token(&all, "operator", "ops").await;
    let viewer = same_token(&all, "viewer", "looks").await;

    // Where nothing is watched a run begins as anywhere.
    let order = json!({ "strategies": ["predecessor"], "clients": 4, "rounds": 500, "hold_ms": 200 });
    let (status, started) = post(&gateway, &token, RUNS, &order).await;
    assert_eq!(status, 201, "{started:#}");
    let id = started["id"].as_str().unwrap().to_owned();
    let run = format!("{RUNS}/{id}");
    until(async || get(&gateway, &token, &run).await.1["state"] == "running").await;
    for server in [&one, &two] {
        let (status, seen) = get(server, &viewer, &run).await;
        assert!(status == 200 && seen["id"] == *id && seen["state"] == "running", "{status} {seen:#}");
        let (status, table) = get(server, &viewer, &format!("{run}.csv")).await;
        assert!(status == 200 && table.as_str().unwrap().contains("predecessor"), "{status} {table}");
        let (status, page) = get(server, &viewer, &format!("/lab?run={id}")).await;
        let page = page.as_str().unwrap();
        assert!(status == 404 && page.contains("lab-elsewhere") && page.contains(&gateway.url), "{status} {page}");
    }
    assert_eq!(get(&one, &viewer, &format!("{RUNS}/0123456789abcdef")).await.0, 404, "all answer that there is none");

    // A fault, and its end: by whoever may, on record at both.
    let fault = json!({ "fault": "kill", "strategy": "predecessor" });
    assert_eq!(post(&one, &viewer, &format!("{run}/faults"), &fault).await.0, 403);
    let (status, thrown) = post(&one, &token, &format!("{run}/faults"), &fault).await;
    assert!(status == 200 && thrown["fault"] == "kill", "{status} {thrown:#}");
    assert_eq!(stop(&two, &viewer, &id).await.0, 403);
    let (status, stopped) = stop(&two, &token, &id).await;
    assert!(matches!(status, 200 | 202) && stopped["id"] == *id, "{status} {stopped:#}");
    until(async || get(&one, &token, &run).await.1["state"] == "stopped").await;
    assert_eq!(of_kind(&records(&one, &token).await, "handed_on").len(), 1);
    assert_eq!(of_kind(&records(&two, &token).await, "handed_on").len(), 1);

    // One that has it hangs: nobody says that there is no such run.
    gateway.signal(Signal::STOP);
    let (status, refused) = get(&one, &token, &run).await;
    let detail = refused["detail"].as_str().unwrap_or_default();
    assert!(status == 503 && detail.contains("may be at another") && detail.contains(&gateway.url), "{refused:#}");
    gateway.signal(Signal::CONT);
}
