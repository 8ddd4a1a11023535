//! `[[alert]]` and `[[route]]` in the configuration file: what fires, and who is told. Without an `[[alert]]` there are three
//! rules that make sense everywhere; without a `[[route]]` alerts show on the page.

use lockscope_alerts::route::{Route, RouteKind};
use lockscope_alerts::rule::{CONDITIONS_MAX, Condition, Rule, ms_text};
use lockscope_core::diagnosis::Severity;

use super::ConfigError;
use super::ensemble::Ensemble;
use super::given::{Given, Section, Tables, open};
use super::layers::Layers;
use super::model::severity_name;
use super::settings::{AlertKeys, RouteKeys};

/// Alertmanager forgets what it is not told again.
const ALERTMANAGER_REPEAT_MS: i64 = 60_000;
/// Where PagerDuty takes events.
const PAGER_DUTY: &str = "https://events.pagerduty.com/v2/enqueue";

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
            let lasting = if rule.for_ms == 0 { String::new() } else { format!(" for {}", ms_text(rule.for_ms)) };
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
            let again = repeat_ms.map_or_else(String::new, |ms| format!(", again each {}", ms_text(ms)));
            format!("  route {:<12} {} at {}{again}", route.name, route.kind.name(), route.shown())
        };
        self.rules.iter().map(rule).chain(self.routes.iter().map(receiver)).collect::<Vec<_>>().join("\n")
    }
}

/// Reads `[[alert]]` and `[[route]]`.
pub(super) fn read(layers: &Layers<'_>, ensembles: &[Ensemble]) -> Result<Alerting, ConfigError> {
    let settings = &layers.settings;
    let read = |table: &_| read_receiver(table, layers);
    let routes = read_all(&settings.route, read, "route", |receiver| &receiver.route.name)?;
    let read = |table: &_| read_rule(table, ensembles, &routes);
    let rules = read_all(&settings.alert, read, "rule", |rule| &rule.name)?;
    if !rules.is_empty() {
        return Ok(Alerting { rules, routes });
    }
    // Where receivers are named and no rules, all are told of everything.
    let all = names(&routes);
    let rules = Rule::built_in().into_iter().map(|rule| Rule { routes: all.clone(), ..rule }).collect();
    Ok(Alerting { rules, routes })
}

/// Each table, with a name of its own. `what` it is, for people.
fn read_all<K, T>(
    tables: &Tables<K>,
    read: impl Fn(&Section<K>) -> Result<T, ConfigError>,
    what: &str,
    name: impl Fn(&T) -> &str,
) -> Result<Vec<T>, ConfigError> {
    let mut all: Vec<T> = Vec::new();
    for table in open(tables)?.iter().flat_map(|tables| &tables.keys) {
        let one = read(table)?;
        if all.iter().any(|other| name(other) == name(&one)) {
            let (from, name) = (&table.from, name(&one));
            return refuse!("{from} has the name {name:?}, which is taken; give each {what} a name of its own");
        }
        all.push(one);
    }
    Ok(all)
}

fn names(routes: &[Receiver]) -> Vec<String> {
    routes.iter().map(|receiver| receiver.route.name.clone()).collect()
}

fn read_rule(table: &Section<AlertKeys>, ensembles: &[Ensemble], routes: &[Receiver]) -> Result<Rule, ConfigError> {
    let keys = &table.keys;
    let Some(name) = keys.name.read()? else {
        return table.lacks("name", "give it one, like name = \"orders-stuck\"");
    };
    let when = keys.when.given.as_ref().map(Given::each).unwrap_or_default();
    if when.is_empty() {
        return table.lacks("when", "write what it fires at, like when = [\"stuck\", \"waiting > 30s\"]");
    }
    if when.len() > CONDITIONS_MAX {
        return refuse!("{} has more than {CONDITIONS_MAX} conditions in `when`; write two rules", table.from);
    }
    let texts = when.iter().map(Given::text).collect::<Result<Vec<_>, _>>()?;
    let condition =
        |(text, given): (&String, &Given)| Condition::parse(text).map_err(|error| mistake!("{} {error}", given.from));
    let ensemble = keys.ensemble.read()?;
    if let (Some(wanted), Some(given)) = (&ensemble, &keys.ensemble.given)
        && ensembles.iter().all(|one| one.name != *wanted)
    {
        let names = ensembles.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join(", ");
        return given.refuse("is no ensemble", &format!("use one of {names}"));
    }
    for wanted in keys.route.given.iter().flat_map(Given::each) {
        if !names(routes).contains(&wanted.text()?) {
            return wanted.refuse("is the name of no [[route]]", "write one of that name, or name another");
        }
    }
    Ok(Rule {
        name: name.into(),
        when: texts.iter().zip(&when).map(condition).collect::<Result<_, _>>()?,
        path: keys.path.read_or("**".to_owned())?,
        ensemble,
        for_ms: keys.r#for.read_or(0)?,
        severity: keys.severity.read_or(Severity::Warning)?,
        routes: keys.route.read()?.unwrap_or_else(|| names(routes)),
        is_built_in: false,
    })
}

fn read_receiver(table: &Section<RouteKeys>, layers: &Layers<'_>) -> Result<Receiver, ConfigError> {
    let keys = &table.keys;
    let Some(name) = keys.name.read()? else {
        return table.lacks("name", "give it one, like name = \"on-call\"");
    };
    let Some(kind) = keys.kind.read()? else {
        return table.lacks("kind", &format!("write one of {}", RouteKind::ALL.map(RouteKind::name).join(", ")));
    };
    let may_be_plain = keys.allow_http.is_on("write on to send alerts in the clear, or leave it out")?.unwrap_or(false);
    let (from, url) = match (&keys.url.given, &keys.url_file.given) {
        (Some(url), None) => (url.from.as_str(), url.text()?),
        (None, Some(file)) => (file.from.as_str(), layers.read_secret(file, "name a file that can be")?),
        (None, None) if kind == RouteKind::PagerDuty => ("url", PAGER_DUTY.to_owned()),
        (None, None) => return table.lacks("url", "write its address, or name a file with it as `url_file`"),
        (Some(_), Some(file)) => {
            return refuse!("{} names an address, as `url` does; leave one of them out", file.from);
        }
    };
    let url = Route::check_url(kind, url.trim(), may_be_plain)
        .map_err(|fault| mistake!("{from} {}; {}", fault.why, fault.remedy))?;
    let secret = keys.secret_file.given.as_ref().map(|file| layers.read_secret(file, "name a file that can be"));
    let secret =
        secret.transpose()?.map(|secret| secret.trim().as_bytes().to_vec()).filter(|secret| !secret.is_empty());
    if secret.is_none() && matches!(kind, RouteKind::PagerDuty | RouteKind::Webhook) {
        return table.lacks("secret_file", "name a file with the secret that signs, or with PagerDuty's routing key");
    }
    let usual = (kind == RouteKind::Alertmanager).then_some(ALERTMANAGER_REPEAT_MS);
    let repeat_ms = keys.repeat.read()?.or(usual);
    Ok(Receiver { route: Route { name, kind, url, secret }, repeat_ms })
}
