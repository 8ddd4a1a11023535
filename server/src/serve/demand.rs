//! Whether watch tables are worth asking members for: as long as somebody looks at a lock, or a herd is suspected.

use std::sync::Weak;
use std::time::Duration;

use tokio::sync::watch;

use lockscope_live::Hub;
use lockscope_zookeeper::members::Demand;

/// How often it is looked whether anybody wants to know who watches what.
const DEMAND_EVERY: Duration = Duration::from_millis(500);

/// Notifies the observers of changes, for as long as there is a hub.
pub(super) async fn follow_demand(hub: Weak<Hub>, want: watch::Sender<Demand>) {
    while let Some(hub) = hub.upgrade() {
        let wanted = Demand {
            watches: hub.looks_at_lock() || hub.projection().suspects_herd(),
            waiters: hub.projection().needs_tables(),
        };
        want.send_if_modified(|sent| std::mem::replace(sent, wanted) != wanted);
        drop(hub);
        tokio::time::sleep(DEMAND_EVERY).await;
    }
}
