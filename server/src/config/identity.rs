//! Who Lockscope is to an ensemble: for watching, and for acting. Secrets are read from files, or from two variables of
//! the environment; no message shows their content.

use lockscope_zookeeper::{Credentials, Fault, Login, TlsIdentity, ZkTls, check_tls_hosts};

use super::ConfigError;
use super::given::{Given, Setting};
use super::layers::Layers;
use super::settings::EnsembleKeys;
use super::values::FileName;

/// `USER:PASSWORD` itself, for watching and for acting.
const WATCHING: &str = "LOCKSCOPE_ZK_AUTH";
const ACTING: &str = "LOCKSCOPE_ZK_ACT_AUTH";
/// What to do with a file that can't be read.
const REMEDY: &str = "name a file that this user may read";

/// Both identities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Reads and watches; needs no right to change anything.
    pub watching: Credentials,
    /// Releases; the watching one where nothing else is said.
    pub acting: Credentials,
}

/// Secrets in the environment are for one ensemble.
pub(super) fn check_several(layers: &Layers<'_>) -> Result<(), ConfigError> {
    for (name, key) in [(WATCHING, "auth_file"), (ACTING, "act_auth_file")] {
        if layers.variable(name).is_some() {
            let file = layers.file_name();
            return refuse!(
                "{name} is for one ensemble, and {file} has [[ensemble]] tables; write `{key}` in each that needs it"
            );
        }
    }
    Ok(())
}

/// The identities of one ensemble. `is_only`: whether the environment may say them, too.
pub(super) fn read(layers: &Layers<'_>, keys: &EnsembleKeys, is_only: bool) -> Result<Identity, ConfigError> {
    let login = |file: &Setting<FileName>, variable: Option<&str>| read_login(layers, &file.given, variable);
    let variable = |name| Some(name).filter(|_| is_only);
    let (digest, sasl) = (login(&keys.auth_file, variable(WATCHING))?, login(&keys.sasl_file, None)?);
    let (act_digest, act_sasl) = (login(&keys.act_auth_file, variable(ACTING))?, login(&keys.act_sasl_file, None)?);
    let identity = read_pair(layers, &keys.cert_file.given, &keys.key_file.given)?;
    let act_identity = read_pair(layers, &keys.act_cert_file.given, &keys.act_key_file.given)?;
    let certificate = keys.cert_file.given.as_ref().or(keys.act_cert_file.given.as_ref());
    let tls = match (&keys.ca_file.given, certificate) {
        (Some(file), _) => {
            let tls = ZkTls::new(&layers.read(file, REMEDY)?, identity).or_else(|fault| refuse_file(file, &fault))?;
            keys.zk.check(check_tls_hosts)?;
            Some(tls)
        }
        (None, Some(certificate)) => {
            return refuse!(
                "{} is set and ca_file is not; name the file with the authorities of ZooKeeper's certificates, too",
                certificate.from
            );
        }
        (None, None) => None,
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

fn read_login(layers: &Layers<'_>, file: &Option<Given>, variable: Option<&str>) -> Result<Option<Login>, ConfigError> {
    let secret = variable.and_then(|name| layers.variable(name).map(|secret| (name, secret)));
    match (file, secret) {
        (None, None) => Ok(None),
        (Some(file), Some((name, _))) => {
            refuse!("{} and {name} both say who Lockscope is to ZooKeeper; leave one of them out", file.from)
        }
        (Some(file), None) => {
            Login::parse(&layers.read_secret(file, REMEDY)?).map(Some).or_else(|fault| refuse_file(file, &fault))
        }
        // Never its value.
        (None, Some((name, secret))) => {
            Login::parse(&secret).map(Some).map_err(|fault| mistake!("{name} {}; {}", fault.why, fault.remedy))
        }
    }
}

fn read_pair(
    layers: &Layers<'_>,
    cert: &Option<Given>,
    key: &Option<Given>,
) -> Result<Option<TlsIdentity>, ConfigError> {
    match (cert, key) {
        (None, None) => Ok(None),
        (Some(cert), Some(key)) => {
            let identity = TlsIdentity::parse(&layers.read(cert, REMEDY)?, &layers.read_secret(key, REMEDY)?);
            identity.map(Some).or_else(|fault| refuse_file(cert, &fault))
        }
        (Some(one), None) | (None, Some(one)) => refuse!(
            "{} {:?} is one of two; name the certificate and its key, each with its setting",
            one.from,
            one.text()?
        ),
    }
}

fn refuse_file<T>(file: &Given, fault: &Fault) -> Result<T, ConfigError> {
    file.refuse(&fault.why, &fault.remedy)
}
