//! What is known of one session's client: where it connects from, to which member, and when it was last heard from.

use super::Piece::{Attribute, Text};
use super::{Age, Countdown, LivenessChip, Markup, Pair, filled, session_url, words};
use crate::erase::view;
use leptos::prelude::*;

use crate::copy::CopyButton;
use crate::explain::explained_term;
use crate::format::{duration, middle, visible};
use lockscope_view::{ClientInfo, Contender, ContenderRole, Liveness, RunsOut, SessionId, Zxid};

/// Longest name; the whole is in its title.
const NAME_CHARS: usize = 60;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Client {
    pub(crate) ensemble: String,
    /// Its name on the card; empty where the page has it already.
    pub(crate) name: String,
    /// Its session, where it is to be linked.
    pub(crate) session_id: Option<SessionId>,
    /// Identity of its znode, where it holds: what it guards may check that.
    pub(crate) token: Option<Zxid>,
    pub(crate) info: Option<ClientInfo>,
    pub(crate) liveness: Liveness,
    pub(crate) runs_out: Option<RunsOut>,
    /// The members that have its znode, where they disagree.
    pub(crate) only_on: Vec<String>,
}

impl Client {
    pub(crate) fn of(ensemble: &str, name: String, contender: &Contender) -> Self {
        Self {
            ensemble: ensemble.to_owned(),
            name,
            session_id: contender.session_id,
            token: contender.czxid.filter(|_| contender.role == ContenderRole::Holder),
            info: contender.client.clone(),
            liveness: contender.liveness,
            runs_out: contender.runs_out,
            only_on: contender.only_on.clone(),
        }
    }
}

/// The card; `button` is what can be done about it.
#[component]
pub(crate) fn ClientCard<B: IntoView + 'static>(of: Client, button: B) -> AnyView {
    let facts = (of.session_id.is_some() || of.info.is_some()).then(|| facts(&of));
    let only_on = only_on(&of.only_on);
    let name = filled(of.name).map(|name| {
        let short = middle(&name, NAME_CHARS);
        view! { <bdi class="dossier-name" title=visible(&name)>{visible(&short)}</bdi> }
    });
    view! {
        <div class="dossier" data-testid="dossier" data-liveness=of.liveness.name()>
            <p class="dossier-top">
                {name}
                // With its end in words below, the chip needs no countdown.
                <LivenessChip liveness=of.liveness />
                {of.runs_out.map(ending)}
                {only_on.map(|(title, text)| view! { <span class="only-on" title=title>{text}</span> })}
                {button}
            </p>
            {facts}
        </div>
    }
}

fn ending(end: RunsOut) -> AnyView {
    let (before, title) = words::runs_out_in(end.is_told);
    view! { <strong class="dossier-out" title=title><Countdown words=before.to_owned() until_ms=end.at_ms /></strong> }
}

fn facts(of: &Client) -> AnyView {
    let session = of.session_id.map(|id| {
        let value = view! {
            <a class="id" href=session_url(&of.ensemble, id)>{id.to_string()}</a>
            <CopyButton text=id.to_string() what=words::SESSION_ID />
        };
        view! { <div class="fact"><Pair term="Session" class="mono" value=value /></div> }
    });
    let reported = of.info.clone().map(|info| {
        let (client, member) = words::client_and_server(of.liveness == Liveness::Disconnected);
        (
            text(client, Some("mono"), Some(info.address)),
            explained_text(("member", member), filled(info.server)),
            ago(words::CONNECTED_SINCE, info.connected_since_ms),
            ago(words::LAST_HEARD, info.last_heard_at_ms),
            text(words::LAST_OPERATION, None, info.last_operation.as_deref().map(words::operation)),
            info.timeout_ms
                .map(|ms| view! { <div class="fact"><dt>"Session timeout"</dt><dd>{duration(ms)}</dd></div> }),
        )
    });
    let token = explained_text(("fencing-token", words::FENCING_TOKEN), of.token.map(|token| token.to_string()));
    view! { <dl class="facts">{session}{token}{reported}</dl> }
}

fn text(term: &'static str, class: Option<&'static str>, value: Option<String>) -> Option<AnyView> {
    value
        .map(|value| view! { <div class="fact"><dt>{term}</dt><dd class=class><bdi>{visible(&value)}</bdi></dd></div> })
}

fn explained_text((of, term): (&str, &'static str), value: Option<String>) -> Option<AnyView> {
    value.map(|value| {
        view! { <div class="fact"><dt>{explained_term(of, term)}</dt><dd class="mono"><bdi>{visible(&value)}</bdi></dd></div> }
    })
}

fn ago(term: &'static str, since_ms: Option<i64>) -> Option<AnyView> {
    since_ms
        .map(|since_ms| view! { <div class="fact"><dt>{term}</dt><dd><Age since_ms=Some(since_ms) />" ago"</dd></div> })
}

pub(crate) fn only_on_markup(members: &[String]) -> Markup {
    only_on(members).map_or_else(Markup::default, |(title, text)| {
        Markup::fill(r#"<span class="only-on"{}>{}</span>"#, &[Attribute("title", Some(&title)), Text(&text)])
    })
}

/// What the badge says, at length and in short.
fn only_on(members: &[String]) -> Option<(String, String)> {
    if members.is_empty() {
        return None;
    }
    let whole = words::only_on(&members.join(", "));
    let title = words::not_on_every(&whole);
    let mut hosts: Vec<&str> =
        members.iter().map(|member| member.rsplit_once(':').map_or(&**member, |(host, _)| host)).collect();
    hosts.dedup();
    let text = if hosts.len() == members.len() { words::only_on(&hosts.join(", ")) } else { whole };
    Some((title, middle(&text, 40)))
}
