//! Authentication towards ZooKeeper, and of ZooKeeper: digest, SASL (DIGEST-MD5), and TLS with or without a client
//! certificate. Kerberos would need libraries in C and is not offered. Secrets are kept in this file only and are
//! passed to nothing but the client crate, and to whoever seals what replicas share.

use std::fmt;
use std::time::Duration;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::sign::CertifiedKey;
use zookeeper_client::{Client, Connector, Error, SaslOptions, TlsOptions};

use super::connect_string::{Fault, fault, split_chroot};
use super::own_sessions;

/// Longest name and password together.
const PAIR_BYTES_MAX: usize = 1_024;

/// Text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    user: String,
    password: Secret,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZkTls {
    /// Authorities that we trust, in PEM.
    authorities: String,
    identity: Option<TlsIdentity>,
}

/// Our own certificate and its key, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsIdentity {
    cert: String,
    key: Secret,
}

/// One identity. The default is nobody, unencrypted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Credentials {
    /// For ACLs of the scheme `digest`.
    pub digest: Option<Login>,
    /// For ACLs of the scheme `sasl`.
    pub sasl: Option<Login>,
    /// With it, nothing is sent in the clear.
    pub tls: Option<ZkTls>,
}

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Login {
    /// Reads `USER:PASSWORD`, with or without an end of line.
    ///
    /// # Errors
    /// What is wrong, without a word of what was read.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        const REMEDY: &str = "write one line of the form USER:PASSWORD";
        let line = text.strip_suffix('\n').unwrap_or(text);
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.len() > PAIR_BYTES_MAX {
            return fault("is too long", format!("{REMEDY} of at most {PAIR_BYTES_MAX} bytes"));
        }
        if line.contains(char::is_control) {
            return fault("has more than one line, or control characters", REMEDY);
        }
        match line.split_once(':') {
            Some((user, password)) if !user.is_empty() && !password.is_empty() => {
                Ok(Self { user: user.to_owned(), password: Secret::new(password) })
            }
            _ => fault("names no user and password", REMEDY),
        }
    }

    pub fn user(&self) -> &str {
        &self.user
    }
}

impl TlsIdentity {
    /// A certificate and its key.
    ///
    /// # Errors
    /// What is wrong with the two, without a word of the key.
    pub fn parse(cert: &str, key: &str) -> Result<Self, Fault> {
        let chain: Vec<_> = CertificateDer::pem_slice_iter(cert.as_bytes()).filter_map(Result::ok).collect();
        if chain.is_empty() {
            return fault("has no certificate", "write it in PEM");
        }
        let Ok(private) = PrivateKeyDer::from_pem_slice(key.as_bytes()) else {
            return fault("has a key that can't be read", "write the key in PEM, without a password");
        };
        match CertifiedKey::from_der(chain, private, &aws_lc_rs::default_provider()) {
            Ok(_) => Ok(Self { cert: cert.to_owned(), key: Secret::new(key) }),
            Err(rustls::Error::InconsistentKeys(_)) => {
                fault("is not of its key", "name the certificate and the key that were made together")
            }
            Err(_) => fault("can't be used with its key", "make both anew"),
        }
    }
}

impl ZkTls {
    /// Trusts these authorities.
    ///
    /// # Errors
    /// When there is none in the text.
    pub fn new(authorities: &str, identity: Option<TlsIdentity>) -> Result<Self, Fault> {
        match TlsOptions::new().with_pem_ca(authorities) {
            Ok(_) => Ok(Self { authorities: authorities.to_owned(), identity }),
            Err(_) => {
                fault("has no certificate of an authority", "write those that sign ZooKeeper's certificates, in PEM")
            }
        }
    }

    #[must_use]
    pub fn with_identity(self, identity: TlsIdentity) -> Self {
        Self { identity: Some(identity), ..self }
    }

    /// Authorities that we trust, in PEM.
    pub(super) fn authorities(&self) -> &str {
        &self.authorities
    }

    /// Our own certificate and its key, in PEM.
    pub(super) fn identity(&self) -> Option<(&str, &str)> {
        self.identity.as_ref().map(|identity| (identity.cert.as_str(), identity.key.expose()))
    }

    fn options(&self) -> Result<TlsOptions, Error> {
        let options = TlsOptions::new().with_pem_ca(&self.authorities)?;
        match &self.identity {
            Some(identity) => options.with_pem_identity(&identity.cert, identity.key.expose()),
            None => Ok(options),
        }
    }
}

/// Whether every server's host can be in a certificate; the client crate would not survive one that can't.
///
/// # Errors
/// The first that can't.
pub fn check_tls_hosts(connect: &str) -> Result<(), Fault> {
    for host in split_chroot(connect).0.split(',').filter_map(|server| server.rsplit_once(':')).map(|(host, _)| host) {
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        if ServerName::try_from(bare).is_err() {
            return fault(
                format!("has the host {host:?}, which no certificate can name"),
                "write hosts as their certificates name them",
            );
        }
    }
    Ok(())
}

impl Credentials {
    /// What servers with this identity know and nobody else: name and password; None where it has none. For sealing what
    /// they share; never sent, stored or shown.
    pub fn shared_secret(&self) -> Option<String> {
        let login = self.digest.as_ref().or(self.sasl.as_ref())?;
        Some(format!("{}:{}", login.user, login.password.expose()))
    }

    /// What is asked for a session as this identity; connect it with [`Credentials::open`], or to
    /// [`Credentials::address`].
    ///
    /// # Errors
    /// When the certificates can't be used; they were checked.
    pub fn connector(&self, session_timeout: Duration) -> Result<Connector, Error> {
        let mut connector = Client::connector().with_session_timeout(session_timeout);
        if let Some(login) = &self.digest {
            let pair = format!("{}:{}", login.user, login.password.expose());
            connector = connector.with_auth("digest", pair.as_bytes());
        }
        if let Some(login) = &self.sasl {
            connector =
                connector.with_sasl(SaslOptions::digest_md5(login.user.clone(), login.password.expose().to_owned()));
        }
        if let Some(tls) = &self.tls {
            // The client crate asks for the process's provider; an error says that there is one.
            let _ = aws_lc_rs::default_provider().install_default();
            connector = connector.with_tls(tls.options()?);
        }
        Ok(connector)
    }

    /// The connect string for this identity: with TLS each server is named as one that is met by it, so that nothing
    /// goes out in the clear whichever way the client crate is asked to connect.
    pub fn address(&self, connect: &str) -> String {
        if self.tls.is_none() {
            return connect.to_owned();
        }
        let (servers, chroot) = split_chroot(connect);
        format!(
            "{}{chroot}",
            servers.split(',').map(|server| format!("tcp+tls://{server}")).collect::<Vec<_>>().join(",")
        )
    }

    /// Connects: encrypted when this identity says so, and then never otherwise.
    ///
    /// # Errors
    /// As the client crate has them.
    pub async fn open(&self, connector: Connector, connect: &str) -> Result<Client, Error> {
        connector.connect(&self.address(connect)).await
    }

    /// The same for a session of Lockscope's own, so that nobody takes its znodes for a client's.
    pub async fn open_ours(&self, connector: Connector, connect: &str) -> Result<Client, Error> {
        let client = self.open(connector, connect).await?;
        own_sessions::note(client.session_id().0);
        Ok(client)
    }

    /// Whether ZooKeeper can know us by it, so that what we create may be ours alone.
    pub fn is_somebody(&self) -> bool {
        self.digest.is_some() || self.sasl.is_some() || self.tls.as_ref().is_some_and(|tls| tls.identity.is_some())
    }

    /// In a few words, for `check-config`; no secret.
    pub fn described(&self) -> String {
        let mut parts = Vec::new();
        if let Some(login) = &self.digest {
            parts.push(format!("digest as {:?}", login.user));
        }
        if let Some(login) = &self.sasl {
            parts.push(format!("SASL as {:?}", login.user));
        }
        match &self.tls {
            Some(ZkTls { identity: Some(_), .. }) => parts.push("TLS with a certificate of our own".to_owned()),
            Some(_) => parts.push("TLS".to_owned()),
            None if parts.is_empty() => parts.push("nobody, unencrypted".to_owned()),
            None => parts.push("unencrypted".to_owned()),
        }
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_one_line() {
        let good = Login::parse("watcher:s3:cret\r\n").unwrap();
        assert_eq!((good.user(), good.password.expose()), ("watcher", "s3:cret"));
        for bad in
            ["", "watcher", "watcher:", ":s3cret", "watcher:s3cret\nmore", "watcher:s3\u{0}cret", &"x:y".repeat(999)]
        {
            let error = Login::parse(bad).unwrap_err().to_string();
            assert!(error.contains("write one line of the form USER:PASSWORD") && !error.contains("cret"), "{error}");
        }
    }

    #[test]
    fn no_secret_comes_out_of_what_is_shown() {
        let key = rcgen::KeyPair::generate().unwrap();
        let cert = rcgen::CertificateParams::new(vec!["a".to_owned()]).unwrap().self_signed(&key).unwrap().pem();
        let identity = TlsIdentity::parse(&cert, &key.serialize_pem()).unwrap();
        let credentials = Credentials {
            digest: Some(Login::parse("watcher:CANARY1").unwrap()),
            sasl: Some(Login::parse("watcher:CANARY2").unwrap()),
            tls: Some(ZkTls::new(&cert, Some(identity)).unwrap()),
        };
        let shown = format!("{credentials:?} {credentials:#?} {}", credentials.described());
        let key_line = key.serialize_pem().lines().nth(1).unwrap().to_owned();
        assert!(!shown.contains("CANARY") && !shown.contains(&key_line), "{shown}");
        assert_eq!(
            credentials.described(),
            "digest as \"watcher\", SASL as \"watcher\", TLS with a certificate of our own"
        );
        assert_eq!(Credentials::default().described(), "nobody, unencrypted");
        assert!(credentials.connector(Duration::from_secs(1)).is_ok());
        assert_eq!(credentials.address("a:1,[::1]:2/x/y"), "tcp+tls://a:1,tcp+tls://[::1]:2/x/y");
        assert_eq!(Credentials::default().address("a:1,b:2/x"), "a:1,b:2/x");
    }

    #[test]
    fn what_can_not_be_used_is_said() {
        let (key, other) = (rcgen::KeyPair::generate().unwrap(), rcgen::KeyPair::generate().unwrap());
        let cert = rcgen::CertificateParams::new(vec!["a".to_owned()]).unwrap().self_signed(&key).unwrap().pem();
        let why = |cert: &str, key: &str| TlsIdentity::parse(cert, key).unwrap_err().why;
        assert_eq!(why(&cert, &other.serialize_pem()), "is not of its key");
        assert_eq!(why("", &key.serialize_pem()), "has no certificate");
        assert_eq!(why(&cert, &cert), "has a key that can't be read");
        assert_eq!(ZkTls::new("nothing", None).unwrap_err().why, "has no certificate of an authority");
        assert!(check_tls_hosts("zk_1.example:2281,[::1]:1,10.0.0.1:2/x").is_ok());
        assert!(check_tls_hosts("a:1,b..c:2").unwrap_err().why.contains("\"b..c\""));
    }
}
