//! Settings of identities: who may look without a name, and which proxy is believed.

use std::collections::BTreeMap;

use axum::http::HeaderName;
use lockscope_view::Role;

use super::check::wrong;
use super::toml_file::Entry;
use super::{ConfigError, Layers, SettingValue};
use lockscope_access::{Net, Proxy, Settings};

/// Addresses that may be listed.
const ADDRESSES_MAX: usize = 64;
/// Groups that may be mapped.
const GROUPS_MAX: usize = 1_000;
/// Headers that mean something else already.
const TAKEN: [&str; 8] =
    ["authorization", "cookie", "host", "origin", "content-type", "x-forwarded-for", "sec-fetch-site", "connection"];

/// Reads them.
pub(super) fn of(layers: &Layers<'_>) -> Result<Settings, ConfigError> {
    let anonymous = layers.one("anonymous", None)?.map(|setting| anonymous(&setting)).transpose()?;
    let header_given = layers.one("proxy_header", None)?;
    let header = header_given.as_ref().map(header).transpose()?;
    let role_header = layers
        .one("proxy_role_header", None)?
        .map(|setting| header_of_roles(&setting, header.as_deref()))
        .transpose()?;
    let addresses = layers.many("proxy_addresses", &[])?.unwrap_or_default();
    let role = layers.one("proxy_role", None)?.map_or(Ok(Some(Role::Viewer)), |setting| role(&setting))?;
    let roles = roles(layers.file.top().get("proxy_roles"))?;
    let addresses: Vec<Net> = addresses.iter().map(net).collect::<Result<_, _>>()?;
    if addresses.len() > ADDRESSES_MAX {
        let (from, count) = (from_of(layers, "proxy_addresses"), addresses.len());
        return Err(ConfigError(format!(
            "{from} has {count} addresses; name at most {ADDRESSES_MAX}, with networks like 10.1.0.0/16"
        )));
    }
    if addresses.is_empty() {
        if let Some(header) = header_given {
            return Err(ConfigError(format!(
                "{} is set without `proxy_addresses`; name the addresses of the proxy, like proxy_addresses = [\"10.0.0.5\"]",
                header.from
            )));
        }
        return Ok(Settings { anonymous, ..Settings::default() });
    }
    if !roles.is_empty() && role_header.is_none() {
        return Err(ConfigError(format!(
            "{} is set without `proxy_role_header`; name the header with the groups, like proxy_role_header = \"X-Forwarded-Groups\"",
            from_of(layers, "proxy_roles")
        )));
    }
    let proxy = Some(Proxy { addresses, header, role, role_header, roles });
    Ok(Settings { anonymous, proxy, ..Settings::default() })
}

/// What to call a key, wherever it stands.
fn from_of(layers: &Layers<'_>, key: &str) -> String {
    layers.file.top().get(key).map_or_else(|| super::variable(key), |entry| entry.from)
}

fn anonymous(setting: &SettingValue) -> Result<bool, ConfigError> {
    match setting.value.as_str() {
        "viewer" => Ok(true),
        "none" => Ok(false),
        _ => wrong(
            setting,
            "is neither viewer nor none",
            "write viewer to let everybody look, or none to ask everybody who they are",
        ),
    }
}

fn header(setting: &SettingValue) -> Result<String, ConfigError> {
    match HeaderName::from_bytes(setting.value.as_bytes()) {
        Ok(name) if TAKEN.contains(&name.as_str()) => {
            wrong(setting, "means something else already", "name a header of its own, like X-Forwarded-User")
        }
        Ok(name) => Ok(name.as_str().to_owned()),
        Err(_) => wrong(setting, "is no header", "write its name, like X-Forwarded-User"),
    }
}

fn header_of_roles(setting: &SettingValue, of_name: Option<&str>) -> Result<String, ConfigError> {
    let name = header(setting)?;
    if of_name == Some(name.as_str()) {
        wrong(setting, "is `proxy_header` too", "name the header with the groups, like X-Forwarded-Groups")
    } else {
        Ok(name)
    }
}

fn net(setting: &SettingValue) -> Result<Net, ConfigError> {
    Net::parse(&setting.value).map_or_else(
        || wrong(setting, "is neither an address nor a network", "write it like 10.0.0.5 or 10.1.0.0/16"),
        Ok,
    )
}

pub(super) fn role(setting: &SettingValue) -> Result<Option<Role>, ConfigError> {
    if setting.value == "none" {
        return Ok(None);
    }
    let found = named_role(&setting.value);
    if found.is_some() {
        Ok(found)
    } else {
        wrong(setting, "is no role", "use one of viewer, operator, auditor, admin, or none")
    }
}

fn named_role(name: &str) -> Option<Role> {
    Role::ALL.into_iter().find(|role| role.name() == name)
}

/// Reads a table of groups and their roles.
pub(super) fn roles(entry: Option<Entry<'_>>) -> Result<BTreeMap<String, Role>, ConfigError> {
    let Some(entry) = entry else { return Ok(BTreeMap::new()) };
    let groups = entry.section()?;
    let count = groups.entries().count();
    if count > GROUPS_MAX {
        return Err(ConfigError(format!("{} has {count} groups; map at most {GROUPS_MAX}", groups.from())));
    }
    let read = |group: Entry<'_>| {
        let found = group.value.as_str().and_then(named_role).filter(|_| !group.key.contains(','));
        let from = group.from;
        found.map(|role| (group.key, role)).ok_or_else(|| {
            ConfigError(format!("{from} is no group with a role; write a group without commas and one of viewer, operator, auditor, admin"))
        })
    };
    groups.entries().map(read).collect()
}
