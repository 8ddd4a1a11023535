//! TLS as it is now: follows the two files, so that a renewed certificate needs no restart. A pair that can't be used
//! is logged once and left alone; the one before stays.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::certificate::{EXPIRY_WARNING_DAYS, ExpiryWarning, Pems, TlsFault, TlsFiles};
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::CancellationToken;

pub const LOOK_EVERY: Duration = Duration::from_secs(3);

#[derive(Clone, Debug)]
pub struct Tls(watch::Receiver<Arc<ServerConfig>>);

pub struct Follower {
    files: TlsFiles,
    clock: Clock,
    now_used: watch::Sender<Arc<ServerConfig>>,
    /// What was looked at last, good or not: the same is not looked at again.
    last: Pems,
    /// Bad, and seen once: perhaps only one of the two files was written yet.
    suspect: Option<Pems>,
    until_ms: i64,
    told: ExpiryWarning,
    is_unreadable: bool,
}

impl Tls {
    pub(super) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let config = self.0.borrow().clone();
        TlsAcceptor::from(config).accept(stream).await
    }

    /// The pair that is in the files now, and who follows them.
    ///
    /// # Errors
    /// One sentence, when it can't be used.
    pub fn open(files: TlsFiles, clock: Clock) -> Result<(Self, Follower), TlsFault> {
        let pems = files.read()?;
        let pair = pems.check(&files, clock.now_ms())?;
        let (now_used, receiver) = watch::channel(pair.config);
        let follower = Follower {
            files,
            clock,
            now_used,
            last: pems,
            suspect: None,
            until_ms: pair.until_ms,
            told: ExpiryWarning::Far,
            is_unreadable: false,
        };
        Ok((Self(receiver), follower))
    }
}

/// Checks the files periodically until cancelled. Off the runtime: a volume may hang.
pub async fn follow(mut follower: Follower, stop: CancellationToken) {
    loop {
        let looked = tokio::task::spawn_blocking(move || {
            follower.look();
            follower
        });
        follower = tokio::select! {
            () = stop.cancelled() => return,
            looked = looked => match looked {
                Ok(follower) => follower,
                Err(error) => return tracing::error!(%error, "changes of the TLS certificate are not noticed until a restart"),
            },
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

impl Follower {
    /// Takes over a new pair that is good; says once what is not.
    pub fn look(&mut self) {
        match self.files.read() {
            Ok(pems) if self.last != pems => self.take(pems),
            Ok(_) => self.is_unreadable = false,
            Err(fault) => {
                if !std::mem::replace(&mut self.is_unreadable, true) {
                    tracing::warn!("{fault}; the certificate before stays in use");
                }
            }
        }
        self.tell_end();
    }

    fn take(&mut self, pems: Pems) {
        self.is_unreadable = false;
        match pems.check(&self.files, self.clock.now_ms()) {
            Ok(pair) => {
                self.until_ms = pair.until_ms;
                self.told = ExpiryWarning::Far;
                self.now_used.send_replace(pair.config);
                tracing::info!(cert = %self.files.cert.display(), "a new TLS certificate is in use");
            }
            Err(_) if self.suspect.as_ref() != Some(&pems) => {
                self.suspect = Some(pems);
                return;
            }
            Err(fault) => tracing::warn!("{fault}; the certificate before stays in use"),
        }
        self.suspect = None;
        self.last = pems;
    }

    /// Says that the end is near, once a day.
    fn tell_end(&mut self) {
        let now = ExpiryWarning::of(self.until_ms, self.clock.now_ms());
        if std::mem::replace(&mut self.told, now) == now {
            return;
        }
        let cert = self.files.cert.display();
        match now {
            ExpiryWarning::Far => {}
            ExpiryWarning::Near(days) => {
                tracing::warn!(
                    days,
                    "tls_cert {cert} expires in less than {} days; put a new certificate and its key there",
                    days.min(EXPIRY_WARNING_DAYS) + 1
                );
            }
            ExpiryWarning::Past => tracing::error!(
                "tls_cert {cert} has expired and browsers refuse it; put a new certificate and its key there"
            ),
        }
    }
}
