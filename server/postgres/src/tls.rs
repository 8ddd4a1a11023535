//! TLS towards the database. The certificate and its name are always checked.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::DatabaseError;
use crate::target::Protection;

/// Makes TLS connections; plain text needs no authority, and never calls it. Blocking: the authorities are read for each
/// connection, so that a renewed file needs no restart.
pub(crate) fn connector(protection: &Protection) -> Result<MakeRustlsConnect, DatabaseError> {
    let mut roots = RootCertStore::empty();
    if let Protection::Tls(file) = protection {
        let place = file.as_ref().map_or_else(|| "the system".to_owned(), |file| file.display().to_string());
        let certificates = match file {
            Some(file) => CertificateDer::pem_file_iter(file)
                .map_err(|error| DatabaseError::Tls(format!("the authorities in {place} can't be read: {error}")))?
                .filter_map(Result::ok)
                .collect(),
            None => rustls_native_certs::load_native_certs().certs,
        };
        roots.add_parsable_certificates(certificates);
        if roots.is_empty() {
            return Err(DatabaseError::Tls(format!(
                "{place} holds no certificate in PEM; name a file that does with sslrootcert"
            )));
        }
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| DatabaseError::Tls(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities_are_read_for_each_connection() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        let protection = Protection::Tls(Some(file.clone()));
        let why = || match connector(&protection) {
            Err(DatabaseError::Tls(why)) => why,
            other => unreachable!("{:?}", other.err()),
        };
        assert!(why().contains("can't be read"));
        std::fs::write(&file, "half").unwrap();
        assert!(why().contains("holds no certificate"));
        let key = rcgen::KeyPair::generate().unwrap();
        let cert = rcgen::CertificateParams::default().self_signed(&key).unwrap();
        std::fs::write(&file, cert.pem()).unwrap();
        assert!(connector(&protection).is_ok());
        std::fs::remove_file(&file).unwrap();
        assert!(why().contains("can't be read"));
    }
}
