//! A certificate and its key, from two files: whether they can be used, and until when.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::{TLS12, TLS13};

use super::validity::{Validity, validity};

/// From so many days before its end a certificate's expiry is reported.
pub const EXPIRY_WARNING_DAYS: i64 = 14;
const DAY_MS: i64 = 86_400_000;
const FILE_BYTES_MAX: usize = 1024 * 1024;
const CHAIN_MAX: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, then those between it and its authority, in PEM.
    pub cert: PathBuf,
    /// Its key, in PEM.
    pub key: PathBuf,
}

#[derive(PartialEq, Eq)]
pub(super) struct Pems {
    pub(super) cert: Vec<u8>,
    key: Vec<u8>,
}

pub(super) struct Pair {
    pub(super) config: Arc<ServerConfig>,
    pub(super) until_ms: i64,
}

/// Why a pair can't be used: one sentence that names the setting and the file, never what is in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TlsFault(pub String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpiryWarning {
    Far,
    /// So many whole days are left.
    Near(i64),
    Past,
}

impl TlsFiles {
    pub(super) fn read(&self) -> Result<Pems, TlsFault> {
        Ok(Pems { cert: read("tls_cert", &self.cert)?, key: read("tls_key", &self.key)? })
    }
}

fn read(setting: &str, path: &Path) -> Result<Vec<u8>, TlsFault> {
    let name = path.display();
    let bytes = std::fs::read(path).map_err(|error| {
        TlsFault(format!("{setting} {name} can't be read ({error}); name a PEM file that this user may read"))
    })?;
    if bytes.len() > FILE_BYTES_MAX {
        return Err(TlsFault(format!(
            "{setting} {name} has {} bytes; name a PEM file of at most {FILE_BYTES_MAX}",
            bytes.len()
        )));
    }
    Ok(bytes)
}

impl fmt::Debug for Pems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pems(..)")
    }
}

impl Pems {
    pub(super) fn check(&self, files: &TlsFiles, now_ms: i64) -> Result<Pair, TlsFault> {
        let (cert, key) = (files.cert.display(), files.key.display());
        let fault = |sentence: String| TlsFault(sentence);
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&self.cert).collect();
        let chain = chain.map_err(|error| {
            fault(format!("tls_cert {cert} is not PEM ({error}); write the certificate first, then its chain"))
        })?;
        let Some(first) = chain.first().filter(|_| chain.len() <= CHAIN_MAX) else {
            let count = chain.len();
            return Err(fault(format!(
                "tls_cert {cert} has {count} certificates; write 1 to {CHAIN_MAX} between BEGIN CERTIFICATE and END CERTIFICATE"
            )));
        };
        let validity = validity(first)
            .ok_or_else(|| fault(format!("tls_cert {cert} has a certificate that can't be read; create a new one")))?;
        check_time(validity, &cert.to_string(), now_ms)?;
        // Never the key's own error: it might contain what is inside.
        let private = PrivateKeyDer::from_pem_slice(&self.key)
            .map_err(|_| fault(format!("tls_key {key} has no private key; write it in PEM, without a password")))?;
        let builder = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_protocol_versions(&[&TLS13, &TLS12]);
        let builder = builder.map_err(|error| fault(format!("TLS can't be set up: {error}; report this")))?;
        let mut config =
            builder.with_no_client_auth().with_single_cert(chain, private).map_err(|error| match error {
                rustls::Error::InconsistentKeys(_) => {
                    fault(format!("tls_key {key} does not match tls_cert {cert}; name a key and its certificate"))
                }
                error => fault(format!("tls_cert {cert} and tls_key {key} can't be used ({error}); create new ones")),
            })?;
        // What the server speaks; no second protocol to guard.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Pair { config: Arc::new(config), until_ms: validity.until_ms })
    }
}

fn check_time(validity: Validity, cert: &str, now_ms: i64) -> Result<(), TlsFault> {
    if now_ms >= validity.until_ms {
        let days = (now_ms - validity.until_ms) / DAY_MS;
        return Err(TlsFault(format!(
            "tls_cert {cert} expired {}; put a new certificate and its key there",
            ago(days)
        )));
    }
    if now_ms < validity.from_ms {
        let days = (validity.from_ms - now_ms) / DAY_MS + 1;
        return Err(TlsFault(format!(
            "tls_cert {cert} is not valid yet, for {days} days; check this machine's clock, or create a new one"
        )));
    }
    Ok(())
}

fn ago(days: i64) -> String {
    match days {
        0 => "today".to_owned(),
        1 => "1 day ago".to_owned(),
        days => format!("{days} days ago"),
    }
}

impl ExpiryWarning {
    pub(super) fn of(until_ms: i64, now_ms: i64) -> Self {
        match until_ms - now_ms {
            ..=0 => Self::Past,
            left if left <= EXPIRY_WARNING_DAYS * DAY_MS => Self::Near(left / DAY_MS),
            _ => Self::Far,
        }
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    const MADE_MS: i64 = 1_704_067_200_000; // 2024-01-01
    const DAYS: i64 = 31;

    fn pems(key: &KeyPair, signs: &KeyPair) -> Pems {
        let mut params = CertificateParams::new(vec!["a.example".to_owned()]).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(2024, 1, 1), date_time_ymd(2024, 2, 1));
        Pems { cert: params.self_signed(signs).unwrap().pem().into_bytes(), key: key.serialize_pem().into_bytes() }
    }

    #[track_caller]
    fn check(pems: &Pems, now_ms: i64, sentence: &str) {
        let files = TlsFiles { cert: "c.pem".into(), key: "k.pem".into() };
        let error = pems.check(&files, now_ms).map(|pair| pair.until_ms).unwrap_err();
        assert_eq!(error.to_string(), sentence);
    }

    #[test]
    fn each_mistake_is_named_and_no_key_is_told() {
        let (one, other) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let files = TlsFiles { cert: "c.pem".into(), key: "k.pem".into() };
        let good = pems(&one, &one);
        assert_eq!(good.check(&files, MADE_MS).map(|pair| pair.until_ms), Ok(MADE_MS + DAYS * DAY_MS));
        let now = MADE_MS + DAY_MS;
        check(&pems(&one, &other), now, "tls_key k.pem does not match tls_cert c.pem; name a key and its certificate");
        check(
            &good,
            MADE_MS - 1,
            "tls_cert c.pem is not valid yet, for 1 days; check this machine's clock, or create a new one",
        );
        check(&good, MADE_MS + DAYS * DAY_MS, "tls_cert c.pem expired today; put a new certificate and its key there");
        check(
            &good,
            MADE_MS + (DAYS + 3) * DAY_MS,
            "tls_cert c.pem expired 3 days ago; put a new certificate and its key there",
        );
        let swapped = Pems { cert: good.key.clone(), key: good.cert.clone() };
        check(
            &swapped,
            now,
            "tls_cert c.pem has 0 certificates; write 1 to 16 between BEGIN CERTIFICATE and END CERTIFICATE",
        );
        let keyless = Pems { cert: good.cert.clone(), key: good.cert.clone() };
        check(&keyless, now, "tls_key k.pem has no private key; write it in PEM, without a password");
        assert_eq!(format!("{good:?}"), "Pems(..)");
        let missing = TlsFiles { cert: "/nowhere/c.pem".into(), key: "k.pem".into() };
        assert_eq!(
            missing.read().unwrap_err().to_string(),
            "tls_cert /nowhere/c.pem can't be read (No such file or directory (os error 2)); name a PEM file that this user may read"
        );
    }

    #[test]
    fn the_end_is_told_two_weeks_before() {
        let until = MADE_MS + DAYS * DAY_MS;
        assert_eq!(ExpiryWarning::of(until, MADE_MS), ExpiryWarning::Far);
        assert_eq!(ExpiryWarning::of(until, until - 14 * DAY_MS), ExpiryWarning::Near(14));
        assert_eq!(ExpiryWarning::of(until, until - 1), ExpiryWarning::Near(0));
        assert_eq!(ExpiryWarning::of(until, until), ExpiryWarning::Past);
    }
}
