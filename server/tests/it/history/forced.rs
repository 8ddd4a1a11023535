//! A release through Lockscope, in the past and after a restart: a recording has that the znode went, and not why.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Recorded, now_ms};
use crate::harness::{open, queue};
use crate::served::until;

/// Who held a lock last: how it ended, who released it, and the number of the record.
fn last(lock: &Value) -> (Value, Value, Value) {
    let past = &lock["past"][0];
    (past["how"].clone(), past["released_by"].clone(), past["record"].clone())
}

impl Recorded {
    async fn post_as(&self, token: &str, target: &str, body: &Value) -> Value {
        let request = reqwest::Client::new().post(self.url(target)).bearer_auth(token).json(body);
        serde_json::from_str(&request.send().await.unwrap().text().await.unwrap()).unwrap()
    }

    async fn lock_as(&self, token: &str, at: &str) -> Value {
        serde_json::from_str(&self.text_as(token, &format!("/api/v1/lock?path=/a/order{at}")).await.1).unwrap()
    }

    /// The moments of releases that are marked.
    async fn releases(&self) -> Vec<Value> {
        let marks = self.json("/api/v1/history/marks?path=/a/order").await.1;
        let all = marks["marks"].as_array().cloned().unwrap_or_default();
        all.into_iter().filter(|mark| mark["kind"] == "release").collect()
    }

    async fn forced_holds(&self) -> usize {
        let holds = self.json("/api/v1/history/holds?path=/a/order").await.1;
        holds["holds"].as_array().unwrap().iter().filter(|hold| hold["how"] == "forced").count()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_is_one_in_the_past_and_after_a_restart() {
    let mut recorded = Recorded::start("").await;
    recorded.truth.make("/a/order").await;
    let client = open(&recorded.zookeeper.address()).await;
    let (first, second) = (queue(&client, "/a/order/lock-").await, queue(&client, "/a/order/lock-").await);
    recorded.until_holds("/a/order", &first).await;
    let token = recorded.token("operator", "/").await;
    until(async || recorded.text_as(&token, "/api/v1/me").await.0 == 200).await;
    let plan = recorded.post_as(&token, "/api/v1/release/plan", &json!({ "path": first })).await;
    let order = json!({ "plan_id": plan["plan_id"], "confirm": "/a/order", "reason": "it hangs" });
    let result = recorded.post_as(&token, "/api/v1/release/execute", &order).await;
    assert_eq!(result["outcome"], "released", "{plan:#} {result:#}");
    let released = recorded.until_holds("/a/order", &second).await;
    // Its rows may be written by now or not.
    recorded.until_kept(released).await;
    let expected = ("forced".into(), "operator1".into(), result["audit_id"].clone());
    assert_eq!(last(&recorded.lock_as(&token, "").await), expected);
    let at = format!("&at={released}");
    assert_eq!(last(&recorded.lock_as(&token, &at).await), expected, "as it was");
    let unnamed = ("forced".into(), Value::Null, Value::Null);
    assert_eq!(last(&recorded.lock("/a/order", &released.to_string()).await), unnamed, "not for everybody");

    recorded.end(Signal::KILL).await;
    recorded.run().await;
    assert_eq!(last(&recorded.lock_as(&token, "").await), expected, "after the restart");
    assert_eq!(last(&recorded.lock_as(&token, &at).await), expected, "as it was before the restart");
    until(async || recorded.forced_holds().await == 1).await;
    recorded.until_kept(now_ms()).await;
    assert_eq!((recorded.forced_holds().await, recorded.releases().await.len()), (1, 1));
    // Whatever is derived again after another one is not told twice.
    recorded.end(Signal::KILL).await;
    recorded.run().await;
    let up = now_ms();
    recorded.until_kept(up).await;
    assert_eq!((recorded.forced_holds().await, recorded.releases().await.len()), (1, 1));
}
