//! Silences, acknowledgements and snoozes of lock orders that other servers make, and are told of.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use lockscope_runtime::shared_rows::{Exchange, SharedRow, Sharer};
use lockscope_view::OrderSnooze;

use super::{Alerts, SnoozeError};
use crate::book::server_number;

/// What of alerts is shared: each is rows of a kind of its own.
#[derive(Clone, Copy)]
enum Notes {
    Silences,
    Acknowledgements,
    OrderSnoozes,
}

struct AlertSharer {
    alerts: Alerts,
    notes: Notes,
}

impl Alerts {
    /// Shares silences, acknowledgements and snoozes of lock orders with other servers from now on; only the first call counts. `replica`: this
    /// server's name among them.
    pub fn share(&self, replica: &str, exchange: Arc<dyn Exchange>) -> [Arc<dyn Sharer>; 3] {
        if self.0.exchange.set(exchange).is_ok() {
            self.0.book.lock().share(replica);
            let there = Arc::clone(&self.0.snoozes.borrow());
            self.0.snooze_notes.lock().share(server_number(replica), &there);
        }
        [Notes::Silences, Notes::Acknowledgements, Notes::OrderSnoozes]
            .map(|notes| Arc::new(AlertSharer { alerts: self.clone(), notes }) as Arc<dyn Sharer>)
    }

    /// Tells the others at once, or once they can be told.
    pub(super) async fn share_now(&self) {
        if let Some(exchange) = self.0.exchange.get() {
            // What can't be told now is kept and told later; whoever exchanges says so.
            let _ = exchange.exchange().await;
        }
    }

    async fn take_snoozes(&self, rows: Vec<SharedRow>, is_whole: bool) {
        if rows.is_empty() && !is_whole {
            return;
        }
        let (now_ms, inner) = (self.now_ms(), Arc::clone(&self.0));
        let take = move |there: &[OrderSnooze]| {
            let next = inner.snooze_notes.lock().take(there, &rows, is_whole, now_ms);
            Ok((next, ()))
        };
        // The whole comes again each minute.
        if let Err(error @ (SnoozeError::Disk(_) | SnoozeError::NoAnswer)) =
            self.replace_snoozes(take, |_, ()| ()).await
        {
            tracing::warn!("snoozes of other servers are not taken in yet: {error}");
        }
    }
}

impl Sharer for AlertSharer {
    fn kind(&self) -> &'static str {
        match self.notes {
            Notes::Silences => "silence",
            Notes::Acknowledgements => "acknowledgement",
            Notes::OrderSnoozes => "order_snooze",
        }
    }

    fn outgoing(&self) -> Vec<SharedRow> {
        let inner = &self.alerts.0;
        match self.notes {
            Notes::Silences => inner.book.lock().outgoing_silences(),
            Notes::Acknowledgements => inner.book.lock().outgoing_acknowledgements(),
            Notes::OrderSnoozes => {
                let there = Arc::clone(&inner.snoozes.borrow());
                inner.snooze_notes.lock().outgoing(&there)
            }
        }
    }

    fn sent(&self, rows: &[SharedRow]) {
        let inner = &self.alerts.0;
        match self.notes {
            Notes::Silences => inner.book.lock().silences_sent(rows),
            Notes::Acknowledgements => inner.book.lock().acknowledgements_sent(rows),
            Notes::OrderSnoozes => inner.snooze_notes.lock().sent(rows),
        }
    }

    fn take<'a>(&'a self, rows: Vec<SharedRow>, is_whole: bool) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let inner = &self.alerts.0;
            match self.notes {
                Notes::Silences => inner.book.lock().take_silences(rows, is_whole, self.alerts.now_ms()),
                Notes::Acknowledgements => inner.book.lock().take_acknowledgements(rows, is_whole),
                Notes::OrderSnoozes => return self.alerts.take_snoozes(rows, is_whole).await,
            }
            inner.came.notify_one();
        })
    }
}
