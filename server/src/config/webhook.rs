//! The webhook's settings.

use super::{ConfigError, Layers, check};
use crate::cli::ServeArgs;
use lockscope_audit::webhook::Webhook;
use lockscope_runtime::webhook_client::Fault;

/// The secret itself, where files are unhandy.
const SECRET: &str = "LOCKSCOPE_WEBHOOK_SECRET";

/// The webhook, when one is named.
pub(super) fn of(flags: &ServeArgs, layers: &Layers<'_>, has_data_dir: bool) -> Result<Option<Webhook>, ConfigError> {
    let may_be_plain = layers.one("webhook_allow_http", flags.webhook_allow_http.as_deref())?;
    let may_be_plain = may_be_plain
        .map(|switch| check::switch(&switch, "write on to send the audit log in the clear, or leave it out"))
        .transpose()?
        .unwrap_or(false);
    let secret_file = layers.one("webhook_secret_file", flags.webhook_secret_file.as_deref())?;
    let Some(url) = layers.one("webhook_url", flags.webhook_url.as_deref())? else {
        return match secret_file {
            Some(file) => Err(ConfigError(format!(
                "{} names a secret, but no webhook; name one with --webhook-url, or leave it out",
                file.from
            ))),
            None => Ok(None),
        };
    };
    // An address may be a secret of its own, so it is not repeated.
    let address = Webhook::address(url.value.trim(), may_be_plain).map_err(|wrong| told(&url.from, &wrong))?;
    if !has_data_dir {
        return Err(ConfigError(format!(
            "{} needs the audit log that it sends; name a directory for it with --data-dir",
            url.from
        )));
    }
    let (secret, from) = match secret_file {
        Some(file) => {
            let secret = layers.read_secret(&file, "name a file that can be")?;
            (secret, format!("the secret in {:?}", file.value))
        }
        None => match layers.environment.var(SECRET).filter(|secret| !secret.is_empty()) {
            Some(secret) => (secret, SECRET.to_owned()),
            None => {
                let from = url.from;
                return Err(ConfigError(format!(
                    "{from} needs a secret that signs what is sent; give it with --webhook-secret-file or {SECRET}"
                )));
            }
        },
    };
    Webhook::new(address, secret.trim().as_bytes().to_vec()).map(Some).map_err(|wrong| told(&from, &wrong))
}

fn told(from: &str, wrong: &Fault) -> ConfigError {
    ConfigError(format!("{from} {}; {}", wrong.why, wrong.remedy))
}
