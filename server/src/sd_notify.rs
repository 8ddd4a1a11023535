//! Notifies the service manager (systemd's protocol: `Type=notify`, `WatchdogSec=`), one datagram a notification.
//! Without such a manager nothing happens. Knows no other part of Lockscope: a watchdog gets the counts that must rise.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lockscope_runtime::clock;
use lockscope_runtime::shared_list::SharedList;
use lockscope_runtime::shutdown::CancellationToken;

/// Where the manager listens: a path, or with an `@` a name without a file.
const SOCKET: &str = "NOTIFY_SOCKET";
/// The watchdog's interval, in microseconds.
const WATCHDOG: &str = "WATCHDOG_USEC";
/// For which process that was meant.
const WATCHDOG_PID: &str = "WATCHDOG_PID";

/// The manager, if there is one. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct SdNotify {
    to: Option<Arc<(UnixDatagram, SocketAddr)>>,
    watchdog: Option<Duration>,
}

/// Counts that rise while something is alive, each with its name.
pub type Pulses = SharedList<(String, Arc<AtomicU64>)>;

impl SdNotify {
    pub fn from_env() -> Self {
        let is_ours = std::env::var(WATCHDOG_PID).map_or(true, |pid| pid == std::process::id().to_string());
        let micros =
            std::env::var(WATCHDOG).ok().and_then(|micros| micros.parse().ok()).filter(|micros| *micros > 0 && is_ours);
        std::env::var_os(SOCKET).map_or_else(Self::default, |name| Self::at(&name, micros.map(Duration::from_micros)))
    }

    pub fn at(name: &OsStr, watchdog: Option<Duration>) -> Self {
        let bytes = name.as_bytes();
        let address = match bytes.strip_prefix(b"@") {
            Some(name) => SocketAddr::from_abstract_name(name),
            None => SocketAddr::from_pathname(name),
        };
        let to = address.and_then(|address| {
            let socket = UnixDatagram::unbound()?;
            // A manager that reads nothing must not hold us up.
            socket.set_nonblocking(true)?;
            Ok(Arc::new((socket, address)))
        });
        match to {
            Ok(to) => Self { to: Some(to), watchdog },
            Err(error) => {
                tracing::warn!("{SOCKET} {name:?} can't be used ({error}); the service manager is not notified");
                Self::default()
            }
        }
    }

    /// Pages are served; `status` says what of, for `systemctl status`.
    pub fn ready(&self, status: &str) {
        self.send(&format!("READY=1\nSTATUS={}", one_line(status)));
    }

    /// The configuration is read again; [`SdNotify::ready`] ends that.
    pub fn reloading(&self) {
        self.send(&format!("RELOADING=1\nMONOTONIC_USEC={}", clock::monotonic_us()));
    }

    pub fn stopping(&self) {
        self.send("STOPPING=1\nSTATUS=shutting down");
    }

    fn send(&self, state: &str) {
        let Some(to) = &self.to else { return };
        if let Err(error) = to.0.send_to_addr(state.as_bytes(), &to.1) {
            tracing::warn!("the service manager could not be notified with {state:?}: {error}");
        }
    }

    /// Reports that the process is alive, but only while every pulse moves: a task that is stuck ends in a restart by
    /// the manager.
    pub async fn watch(self, pulses: Pulses, stop: CancellationToken) {
        let Some(every) = self.watchdog.filter(|_| self.to.is_some()) else { return };
        let mut seen = HashMap::new();
        loop {
            if moved(&pulses, &mut seen) {
                self.send("WATCHDOG=1");
            } else {
                tracing::error!("the model did not answer; the watchdog is not notified");
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(every / 3) => {}
            }
        }
    }
}

/// Whether each moved since it was seen last. One that is gone is forgotten.
fn moved(pulses: &Pulses, seen: &mut HashMap<String, u64>) -> bool {
    let now: HashMap<String, u64> =
        pulses.now().iter().map(|(name, pulse)| (name.clone(), pulse.load(Ordering::Relaxed))).collect();
    let all = now.iter().all(|(name, pulse)| seen.get(name) != Some(pulse));
    *seen = now;
    all
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(manager: &UnixDatagram) -> String {
        let mut buffer = [0; 512];
        manager.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let length = manager.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    }

    #[test]
    fn words_reach_sockets_with_a_file_and_without() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notify");
        let manager = UnixDatagram::bind(&path).unwrap();
        let notify = SdNotify::at(path.as_os_str(), None);
        notify.ready("serving\na");
        assert_eq!(heard(&manager), "READY=1\nSTATUS=serving a");
        notify.reloading();
        assert!(heard(&manager).starts_with("RELOADING=1\nMONOTONIC_USEC="));

        let name = format!("lockscope-test-{}", std::process::id());
        let manager = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        SdNotify::at(OsStr::new(&format!("@{name}")), None).stopping();
        assert_eq!(heard(&manager), "STOPPING=1\nSTATUS=shutting down");
        SdNotify::default().ready("nobody listens");
    }

    #[tokio::test]
    async fn the_watchdog_hears_from_us_only_while_every_pulse_moves() {
        let (beating, stuck) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let pulses = Pulses::from(vec![("a".to_owned(), beating.clone()), ("b".to_owned(), stuck.clone())]);
        let mut seen = HashMap::new();
        let mut moved = || {
            beating.fetch_add(1, Ordering::Relaxed);
            super::moved(&pulses, &mut seen)
        };
        assert!(moved(), "what was never seen counts as moved");
        assert!(!moved(), "one stands still");
        stuck.store(1, Ordering::Relaxed);
        assert!(moved());
        assert!(!moved());
    }
}
