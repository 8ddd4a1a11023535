//! A second viewer that comes and goes: each time it is given whole views, whose numbers and bodies must be those that
//! differences made elsewhere.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use lockscope_judge::{Capture as Captured, Origin, Revision};
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::Message;

use crate::capture::{View, digest, now_ms, open, subscribe};

/// The number of its socket.
const SOCKET: u32 = 1_000_000;
/// Pause between two visits: no multiple of anything.
const VISIT_EVERY: Duration = Duration::from_millis(430);
/// How long it stays when the server says nothing.
const VISIT_MAX: Duration = Duration::from_secs(3);

/// A viewer that visits until it is ended.
#[derive(Debug)]
pub struct Second {
    stop: watch::Sender<bool>,
    task: JoinHandle<Vec<Captured>>,
}

impl Second {
    pub fn start(address: &str, views: Vec<View>) -> Self {
        let (stop, mut stopped) = watch::channel(false);
        let address = address.to_owned();
        let task = tokio::spawn(async move {
            let mut captured = Vec::new();
            while !*stopped.borrow() {
                let _ = timeout(VISIT_MAX, visit(&address, &views, &mut captured)).await;
                tokio::select! {
                    () = sleep(VISIT_EVERY) => {}
                    _ = stopped.changed() => {}
                }
            }
            captured
        });
        Self { stop, task }
    }

    pub async fn end(self) -> Vec<Captured> {
        self.stop.send_replace(true);
        self.task.await.expect("visits do not fail")
    }
}

async fn visit(address: &str, views: &[View], captured: &mut Vec<Captured>) -> Option<()> {
    let mut socket = open(address).await?;
    for (id, view) in views.iter().enumerate() {
        socket.send(subscribe(id, view)).await.ok()?;
    }
    let mut left = views.len();
    while left > 0 {
        let Message::Text(text) = socket.next().await?.ok()? else { continue };
        let frame: Value = serde_json::from_str(text.as_str()).ok()?;
        if frame["type"] == "snapshot" {
            captured.push(Captured::Revision(revision(&frame, views)?));
            left -= 1;
        }
    }
    Some(())
}

fn revision(frame: &Value, views: &[View]) -> Option<Revision> {
    let view = views.get(usize::try_from(frame["id"].as_u64()?).ok()?)?;
    Some(Revision {
        socket: SOCKET,
        arrived_at_ms: now_ms(),
        view: view.text(),
        epoch: frame["epoch"].as_str()?.to_owned(),
        seq: frame["seq"].as_u64()?,
        origin: Origin::Snapshot,
        digest: digest(&frame["body"]),
    })
}
