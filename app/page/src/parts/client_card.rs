//! What is known of one session's client: where it connects from, to which member, and when it was last heard.

use super::{liveness_chip, session_url};
use crate::copy::copy_button;
use crate::format::{duration, middle, visible};
use crate::html::Html;
use lockscope_wire::{ClientInfo, Contender, Liveness, RunsOut, SessionId};

/// Longest name; the whole is in its title.
const NAME_CHARS: usize = 60;

/// The client of a session, as a card shows it.
pub(crate) struct ClientCard<'a> {
    /// Its ensemble.
    pub(crate) ensemble: &'a str,
    /// Its name on the card; empty where the page has it already.
    pub(crate) name: String,
    /// Its session, where it is to be linked.
    pub(crate) session_id: Option<SessionId>,
    /// What members told.
    pub(crate) client: Option<&'a ClientInfo>,
    /// Whether it is heard of.
    pub(crate) liveness: Liveness,
    /// When its session runs out.
    pub(crate) runs_out: Option<&'a RunsOut>,
    /// The members that have its znode, where they disagree.
    pub(crate) only_on: &'a [String],
    /// What can be done about it; empty for nothing.
    pub(crate) button: Html,
}

impl<'a> ClientCard<'a> {
    /// A contender.
    pub(crate) fn of(ensemble: &'a str, name: String, contender: &'a Contender) -> Self {
        Self {
            ensemble,
            name,
            session_id: contender.session_id,
            client: contender.client.as_ref(),
            liveness: contender.liveness,
            runs_out: contender.runs_out.as_ref(),
            only_on: &contender.only_on,
            button: Html::default(),
        }
    }
}

/// The card.
pub(crate) fn client_card(person: &ClientCard<'_>, now_ms: i64) -> Html {
    let name = Html::of("bdi", &[("class", "dossier-name"), ("title", &person.name)], &middle(&person.name, NAME_CHARS));
    let top = vec![
        if person.name.is_empty() { Html::default() } else { name },
        // With its end in words below, the chip needs no countdown.
        liveness_chip(person.liveness, None, now_ms),
        person.runs_out.map(|end| ending(end, now_ms)).unwrap_or_default(),
        only_on(person.only_on),
        person.button.clone(),
    ];
    let facts = facts(person, now_ms);
    let facts = if facts.is_empty() { Html::default() } else { Html::tag("dl", &[("class", "facts")], Html::all(facts)) };
    let top = Html::tag("p", &[("class", "dossier-top")], Html::all(top));
    let attributes = [("class", "dossier"), ("data-testid", "dossier"), ("data-liveness", person.liveness.name())];
    Html::tag("div", &attributes, Html::all(vec![top, facts]))
}

/// When the session runs out, in words.
fn ending(end: &RunsOut, now_ms: i64) -> Html {
    let (words, title) = if end.is_told {
        ("session runs out in ", "As the leader tells")
    } else {
        ("session runs out at the latest in ", "No leader tells: its time-out, from when no member listed it any more")
    };
    Html::tag("strong", &[("class", "dossier-out"), ("title", title)], Html::countdown(words, end.at_ms, now_ms))
}

fn facts(person: &ClientCard<'_>, now_ms: i64) -> Vec<Html> {
    let fact = |name: &str, class: &str, inner: Html| Html::tag("div", &[("class", "fact")], Html::pair(name, class, inner));
    let text = |text: &str| Html::of("bdi", &[], &visible(text));
    let ago = |since_ms: Option<i64>| since_ms.map(|since| Html::all(vec![Html::age(Some(since), false, now_ms), Html::text(" ago")]));
    let mut facts = Vec::new();
    if let Some(id) = person.session_id {
        let href = session_url(person.ensemble, id);
        let id = id.to_string();
        facts.push(fact("Session", "mono", Html::all(vec![Html::of("a", &[("class", "id"), ("href", &href)], &id), copy_button(&id, "session id")])));
    }
    let Some(client) = person.client else { return facts };
    let is_gone = person.liveness == Liveness::Disconnected;
    facts.push(fact(if is_gone { "Last client" } else { "Client" }, "mono", text(&client.address)));
    if !client.server.is_empty() {
        facts.push(fact(if is_gone { "Last member" } else { "Member" }, "mono", text(&client.server)));
    }
    let others = [
        ("Connected since", ago(client.connected_since_ms)),
        ("Last heard", ago(client.last_heard_at_ms)),
        ("Last operation", client.last_operation.as_deref().map(text)),
        ("Time-out", client.timeout_ms.map(|ms| Html::text(&duration(ms)))),
    ];
    facts.extend(others.into_iter().filter_map(|(name, inner)| Some(fact(name, "", inner?))));
    facts
}

/// A badge for what only some members have; nothing where they agree.
pub(crate) fn only_on(members: &[String]) -> Html {
    if members.is_empty() {
        return Html::default();
    }
    let whole = format!("only on {}", visible(&members.join(", ")));
    let title = format!("Not on every member: {whole}. The others do not have its znode.");
    let mut hosts: Vec<&str> = members.iter().map(|member| member.rsplit_once(':').map_or(&**member, |(host, _)| host)).collect();
    hosts.dedup();
    let text = if hosts.len() == members.len() { format!("only on {}", visible(&hosts.join(", "))) } else { whole };
    Html::of("span", &[("class", "only-on"), ("title", &title)], &middle(&text, 40))
}
