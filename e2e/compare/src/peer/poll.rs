//! A viewer that polls: it lists every lock each second and reads each contender that was not there before.

use std::collections::HashSet;
use std::time::Duration;

use tokio::time::interval;

use crate::load;

const EVERY: Duration = Duration::from_secs(1);

#[tokio::main]
pub(super) async fn watch(connect: &str, root: &str) {
    let client = load::open(connect).await;
    let (mut known, mut seen, mut pulse) = (HashSet::new(), 0, interval(EVERY));
    println!("ready");
    loop {
        pulse.tick().await;
        let locks = client.list_children(root).await.unwrap();
        let mut now = HashSet::new();
        for lock in &locks {
            let lock = format!("{root}/{lock}");
            let contenders = client.list_children(&lock).await.unwrap();
            now.extend(contenders.into_iter().map(|contender| format!("{lock}/{contender}")));
        }
        for new in now.difference(&known) {
            // It may be gone already.
            drop(client.get_data(new).await);
        }
        seen += now.symmetric_difference(&known).count();
        known = now;
        if locks.iter().any(|lock| load::end(root).ends_with(&format!("/{lock}"))) {
            break;
        }
    }
    super::end(seen + 1);
}
