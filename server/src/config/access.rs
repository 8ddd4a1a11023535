//! Settings of identities: who may look without a name, and which proxy is believed.

use std::collections::BTreeMap;

use lockscope_access::{Proxy, Settings};
use lockscope_view::Role;
use toml::Value;

use super::ConfigError;
use super::given::{Given, Setting, fault};
use super::settings::TopKeys;

/// Addresses that may be listed.
const ADDRESSES_MAX: usize = 64;
/// Groups that may be mapped.
const GROUPS_MAX: usize = 1_000;

/// Reads them; sign-in by OpenID Connect is read elsewhere.
pub(super) fn read(keys: &TopKeys) -> Result<Settings, ConfigError> {
    let anonymous = keys.anonymous.read()?;
    let header = keys.proxy_header.read()?;
    let role_header = keys.proxy_role_header.read()?;
    if role_header.is_some() && role_header == header {
        let remedy = "name the header with the groups, like X-Forwarded-Groups";
        keys.proxy_role_header.check(|_| fault::<()>("is `proxy_header` too", remedy))?;
    }
    let role = keys.proxy_role.read_or(Some(Role::Viewer))?;
    let roles = read_roles(&keys.proxy_roles, "proxy_roles")?;
    let addresses = keys.proxy_addresses.read_or(Vec::new())?;
    if let (count, Some(Given { from, .. })) = (addresses.len(), &keys.proxy_addresses.given)
        && count > ADDRESSES_MAX
    {
        return refuse!("{from} has {count} addresses; name at most {ADDRESSES_MAX}, with networks like 10.1.0.0/16");
    }
    if addresses.is_empty() {
        return match &keys.proxy_header.given {
            Some(Given { from, .. }) => refuse!(
                "{from} is set without `proxy_addresses`; name the addresses of the proxy, like proxy_addresses = [\"10.0.0.5\"]"
            ),
            None => Ok(Settings { anonymous, ..Settings::default() }),
        };
    }
    match &keys.proxy_roles.given {
        Some(Given { from, .. }) if !roles.is_empty() && role_header.is_none() => refuse!(
            "{from} is set without `proxy_role_header`; name the header with the groups, like proxy_role_header = \"X-Forwarded-Groups\""
        ),
        _ => {
            let proxy = Some(Proxy { addresses, header, role, role_header, roles });
            Ok(Settings { anonymous, proxy, ..Settings::default() })
        }
    }
}

/// Reads the table `key` of groups and their roles.
pub(super) fn read_roles(setting: &Setting<Value>, key: &str) -> Result<BTreeMap<String, Role>, ConfigError> {
    let Some(Given { from, value, items, .. }) = &setting.given else { return Ok(BTreeMap::new()) };
    let Value::Table(groups) = value else {
        return refuse!("{from} is a {}; write it as a table that begins with [{key}]", value.type_str());
    };
    if groups.len() > GROUPS_MAX {
        return refuse!("{from} has {} groups; map at most {GROUPS_MAX}", groups.len());
    }
    let read = |((group, role), from): ((&String, &Value), &String)| {
        let found = Role::ALL.into_iter().find(|known| role.as_str() == Some(known.name()) && !group.contains(','));
        found.map(|role| (group.clone(), role)).ok_or_else(|| {
            mistake!("{from} is no group with a role; write a group without commas and one of viewer, operator, auditor, admin")
        })
    };
    groups.iter().zip(items).map(read).collect()
}
