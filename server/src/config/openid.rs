//! Settings of sign-in by OpenID Connect. A build without it says so when one of them is met.

use lockscope_access::OpenId;
use lockscope_web::Origin;

use super::ConfigError;
use super::given::Keys as _;
use super::layers::Layers;

/// The secret itself, where files are unhandy.
const SECRET: &str = "LOCKSCOPE_OIDC_CLIENT_SECRET";

/// Where the first of them that is set stands, if any.
fn first_set(layers: &Layers<'_>) -> Option<String> {
    let keys = layers.settings.top.given();
    let given = keys.into_iter().find(|(key, _)| key.starts_with("oidc_")).map(|(_, given)| given.from.clone());
    given.or_else(|| layers.variable(SECRET).map(|_| SECRET.to_owned()))
}

/// Reads them; here there is nobody to use them.
#[cfg(not(feature = "oidc"))]
pub(super) fn read(layers: &Layers<'_>, _origins: &[Origin]) -> Result<Option<OpenId>, ConfigError> {
    match first_set(layers) {
        None => Ok(None),
        Some(from) => refuse!(
            "{from} is set, and this binary was built without OpenID Connect; leave it out, or build with `--features oidc`"
        ),
    }
}

/// Reads them.
#[cfg(feature = "oidc")]
pub(super) fn read(layers: &Layers<'_>, origins: &[Origin]) -> Result<Option<OpenId>, ConfigError> {
    use super::given::fault;

    let keys = &layers.settings.top;
    let Some(issuer) = keys.oidc_issuer.read()? else {
        return match first_set(layers) {
            None => Ok(None),
            Some(from) => refuse!(
                "{from} is set without `oidc_issuer`; name the provider, like oidc_issuer = \"https://id.example\""
            ),
        };
    };
    let refuse_issuer = |why: &str, remedy: &str| keys.oidc_issuer.check(|_| fault::<OpenId>(why, remedy));
    let is_provider =
        |url: &reqwest::Url| OpenId::is_safe(url, true) && url.query().is_none() && url.fragment().is_none();
    if !reqwest::Url::parse(&issuer).is_ok_and(|url| is_provider(&url)) {
        let remedy = "write it with https://, as the provider writes it itself, like https://id.example";
        return refuse_issuer("is no provider's address", remedy);
    }
    let Some(client_id) = keys.oidc_client_id.read()? else {
        let remedy = "name the client id of this server at the provider, like oidc_client_id = \"lockscope\"";
        return refuse_issuer("is set without `oidc_client_id`", remedy);
    };
    let redirect = match keys.oidc_redirect.read()? {
        Some(redirect) => {
            let is_back =
                |url: &reqwest::Url| OpenId::is_safe(url, true) && url.path() == OpenId::BACK && url.query().is_none();
            if !reqwest::Url::parse(&redirect).is_ok_and(|url| is_back(&url)) {
                let remedy =
                    format!("write the dashboard's own with https://, like https://lockscope.example{}", OpenId::BACK);
                return keys.oidc_redirect.check(|_| fault("is not where people can come back to", remedy));
            }
            Some(redirect)
        }
        None => origins.first().map(|origin| format!("{origin}{}", OpenId::BACK)),
    };
    let roles = super::access::read_roles(&keys.oidc_roles, "oidc_roles")?;
    let role = keys.oidc_role.read_or(None)?;
    if roles.is_empty() && role.is_none() {
        let remedy = "map groups to roles in [oidc_roles], or give everybody one with oidc_role = \"viewer\"";
        return refuse_issuer("lets nobody in", remedy);
    }
    let groups_claim = keys.oidc_groups_claim.read_or("groups".to_owned())?;
    let name_claim = keys.oidc_name_claim.read()?;
    let client_secret = read_secret(layers)?;
    Ok(Some(OpenId { issuer, client_id, client_secret, redirect, name_claim, groups_claim, roles, role }))
}

/// The client's secret, from its file or the environment; without one the client is a public one.
#[cfg(feature = "oidc")]
fn read_secret(layers: &Layers<'_>) -> Result<Option<lockscope_access::Secret>, ConfigError> {
    let remedy = "name a file that can be, or leave it out for a public client";
    let Some((secret, from)) = layers.secret(&layers.settings.top.oidc_client_secret_file, SECRET, remedy)? else {
        return Ok(None);
    };
    let secret = secret.trim();
    // Never its value.
    if secret.is_empty() || secret.contains(char::is_control) {
        return refuse!("{from} is empty or has more than one line; write the secret alone, as the provider gave it");
    }
    Ok(Some(lockscope_access::Secret::new(secret.to_owned())))
}

#[cfg(test)]
mod tests;
