//! How this is served: to which pages, and how encrypted; and the webhook.

use std::net::SocketAddr;

use lockscope_audit::webhook::Webhook;
use lockscope_runtime::webhook_client::WebhookFault;
use lockscope_web::listener::TlsFiles;
use lockscope_web::{ORIGINS_MAX, Origin, Origins, SOCKETS_MAX, Scheme};

use super::ConfigError;
use super::layers::Layers;

/// The secret of the webhook itself, where files are unhandy.
const WEBHOOK_SECRET: &str = "LOCKSCOPE_WEBHOOK_SECRET";

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

pub(super) fn read(layers: &Layers<'_>) -> Result<Web, ConfigError> {
    let keys = &layers.settings.top;
    let origins = keys.origin.read_or(Vec::new())?;
    if origins.len() > ORIGINS_MAX {
        let surplus = keys.origin.given.iter().flat_map(|given| given.each()).nth(ORIGINS_MAX);
        surplus.map_or(Ok(()), |one| one.refuse("is one too many", &format!("name at most {ORIGINS_MAX}")))?;
    }
    let tls = match (&keys.tls_cert.given, &keys.tls_key.given) {
        (Some(cert), Some(key)) => Some(TlsFiles { cert: layers.path(cert)?, key: layers.secret_path(key)? }),
        (None, None) => None,
        (Some(cert), None) => {
            return refuse!("{} is set and tls_key is not; name the file with the certificate's key, too", cert.from);
        }
        (None, Some(key)) => {
            return refuse!("{} is set and tls_cert is not; name the file with the certificate, too", key.from);
        }
    };
    let remedy = "write on where a proxy before this server encrypts, else leave it out";
    let behind_tls_proxy = keys.behind_tls_proxy.is_on(remedy)?.unwrap_or(false);
    let sockets_max = keys.sockets_max.read_or(SOCKETS_MAX)?;
    Ok(Web { origins, tls, behind_tls_proxy, sockets_max })
}

/// The webhook, when one is named.
pub(super) fn read_webhook(layers: &Layers<'_>, has_data_dir: bool) -> Result<Option<Webhook>, ConfigError> {
    let keys = &layers.settings.top;
    let remedy = "write on to send the audit log in the clear, or leave it out";
    let may_be_plain = keys.webhook_allow_http.is_on(remedy)?.unwrap_or(false);
    // What is no text at all is reported before what is missing.
    keys.webhook_secret_file.check(|_| Ok(()))?;
    let Some(url) = &keys.webhook_url.given else {
        return match &keys.webhook_secret_file.given {
            Some(file) => {
                refuse!("{} names a secret, but no webhook; name one with --webhook-url, or leave it out", file.from)
            }
            None => Ok(None),
        };
    };
    let wrong = |from: &str, wrong: &WebhookFault| mistake!("{from} {}; {}", wrong.why, wrong.remedy);
    let from = &url.from;
    // An address may be a secret of its own, so it is not repeated.
    let address = Webhook::address(url.text()?.trim(), may_be_plain).map_err(|fault| wrong(from, &fault))?;
    if !has_data_dir {
        return refuse!("{from} needs the audit log that it sends; name a directory for it with --data-dir");
    }
    let secret = layers.secret(&keys.webhook_secret_file, WEBHOOK_SECRET, "name a file that can be")?;
    let Some((secret, from)) = secret else {
        return refuse!(
            "{from} needs a secret that signs what is sent; give it with --webhook-secret-file or {WEBHOOK_SECRET}"
        );
    };
    Webhook::new(address, secret.trim().as_bytes().to_vec()).map(Some).map_err(|fault| wrong(&from, &fault))
}
