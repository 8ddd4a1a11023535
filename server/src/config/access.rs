//! Settings of identities: who may look without a name, and which proxy is believed.

use std::collections::BTreeMap;

use app::wire::Duty;
use axum::http::HeaderName;
use toml::Value;

use super::{ConfigError, Given, Places};
use crate::access::{Net, Proxy, Settings};

/// Addresses that may be listed.
const ADDRESSES_MAX: usize = 64;
/// Groups that may be mapped.
const GROUPS_MAX: usize = 1_000;
/// Headers that mean something else already.
const TAKEN: [&str; 8] = ["authorization", "cookie", "host", "origin", "content-type", "x-forwarded-for", "sec-fetch-site", "connection"];

/// Reads them.
pub(super) fn of(places: &Places<'_>) -> Result<Settings, ConfigError> {
    let anonymous = places.one("anonymous", None)?.map(|setting| anonymous(&setting)).transpose()?;
    let header = places.one("proxy_header", None)?.map(|setting| header(&setting)).transpose()?;
    let role_header = places.one("proxy_role_header", None)?.map(|setting| header_of_roles(&setting, header.as_deref())).transpose()?;
    let addresses = places.many("proxy_addresses", &[])?.unwrap_or_default();
    let role = places.one("proxy_role", None)?.map_or(Ok(Some(Duty::Viewer)), |setting| role(&setting))?;
    let roles = roles(places.file.get("proxy_roles"), "proxy_roles", &places.file_name)?;
    let addresses: Vec<Net> = addresses.iter().map(net).collect::<Result<_, _>>()?;
    if addresses.len() > ADDRESSES_MAX {
        return Err(ConfigError(format!(
            "`proxy_addresses` has {} addresses; name at most {ADDRESSES_MAX}, with networks like 10.1.0.0/16",
            addresses.len()
        )));
    }
    if addresses.is_empty() {
        if header.is_some() {
            return Err(ConfigError(
                "`proxy_header` is set without `proxy_addresses`; name the addresses of the proxy, like proxy_addresses = [\"10.0.0.5\"]".to_owned(),
            ));
        }
        return Ok(Settings { anonymous, proxy: None, openid: None });
    }
    if !roles.is_empty() && role_header.is_none() {
        return Err(ConfigError(
            "`proxy_roles` is set without `proxy_role_header`; name the header with the groups, like proxy_role_header = \"X-Forwarded-Groups\""
                .to_owned(),
        ));
    }
    Ok(Settings { anonymous, proxy: Some(Proxy { addresses, header, role, role_header, roles }), openid: None })
}

fn wrong<T>(setting: &Given, why: &str, remedy: &str) -> Result<T, ConfigError> {
    Err(ConfigError(format!("{} {:?} {why}; {remedy}", setting.from, setting.value)))
}

fn anonymous(setting: &Given) -> Result<bool, ConfigError> {
    match setting.value.as_str() {
        "viewer" => Ok(true),
        "none" => Ok(false),
        _ => wrong(setting, "is neither viewer nor none", "write viewer to let everybody look, or none to ask everybody who they are"),
    }
}

fn header(setting: &Given) -> Result<String, ConfigError> {
    match HeaderName::from_bytes(setting.value.as_bytes()) {
        Ok(name) if TAKEN.contains(&name.as_str()) => {
            wrong(setting, "means something else already", "name a header of its own, like X-Forwarded-User")
        }
        Ok(name) => Ok(name.as_str().to_owned()),
        Err(_) => wrong(setting, "is no header", "write its name, like X-Forwarded-User"),
    }
}

fn header_of_roles(setting: &Given, of_name: Option<&str>) -> Result<String, ConfigError> {
    let name = header(setting)?;
    if of_name == Some(name.as_str()) {
        wrong(setting, "is `proxy_header` too", "name the header with the groups, like X-Forwarded-Groups")
    } else {
        Ok(name)
    }
}

fn net(setting: &Given) -> Result<Net, ConfigError> {
    Net::parse(&setting.value).map_or_else(|| wrong(setting, "is neither an address nor a network", "write it like 10.0.0.5 or 10.1.0.0/16"), Ok)
}

pub(super) fn role(setting: &Given) -> Result<Option<Duty>, ConfigError> {
    if setting.value == "none" {
        return Ok(None);
    }
    let found = duty(&setting.value);
    if found.is_some() { Ok(found) } else { wrong(setting, "is no role", "use one of viewer, operator, auditor, admin, or none") }
}

fn duty(name: &str) -> Option<Duty> {
    Duty::ALL.into_iter().find(|duty| duty.name() == name)
}

/// Reads a table of groups and their roles.
pub(super) fn roles(value: Option<&Value>, key: &str, file: &str) -> Result<BTreeMap<String, Duty>, ConfigError> {
    let Some(value) = value else { return Ok(BTreeMap::new()) };
    let Value::Table(groups) = value else {
        return Err(ConfigError(format!("`{key}` in {file} is a {}; write it as a table that begins with [{key}]", value.type_str())));
    };
    if groups.len() > GROUPS_MAX {
        return Err(ConfigError(format!("[{key}] in {file} has {} groups; map at most {GROUPS_MAX}", groups.len())));
    }
    let read = |(group, role): (&String, &Value)| {
        let found = role.as_str().and_then(duty).filter(|_| !group.contains(','));
        found.map(|role| (group.clone(), role)).ok_or_else(|| {
            ConfigError(format!(
                "`{group}` in [{key}] of {file} is no role; write a group without commas and one of viewer, operator, auditor, admin"
            ))
        })
    };
    groups.iter().map(read).collect()
}
