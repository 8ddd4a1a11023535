//! `[lab]` in the configuration file: where the lab may run, and how far it may go. Without the table it is off.

use lockscope_lab::members::root_fault;
use lockscope_lab::{LabEnsemble, Limits};
use toml::Value;

use super::given::{Given, Section, Table, open, shown};
use super::settings::LabKeys;
use super::{ConfigError, Ensemble};

/// Where runs get their directories when nothing is said.
const ROOT_DEFAULT: &str = "/lockscope-lab";

/// Where the lab may run, and how far it may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lab {
    /// Names of the ensembles that allow it; never empty.
    pub ensembles: Vec<String>,
    /// The directory below which each run gets one of its own.
    pub root: String,
    /// What no run may exceed.
    pub limits: Limits,
}

impl Lab {
    /// The lab on one ensemble, with nothing else said.
    pub fn on(ensemble: &str) -> Self {
        Self { ensembles: vec![ensemble.to_owned()], root: ROOT_DEFAULT.to_owned(), limits: Limits::default() }
    }

    /// Names of the ensembles that allow it, and the directory in each.
    pub(super) fn runs_at(&self) -> (Vec<String>, String) {
        (self.ensembles.clone(), self.root.clone())
    }

    /// For people.
    pub fn described(&self) -> String {
        let limits = &self.limits;
        format!(
            "  lab                on {}, below {}\n  lab limits         {} clients a strategy, {} rounds, {} ms a run, {} ms a hold",
            self.ensembles.join(", "),
            self.root,
            limits.clients_max,
            limits.rounds_max,
            limits.duration_ms_max,
            limits.hold_ms_max
        )
    }

    /// The places that it may run at, among all ensembles.
    pub fn places(&self, ensembles: &[Ensemble]) -> Vec<LabEnsemble> {
        let allowed = ensembles.iter().filter(|ensemble| self.ensembles.contains(&ensemble.name));
        let place = |ensemble: &Ensemble| LabEnsemble {
            ensemble: ensemble.name.clone(),
            connect: ensemble.zk.clone(),
            credentials: ensemble.identity.acting.clone(),
            root: self.root.clone(),
        };
        allowed.map(place).collect()
    }
}

/// Reads `[lab]`; None: it is off.
pub(super) fn read(table: &Table<LabKeys>, ensembles: &[Ensemble]) -> Result<Option<Lab>, ConfigError> {
    let Some(table) = open(table)? else { return Ok(None) };
    let names = allowed(table, ensembles)?;
    let root = root(table, ensembles.iter().filter(|ensemble| names.contains(&ensemble.name)))?;
    let (keys, usual) = (&table.keys, Limits::default());
    let limits = Limits {
        clients_max: keys.clients_max.read_or(usual.clients_max)?,
        duration_ms_max: keys.duration_ms_max.read_or(usual.duration_ms_max)?,
        hold_ms_max: keys.hold_ms_max.read_or(usual.hold_ms_max)?,
        rounds_max: keys.rounds_max.read_or(usual.rounds_max)?,
    };
    Ok(Some(Lab { ensembles: names, root, limits }))
}

/// The ensembles that are named: configured ones, without TLS.
fn allowed(table: &Section<LabKeys>, ensembles: &[Ensemble]) -> Result<Vec<String>, ConfigError> {
    let example = ensembles.first().map_or("default", |ensemble| &ensemble.name);
    let remedy = format!("name those where the lab may make sessions and znodes, like ensembles = [{example:?}]");
    let Some(given @ Given { from, value, .. }) = &table.keys.ensembles.given else {
        return table.lacks("ensembles", &remedy);
    };
    let items = match value {
        Value::Array(items) if items.is_empty() => return refuse!("{from} is an empty list; {remedy}"),
        Value::Array(items) => items,
        _ => return refuse!("{from} is {}; {remedy}", given.shown()),
    };
    let mut names: Vec<String> = Vec::new();
    for item in items {
        let Some(ensemble) = ensembles.iter().find(|ensemble| item.as_str() == Some(&ensemble.name)) else {
            let all = ensembles.iter().map(|ensemble| ensemble.name.as_str()).collect::<Vec<_>>().join(", ");
            return refuse!("{from} has {}, which is no ensemble here; use one of {all}", shown(item));
        };
        let name = &ensemble.name;
        if ensemble.identity.acting.tls.is_some() {
            return refuse!(
                "{from} has {name:?}, which is met by TLS, and the lab counts on the wire; name one without ca_file"
            );
        }
        if names.contains(name) {
            return refuse!("{from} has {name:?} twice; name it once");
        }
        names.push(name.clone());
    }
    Ok(names)
}

/// The directory of all runs: a path of its own, with no lock root at or below it.
fn root<'a>(table: &Section<LabKeys>, mut allowed: impl Iterator<Item = &'a Ensemble>) -> Result<String, ConfigError> {
    let given = &table.keys.root.given;
    let from = given.as_ref().map_or(&table.from, |given| &given.from);
    let root = match given.as_ref().map(|given| &given.value) {
        None => ROOT_DEFAULT.to_owned(),
        Some(Value::String(root)) => root.clone(),
        Some(other) => return refuse!("{from} is {}; write a path like {ROOT_DEFAULT:?}", shown(other)),
    };
    match allowed.find_map(|ensemble| root_fault(&root, &ensemble.roots)) {
        Some(fault) => refuse!("{from}: {fault}"),
        None => Ok(root),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Fake;
    use super::super::{Config, ServeArgs};
    use super::*;

    fn load(lab: &str) -> Result<Option<Lab>, String> {
        let text = format!("zk = \"a:1\"\nroot = [\"/locks/a\", \"/b\"]\n{lab}");
        let flags = ServeArgs { config: Some("x.toml".into()), ..ServeArgs::default() };
        let fake = Fake { text: Some(text.leak()), ..Fake::default() };
        Config::load(&flags, &fake).map(|config| config.lab).map_err(|error| error.to_string())
    }

    #[test]
    fn it_is_off_until_it_is_allowed() {
        assert_eq!(load(""), Ok(None));
        assert_eq!(load("[lab]\nensembles = [\"default\"]"), Ok(Some(Lab::on("default"))));
        let lab =
            load("[lab]\nensembles = [\"default\"]\nroot = \"/locks/lab\"\nclients_max = 50\nduration_ms_max = 5000\n")
                .unwrap()
                .unwrap();
        assert_eq!((lab.root.as_str(), lab.limits.clients_max, lab.limits.duration_ms_max), ("/locks/lab", 50, 5_000));
    }

    #[test]
    fn every_mistake_has_its_sentence() {
        let of = "x.toml:3: [lab]";
        let list = "x.toml:4: `ensembles` in [lab]";
        let remedy = "name those where the lab may make sessions and znodes, like ensembles = [\"default\"]";
        let cases = [
            ("lab = 1", "x.toml:3: `lab` is a integer; write it as a table that begins with [lab]".to_owned()),
            ("[lab]", format!("{of} has no `ensembles`; {remedy}")),
            ("[lab]\nensembles = []", format!("{list} is an empty list; {remedy}")),
            ("[lab]\nensembles = \"default\"", format!("{list} is \"default\"; {remedy}")),
            ("[lab]\nensembles = [\"x\"]", format!("{list} has \"x\", which is no ensemble here; use one of default")),
            ("[lab]\nensembles = [\"default\", \"default\"]", format!("{list} has \"default\" twice; name it once")),
            (
                "[lab]\nclient_max = 1\nensembles = [\"default\"]",
                "x.toml:4: `client_max` in [lab] is no setting; write `clients_max`".to_owned(),
            ),
        ];
        for (text, sentence) in cases {
            assert_eq!(load(text), Err(sentence), "{text}");
        }
        let with = |line: &str| load(&format!("[lab]\nensembles = [\"default\"]\n{line}")).unwrap_err();
        for (root, why) in [
            ("lab", "is no path"),
            ("/", "is no path"),
            ("/zookeeper/lab", "is ZooKeeper's own"),
            ("/locks", "holds"),
            ("/b", "is a"),
        ] {
            let sentence = with(&format!("root = {root:?}"));
            assert!(
                sentence.starts_with(&format!("x.toml:5: `root` in [lab]: the lab's root {root:?} {why}")),
                "{sentence}"
            );
        }
        for (key, value, range) in [
            ("clients_max", "501", "2 to 500"),
            ("clients_max", "1", "2 to 500"),
            ("rounds_max", "0", "1 to 1000"),
            ("hold_ms_max", "-1", "0 to 60000"),
        ] {
            assert_eq!(
                with(&format!("{key} = {value}")),
                format!("x.toml:5: `{key}` in [lab] is {value}; write a whole number from {range}")
            );
        }
    }
}
