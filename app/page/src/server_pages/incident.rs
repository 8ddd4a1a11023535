//! One incident: what happened, who held and who waited when, and what it was like before.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::erase::view;
use leptos::prelude::*;

use super::{ServerPage, words};
use crate::format::{count, duration, visible};
use crate::parts::{
    Columns, linked, lock_url, marked, marked_table, numbers_way, session_url, shortened, shortened_code, stamp,
};
use lockscope_view::past::{
    AlikeIncident, EarlierIncident, Incident, IncidentAlert, IncidentLife, IncidentRelease, Mark, OneIncident,
};

/// Longest text in a cell; the whole is in its title.
const CELL_CHARS: usize = 44;
const WIDTH: i64 = 1_000;
const DEPTH_HEIGHT: i64 = 40;

const LOCKS_MAX: usize = 40;
/// Whoever held or waited. Overflow policy: whoever is at the root, held, or waited longest is drawn.
const LANES_MAX: usize = 120;

#[derive(Clone, Debug, Default)]
pub struct IncidentView {
    pub incident: OneIncident,
    /// Findings and releases at its locks meanwhile, the oldest first.
    pub facts: Vec<Mark>,
    pub now_ms: i64,
    /// Its ensemble; empty where there is only one.
    pub ensemble: String,
    /// Address of an incident's page, without its id.
    pub url: String,
    /// Addresses: as Markdown, JSON, Perfetto and a file of its own.
    pub ways: Vec<(&'static str, String)>,
}

const LANES: Columns = &[
    ("Who", ""),
    ("Lock", ""),
    ("From begin to end", "incident-time"),
    (words::LANE_WAITED, "table-number"),
    (words::LANE_HELD, "table-number"),
    (super::incidents::HOW, ""),
];

pub fn incident_page(plain: &ServerPage<'_>, of: &IncidentView) -> String {
    super::page(plain, "Incident", "events", of.now_ms, || {
        let OneIncident { incident, lives, lives_left_out, .. } = &of.incident;
        let axis = Axis::of(of);
        let lanes = lanes(lives).into_iter().map(|life| row(of, life, axis)).collect_view();
        let left_out = |number: usize| (number > 0).then(|| view! { <p class="quiet">{words::further(number)}</p> });
        let way = |(name, url): &(&'static str, String)| view! { <a class="tool" href=url.clone()>{*name}</a> };
        let named = form_urlencoded::byte_serialize(of.ensemble.as_bytes()).collect::<String>();
        let list = if named.is_empty() { "/incidents".to_owned() } else { format!("/incidents?ensemble={named}") };
        let lock = |path: &String| {
            let url = format!("{}&at={}", lock_url(&of.ensemble, path), incident.from_at_ms);
            let whole = visible(path);
            view! { <li><a href=url><code title=whole.clone()><bdi>{whole.clone()}</bdi></code></a></li> }
        };
        view! {
            <p class="crumbs"><a href=list>"Incidents"</a></p>
            <h1 class="page-title">{super::incidents::what(incident.worst, incident.finding.as_deref())} " " {visible(&incident.sentence)}</h1>
            {figures(incident, of.now_ms)}
            <h2 class="part-title">{words::INCIDENT_LOCKS}</h2>
            <ul class="incident-list" data-testid="incident-locks">{incident.locks.iter().take(LOCKS_MAX).map(lock).collect_view()}</ul>
            {left_out(incident.locks.len().saturating_sub(LOCKS_MAX))}
            <h2 class="part-title">{words::INCIDENT_LANES}</h2>
            <p class="quiet">{words::INCIDENT_LANES_LEAD} " " {stamp(axis.from_ms)} " – " {stamp(axis.to_ms)}</p>
            {depth(&of.incident, axis)}
            {marked_table("incident-lanes", LANES, lanes.into_any())}
            {left_out(lives_left_out + lives.len().saturating_sub(LANES_MAX))}
            {acts(&of.incident)}
            {facts(&of.facts)}
            {before(of)}
            {alike(of)}
            <nav class="audit-ways" aria-label="As a file">{of.ways.iter().map(way).collect_view()}</nav>
            <p class="quiet">{numbers_way()}</p>
        }
    })
}

fn figures(of: &Incident, now_ms: i64) -> AnyView {
    let one = |name: &'static str, value: AnyView| view! { <div><dt>{marked(name)}</dt><dd>{value}</dd></div> };
    let ended = match of.to_at_ms {
        Some(to_ms) => stamp(to_ms),
        None => view! { <span>"not yet"</span> },
    };
    view! {
        <dl class="incident-figures" data-testid="incident-figures">
            {one(super::incidents::BEGAN, stamp(of.from_at_ms))}
            {one(words::INCIDENT_ENDED, ended)}
            {one(super::incidents::LASTED, view! { <span>{duration(of.lasted_ms(now_ms))}</span> })}
            {one(words::INCIDENT_VICTIMS, view! { <span>{words::victims(of.victims, of.victims_peak)}</span> })}
            {one(words::INCIDENT_WAITING, view! { <span>{duration(of.waiting_ms)}</span> })}
            {one(words::INCIDENT_SEEN, view! { <span>{count(of.seen_before as u64)}</span> })}
        </dl>
    }
}

/// The time that is shown: the incident and a little around it.
#[derive(Clone, Copy, Debug)]
struct Axis {
    from_ms: i64,
    to_ms: i64,
}

impl Axis {
    fn of(of: &IncidentView) -> Self {
        let from_ms = of.incident.incident.from_at_ms;
        let to_ms = of.incident.incident.to_at_ms.unwrap_or(of.now_ms).max(from_ms + 1);
        let around_ms = ((to_ms - from_ms) / 10).max(500);
        Self { from_ms: from_ms - around_ms, to_ms: (to_ms + around_ms).min(of.now_ms.max(to_ms)) }
    }

    fn x(self, at_ms: i64) -> i64 {
        (at_ms.clamp(self.from_ms, self.to_ms) - self.from_ms) * WIDTH / (self.to_ms - self.from_ms).max(1)
    }

    /// Where a stretch lies, at least one wide.
    fn bar(self, from_ms: i64, to_ms: i64) -> (i64, i64) {
        let (from, to) = (self.x(from_ms), self.x(to_ms));
        (from.min(WIDTH - 2), (to - from).max(2))
    }
}

/// Those that are drawn, in the order in which they came.
fn lanes(lives: &[IncidentLife]) -> Vec<&IncidentLife> {
    let mut drawn: Vec<(usize, &IncidentLife)> = lives.iter().enumerate().collect();
    drawn.sort_by_key(|(_, life)| {
        let long = life.left_at_ms.map_or(i64::MAX, |left_ms| left_ms.saturating_sub(life.joined_at_ms));
        (!life.is_root, life.held_at_ms.is_none(), std::cmp::Reverse(long))
    });
    drawn.truncate(LANES_MAX);
    drawn.sort_by_key(|(place, _)| *place);
    drawn.into_iter().map(|(_, life)| life).collect()
}

/// How many waited from each instant on, the oldest first.
fn waiting(lives: &[IncidentLife]) -> Vec<(i64, u32)> {
    let mut by_instant = BTreeMap::<i64, i64>::new();
    for life in lives.iter().filter(|life| life.is_waiting) {
        *by_instant.entry(life.joined_at_ms).or_default() += 1;
        if let Some(end_ms) = life.held_at_ms.or(life.left_at_ms) {
            *by_instant.entry(end_ms).or_default() -= 1;
        }
    }
    let sum = |now: &mut i64, (at_ms, step): (i64, i64)| {
        *now += step;
        Some((at_ms, u32::try_from(*now).unwrap_or(0)))
    };
    by_instant.into_iter().scan(0, sum).collect()
}

/// How many waited when, as steps over the same time as the lanes.
fn depth(of: &OneIncident, axis: Axis) -> Option<AnyView> {
    let depth = waiting(&of.lives);
    let most = depth.iter().map(|(_, waiting)| *waiting).max().filter(|most| *most > 0)?;
    let path = steps(&depth, most, axis);
    let is_least = of.lives_left_out > 0 || of.incident.is_lower_bound;
    Some(view! {
        <div class="incident-picture" data-testid="incident-depth">
            <p class="quiet">{marked(words::DEPTH)}{words::depth(most, is_least)}</p>
            <svg viewBox=format!("0 0 {WIDTH} {DEPTH_HEIGHT}") preserveAspectRatio="none" aria-hidden="true">
                <path class="lane" data-lane="holds" d=path></path>
            </svg>
        </div>
    })
}

/// The outline of the steps, on the ground at both ends.
fn steps(depth: &[(i64, u32)], most: u32, axis: Axis) -> String {
    let y = |waiting: u32| DEPTH_HEIGHT - i64::from(waiting) * DEPTH_HEIGHT / i64::from(most.max(1));
    let mut path = format!("M0 {DEPTH_HEIGHT}");
    for (at_ms, waiting) in depth {
        let _ = write!(path, "H{}V{}", axis.x(*at_ms), y(*waiting));
    }
    let _ = write!(path, "H{WIDTH}V{DEPTH_HEIGHT}Z");
    path
}

fn row(page: &IncidentView, of: &IncidentLife, axis: Axis) -> AnyView {
    let left_ms = of.left_at_ms.unwrap_or(axis.to_ms).max(of.joined_at_ms);
    let held_ms = of.held_at_ms.unwrap_or(left_ms).clamp(of.joined_at_ms, left_ms);
    let bar = |kind: &'static str, from_ms: i64, to_ms: i64| {
        let (x, width) = axis.bar(from_ms, to_ms);
        view! { <rect class="lane" data-lane=kind x=x.to_string() y="1" width=width.to_string() height="8"></rect> }
    };
    let waits = (held_ms > of.joined_at_ms)
        .then(|| bar(if of.is_waiting { "waits" } else { "stands-by" }, of.joined_at_ms, held_ms));
    let holds = of.held_at_ms.is_some().then(|| bar(if of.is_root { "root" } else { "holds" }, held_ms, left_ms));
    let who = [&of.label, &of.host, &of.session_id].into_iter().flatten().next();
    let name = shortened(who.map_or(words::NO_SESSION, String::as_str), CELL_CHARS);
    let url = of.session_id.as_ref().and_then(|id| id.parse().ok()).map(|id| {
        // It may have come later.
        let at_ms = page.incident.incident.from_at_ms.max(of.joined_at_ms.saturating_add(1));
        format!("{}&at={at_ms}", session_url(&page.ensemble, id))
    });
    let name = linked(url, name);
    let root = of.is_root.then(|| view! { <div class="quiet">{words::INCIDENT_ROOT}</div> });
    view! {
        <tr data-is-root=of.is_root.to_string()>
            <td class="audit-where">{name}{root}</td>
            <td class="audit-where">{shortened_code(&of.lock, CELL_CHARS)}</td>
            <td class="incident-time"><svg viewBox=format!("0 0 {WIDTH} 10") preserveAspectRatio="none" aria-hidden="true">{waits}{holds}</svg></td>
            <td class="table-number" data-name="waited">{duration(held_ms - of.joined_at_ms)}</td>
            <td class="table-number" data-name=of.held_at_ms.map(|_| "held")>{of.held_at_ms.map(|_| duration(left_ms - held_ms))}</td>
            <td>{words::left(of.how)}</td>
        </tr>
    }
}

/// What was released and which alerts fired meanwhile, the oldest first.
fn acts(of: &OneIncident) -> Option<AnyView> {
    let release = |of: &IncidentRelease| {
        let url = of.record.map(|record| format!("/audit?before={}#r{record}", record.saturating_add(1)));
        (of.at_ms, of.lock.clone(), words::released(of.by.as_deref().map(visible).as_deref()), url)
    };
    let alert = |of: &IncidentAlert| {
        let lasted = of.resolved_at_ms.map(|until_ms| duration(until_ms - of.fired_at_ms));
        let text = words::alert_fired(&visible(&of.rule), lasted.as_deref(), &visible(&of.sentence));
        (of.fired_at_ms, of.lock.clone(), text, Some("/alerts?state=all".to_owned()))
    };
    let mut acts: Vec<_> = of.releases.iter().map(release).chain(of.alerts.iter().map(alert)).collect();
    acts.sort_by_key(|(at_ms, ..)| *at_ms);
    let act = |(at_ms, lock, text, url): (i64, String, String, Option<String>)| {
        let text = match url {
            Some(url) => view! { <a href=url>{text}</a> },
            None => view! { <span>{text}</span> },
        };
        view! { <li>{stamp(at_ms)} " " <code><bdi>{visible(&lock)}</bdi></code> " " {text}</li> }
    };
    (!acts.is_empty()).then(|| {
        view! {
            <h2 class="part-title">{words::INCIDENT_ACTS}</h2>
            <ol class="incident-list" data-testid="incident-acts">{acts.into_iter().map(act).collect_view()}</ol>
        }
    })
}

fn facts(facts: &[Mark]) -> Option<AnyView> {
    let fact = |fact: &Mark| {
        let (name, lock) = (visible(&fact.code).replace('_', " "), fact.path.as_deref().map(visible));
        view! {
            <li data-severity=fact.severity.to_string()>
                {stamp(fact.at_ms)} " " <strong>{name}</strong> " " <code><bdi>{lock.unwrap_or_default()}</bdi></code> " " {visible(&fact.text)}
            </li>
        }
    };
    (!facts.is_empty()).then(|| {
        view! {
            <h2 class="part-title">{words::INCIDENT_FACTS}</h2>
            <ol class="incident-list" data-testid="incident-facts">{facts.iter().map(fact).collect_view()}</ol>
        }
    })
}

fn before(of: &IncidentView) -> Option<AnyView> {
    let OneIncident { earlier, again, .. } = &of.incident;
    let one = |one: &EarlierIncident| {
        let url = format!("{}{}", of.url, one.id);
        view! { <li><a href=url>{stamp(one.from_at_ms)}</a> ", " {duration(one.lasted_ms)} ", " {words::ended(one.ended_by)}</li> }
    };
    (!earlier.is_empty()).then(|| {
        view! {
            <h2 class="part-title">{words::INCIDENT_BEFORE}</h2>
            {again.as_deref().map(|again| view! { <p data-testid="incident-again">{visible(again)}</p> })}
            <ul class="incident-list" data-testid="incident-before">{earlier.iter().map(one).collect_view()}</ul>
        }
    })
}

fn alike(of: &IncidentView) -> Option<AnyView> {
    let one = |one: &AlikeIncident| {
        let url = format!("{}{}", of.url, one.id);
        let likewise = one.is_likewise.then_some(words::LIKEWISE);
        view! {
            <li><a href=url>{stamp(one.from_at_ms)}</a> " " <code><bdi>{visible(&one.root_lock)}</bdi></code> ", " {duration(one.lasted_ms)} ", " {words::ended(one.ended_by)} {likewise}</li>
        }
    };
    of.incident.alike.as_ref().filter(|alike| alike.count > 0).map(|alike| {
        view! {
            <h2 class="part-title">{marked(words::INCIDENTS_ALIKE)}</h2>
            <p data-testid="incident-alike">{visible(&alike.sentence)}</p>
            <ul class="incident-list">{alike.incidents.iter().map(one).collect_view()}</ul>
        }
    })
}

#[cfg(test)]
mod tests;
