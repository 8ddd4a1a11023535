//! One ensemble: what may be said of it, in a table of its own or at the top of the file.

use std::collections::BTreeMap;

use lockscope_view::EnsembleColor;
use lockscope_zookeeper::members::check_admin_url;
use lockscope_zookeeper::{EXCLUSIONS_MAX, Fault, ZNODES_MAX, check_exclusion, check_roots};
use toml::Value;

use super::ConfigError;
use super::given::{Given, Section, Setting, fault};
use super::identity::{self, Identity};
use super::layers::Layers;
use super::model::MEMBERS_MAX;
use super::settings::EnsembleKeys;
use super::values::{Text, is_word};

/// Labels of one ensemble.
const LABELS_MAX: usize = 16;
/// Longest key and longest value of a label, in characters: they stand on every tile.
const LABEL_CHARS_MAX: usize = 40;

/// One ensemble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ensemble {
    /// Its name; `default` when it was given none.
    pub name: String,
    /// Its colour; None for the only one when it was given no name.
    pub color: Option<EnsembleColor>,
    /// Connect string.
    pub zk: String,
    /// Watched roots; never empty, never nested.
    pub roots: Vec<String>,
    /// Patterns of paths that are never read.
    pub exclude: Vec<String>,
    /// Znodes that are read at most.
    pub znodes_max: usize,
    /// What it is, for filters.
    pub labels: BTreeMap<String, String>,
    /// The file of `ensembles_dir` that it is from; None for any other place.
    pub file: Option<String>,
    /// Whether the members are asked for evidence.
    pub evidence: bool,
    /// Their AdminServers, where named.
    pub admin_urls: Vec<String>,
    /// The znode below which an ephemeral may be written, to prove the quorum; None: nothing is ever written.
    pub clock_scratch: Option<String>,
    /// Who Lockscope is there.
    pub identity: Identity,
}

/// One of several; all it has is in its table.
pub(super) fn read_table(
    layers: &Layers<'_>,
    table: &Section<EnsembleKeys>,
    color: EnsembleColor,
) -> Result<Ensemble, ConfigError> {
    if table.keys.name.given.is_none() {
        return table.lacks("name", "give it one, it is shown with everything of it");
    }
    if table.keys.zk.given.is_none() {
        return table.lacks("zk", "write its connect string, like zk = \"127.0.0.1:2181\"");
    }
    read_keys(layers, &table.keys, Some(color), false)
}

pub(super) fn read_keys(
    layers: &Layers<'_>,
    keys: &EnsembleKeys,
    color: Option<EnsembleColor>,
    is_only: bool,
) -> Result<Ensemble, ConfigError> {
    let zk = keys.zk.read_or(String::new())?;
    let roots = read_roots(&keys.root)?;
    let admin_urls =
        read_list(&keys.admin_url, (MEMBERS_MAX, "name at most 16, one for each member"), |before, url| {
            check_admin_url(url)?;
            let remedy = "name it once, one AdminServer for each member";
            if before.contains(url) { fault("is named twice", remedy) } else { Ok(()) }
        })?;
    let identity = identity::read(layers, keys, is_only)?;
    let remedy = "write at most 100, with stars for what they share";
    Ok(Ensemble {
        name: keys.name.read_or("default".to_owned())?,
        color: keys.color.read()?.or(color),
        zk,
        exclude: read_list(&keys.exclude, (EXCLUSIONS_MAX, remedy), |_, path| check_exclusion(path, &roots))?,
        roots,
        znodes_max: keys.znodes_max.read_or(ZNODES_MAX)?,
        labels: read_labels(&keys.labels)?,
        file: None,
        evidence: keys.evidence.is_on("write on, or off to ask the members nothing")?.unwrap_or(true),
        admin_urls,
        clock_scratch: keys.clock_scratch.read()?,
        identity,
    })
}

/// Checks roots together: none may lie inside another.
fn read_roots(setting: &Setting<Vec<Text>>) -> Result<Vec<String>, ConfigError> {
    let roots = setting.read()?.filter(|roots| !roots.is_empty()).unwrap_or_else(|| vec!["/".to_owned()]);
    check_roots(&roots).or_else(|(at, wrong)| {
        let root = setting.given.iter().flat_map(Given::each).nth(at);
        root.map_or(Ok(()), |root| root.refuse(&wrong.why, &wrong.remedy))
    })?;
    Ok(roots)
}

/// Texts, at most so many; `check` knows those before.
fn read_list(
    setting: &Setting<Vec<Text>>,
    (most, remedy): (usize, &str),
    check: impl Fn(&[String], &String) -> Result<(), Fault>,
) -> Result<Vec<String>, ConfigError> {
    let mut texts = Vec::new();
    for item in setting.given.iter().flat_map(Given::each) {
        let text = item.text()?;
        check(&texts, &text).or_else(|wrong| item.refuse(&wrong.why, &wrong.remedy))?;
        if texts.len() >= most {
            return item.refuse("is one too many", remedy);
        }
        texts.push(text);
    }
    Ok(texts)
}

fn read_labels(setting: &Setting<Value>) -> Result<BTreeMap<String, String>, ConfigError> {
    let Some(Given { from, value, .. }) = &setting.given else { return Ok(BTreeMap::new()) };
    let remedy = "write pairs like { env = \"prod\", region = \"eu\" }";
    let Value::Table(pairs) = value else { return refuse!("{from} is a {}; {remedy}", value.type_str()) };
    if pairs.len() > LABELS_MAX {
        return refuse!("{from} has {} labels; write at most {LABELS_MAX}", pairs.len());
    }
    let is_good = |text: &str| is_word(text, char::is_alphanumeric, "-_./") && text.chars().count() <= LABEL_CHARS_MAX;
    let pair = |(key, value): (&String, &Value)| match value {
        Value::String(text) if is_good(key) && is_good(text) => Ok((key.clone(), text.clone())),
        Value::String(text) => refuse!(
            "{from} has {key:?} = {text:?}; write 1 to {LABEL_CHARS_MAX} letters, digits, dots, dashes, underscores or slashes for each"
        ),
        other => refuse!("{from} has a {} for {key:?}; {remedy}", other.type_str()),
    };
    pairs.iter().map(pair).collect()
}

/// Another has the name.
pub(super) fn refuse_name<T>(table: &Section<EnsembleKeys>, name: &str) -> Result<T, ConfigError> {
    refuse!("{} {name:?} is taken by another; give each ensemble a name of its own", name_from(table))
}

/// Where the name of an ensemble stands.
pub(super) fn name_from(table: &Section<EnsembleKeys>) -> &str {
    table.keys.name.given.as_ref().map_or(&table.from, |name| &name.from)
}

pub(super) fn nth_color(at: usize) -> EnsembleColor {
    EnsembleColor::ALL.into_iter().cycle().nth(at).unwrap_or(EnsembleColor::Blue)
}
