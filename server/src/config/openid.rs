//! Settings of sign-in by OpenID Connect. A build without it says so when one of them is met.

use super::{ConfigError, Layers};
use lockscope_access::OpenId;
use lockscope_web::Origin;

/// The secret itself, where files are unhandy.
const SECRET: &str = "LOCKSCOPE_OIDC_CLIENT_SECRET";
/// Keys of it that are one text.
const KEYS: [&str; 7] = [
    "oidc_issuer",
    "oidc_client_id",
    "oidc_client_secret_file",
    "oidc_redirect",
    "oidc_name_claim",
    "oidc_groups_claim",
    "oidc_role",
];
/// The table of groups.
const ROLES: &str = "oidc_roles";

/// The first of them that is set, if any.
fn met(layers: &Layers<'_>) -> Result<Option<String>, ConfigError> {
    for key in KEYS {
        if let Some(setting) = layers.one(key, None)? {
            return Ok(Some(setting.from));
        }
    }
    if layers.environment.var(SECRET).is_some_and(|secret| !secret.is_empty()) {
        return Ok(Some(SECRET.to_owned()));
    }
    Ok(layers.file.top().get(ROLES).map(|entry| entry.from))
}

/// Reads them; here there is nobody to use them.
#[cfg(not(feature = "oidc"))]
pub(super) fn of(layers: &Layers<'_>, _origins: &[Origin]) -> Result<Option<OpenId>, ConfigError> {
    met(layers)?.map_or(Ok(None), |from| {
        Err(ConfigError(format!("{from} is set, and this binary was built without OpenID Connect; leave it out, or build with `--features oidc`")))
    })
}

/// Reads them.
#[cfg(feature = "oidc")]
pub(super) fn of(layers: &Layers<'_>, origins: &[Origin]) -> Result<Option<OpenId>, ConfigError> {
    use super::check::wrong;

    let text = |key: &str| {
        let setting = layers.one(key, None)?;
        setting.map_or(Ok(None), |setting| {
            let is_text = !setting.value.trim().is_empty() && !setting.value.contains(char::is_control);
            if is_text {
                Ok(Some(setting))
            } else {
                wrong(&setting, "is no name", "write it as the provider does, or leave it out")
            }
        })
    };
    let Some(issuer) = text("oidc_issuer")? else {
        return met(layers)?.map_or(Ok(None), |from| {
            Err(ConfigError(format!(
                "{from} is set without `oidc_issuer`; name the provider, like oidc_issuer = \"https://id.example\""
            )))
        });
    };
    let url = reqwest::Url::parse(&issuer.value)
        .ok()
        .filter(|url| OpenId::is_safe(url, true) && url.query().is_none() && url.fragment().is_none());
    if url.is_none() {
        return wrong(
            &issuer,
            "is no provider's address",
            "write it with https://, as the provider writes it itself, like https://id.example",
        );
    }
    let Some(client_id) = text("oidc_client_id")? else {
        return wrong(
            &issuer,
            "is set without `oidc_client_id`",
            "name the client id of this server at the provider, like oidc_client_id = \"lockscope\"",
        );
    };
    let redirect = match text("oidc_redirect")? {
        Some(setting) => {
            let is_back =
                |url: &reqwest::Url| OpenId::is_safe(url, true) && url.path() == OpenId::BACK && url.query().is_none();
            if !reqwest::Url::parse(&setting.value).is_ok_and(|url| is_back(&url)) {
                let remedy =
                    format!("write the dashboard's own with https://, like https://lockscope.example{}", OpenId::BACK);
                return wrong(&setting, "is not where people can come back to", &remedy);
            }
            Some(setting.value)
        }
        None => origins.first().map(|origin| format!("{origin}{}", OpenId::BACK)),
    };
    let roles = super::access::roles(layers.file.top().get(ROLES))?;
    let role = layers.one("oidc_role", None)?.map_or(Ok(None), |setting| super::access::role(&setting))?;
    if roles.is_empty() && role.is_none() {
        return wrong(
            &issuer,
            "lets nobody in",
            "map groups to roles in [oidc_roles], or give everybody one with oidc_role = \"viewer\"",
        );
    }
    Ok(Some(OpenId {
        issuer: issuer.value,
        client_id: client_id.value,
        client_secret: secret(layers)?,
        redirect,
        name_claim: text("oidc_name_claim")?.map(|setting| setting.value),
        groups_claim: text("oidc_groups_claim")?.map_or_else(|| "groups".to_owned(), |setting| setting.value),
        roles,
        role,
    }))
}

/// The client's secret, from its file or the environment; without one the client is a public one.
#[cfg(feature = "oidc")]
fn secret(layers: &Layers<'_>) -> Result<Option<lockscope_access::Secret>, ConfigError> {
    use lockscope_access::Secret;

    let (secret, from) = match layers.one("oidc_client_secret_file", None)? {
        Some(file) => {
            let secret = layers.read_secret(&file, "name a file that can be, or leave it out for a public client")?;
            (secret, format!("the secret in {:?}", file.value))
        }
        None => match layers.environment.var(SECRET).filter(|secret| !secret.is_empty()) {
            Some(secret) => (secret, SECRET.to_owned()),
            None => return Ok(None),
        },
    };
    let secret = secret.trim();
    // Never its value.
    if secret.is_empty() || secret.contains(char::is_control) {
        return Err(ConfigError(format!(
            "{from} is empty or has more than one line; write the secret alone, as the provider gave it"
        )));
    }
    Ok(Some(Secret::new(secret.to_owned())))
}

#[cfg(test)]
mod tests;
