//! TLS as browsers meet it, and certificates that change under way.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use lockscope_runtime::clock::Clock;
use lockscope_web::listener::{Bounds, Follower, Tls, TlsFiles};
use lockscope_web::{Limits, Origins, Scheme};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ProtocolVersion, RootCertStore};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::{hasty, to_end};
use crate::harness::{DEADLINE, Logs};
use crate::served::Served;

const DAY_MS: i64 = 86_400_000;

/// An authority, and the folder with a server's two files.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    cert: CertificateDer<'static>,
    folder: TempDir,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let cert = params.self_signed(&key).unwrap().der().clone();
        Self { issuer: Issuer::new(params, key), cert, folder: TempDir::new().unwrap() }
    }

    fn files(&self) -> TlsFiles {
        TlsFiles { cert: self.folder.path().join("cert.pem"), key: self.folder.path().join("key.pem") }
    }

    /// Puts a new pair there; it is good for `days`, which may be none.
    fn renew(&self, days: i64) -> CertificateDer<'static> {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let now =
            rcgen::date_time_ymd(1970, 1, 1) + Duration::from_millis(Clock::system().now_ms().try_into().unwrap());
        params.not_before = now - Duration::from_secs(400 * 86_400);
        let from_now = Duration::from_secs(days.unsigned_abs() * 86_400);
        params.not_after = if days < 0 { now - from_now } else { now + from_now };
        let cert = params.signed_by(&key, &self.issuer).unwrap();
        std::fs::write(self.files().cert, cert.pem()).unwrap();
        std::fs::write(self.files().key, key.serialize_pem()).unwrap();
        cert.der().clone()
    }

    fn client(&self, versions: &[&'static rustls::SupportedProtocolVersion], protocols: &[&[u8]]) -> TlsConnector {
        let mut roots = RootCertStore::empty();
        roots.add(self.cert.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(versions).unwrap();
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        TlsConnector::from(Arc::new(config))
    }

    async fn served(&self) -> (Served, Follower) {
        self.served_within(Bounds::default()).await
    }

    async fn served_within(&self, bounds: Bounds) -> (Served, Follower) {
        let (tls, follower) = Tls::open(self.files(), Clock::system()).unwrap();
        let origins = Origins::new("127.0.0.1:0".parse().unwrap(), Scheme::Https, Vec::new());
        (Served::start_with(Limits::default(), bounds, Some(tls), |http| http.with_origins(origins)).await, follower)
    }

    async fn connect(&self, served: &Served) -> std::io::Result<TlsStream<TcpStream>> {
        connect(&self.client(rustls::DEFAULT_VERSIONS, &[b"h2", b"http/1.1"]), served).await
    }

    /// The certificate that a new connection is met with.
    async fn met_with(&self, served: &Served) -> CertificateDer<'static> {
        let stream = self.connect(served).await.unwrap();
        stream.get_ref().1.peer_certificates().unwrap()[0].clone()
    }
}

async fn connect(connector: &TlsConnector, served: &Served) -> std::io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(served.address).await?;
    connector.connect(ServerName::try_from("localhost").unwrap(), stream).await
}

#[tokio::test]
async fn pages_come_by_tls_only() {
    let authority = Authority::new();
    let cert = authority.renew(90);
    let (served, _follower) = authority.served().await;
    assert_eq!(authority.met_with(&served).await, cert);
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let mut stream = connect(&authority.client(&[version], &[b"http/1.1"]), &served).await.unwrap();
        let session = stream.get_ref().1;
        assert_eq!(session.alpn_protocol(), Some(b"http/1.1".as_slice()));
        assert!(matches!(session.protocol_version(), Some(ProtocolVersion::TLSv1_2 | ProtocolVersion::TLSv1_3)));
        let own = format!("localhost:{}", served.address.port());
        let ask = |origin: &str| format!("POST /api/v1/status HTTP/1.1\r\nHost: {own}\r\nOrigin: {origin}\r\n\r\n");
        for (origin, status) in [(format!("https://{own}"), 405), (format!("http://{own}"), 403)] {
            stream.write_all(ask(&origin).as_bytes()).await.unwrap();
            let mut answer = vec![0; 4096];
            let length = stream.read(&mut answer).await.unwrap();
            assert!(String::from_utf8_lossy(&answer[..length]).starts_with(&format!("HTTP/1.1 {status}")), "{origin}");
        }
    }
    assert!(
        connect(&authority.client(rustls::DEFAULT_VERSIONS, &[b"h2"]), &served).await.is_err(),
        "only http/1.1 is spoken"
    );
    assert!(Authority::new().connect(&served).await.is_err(), "another authority");
    // Plain HTTP, garbage, and nothing at all end; others go on.
    let (hasty, _follower) = authority.served_within(hasty()).await;
    for bytes in ["GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "\0\0\0", ""] {
        let mut stream = TcpStream::connect(hasty.address).await.unwrap();
        stream.write_all(bytes.as_bytes()).await.unwrap();
        assert!(!to_end(&mut stream).await.contains("alive"));
    }
    assert!(authority.connect(&served).await.is_ok());
}

/// Makes a pair bad.
type Spoil<'a> = Box<dyn Fn() + 'a>;

#[tokio::test]
async fn a_renewed_certificate_is_taken_over_and_a_bad_one_is_not() {
    let authority = Authority::new();
    let first = authority.renew(90);
    let (served, mut follower) = authority.served().await;
    assert_eq!(Logs::of(|| follower.look()), Vec::<String>::new());

    let second = authority.renew(60);
    let mut held = authority.connect(&served).await.unwrap();
    assert_eq!(authority.met_with(&served).await, first, "nobody looked yet");
    let lines = Logs::of(|| follower.look());
    assert!(lines.len() == 1 && lines[0].contains("a new TLS certificate is in use"), "{lines:?}");
    assert_eq!(authority.met_with(&served).await, second);
    // What is open stays open.
    held.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await.unwrap();
    assert!(to_end(&mut held).await.contains("alive"));

    let good_key = std::fs::read(authority.files().key).unwrap();
    let bad: [(&str, Spoil<'_>); 5] = [
        (
            "does not match tls_cert",
            Box::new(|| std::fs::write(authority.files().key, KeyPair::generate().unwrap().serialize_pem()).unwrap()),
        ),
        ("has no private key", Box::new(|| std::fs::write(authority.files().key, "nothing").unwrap())),
        ("expired 3 days ago", Box::new(|| drop(authority.renew(-3)))),
        ("has 0 certificates", Box::new(|| std::fs::write(authority.files().cert, "").unwrap())),
        ("can't be read", Box::new(|| std::fs::remove_file(authority.files().cert).unwrap())),
    ];
    for (why, spoil) in bad {
        spoil();
        let lines = Logs::of(|| (0..5).for_each(|_| follower.look()));
        assert!(lines.len() == 1 && lines[0].contains(why) && lines[0].contains("stays in use"), "{why}: {lines:?}");
        assert!(!lines[0].contains(std::str::from_utf8(&good_key).unwrap().lines().nth(1).unwrap()));
        assert_eq!(authority.met_with(&served).await, second, "{why}");
    }
    let third = authority.renew(30);
    follower.look();
    assert_eq!(authority.met_with(&served).await, third, "and a good one after that");
}

#[tokio::test]
async fn the_end_of_a_certificate_is_told_once_a_day() {
    let authority = Authority::new();
    authority.renew(20);
    // A minute into the day, so that no clock's rounding decides which day it is.
    let clock = Clock::manual(Clock::system().now_ms() + 60_000);
    let (_tls, mut follower) = Tls::open(authority.files(), clock.clone()).unwrap();
    let now_ms = clock.now_ms();
    let mut told = Vec::new();
    for day in 0..23 {
        clock.set_ms(now_ms + day * DAY_MS);
        let lines = Logs::of(|| (0..3).for_each(|_| follower.look()));
        assert!(lines.len() <= 1, "{lines:?}");
        told.extend(lines);
    }
    assert_eq!(told.len(), 15, "{told:#?}");
    assert!(told[0].contains("WARN") && told[0].contains("expires in less than 14 days"), "{}", told[0]);
    assert!(told[14].contains("ERROR") && told[14].contains("has expired"), "{}", told[14]);
}

fn lockscope(files: &TlsFiles) -> tokio::process::Command {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_lockscope"));
    let path = |path: &PathBuf| path.display().to_string();
    command.args([
        "serve",
        "--zk",
        "127.0.0.1:1",
        "--listen",
        "127.0.0.1:0",
        "--tls-cert",
        &path(&files.cert),
        "--tls-key",
        &path(&files.key),
    ]);
    command
        .env("LOCKSCOPE_HISTORY", "off")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .stdin(Stdio::null())
        .kill_on_drop(true);
    command
}

#[tokio::test]
async fn the_binary_serves_by_tls_and_refuses_what_it_can_not_use() {
    let authority = Authority::new();
    authority.renew(-2);
    let done = tokio::time::timeout(DEADLINE, lockscope(&authority.files()).output()).await.unwrap().unwrap();
    let text = String::from_utf8_lossy(&done.stderr);
    // The key may be read by other users, which is warned of first.
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((done.status.code(), lines.len()), (Some(64), 2), "{text}");
    assert!(lines[0].contains("--tls-key") && lines[0].contains("chmod go="), "{text}");
    assert!(
        lines[1].starts_with("lockscope: tls_cert ") && lines[1].contains("expired 2 days ago; put a new certificate"),
        "{text}"
    );
    authority.renew(90);
    let mut child = lockscope(&authority.files()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = tokio::time::timeout(DEADLINE, lines.next_line()).await.unwrap().unwrap().unwrap();
    let address = line.strip_prefix("lockscope listening on https://").unwrap_or_else(|| panic!("{line}"));
    let stream = TcpStream::connect(address).await.unwrap();
    let connector = authority.client(rustls::DEFAULT_VERSIONS, &[b"http/1.1"]);
    let mut stream = connector.connect(ServerName::try_from("localhost").unwrap(), stream).await.unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await.unwrap();
    assert!(to_end(&mut stream).await.contains("alive"));
}
