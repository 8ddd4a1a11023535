//! How the settings in force stand to their file: when it was read, what is wrong with it now, what waits for a
//! restart.

use std::sync::Arc;

use lockscope_live::ConfigState;
use lockscope_view::ConfigStatus;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::{Config, Lab};

/// How they stand; clones share it.
#[derive(Clone, Debug)]
pub struct ConfigHealth(Arc<(Mutex<ConfigStatus>, watch::Sender<u64>)>);

impl Default for ConfigHealth {
    fn default() -> Self {
        Self::new(None, 0)
    }
}

impl ConfigHealth {
    /// Read just now, from this file if any.
    pub fn new(path: Option<String>, loaded_at_ms: i64) -> Self {
        let status = ConfigStatus { path, loaded_at_ms, error: None, waits_for_restart: Vec::new() };
        Self(Arc::new((Mutex::new(status), watch::Sender::new(0))))
    }

    /// It was read again, and these wait for a restart.
    /// `error`: what of it could not be taken.
    pub fn taken(&self, now_ms: i64, waits_for_restart: Vec<String>, error: Option<String>) {
        self.tell(|status| {
            *status = ConfigStatus { loaded_at_ms: now_ms, error, waits_for_restart, path: status.path.take() }
        });
    }

    /// It can't be taken; what was read before stays in force.
    pub fn refused(&self, error: String) {
        self.tell(|status| status.error = Some(error));
    }

    fn tell(&self, change: impl FnOnce(&mut ConfigStatus)) {
        change(&mut self.0.0.lock());
        self.0.1.send_modify(|count| *count += 1);
    }
}

impl ConfigState for ConfigHealth {
    fn status(&self) -> ConfigStatus {
        self.0.0.lock().clone()
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.0.1.subscribe()
    }
}

impl Config {
    /// What differs from the configuration that a server began with, and takes effect only when it begins again.
    pub fn waiting(&self, began: &Self) -> Vec<String> {
        let differs = |is_other: bool, key: &str| is_other.then(|| key.to_owned());
        let tls = |config: &Self| config.web.tls.clone().map(|files| (files.cert, files.key));
        let place_of_history = |config: &Self| config.history.clone().map(|history| history.place);
        let place = |config: &Self| config.lab.as_ref().map(Lab::runs_at);
        let keys = [
            differs(self.listen != began.listen, "listen"),
            differs(self.data_dir != began.data_dir, "data_dir"),
            differs(place_of_history(self) != place_of_history(began), "history, history_dir and history_url"),
            differs(self.connect_timeout != began.connect_timeout, "connect_timeout"),
            differs(self.session_timeout != began.session_timeout, "session_timeout_ms"),
            differs(self.web.origins != began.web.origins, "origin"),
            differs(tls(self) != tls(began), "tls_cert and tls_key"),
            differs(self.web.behind_tls_proxy != began.web.behind_tls_proxy, "behind_tls_proxy"),
            differs(self.web.sockets_max != began.web.sockets_max, "sockets_max"),
            differs(self.moves_proxy(began), "proxy_addresses"),
            differs(place(self) != place(began), "[lab]"),
            differs(self.metrics != began.metrics, "[metrics]"),
            differs(self.cluster != began.cluster, "[cluster]"),
        ];
        keys.into_iter().flatten().collect()
    }

    /// Whether there is a trusted proxy now and was none, or the other way round, where nothing else makes the server
    /// public: cookies and what nobody may do depend on it from the start.
    pub fn moves_proxy(&self, began: &Self) -> bool {
        let with = |access| super::exposure::is_public(began.listen, &began.web, access);
        with(&self.access) != with(&began.access)
    }
}
