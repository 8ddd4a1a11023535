//! `[cluster]` in the configuration file: where this server meets others that watch the same. Without the table it is
//! alone, and writes nothing.

use std::net::SocketAddr;

use lockscope_cluster::member::is_id;

use super::given::{fault, open};
use super::layers::Layers;
use super::{Config, ConfigError, Ensemble};
use lockscope_zookeeper::{Fault, check_roots};

const ROOT_REMEDY: &str = "write a path that is the same for all replicas, like root = \"/lockscope\"";

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

    /// Under which name replicas share rows in a database.
    pub fn shares_as(&self) -> String {
        format!("{}:{}", self.ensemble, self.root)
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
            _ => "anybody who reaches ZooKeeper may write there (allow_open_cluster)".to_owned(),
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

/// Reads `[cluster]`, and the variables that take precedence: of several replicas one file and variables of their own may be
/// all that is told. None: neither names a root.
pub(super) fn read(layers: &Layers<'_>, ensembles: &[Ensemble]) -> Result<Option<Cluster>, ConfigError> {
    let Some(table) = open(&layers.settings.cluster)? else { return Ok(None) };
    let keys = &table.keys;
    let root = match keys.root.check(check_root)? {
        Some(root) => root,
        // Variables alone, and none of them is the root.
        None if table.from.is_empty() => return Ok(None),
        None => return table.lacks("root", ROOT_REMEDY),
    };
    let ensemble = keys.ensemble.check(|name| {
        let names = || ensembles.iter().map(|ensemble| ensemble.name.as_str()).collect::<Vec<_>>().join(", ");
        match ensembles.iter().find(|ensemble| ensemble.name == name) {
            Some(ensemble) => Ok(ensemble),
            None => fault("is no ensemble here", format!("use one of {}", names())),
        }
    })?;
    let ensemble = ensemble.or(ensembles.first());
    let may_be_open = keys.allow_open_cluster.is_on("write true, or leave it out")?.unwrap_or(false);
    let id = keys.id.read()?;
    let address = keys.address.read()?;
    let name = ensemble.map(|ensemble| ensemble.name.clone()).unwrap_or_default();
    if !may_be_open && ensemble.is_some_and(|ensemble| !ensemble.identity.acting.is_somebody()) {
        let from = keys.root.given.as_ref().map(|root| root.from.as_str()).unwrap_or_default();
        return refuse!(
            "{from} {root:?} is where anybody who reaches ZooKeeper can forge who leads and what was released, since the ensemble {name} has no identity for releases; give it act_auth_file, or accept that with allow_open_cluster = true in [cluster]"
        );
    }
    Ok(Some(Cluster { root, ensemble: name, id, address }))
}

fn check_root(root: &str) -> Result<String, Fault> {
    check_roots(&[root]).map_err(|(_, fault)| fault)?;
    if root == "/" || root == "/zookeeper" || root.starts_with("/zookeeper/") {
        return fault("is not ours to write to", ROOT_REMEDY);
    }
    Ok(root.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::ServeArgs;
    use super::super::tests::Fake;
    use super::*;

    fn load(cluster: &str) -> Result<Config, String> {
        let text = format!("zk = \"a:1\"\n{cluster}");
        // Whether somebody signs in is another test's.
        let text = format!("{text}{}", if cluster.contains("root") { "\nallow_open_cluster = true" } else { "" });
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
        assert_eq!((cluster.root.as_str(), cluster.ensemble.as_str()), ("/lockscope", "default"));
        assert!(cluster.id_at(config.listen).ends_with(":3000"));
        assert_eq!(cluster.address_at(&config, config.listen), "http://127.0.0.1:3000");
        let told = Cluster::described(Some(cluster), &config);
        assert!(told.contains("at /lockscope of default, anybody who reaches ZooKeeper may write there"), "{told}");
        let named = load("[cluster]\nroot = \"/l\"\nid = \"lockscope-0\"\naddress = \"https://a.example/\"");
        let cluster = named.unwrap().cluster.unwrap();
        assert_eq!(cluster.id.as_deref(), Some("lockscope-0"));
        assert_eq!(cluster.address.as_deref(), Some("https://a.example"));
    }

    #[test]
    fn what_each_replica_has_of_its_own_may_be_a_variable() {
        let load = |vars: &[(&'static str, &'static str)], text: &'static str| {
            let flags = ServeArgs { config: Some("x.toml".into()), ..ServeArgs::default() };
            let open = ("LOCKSCOPE_CLUSTER_ALLOW_OPEN_CLUSTER", "true");
            Config::load(&flags, &Fake { vars: vars.iter().copied().chain([open]).collect(), text: Some(text) })
        };
        let own = [("LOCKSCOPE_CLUSTER_ID", "pod-1"), ("LOCKSCOPE_CLUSTER_ADDRESS", "http://pod-1:3000")];
        let cluster = load(&own, "zk = \"a:1\"\n[cluster]\nroot = \"/l\"\nid = \"x\"").unwrap().cluster.unwrap();
        assert_eq!((cluster.root.as_str(), cluster.id.as_deref()), ("/l", Some("pod-1")));
        assert_eq!(cluster.address.as_deref(), Some("http://pod-1:3000"));
        assert_eq!(load(&own, "zk = \"a:1\"").unwrap().cluster, None, "no root, no cluster");
        let whole = load(&[("LOCKSCOPE_CLUSTER_ROOT", "/l")], "zk = \"a:1\"").unwrap().cluster.unwrap();
        assert_eq!((whole.root.as_str(), whole.id), ("/l", None));
        let told = load(&[("LOCKSCOPE_CLUSTER_ROOT", "l")], "zk = \"a:1\"").unwrap_err().to_string();
        assert!(told.starts_with("LOCKSCOPE_CLUSTER_ROOT \"l\" does not start"), "{told}");
    }

    #[test]
    fn without_an_identity_an_open_cluster_is_accepted_in_words() {
        let load = |text: &'static str| {
            let flags = ServeArgs { config: Some("x.toml".into()), ..ServeArgs::default() };
            Config::load(&flags, &Fake { text: Some(text), ..Fake::default() }).map_err(|error| error.to_string())
        };
        let refused = load("zk = \"a:1\"\n[cluster]\nroot = \"/l\"").unwrap_err();
        assert!(refused.starts_with("x.toml:3: `root` in [cluster] \"/l\" is where anybody"), "{refused}");
        assert!(refused.ends_with("accept that with allow_open_cluster = true in [cluster]"), "{refused}");
        assert_eq!(load("zk = \"a:1\"\n[cluster]\nroot = \"/l\"\nallow_open_cluster = false").unwrap_err(), refused);
        assert!(load("zk = \"a:1\"\n[cluster]\nroot = \"/l\"\nallow_open_cluster = true").is_ok());
        assert!(
            load("zk = \"a:1\"\n[cluster]\nroot = \"/l\"\nallow_open_cluster = 3").unwrap_err().contains("neither")
        );
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
        for gone in ["capacity = 2", "watch = \"owned\"", "watch = \"all\"", "secret_file = \"/s\""] {
            let key = gone.split(' ').next().unwrap();
            let instead = "every replica watches every ensemble; run one Lockscope for each group of ensembles";
            assert_eq!(with(gone), format!("{} is gone: {instead}", of(key)));
        }
        assert!(with("idd = \"a\"").ends_with("is no setting; write `id`"));
    }
}
