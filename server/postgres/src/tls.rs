//! TLS towards the database. The certificate and its name are always checked.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::DatabaseError;

/// What makes connections; `file` holds the authorities that are believed, in PEM. Blocking: reads files.
pub(crate) fn connector(file: Option<&Path>) -> Result<MakeRustlsConnect, DatabaseError> {
    let mut roots = RootCertStore::empty();
    match file {
        Some(file) => {
            let certificates = CertificateDer::pem_file_iter(file).map_err(|error| unreadable(file, &error))?;
            roots.add_parsable_certificates(certificates.filter_map(Result::ok));
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if roots.is_empty() {
        let place = file.map_or_else(|| "the system".to_owned(), |file| file.display().to_string());
        return Err(DatabaseError::Tls(format!(
            "{place} holds no certificate in PEM; name a file that does with sslrootcert"
        )));
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| DatabaseError::Tls(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn unreadable(file: &Path, error: &rustls::pki_types::pem::Error) -> DatabaseError {
    DatabaseError::Tls(format!("the authorities in {} can't be read: {error}", file.display()))
}
