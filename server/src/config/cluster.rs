//! `[cluster]` in the configuration file: where this server meets others that watch the same. Without the table it is
//! alone, and writes nothing.

use std::net::SocketAddr;

use cluster::member::is_id;
use cluster::rendezvous::CAPACITY_MAX;
use toml::Value;

use super::check::{self, wrong};
use super::tables::{number, shown};
use super::toml_file::{Entry, Section};
use super::{Config, ConfigError, Ensemble};
use zookeeper::check_roots;

/// Longest address, in characters.
const ADDRESS_CHARS_MAX: usize = 256;

/// Where replicas meet, and as whom this one comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The znode below which they meet.
    pub root: String,
    /// The name of the ensemble that it is in.
    pub ensemble: String,
    /// This replica's id; None: the host's name and the port.
    pub id: Option<String>,
    /// How others reach it; None: its first origin, else where it listens.
    pub address: Option<String>,
    /// Its share of the work.
    pub capacity: u8,
}

impl Cluster {
    /// The id of a replica that listens somewhere.
    pub fn id_at(&self, listen: SocketAddr) -> String {
        self.id.clone().unwrap_or_else(|| {
            let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
            let id = format!("{host}:{}", listen.port());
            // A host may have any name.
            if is_id(&id) { id } else { listen.to_string() }
        })
    }

    /// How others reach a replica that listens somewhere.
    pub fn address_at(&self, config: &Config, listen: SocketAddr) -> String {
        let scheme = if config.web.tls.is_some() { "https" } else { "http" };
        let origin = config.web.origins.first().map(ToString::to_string);
        self.address.clone().or(origin).unwrap_or_else(|| format!("{scheme}://{listen}"))
    }

    /// For people, a line.
    pub fn described(cluster: Option<&Self>, config: &Config) -> String {
        let Some(own) = cluster else { return "  cluster            none: this server is alone".to_owned() };
        let who = config.ensembles.iter().find(|ensemble| ensemble.name == own.ensemble);
        let acting = who.map(|ensemble| &ensemble.identity.acting);
        let whose = match acting {
            Some(acting) if acting.is_somebody() => format!("written as {}", acting.described()),
            _ => "anybody who reaches ZooKeeper may write there; act_auth_file makes it ours alone".to_owned(),
        };
        let port = if config.listen.port() == 0 && own.id.is_none() { " (its port once it listens)" } else { "" };
        format!(
            "  cluster            at {} of {}, {whose}\n  cluster id         {}{port}\n  cluster address    {}",
            own.root,
            own.ensemble,
            own.id_at(config.listen),
            own.address_at(config, config.listen)
        )
    }
}

/// Reads `[cluster]`; None: there is none.
pub(super) fn of(entry: Option<Entry<'_>>, ensembles: &[Ensemble]) -> Result<Option<Cluster>, ConfigError> {
    let Some(entry) = entry else { return Ok(None) };
    let fields = entry.section()?;
    let capacity = fields.get("capacity").map(|entry| number(&entry, 1, u32::from(CAPACITY_MAX))).transpose()?;
    Ok(Some(Cluster {
        root: root(&fields)?,
        ensemble: ensemble(&fields, ensembles)?,
        id: id(&fields)?,
        address: address(&fields)?,
        capacity: capacity.and_then(|capacity| u8::try_from(capacity).ok()).unwrap_or(1),
    }))
}

fn root(fields: &Section<'_>) -> Result<String, ConfigError> {
    let remedy = "write a path that is the same for all replicas, like root = \"/lockscope\"";
    let Some(entry) = fields.get("root") else { return fields.lacks("root", remedy) };
    let Value::String(root) = entry.value else {
        return Err(ConfigError(format!("{} is {}; {remedy}", entry.from, shown(entry.value))));
    };
    if let Err((_, fault)) = check_roots(&[root]) {
        return Err(ConfigError(format!("{} {root:?} {fault}", entry.from)));
    }
    if root == "/" || root == "/zookeeper" || root.starts_with("/zookeeper/") {
        return Err(ConfigError(format!("{} {root:?} is not ours to write to; {remedy}", entry.from)));
    }
    Ok(root.clone())
}

fn ensemble(fields: &Section<'_>, ensembles: &[Ensemble]) -> Result<String, ConfigError> {
    let Some(named) = fields.one("ensemble")? else {
        return Ok(ensembles.first().map(|ensemble| ensemble.name.clone()).unwrap_or_default());
    };
    if ensembles.iter().any(|ensemble| ensemble.name == named.value) {
        return Ok(named.value);
    }
    let names = ensembles.iter().map(|ensemble| ensemble.name.as_str()).collect::<Vec<_>>().join(", ");
    wrong(&named, "is no ensemble here", &format!("use one of {names}"))
}

fn id(fields: &Section<'_>) -> Result<Option<String>, ConfigError> {
    let Some(id) = fields.one("id")? else { return Ok(None) };
    if is_id(&id.value) {
        return Ok(Some(id.value));
    }
    wrong(&id, "is no id", "write 1 to 64 letters, digits, dots, dashes, underscores or colons, like lockscope-0")
}

fn address(fields: &Section<'_>) -> Result<Option<String>, ConfigError> {
    let Some(address) = fields.one("address")? else { return Ok(None) };
    let is_short = address.value.chars().count() <= ADDRESS_CHARS_MAX;
    match reqwest::Url::parse(&address.value) {
        Ok(url) if is_short && matches!(url.scheme(), "http" | "https") && url.username().is_empty() => {
            Ok(Some(address.value.trim_end_matches('/').to_owned()))
        }
        _ => check::wrong(&address, "is no address of a server", "write it like https://lockscope-0.example:3000"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::ServeArgs;
    use super::super::tests::Fake;
    use super::*;

    fn load(cluster: &str) -> Result<Config, String> {
        let text = format!("zk = \"a:1\"\n{cluster}");
        let flags = ServeArgs { config: Some("x.toml".into()), ..ServeArgs::default() };
        let fake = Fake { text: Some(text.leak()), ..Fake::default() };
        Config::load(&flags, &fake).map_err(|error| error.to_string())
    }

    #[test]
    fn without_the_table_a_server_is_alone() {
        let alone = load("").unwrap();
        assert_eq!(alone.cluster, None);
        assert!(Cluster::described(None, &alone).ends_with("none: this server is alone"));
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        let config = load("[cluster]\nroot = \"/lockscope\"\n").unwrap();
        let cluster = config.cluster.as_ref().unwrap();
        assert_eq!((cluster.root.as_str(), cluster.ensemble.as_str(), cluster.capacity), ("/lockscope", "default", 1));
        assert!(cluster.id_at(config.listen).ends_with(":3000"));
        assert_eq!(cluster.address_at(&config, config.listen), "http://127.0.0.1:3000");
        let told = Cluster::described(Some(cluster), &config);
        assert!(told.contains("at /lockscope of default, anybody who reaches ZooKeeper may write there"), "{told}");
        let named =
            load("[cluster]\nroot = \"/l\"\nid = \"lockscope-0\"\naddress = \"https://a.example/\"\ncapacity = 3");
        let cluster = named.unwrap().cluster.unwrap();
        assert_eq!(cluster.id.as_deref(), Some("lockscope-0"));
        assert_eq!((cluster.address.as_deref(), cluster.capacity), (Some("https://a.example"), 3));
    }

    #[test]
    fn every_mistake_has_its_sentence() {
        let root = "write a path that is the same for all replicas, like root = \"/lockscope\"";
        let with = |line: &str| load(&format!("[cluster]\nroot = \"/l\"\n{line}")).unwrap_err();
        assert_eq!(load("[cluster]").unwrap_err(), format!("x.toml:2: [cluster] has no `root`; {root}"));
        for (path, why) in
            [("/", "is not ours"), ("/zookeeper/x", "is not ours"), ("l", "does not start"), ("/l/", "ends")]
        {
            let told = load(&format!("[cluster]\nroot = {path:?}")).unwrap_err();
            assert!(told.starts_with(&format!("x.toml:3: `root` in [cluster] {path:?} {why}")), "{told}");
        }
        let of = |key: &str| format!("x.toml:4: `{key}` in [cluster]");
        assert_eq!(
            with("ensemble = \"x\""),
            format!("{} \"x\" is no ensemble here; use one of default", of("ensemble"))
        );
        assert!(with("id = \"a/b\"").starts_with(&format!("{} \"a/b\" is no id; ", of("id"))));
        assert!(with("address = \"ftp://a\"").starts_with(&format!("{} \"ftp://a\" is no address", of("address"))));
        assert!(with("capacity = 17").ends_with("is 17; write a whole number from 1 to 16"));
        assert!(with("idd = \"a\"").ends_with("is no setting; write `id`"));
    }
}
