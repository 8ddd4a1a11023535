//! Why no server can be met by TLS, in words. The client crate says only that none can be reached, so one is asked once
//! more, by ourselves and for nothing else.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use rustls::client::ResolvesClientCert;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::sign::CertifiedKey;
use rustls::{AlertDescription, CertificateError, ClientConfig, Error, RootCertStore, SignatureScheme};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::connect_string::split_chroot;
use super::credentials::ZkTls;

/// How long a server may take to be met. A JVM on a busy machine takes more than a second for its first handshakes, and the
/// next try to connect may be a session time-out away.
const MEETING_MAX: Duration = Duration::from_secs(3);
/// How long it may take to refuse our certificate, which with TLS 1.3 comes after the meeting.
const REFUSAL_MAX: Duration = Duration::from_millis(200);
/// Servers that are asked; they are members of one ensemble.
const SERVERS_MAX: usize = 3;

/// No certificate of ours, and whether a server asked for one.
#[derive(Debug, Default)]
struct NoCertificate {
    was_asked: AtomicBool,
}

impl ResolvesClientCert for NoCertificate {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.was_asked.store(true, Ordering::Relaxed);
        None
    }

    fn has_certs(&self) -> bool {
        false
    }
}

impl ZkTls {
    /// What is wrong with the certificates of the first server of which something is. None: nothing that we know of.
    pub(super) async fn trouble(&self, connect: &str) -> Option<&'static str> {
        let servers = split_chroot(connect).0.split(',').take(SERVERS_MAX);
        join_all(servers.map(|server| self.trouble_of(server))).await.into_iter().flatten().next()
    }

    async fn trouble_of(&self, server: &str) -> Option<&'static str> {
        let none = Arc::<NoCertificate>::default();
        let connector = TlsConnector::from(Arc::new(self.client_config(none.clone())?));
        let error = timeout(MEETING_MAX, meet(&connector, server)).await.ok()?.err()?;
        words(&error, self.identity().is_some(), none.was_asked.load(Ordering::Relaxed))
    }

    fn client_config(&self, none: Arc<NoCertificate>) -> Option<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates(self.authorities()));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().ok()?;
        let builder = builder.with_root_certificates(roots);
        let Some((cert, key)) = self.identity() else { return Some(builder.with_client_cert_resolver(none)) };
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).ok()?;
        builder.with_client_auth_cert(certificates(cert).collect(), key).ok()
    }
}

fn certificates(pem: &str) -> impl Iterator<Item = CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(pem.as_bytes()).filter_map(Result::ok)
}

async fn meet(connector: &TlsConnector, server: &str) -> io::Result<()> {
    let host = server.rsplit_once(':').map_or(server, |(host, _)| host);
    let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let name = ServerName::try_from(bare).map_err(io::Error::other)?;
    let mut stream = connector.connect(name, TcpStream::connect(server).await?).await?;
    // A server that takes us in says nothing before it is asked.
    match timeout(REFUSAL_MAX, stream.read(&mut [0])).await {
        Ok(Err(error)) => Err(error),
        Ok(Ok(_)) | Err(_) => Ok(()),
    }
}

fn words(error: &io::Error, has_own: bool, was_asked: bool) -> Option<&'static str> {
    match error.get_ref()?.downcast_ref::<Error>()? {
        Error::InvalidCertificate(error) => Some(match error {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => "a server's certificate has run out",
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "a server's certificate is not valid yet: one of the clocks is wrong"
            }
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                "a server's certificate is of no authority in `ca_file`"
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "a server's certificate is for another name than `zk` has"
            }
            CertificateError::Revoked => "a server's certificate was revoked",
            _ => "a server's certificate is not good",
        }),
        Error::AlertReceived(alert) => match alert {
            AlertDescription::CertificateExpired => Some("a server says that our certificate has run out"),
            // What newer Java says where it asked for a certificate and got none, and everybody where no cipher fits.
            AlertDescription::HandshakeFailure if was_asked => {
                Some("a server wants a certificate of ours: set `cert_file`")
            }
            // Older Java says of none that it is bad.
            AlertDescription::CertificateRequired
            | AlertDescription::UnknownCA
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateUnknown
            | AlertDescription::AccessDenied => Some(match has_own {
                true => "a server refuses our certificate",
                false => "a server wants a certificate of ours: set `cert_file`",
            }),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_breaks_off_is_said_to_want_a_certificate_only_if_it_asked_for_one() {
        let broken_off = io::Error::other(Error::AlertReceived(AlertDescription::HandshakeFailure));
        let wants = "a server wants a certificate of ours: set `cert_file`";
        assert_eq!(words(&broken_off, false, true), Some(wants));
        // No cipher that both have, for one.
        assert_eq!(words(&broken_off, false, false), None);
        assert_eq!(words(&broken_off, true, false), None);
    }
}
