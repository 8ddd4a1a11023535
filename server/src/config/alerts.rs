//! `[[alert]]` and `[[route]]` in the configuration file: what fires, and who is told. Without an `[[alert]]` there are three
//! rules that make sense everywhere; without a `[[route]]` alerts show on the page.

use lockscope_core::diagnosis::Severity;

use super::toml_file::{Entry, Section};
use super::{ConfigError, Ensemble, Layers, SettingValue, check};
use lockscope_alerts::route::{Route, RouteKind};
use lockscope_alerts::rule::{CONDITIONS_MAX, Condition, RULES_MAX, Rule, parse_ms};

/// Receivers of a server.
const ROUTES_MAX: usize = 16;
/// Longest name, in bytes.
const NAME_MAX: usize = 64;
/// Longest pattern of a path, in bytes.
const PATH_MAX: usize = 512;
/// For how long something must be so where nothing is said.
const FOR_MS_DEFAULT: i64 = 0;
/// Receivers are told again of what still fires after a minute at the soonest.
const REPEAT_MS_MIN: i64 = 60_000;
/// Alertmanager forgets what it is not told again.
const ALERTMANAGER_REPEAT_MS: i64 = 60_000;

/// What fires, and who is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alerting {
    /// The rules; never empty.
    pub rules: Vec<Rule>,
    /// Receivers.
    pub routes: Vec<Receiver>,
}

/// A receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receiver {
    /// Where it is.
    pub route: Route,
    /// After so many milliseconds it is told again of what still fires; None: it is not.
    pub repeat_ms: Option<i64>,
}

impl Default for Alerting {
    fn default() -> Self {
        Self { rules: Rule::built_in(), routes: Vec::new() }
    }
}

impl Alerting {
    /// For people: each rule and each receiver, a line each.
    pub fn described(&self) -> String {
        let rule = |rule: &Rule| {
            let when = rule.when.iter().map(|condition| condition.text()).collect::<Vec<_>>().join(" or ");
            let lasting = if rule.for_ms == 0 {
                String::new()
            } else {
                format!(" for {}", lockscope_alerts::rule::ms_text(rule.for_ms))
            };
            let told = if rule.routes.is_empty() { "the page alone".to_owned() } else { rule.routes.join(", ") };
            let of = rule.ensemble.as_ref().map_or_else(String::new, |ensemble| format!(" of {ensemble}"));
            let built_in = if rule.is_built_in { ", built in" } else { "" };
            format!(
                "  alert {:<12} {when} at {}{of}{lasting}: {}, tells {told}{built_in}",
                rule.name,
                rule.path,
                severity_name(rule.severity)
            )
        };
        let receiver = |receiver: &Receiver| {
            let Receiver { route, repeat_ms } = receiver;
            let again = repeat_ms
                .map_or_else(String::new, |ms| format!(", again each {}", lockscope_alerts::rule::ms_text(ms)));
            format!("  route {:<12} {} at {}{again}", route.name, route.kind.name(), route.shown())
        };
        self.rules.iter().map(rule).chain(self.routes.iter().map(receiver)).collect::<Vec<_>>().join("\n")
    }
}

/// Reads `[[alert]]` and `[[route]]`.
pub(super) fn of(layers: &Layers<'_>, ensembles: &[Ensemble]) -> Result<Alerting, ConfigError> {
    let top = layers.file.top();
    let routes = match top.get("route") {
        None => Vec::new(),
        Some(entry) => receivers(&entry, layers)?,
    };
    let rules = match top.get("alert") {
        None => told_to_all(&routes),
        Some(entry) => rules(&entry, ensembles, &routes)?,
    };
    Ok(Alerting { rules, routes })
}

/// Where receivers are named and no rules, all are told of everything.
fn told_to_all(routes: &[Receiver]) -> Vec<Rule> {
    let names: Vec<String> = routes.iter().map(|receiver| receiver.route.name.clone()).collect();
    Rule::built_in().into_iter().map(|rule| Rule { routes: names.clone(), ..rule }).collect()
}

fn rules(entry: &Entry<'_>, ensembles: &[Ensemble], routes: &[Receiver]) -> Result<Vec<Rule>, ConfigError> {
    let tables = entry.sections(RULES_MAX)?;
    let mut rules: Vec<Rule> = Vec::with_capacity(tables.len());
    for table in &tables {
        let rule = rule(table, ensembles, routes)?;
        if rules.iter().any(|other| other.name == rule.name) {
            return Err(ConfigError(format!(
                "{} has the name {:?}, which is taken; give each rule a name of its own",
                table.from(),
                rule.name
            )));
        }
        rules.push(rule);
    }
    Ok(if rules.is_empty() { told_to_all(routes) } else { rules })
}

fn rule(table: &Section<'_>, ensembles: &[Ensemble], routes: &[Receiver]) -> Result<Rule, ConfigError> {
    let Some(name) = table.one("name")? else {
        return table.lacks("name", "give it one, like name = \"orders-stuck\"");
    };
    let Some(when) = table.many("when")?.filter(|when| !when.is_empty()) else {
        return table.lacks("when", "write what it fires at, like when = [\"stuck\", \"waiting > 30s\"]");
    };
    if when.len() > CONDITIONS_MAX {
        return Err(ConfigError(format!(
            "{} has more than {CONDITIONS_MAX} conditions in `when`; write two rules",
            table.from()
        )));
    }
    let condition =
        |one: &SettingValue| Condition::parse(&one.value).map_err(|error| ConfigError(format!("{} {error}", one.from)));
    let ensemble = table.one("ensemble")?;
    if let Some(unknown) = ensemble.as_ref().filter(|wanted| ensembles.iter().all(|one| one.name != wanted.value)) {
        let names = ensembles.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join(", ");
        return check::wrong(unknown, "is no ensemble", &format!("use one of {names}"));
    }
    let told = table.many("route")?;
    let is_unknown = |wanted: &&SettingValue| routes.iter().all(|one| one.route.name != wanted.value);
    if let Some(unknown) = told.iter().flatten().find(is_unknown) {
        return check::wrong(unknown, "is the name of no [[route]]", "write one of that name, or name another");
    }
    Ok(Rule {
        name: named(&name)?.into(),
        when: when.iter().map(condition).collect::<Result<_, _>>()?,
        path: table.one("path")?.map(|path| pattern(&path)).transpose()?.unwrap_or_else(|| "**".to_owned()),
        ensemble: ensemble.map(|name| name.value),
        for_ms: table.one("for")?.map(|time| ms(&time)).transpose()?.unwrap_or(FOR_MS_DEFAULT),
        severity: table.one("severity")?.map(|word| severity(&word)).transpose()?.unwrap_or(Severity::Warning),
        routes: match told {
            Some(told) => told.into_iter().map(|name| name.value).collect(),
            None => routes.iter().map(|receiver| receiver.route.name.clone()).collect(),
        },
        is_built_in: false,
    })
}

fn receivers(entry: &Entry<'_>, layers: &Layers<'_>) -> Result<Vec<Receiver>, ConfigError> {
    let tables = entry.sections(ROUTES_MAX)?;
    let mut routes: Vec<Receiver> = Vec::with_capacity(tables.len());
    for table in &tables {
        let receiver = receiver(table, layers)?;
        if routes.iter().any(|other| other.route.name == receiver.route.name) {
            return Err(ConfigError(format!(
                "{} has the name {:?}, which is taken; give each route a name of its own",
                table.from(),
                receiver.route.name
            )));
        }
        routes.push(receiver);
    }
    Ok(routes)
}

fn receiver(table: &Section<'_>, layers: &Layers<'_>) -> Result<Receiver, ConfigError> {
    let Some(name) = table.one("name")? else {
        return table.lacks("name", "give it one, like name = \"on-call\"");
    };
    let Some(kind) = table.one("kind")? else {
        let kinds = RouteKind::ALL.map(RouteKind::name).join(", ");
        return table.lacks("kind", &format!("write one of {kinds}"));
    };
    let kind = kind_of(&kind)?;
    let may_be_plain = table
        .one("allow_http")?
        .map(|switch| check::switch(&switch, "write on to send alerts in the clear, or leave it out"))
        .transpose()?
        .unwrap_or(false);
    let (url, url_file) = (table.one("url")?, table.one("url_file")?);
    let url = match (url, url_file) {
        (Some(url), None) => url,
        (None, Some(file)) => {
            SettingValue { value: layers.read_secret(&file, "name a file that can be")?, from: file.from }
        }
        (None, None) if kind == RouteKind::PagerDuty => {
            super::setting_value("https://events.pagerduty.com/v2/enqueue", "url")
        }
        (None, None) => return table.lacks("url", "write its address, or name a file with it as `url_file`"),
        (Some(_), Some(file)) => {
            return Err(ConfigError(format!("{} names an address, as `url` does; leave one of them out", file.from)));
        }
    };
    let address = Route::check_url(kind, url.value.trim(), may_be_plain)
        .map_err(|fault| ConfigError(format!("{} {}; {}", url.from, fault.why, fault.remedy)))?;
    let secret = table
        .one("secret_file")?
        .map(|file| layers.read_secret(&file, "name a file that can be"))
        .transpose()?
        .map(|secret| secret.trim().as_bytes().to_vec())
        .filter(|secret| !secret.is_empty());
    if secret.is_none() && matches!(kind, RouteKind::PagerDuty | RouteKind::Webhook) {
        return table.lacks("secret_file", "name a file with the secret that signs, or with PagerDuty's routing key");
    }
    let repeat_ms = table.one("repeat")?.map(|time| repeat(&time)).transpose()?;
    let usual = (kind == RouteKind::Alertmanager).then_some(ALERTMANAGER_REPEAT_MS);
    Ok(Receiver { route: Route { name: named(&name)?, kind, url: address, secret }, repeat_ms: repeat_ms.or(usual) })
}

fn kind_of(word: &SettingValue) -> Result<RouteKind, ConfigError> {
    let known = RouteKind::ALL.into_iter().find(|kind| kind.name() == word.value);
    let kinds = RouteKind::ALL.map(RouteKind::name).join(", ");
    known.map_or_else(|| check::wrong(word, "is no kind of receiver", &format!("use one of {kinds}")), Ok)
}

fn named(name: &SettingValue) -> Result<String, ConfigError> {
    let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.value.is_empty() && name.value.len() <= NAME_MAX && name.value.chars().all(is_good) {
        return Ok(name.value.clone());
    }
    check::wrong(name, "is no name", "write 1 to 64 letters, digits, dots, dashes or underscores, like orders-stuck")
}

fn pattern(path: &SettingValue) -> Result<String, ConfigError> {
    let stars = path.value.matches('*').count();
    if (path.value.starts_with('/') || path.value.starts_with("**")) && path.value.len() <= PATH_MAX && stars <= 8 {
        return Ok(path.value.clone());
    }
    check::wrong(
        path,
        "is no pattern of paths",
        "write a path that starts with a slash, like \"/orders/*\"; * is any part of one name, ** any names",
    )
}

fn ms(time: &SettingValue) -> Result<i64, ConfigError> {
    parse_ms(time.value.trim()).map_or_else(|| check::wrong(time, "is not a time", "write it like 30s, 5m or 2h"), Ok)
}

fn repeat(time: &SettingValue) -> Result<i64, ConfigError> {
    let long_enough = parse_ms(time.value.trim()).filter(|ms| *ms >= REPEAT_MS_MIN);
    long_enough.map_or_else(|| check::wrong(time, "is not a time of a minute or more", "write it like 5m or 4h"), Ok)
}

fn severity(word: &SettingValue) -> Result<Severity, ConfigError> {
    let known = [Severity::Info, Severity::Warning, Severity::Critical].into_iter();
    let known = known.into_iter().find(|severity| severity_name(*severity) == word.value);
    known.map_or_else(|| check::wrong(word, "is no severity", "use info, warning or critical"), Ok)
}

fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Critical => "critical",
    }
}
