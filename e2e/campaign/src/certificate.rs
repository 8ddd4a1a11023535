//! A ZooKeeper server that Lockscope reaches by TLS only, whose certificate may run out.

use std::net::TcpListener;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use lockscope_demo::ServerOptions;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use tempfile::TempDir;

const DAY: Duration = Duration::from_secs(86_400);

/// The certificate of a server, which its authority makes anew.
#[derive(Debug)]
pub struct Certificate {
    folder: TempDir,
    issuer: Issuer<'static, KeyPair>,
    port: u16,
}

impl Certificate {
    /// One that is good for a year.
    pub fn start() -> Self {
        let folder = tempfile::Builder::new().prefix("lockscope-campaign-tls-").tempdir().expect("a folder");
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "authority");
        let authority = params.self_signed(&key).expect("a certificate").pem();
        let listener = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let certificate = Self { folder, issuer: Issuer::new(params, key), port: listener.expect("a port").port() };
        std::fs::write(certificate.authority(), authority).expect("the folder is ours");
        certificate.renew(365);
        certificate
    }

    /// The authority's own certificate.
    pub fn authority(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }

    fn keystore(&self) -> PathBuf {
        self.folder.path().join("server.pem")
    }

    /// Where the server takes TLS.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// A new one for so many days; with fewer than none it ran out so many days ago. A server reads it when it starts.
    pub fn renew(&self, days: i64) {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("a name");
        params.distinguished_name.push(DnType::CommonName, "zookeeper");
        let since_epoch = SystemTime::UNIX_EPOCH.elapsed().expect("it is later than 1970");
        let now = rcgen::date_time_ymd(1970, 1, 1) + since_epoch;
        let by = DAY * u32::try_from(days.unsigned_abs()).expect("some days");
        params.not_before = now - DAY * 400;
        params.not_after = if days < 0 { now - by } else { now + by };
        let cert = params.signed_by(&key, &self.issuer).expect("a certificate").pem();
        std::fs::write(self.keystore(), format!("{cert}{}", key.serialize_pem())).expect("the folder is ours");
    }

    /// The server's options with a second port that takes TLS only.
    pub fn with(&self, mut options: ServerOptions) -> ServerOptions {
        let lines = [
            ("serverCnxnFactory", "org.apache.zookeeper.server.NettyServerCnxnFactory".to_owned()),
            ("secureClientPortAddress", "127.0.0.1".to_owned()),
            ("secureClientPort", self.port.to_string()),
            ("ssl.keyStore.location", self.keystore().display().to_string()),
            ("ssl.keyStore.type", "PEM".to_owned()),
            ("ssl.trustStore.location", self.authority().display().to_string()),
            ("ssl.trustStore.type", "PEM".to_owned()),
            ("ssl.clientAuth", "none".to_owned()),
        ];
        options.config.extend(lines.map(|(key, value)| (key.to_owned(), value)));
        options
    }
}
