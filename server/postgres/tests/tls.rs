//! TLS to a real PostgreSQL: whose certificate is believed, and whose is refused, in words that say why.
#![expect(clippy::unwrap_used, reason = "tests take what they made themselves for granted")]

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::PathBuf;

use lockscope_postgres::{Database, DatabaseError, Target};
use lockscope_private_postgres::PrivatePostgres;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

struct Authority {
    issuer: Issuer<'static, KeyPair>,
    file: PathBuf,
}

impl Authority {
    fn new(folder: &tempfile::TempDir, name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let file = folder.path().join(format!("{name}.pem"));
        std::fs::write(&file, params.self_signed(&key).unwrap().pem()).unwrap();
        Self { issuer: Issuer::new(params, key), file }
    }

    /// Gives the server a certificate for a name, which ended in this year at the latest, and waits until it shows it.
    async fn certify(&self, server: &PrivatePostgres, name: &str, until_year: i32) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(2000, 1, 1);
        params.not_after = rcgen::date_time_ymd(until_year, 1, 1);
        let cert = params.signed_by(&key, &self.issuer).unwrap();
        let data = server.folder().join("data");
        let owner = std::fs::metadata(&data).unwrap();
        for (file, text) in [("server.crt", cert.pem()), ("server.key", key.serialize_pem())] {
            let file = data.join(file);
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
            chown(&file, Some(owner.uid()), Some(owner.gid())).unwrap();
        }
        server.sql("ALTER SYSTEM SET ssl = on").await.unwrap();
    }
}

async fn is_encrypted(url: &str) -> Result<bool, DatabaseError> {
    encrypted_by(&Database::new(Target::parse(url).unwrap()).unwrap()).await
}

async fn encrypted_by(database: &Database) -> Result<bool, DatabaseError> {
    let sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let look = database.lane();
    look.run(move |session| Box::pin(async move { Ok(session.client().query_one(sql, &[]).await?.try_get(0)?) })).await
}

/// Why it is refused.
async fn refused(url: &str) -> String {
    match is_encrypted(url).await {
        Err(DatabaseError::Tls(why)) => why,
        other => unreachable!("{url}: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_server_with_its_own_name_of_an_authority_that_is_believed_is_let_in() {
    let mut server = PrivatePostgres::start().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (Authority::new(&folder, "ours"), Authority::new(&folder, "theirs"));
    let url = |host: &str, file: Option<&Authority>| {
        let root = file.map(|authority| format!("&sslrootcert={}", authority.file.display())).unwrap_or_default();
        format!("postgres://lockscope:private@{host}:{}/lockscope?sslmode=require{root}", server.port())
    };
    let (named, unknown, other) =
        (url("localhost", Some(&ours)), url("localhost", None), url("localhost", Some(&theirs)));
    let address = url("127.0.0.1", Some(&ours));
    // It has no certificate yet.
    let why = refused(&named).await;
    assert!(why.contains("localhost") && why.contains("sslmode=disable"), "{why}");

    ours.certify(&server, "localhost", 2_100).await;
    server.restart().await.unwrap();
    assert_eq!(is_encrypted(&named).await, Ok(true));
    for why in [refused(&unknown).await, refused(&other).await] {
        assert!(why.contains("sslrootcert"), "an authority that is not believed: {why}");
    }
    let why = refused(&address).await;
    assert!(why.contains("127.0.0.1") && why.contains("name"), "it is for localhost: {why}");

    ours.certify(&server, "db.example", 2_100).await;
    server.restart().await.unwrap();
    let why = refused(&named).await;
    assert!(why.contains("db.example") && why.contains("name"), "it is another one's: {why}");

    ours.certify(&server, "localhost", 2_020).await;
    server.restart().await.unwrap();
    let why = refused(&named).await;
    assert!(why.contains("expired") && why.contains("renew"), "it ended years ago: {why}");

    // Plain text is no way out where the server wants TLS.
    ours.certify(&server, "localhost", 2_100).await;
    let rules = "hostssl all all 127.0.0.1/32 scram-sha-256\n";
    std::fs::write(server.folder().join("data/pg_hba.conf"), rules).unwrap();
    server.restart().await.unwrap();
    let plain = named.split_once('?').map(|(bare, _)| format!("{bare}?sslmode=disable")).unwrap();
    let Err(DatabaseError::Refused(why)) = is_encrypted(&plain).await else { unreachable!("plain text is let in") };
    assert!(why.contains("pg_hba.conf"), "{why}");
    assert_eq!(is_encrypted(&named).await, Ok(true));
}

#[tokio::test(flavor = "multi_thread")]
async fn renewed_authorities_need_no_restart() {
    let mut server = PrivatePostgres::start().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (Authority::new(&folder, "ours"), Authority::new(&folder, "theirs"));
    ours.certify(&server, "localhost", 2_100).await;
    server.restart().await.unwrap();
    let file = folder.path().join("configured.pem");
    let root = file.display();
    let url = format!("postgres://lockscope:private@localhost:{}/lockscope?sslrootcert={root}", server.port());
    let database = Database::new(Target::parse(&url).unwrap()).unwrap();
    let missing = encrypted_by(&database).await.unwrap_err().to_string();
    assert!(missing.contains("can't be read"), "{missing}");
    std::fs::copy(&theirs.file, &file).unwrap();
    let unknown = encrypted_by(&database).await.unwrap_err().to_string();
    assert!(unknown.contains("sslrootcert"), "{unknown}");
    std::fs::copy(&ours.file, &file).unwrap();
    assert_eq!(encrypted_by(&database).await, Ok(true));
}
