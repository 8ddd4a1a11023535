//! Snoozes of lock orders, shared with other servers.

use std::future::Future;
use std::pin::Pin;

use lockscope_runtime::shared_rows::{SharedRow, Sharer};
use lockscope_view::OrderSnooze;

use super::{Alerts, SnoozeError};

pub(super) struct SharedOrderSnoozes(pub(super) Alerts);

impl Sharer for SharedOrderSnoozes {
    fn kind(&self) -> &'static str {
        "order_snooze"
    }

    fn outgoing(&self) -> Vec<SharedRow> {
        let there = std::sync::Arc::clone(&self.0.0.snoozes.borrow());
        self.0.0.snooze_notes.lock().outgoing(&there)
    }

    fn sent(&self, rows: &[SharedRow]) {
        self.0.0.snooze_notes.lock().sent(rows);
    }

    fn take<'a>(&'a self, rows: Vec<SharedRow>, is_whole: bool) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            if rows.is_empty() && !is_whole {
                return;
            }
            let (now_ms, inner) = (self.0.now_ms(), std::sync::Arc::clone(&self.0.0));
            let take = move |there: &[OrderSnooze]| {
                let next = inner.snooze_notes.lock().take(there, &rows, is_whole, now_ms);
                Ok((next, ()))
            };
            let taken = self.0.replace_snoozes(take, |_, ()| ());
            // The whole comes again each minute.
            if let Err(error @ (SnoozeError::Disk(_) | SnoozeError::NoAnswer)) = taken.await {
                tracing::warn!("snoozes of other servers are not taken in yet: {error}");
            }
        })
    }
}
