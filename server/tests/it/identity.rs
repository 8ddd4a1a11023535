//! Who Lockscope is to real ZooKeeper servers that ask: digest, SASL, TLS with certificates of both sides; and that no
//! secret comes out anywhere.

mod canary;

use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use lockscope_core::observation::RootTrouble;
use lockscope_demo::{PrivateZooKeeper, ServerOptions};
use lockscope_zookeeper::{Credentials, Login, ObserverConfig, TlsIdentity, ZkTls};
use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use tempfile::TempDir;
use zookeeper_client::{Acl, Acls, AuthId, Client, CreateMode, Error, Permission};

use crate::harness::{Observed, RootState, Truth, open, options, started, zookeeper};

/// Of an observer's session: after a restart the client waits for so long at most for a server that took it in too
/// early.
const OBSERVED: Duration = Duration::from_secs(8);
/// Of a client's that is tried once.
const TIMEOUT: Duration = Duration::from_secs(30);

fn config(connect: &str, credentials: Credentials) -> ObserverConfig {
    ObserverConfig::new(connect, vec!["/locks".to_owned()], OBSERVED).unwrap().with_credentials(credentials)
}

fn by_digest(pair: &str) -> Credentials {
    Credentials { digest: Some(Login::parse(pair).unwrap()), ..Credentials::default() }
}

async fn session(credentials: &Credentials, connect: &str) -> Result<Client, Error> {
    credentials.open(credentials.connector(TIMEOUT)?.with_fail_eagerly(), connect).await
}

/// Makes `/locks` with one waiter, for these alone.
async fn protect(client: &Client, acls: &[Acl]) {
    client.create("/locks", b"", &CreateMode::Persistent.with_acls(Acls::new(acls))).await.unwrap();
    client
        .create("/locks/lock-", b"host-a", &CreateMode::EphemeralSequential.with_acls(Acls::new(acls)))
        .await
        .unwrap();
}

fn is_denied(believed: &crate::harness::Believed) -> bool {
    *believed.root(0) == RootState::Trouble(RootTrouble::Denied)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_protected_tree_is_read_by_digest_only() {
    let server = zookeeper().await;
    let owner = session(&by_digest("app:CANARY-app"), &server.address()).await.unwrap();
    // What a watching identity needs, and no more.
    let watcher = open(&server.address()).await;
    watcher.auth("digest", b"watcher:CANARY-watcher").await.unwrap();
    watcher.create("/own", b"", &CreateMode::Persistent.with_acls(Acls::creator_all())).await.unwrap();
    let (acls, _) = watcher.get_acl("/own").await.unwrap();
    let id = acls[0].auth_id().clone();
    let acls = [Acl::new(Permission::READ, id), Acl::new(Permission::ALL, AuthId::authed())];
    protect(&owner, &acls).await;
    let truth = Truth { client: watcher };

    for stranger in [Credentials::default(), by_digest("watcher:CANARY-wrong"), by_digest("other:CANARY-watcher")] {
        let observed = Observed::start_as(config(&server.address(), stranger));
        observed.until("denied", is_denied).await;
        observed.stop().await;
    }
    let observed = Observed::start_as(config(&server.address(), by_digest("watcher:CANARY-watcher\n")));
    observed.until_live().await;
    observed.until_true(&truth).await;
    assert!(observed.look(|believed| believed.tree.len() >= 2));
    // It may only look.
    let only_reads = session(&by_digest("watcher:CANARY-watcher"), &server.address()).await.unwrap();
    let waiter = only_reads.list_children("/locks").await.unwrap().remove(0);
    assert!(matches!(only_reads.delete(&format!("/locks/{waiter}"), None).await, Err(Error::NoAuth)));
    let acts = session(&by_digest("app:CANARY-app"), &server.address()).await.unwrap();
    acts.delete(&format!("/locks/{waiter}"), None).await.unwrap();
    observed.until_true(&truth).await;
    observed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_identity_outlives_a_restart_of_the_server() {
    let mut server = zookeeper().await;
    let login = by_digest("watcher:CANARY-watcher");
    let owner = session(&login, &server.address()).await.unwrap();
    owner.create("/locks", b"", &CreateMode::Persistent.with_acls(Acls::creator_all())).await.unwrap();
    let observed = Observed::start_as(config(&server.address(), login.clone()));
    observed.until_live().await;
    server.restart().await.unwrap();
    let again = session(&login, &server.address()).await.unwrap();
    again.create("/locks/a-", b"", &CreateMode::PersistentSequential.with_acls(Acls::creator_all())).await.unwrap();
    observed.until_live().await;
    observed.until_true(&Truth { client: again }).await;
    observed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_protected_tree_is_read_by_sasl_only() {
    let folder = TempDir::new().unwrap();
    let jaas = folder.path().join("jaas.conf");
    let users = "Server { org.apache.zookeeper.server.auth.DigestLoginModule required user_watcher=\"CANARY-sasl\" user_app=\"CANARY-app\"; };\n";
    std::fs::write(&jaas, users).unwrap();
    let provider = ("authProvider.1", "org.apache.zookeeper.server.auth.SASLAuthenticationProvider");
    let server =
        started(options(&[provider], &[&format!("-Djava.security.auth.login.config={}", jaas.display())])).await;
    let by_sasl = |pair: &str| Credentials { sasl: Some(Login::parse(pair).unwrap()), ..Credentials::default() };
    let owner = session(&by_sasl("app:CANARY-app"), &server.address()).await.unwrap();
    let acls = [
        Acl::new(Permission::READ, AuthId::new("sasl", "watcher")),
        Acl::new(Permission::ALL, AuthId::new("sasl", "app")),
    ];
    protect(&owner, &acls).await;
    let observed = Observed::start_as(config(&server.address(), Credentials::default()));
    observed.until("denied", is_denied).await;
    observed.stop().await;
    let observed = Observed::start_as(config(&server.address(), by_sasl("watcher:CANARY-sasl")));
    observed.until_live().await;
    observed.until_true(&Truth { client: owner }).await;
    observed.stop().await;
    let refused = session(&by_sasl("watcher:CANARY-wrong"), &server.address()).await;
    assert!(refused.is_err_and(|error| !format!("{error} {error:?}").contains("CANARY")));
}

/// Certificates of both sides, in one folder.
struct Certificates {
    folder: TempDir,
    authority: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Certificates {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, "authority");
        let authority = params.self_signed(&key).unwrap().pem();
        Self { folder: TempDir::new().unwrap(), authority, issuer: Issuer::new(params, key) }
    }

    /// Certificate and key for a name.
    fn make(&self, name: &str) -> (String, String) {
        self.make_until(name, 4096)
    }

    fn make_until(&self, name: &str, year: i32) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_after = rcgen::date_time_ymd(year, 1, 1);
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// A server that takes TLS at a second port, and only from those with a certificate.
    async fn server(&self, name: &str) -> (PrivateZooKeeper, String) {
        self.server_with(self.make(name)).await
    }

    async fn server_with(&self, (cert, key): (String, String)) -> (PrivateZooKeeper, String) {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let keystore = self.write(&format!("server-{port}.pem"), &format!("{cert}{key}"));
        let truststore = self.write("authority.pem", &self.authority);
        let config = [
            ("serverCnxnFactory", "org.apache.zookeeper.server.NettyServerCnxnFactory"),
            ("secureClientPortAddress", "127.0.0.1"),
            ("secureClientPort", &port.to_string()),
            ("ssl.keyStore.location", &keystore),
            ("ssl.keyStore.type", "PEM"),
            ("ssl.trustStore.location", &truststore),
            ("ssl.trustStore.type", "PEM"),
            ("ssl.clientAuth", "need"),
            ("ssl.hostnameVerification", "false"),
        ];
        let server = started(ServerOptions { heap_mb: 96, ..options(&config, &[]) }).await;
        (server, format!("127.0.0.1:{port}"))
    }

    fn tls(&self, identity: Option<&str>) -> Credentials {
        let identity = identity.map(|name| {
            let (cert, key) = self.make(name);
            TlsIdentity::parse(&cert, &key).unwrap()
        });
        Credentials { tls: Some(ZkTls::new(&self.authority, identity).unwrap()), ..Credentials::default() }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secure_port_is_met_by_tls_with_a_certificate_of_our_own() {
    let certificates = Certificates::new();
    let (server, secure) = certificates.server("127.0.0.1").await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/locks").await;
    truth.queue("/locks/lock-").await;
    let mut credentials = certificates.tls(Some("watcher"));
    credentials.digest = Some(Login::parse("watcher:CANARY").unwrap());
    let observed = Observed::start_as(config(&secure, credentials));
    observed.until_live().await;
    observed.until_true(&truth).await;
    truth.queue("/locks/lock-").await;
    observed.until_true(&truth).await;
    observed.stop().await;

    let another = Certificates::new();
    for (what, stranger) in [
        ("no certificate of its own", certificates.tls(None)),
        ("another authority", another.tls(Some("watcher"))),
        ("no TLS at all", Credentials::default()),
    ] {
        assert!(session(&stranger, &secure).await.is_err(), "{what}");
    }
    // TLS is never left away, though the server would take us in the clear.
    assert!(session(&certificates.tls(Some("watcher")), &server.address()).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_with_another_name_in_its_certificate_is_not_trusted() {
    let certificates = Certificates::new();
    let (_server, secure) = certificates.server("zk.example").await;
    assert!(session(&certificates.tls(Some("watcher")), &secure).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_a_certificate_is_said() {
    let (certificates, another) = (Certificates::new(), Certificates::new());
    let (_server, secure) = certificates.server("127.0.0.1").await;
    let (_old, ran_out) = certificates.server_with(certificates.make_until("127.0.0.1", 2020)).await;
    let (_named, elsewhere) = certificates.server("zk.example").await;
    let watcher = || certificates.tls(Some("watcher"));
    for (credentials, server, why) in [
        (watcher(), &ran_out, "a server's certificate has run out"),
        (watcher(), &elsewhere, "a server's certificate is for another name than `zk` has"),
        (another.tls(Some("watcher")), &secure, "a server's certificate is of no authority in `ca_file`"),
        (certificates.tls(None), &secure, "a server wants a certificate of ours: set `cert_file`"),
    ] {
        let observed = Observed::start_as(config(server, credentials));
        observed.until(why, |believed| believed.links.iter().any(|(_, said)| said == why)).await;
        observed.stop().await;
    }
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}
