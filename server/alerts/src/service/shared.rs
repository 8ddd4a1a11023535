//! Silences, acknowledgements and snoozes of lock orders that other servers make, and are told of.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use lockscope_runtime::shared_rows::{Exchange, SharedRow, Sharer};

use super::Alerts;
use super::shared_snoozes::SharedOrderSnoozes;
use crate::book::server_number;

struct SharedSilences(Alerts);

struct SharedAcknowledgements(Alerts);

impl Alerts {
    /// Shares silences, acknowledgements and snoozes of lock orders with other servers from now on; only the first call counts. `replica`: this
    /// server's name among them.
    pub fn share(&self, replica: &str, exchange: Arc<dyn Exchange>) -> [Arc<dyn Sharer>; 3] {
        if self.0.exchange.set(exchange).is_ok() {
            self.0.book.lock().share(replica);
            let there = Arc::clone(&self.0.snoozes.borrow());
            self.0.snooze_notes.lock().share(server_number(replica), &there);
        }
        let snoozes = SharedOrderSnoozes(self.clone());
        [Arc::new(SharedSilences(self.clone())), Arc::new(SharedAcknowledgements(self.clone())), Arc::new(snoozes)]
    }

    /// Tells the others at once, or once they can be told.
    pub(super) async fn share_now(&self) {
        if let Some(exchange) = self.0.exchange.get() {
            // What can't be told now is kept and told later; whoever exchanges says so.
            let _ = exchange.exchange().await;
        }
    }
}

impl Sharer for SharedSilences {
    fn kind(&self) -> &'static str {
        "silence"
    }

    fn outgoing(&self) -> Vec<SharedRow> {
        self.0.0.book.lock().outgoing_silences()
    }

    fn sent(&self, rows: &[SharedRow]) {
        self.0.0.book.lock().silences_sent(rows);
    }

    fn take<'a>(&'a self, rows: Vec<SharedRow>, is_whole: bool) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        let now_ms = self.0.now_ms();
        self.0.0.book.lock().take_silences(rows, is_whole, now_ms);
        self.0.0.came.notify_one();
        Box::pin(std::future::ready(()))
    }
}

impl Sharer for SharedAcknowledgements {
    fn kind(&self) -> &'static str {
        "acknowledgement"
    }

    fn outgoing(&self) -> Vec<SharedRow> {
        self.0.0.book.lock().outgoing_acknowledgements()
    }

    fn sent(&self, rows: &[SharedRow]) {
        self.0.0.book.lock().acknowledgements_sent(rows);
    }

    fn take<'a>(&'a self, rows: Vec<SharedRow>, is_whole: bool) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        self.0.0.book.lock().take_acknowledgements(rows, is_whole);
        self.0.0.came.notify_one();
        Box::pin(std::future::ready(()))
    }
}
