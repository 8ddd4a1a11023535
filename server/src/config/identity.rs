//! Who Lockscope is to an ensemble: for watching, and for acting. Secrets are read from files, or from two variables of
//! the environment; no message shows their content.

use super::{ConfigError, Layers, SettingValue};
use crate::cli::SecurityArgs;
use lockscope_zookeeper::{Credentials, Fault, Login, TlsIdentity, ZkTls, check_tls_hosts};

/// `USER:PASSWORD` itself, for watching and for acting.
const VARIABLES: [(&str, &str); 2] = [("LOCKSCOPE_ZK_AUTH", "auth_file"), ("LOCKSCOPE_ZK_ACT_AUTH", "act_auth_file")];

/// Both identities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Reads and watches; needs no right to change anything.
    pub watching: Credentials,
    /// Releases; the watching one where nothing else is said.
    pub acting: Credentials,
}

/// The value of a flag by its key.
pub(super) fn flag<'a>(flags: &'a SecurityArgs, key: &str) -> Option<&'a str> {
    match key {
        "auth_file" => flags.auth_file.as_deref(),
        "sasl_file" => flags.sasl_file.as_deref(),
        "ca_file" => flags.ca_file.as_deref(),
        "cert_file" => flags.cert_file.as_deref(),
        "key_file" => flags.key_file.as_deref(),
        "act_auth_file" => flags.act_auth_file.as_deref(),
        "act_sasl_file" => flags.act_sasl_file.as_deref(),
        "act_cert_file" => flags.act_cert_file.as_deref(),
        "act_key_file" => flags.act_key_file.as_deref(),
        _ => None,
    }
}

/// Secrets in the environment are for one ensemble.
pub(super) fn check_several(layers: &Layers<'_>) -> Result<(), ConfigError> {
    let given = VARIABLES.iter().find(|(name, _)| layers.environment.var(name).is_some_and(|value| !value.is_empty()));
    given.map_or(Ok(()), |(name, key)| {
        Err(ConfigError(format!(
            "{name} is for one ensemble, and {} has [[ensemble]] tables; write `{key}` in each that needs it",
            layers.file.name()
        )))
    })
}

/// The identities of one ensemble; `get` finds a key's value, `has_variables` says whether the environment may be read.
pub(super) fn of(
    layers: &Layers<'_>,
    connect: &SettingValue,
    has_variables: bool,
    get: impl Fn(&str) -> Result<Option<SettingValue>, ConfigError>,
) -> Result<Identity, ConfigError> {
    let login = |key: &str| login(layers, key, get(key)?, has_variables);
    let (digest, sasl) = (login("auth_file")?, login("sasl_file")?);
    let (act_digest, act_sasl) = (login("act_auth_file")?, login("act_sasl_file")?);
    let identity = pair(layers, [get("cert_file")?, get("key_file")?])?;
    let act_identity = pair(layers, [get("act_cert_file")?, get("act_key_file")?])?;
    let tls = match get("ca_file")? {
        Some(file) => {
            let tls = ZkTls::new(&read(layers, &file)?, identity).map_err(|fault| bad(&file, &fault))?;
            check_tls_hosts(&connect.value).or_else(|fault| super::check::wrong(connect, &fault.why, &fault.remedy))?;
            Some(tls)
        }
        None => {
            if let Some(cert) = [get("cert_file")?, get("act_cert_file")?].into_iter().flatten().next() {
                return Err(ConfigError(format!(
                    "{} is set and ca_file is not; name the file with the authorities of ZooKeeper's certificates, too",
                    cert.from
                )));
            }
            None
        }
    };
    let act_tls = tls.clone().map(|tls| match act_identity {
        Some(identity) => tls.with_identity(identity),
        None => tls,
    });
    let acting = Credentials {
        digest: act_digest.or_else(|| digest.clone()),
        sasl: act_sasl.or_else(|| sasl.clone()),
        tls: act_tls,
    };
    Ok(Identity { watching: Credentials { digest, sasl, tls }, acting })
}

fn login(
    layers: &Layers<'_>,
    key: &str,
    file: Option<SettingValue>,
    has_variables: bool,
) -> Result<Option<Login>, ConfigError> {
    let name = VARIABLES.iter().find(|(_, of)| *of == key).filter(|_| has_variables).map(|(name, _)| *name);
    let variable = name.and_then(|name| {
        layers
            .environment
            .var(name)
            .filter(|value| !value.is_empty())
            .map(|value| SettingValue { value, from: name.to_owned() })
    });
    match (file, variable) {
        (None, None) => Ok(None),
        (Some(file), Some(variable)) => Err(ConfigError(format!(
            "{} and {} both say who Lockscope is to ZooKeeper; leave one of them out",
            file.from, variable.from
        ))),
        (Some(file), None) => Login::parse(&read_secret(layers, &file)?).map(Some).map_err(|fault| bad(&file, &fault)),
        (None, Some(variable)) => {
            // Never its value.
            Login::parse(&variable.value)
                .map(Some)
                .map_err(|fault| ConfigError(format!("{} {}; {}", variable.from, fault.why, fault.remedy)))
        }
    }
}

fn pair(layers: &Layers<'_>, files: [Option<SettingValue>; 2]) -> Result<Option<TlsIdentity>, ConfigError> {
    match files {
        [None, None] => Ok(None),
        [Some(cert), Some(key)] => TlsIdentity::parse(&read(layers, &cert)?, &read_secret(layers, &key)?)
            .map(Some)
            .map_err(|fault| bad(&cert, &fault)),
        [Some(one), None] | [None, Some(one)] => Err(ConfigError(format!(
            "{} {:?} is one of two; name the certificate and its key, each with its setting",
            one.from, one.value
        ))),
    }
}

fn read(layers: &Layers<'_>, file: &SettingValue) -> Result<String, ConfigError> {
    layers.read(file, "name a file that this user may read")
}

fn read_secret(layers: &Layers<'_>, file: &SettingValue) -> Result<String, ConfigError> {
    layers.read_secret(file, "name a file that this user may read")
}

fn bad(file: &SettingValue, fault: &Fault) -> ConfigError {
    ConfigError(format!("{} {:?} {}; {}", file.from, file.value, fault.why, fault.remedy))
}
