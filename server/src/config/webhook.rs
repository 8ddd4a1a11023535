//! The webhook's settings.

use super::{ConfigError, Places, check};
use crate::cli::Settings;
use audit::webhook::{Webhook, WebhookFault};

/// The secret itself, where files are unhandy.
const SECRET: &str = "LOCKSCOPE_WEBHOOK_SECRET";

/// The webhook, when one is named.
pub(super) fn of(flags: &Settings, places: &Places<'_>, has_data_dir: bool) -> Result<Option<Webhook>, ConfigError> {
    let may_be_plain = places.one("webhook_allow_http", flags.webhook_allow_http.as_deref())?;
    let may_be_plain =
        may_be_plain.map(|switch| check::switch(&switch, "write on to send the record in the clear, or leave it out")).transpose()?.unwrap_or(false);
    let secret_file = places.one("webhook_secret_file", flags.webhook_secret_file.as_deref())?;
    let Some(url) = places.one("webhook_url", flags.webhook_url.as_deref())? else {
        return match secret_file {
            Some(file) => Err(ConfigError(format!("{} names a secret, but no webhook; name one with --webhook-url, or leave it out", file.from))),
            None => Ok(None),
        };
    };
    // An address may be a secret of its own, so it is not repeated.
    let address = Webhook::address(url.value.trim(), may_be_plain).map_err(|wrong| told(&url.from, &wrong))?;
    if !has_data_dir {
        return Err(ConfigError(format!("{} needs the record of acts that it sends; name a directory for it with --data-dir", url.from)));
    }
    let (secret, from) = match secret_file {
        Some(file) => {
            let secret = places.read(&file, "name a file that can be")?;
            (secret, format!("the secret in {:?}", file.value))
        }
        None => match places.surroundings.var(SECRET).filter(|secret| !secret.is_empty()) {
            Some(secret) => (secret, SECRET.to_owned()),
            None => {
                let from = url.from;
                return Err(ConfigError(format!("{from} needs a secret that signs what is sent; give it with --webhook-secret-file or {SECRET}")));
            }
        },
    };
    Webhook::new(address, secret.trim().as_bytes().to_vec()).map(Some).map_err(|wrong| told(&from, &wrong))
}

fn told(from: &str, wrong: &WebhookFault) -> ConfigError {
    ConfigError(format!("{from} {}; {}", wrong.why, wrong.remedy))
}
