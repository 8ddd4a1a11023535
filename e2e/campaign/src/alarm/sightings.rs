//! Somebody who looks at what fires, again and again: when each alert could first be seen.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::capture::now_ms;

/// Pause between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long an answer may take: a server that is frozen answers late, and is asked again.
const ANSWER_MAX: Duration = Duration::from_secs(1);

/// Looks until it is ended.
#[derive(Debug)]
pub(super) struct Sightings {
    stop: watch::Sender<bool>,
    task: JoinHandle<BTreeMap<String, i64>>,
}

impl Sightings {
    pub(super) fn start(url: &str) -> Self {
        let (stop, stopped) = watch::channel(false);
        let http = reqwest::Client::builder().timeout(ANSWER_MAX).build().expect("a client");
        let target = format!("{url}/api/v1/alerts?state=firing");
        let task = tokio::spawn(async move {
            let mut seen = BTreeMap::new();
            while !*stopped.borrow() {
                if let Ok(answer) = http.get(&target).send().await {
                    let body: Value = answer.json().await.unwrap_or_default();
                    let at_ms = now_ms();
                    let rows = body["alerts"].as_array().map_or(&[][..], Vec::as_slice);
                    for key in rows.iter().filter_map(|row| row["key"].as_str()) {
                        seen.entry(key.to_owned()).or_insert(at_ms);
                    }
                }
                sleep(LOOK_EVERY).await;
            }
            seen
        });
        Self { stop, task }
    }

    /// When each was seen first, by its key.
    pub(super) async fn end(self) -> BTreeMap<String, i64> {
        self.stop.send_replace(true);
        self.task.await.expect("looking does not fail")
    }
}
