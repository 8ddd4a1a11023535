//! How this is served: to which pages, and how encrypted.

use std::net::SocketAddr;

use super::check::{self, wrong};
use super::{ConfigError, Layers};
use crate::cli::ServeArgs;
use lockscope_web::listener::TlsFiles;
use lockscope_web::{ORIGINS_MAX, Origin, Origins, SOCKETS_MAX, Scheme};

/// How this is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Web {
    /// Where pages that may act are served, beside our own addresses.
    pub origins: Vec<Origin>,
    /// Certificate and key; None: no TLS here.
    pub tls: Option<TlsFiles>,
    /// Whether a proxy before us encrypts.
    pub behind_tls_proxy: bool,
    /// Live sockets at once, of all callers.
    pub sockets_max: u32,
}

impl Default for Web {
    fn default() -> Self {
        Self { origins: Vec::new(), tls: None, behind_tls_proxy: false, sockets_max: SOCKETS_MAX }
    }
}

impl Web {
    /// Which pages may use a server that listens here.
    pub fn allowed(&self, listen: SocketAddr) -> Origins {
        let scheme = match (&self.tls, self.behind_tls_proxy) {
            (_, true) => Scheme::Either,
            (Some(_), false) => Scheme::Https,
            (None, false) => Scheme::Http,
        };
        Origins::new(listen, scheme, self.origins.clone())
    }
}

pub(super) fn of(flags: &ServeArgs, layers: &Layers<'_>) -> Result<Web, ConfigError> {
    let flags = &flags.security;
    let named = layers.many("origin", &flags.origin)?.unwrap_or_default();
    let mut origins = Vec::with_capacity(named.len());
    for (at, setting) in named.iter().enumerate() {
        let origin = Origin::parse(&setting.value).or_else(|fault| wrong(setting, fault.why, fault.remedy))?;
        if at >= ORIGINS_MAX {
            return wrong(setting, "is one too many", &format!("name at most {ORIGINS_MAX}"));
        }
        origins.push(origin);
    }
    let cert = layers.one("tls_cert", flags.tls_cert.as_deref())?;
    let key = layers.one("tls_key", flags.tls_key.as_deref())?;
    let tls = match (cert, key) {
        (Some(cert), Some(key)) => Some(TlsFiles { cert: layers.path(&cert)?, key: layers.secret_path(&key)? }),
        (None, None) => None,
        (Some(cert), None) => {
            return Err(ConfigError(format!(
                "{} is set and tls_key is not; name the file with the certificate's key, too",
                cert.from
            )));
        }
        (None, Some(key)) => {
            return Err(ConfigError(format!(
                "{} is set and tls_cert is not; name the file with the certificate, too",
                key.from
            )));
        }
    };
    let proxy = layers.one("behind_tls_proxy", flags.behind_tls_proxy.as_deref())?;
    let remedy = "write on where a proxy before this server encrypts, else leave it out";
    let behind_tls_proxy = proxy.map_or(Ok(false), |word| check::switch(&word, remedy))?;
    let sockets_max = layers.checked("sockets_max", flags.sockets_max.as_deref(), check::sockets_max)?;
    Ok(Web { origins, tls, behind_tls_proxy, sockets_max: sockets_max.unwrap_or(SOCKETS_MAX) })
}
