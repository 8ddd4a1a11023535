//! One incident: what happened, who held and who waited when, and what it was like before.

use std::fmt::Write as _;

use crate::erase::view;
use leptos::prelude::*;

use super::{ServerPage, words};
use crate::format::{duration, middle, visible};
use crate::parts::{Columns, marked, marked_table, numbers_way, stamp};
use lockscope_view::Verdict;

/// Longest text in a cell; the whole is in its title.
const CELL_CHARS: usize = 44;
/// Width of the time axis.
const WIDTH: i64 = 1_000;
/// Height of the picture of how many waited.
const DEPTH_HEIGHT: i64 = 40;

/// One incident.
#[derive(Clone, Debug)]
pub struct IncidentView {
    /// What happened, in plain words.
    pub sentence: String,
    /// The worst verdict.
    pub worst: Verdict,
    /// The finding that says what was wrong, where no verdict does.
    pub finding: Option<String>,
    /// When it began.
    pub from_ms: i64,
    /// When it ended; None while it goes on.
    pub to_ms: Option<i64>,
    /// The instant at which it is looked at.
    pub now_ms: i64,
    /// Its locks, each with the address of its page as it was when trouble began.
    pub locks: Vec<(String, String)>,
    /// Further locks.
    pub locks_left_out: usize,
    /// Who held or waited, in the order in which they came.
    pub lanes: Vec<IncidentLane>,
    /// Further ones.
    pub lanes_left_out: usize,
    /// How many waited from each instant on, the oldest first.
    pub depth: Vec<(i64, u32)>,
    /// There were more: not all who waited were looked at.
    pub is_depth_least: bool,
    /// Sessions that waited 1 s or longer, and the most at once.
    pub victims: (usize, usize),
    /// All waiting.
    pub waiting_ms: i64,
    /// What happened meanwhile: findings and releases, the oldest first.
    pub facts: Vec<IncidentFact>,
    /// When the same lock was in the same trouble before, the newest first.
    pub earlier: Vec<IncidentBefore>,
    /// How often altogether.
    pub seen_before: usize,
    /// What they have in common, in plain words.
    pub again: String,
    /// Incidents that were like it, on whatever lock; None where there are none, or there was no time to look.
    pub alike: Option<IncidentsAlike>,
    /// What was released and which alerts fired meanwhile, the oldest first.
    pub acts: Vec<IncidentAct>,
    /// Addresses: as Markdown, JSON, Perfetto and a file of its own.
    pub ways: Vec<(&'static str, String)>,
    /// The address of the whole list.
    pub list_url: String,
}

/// Who held or waited.
#[derive(Clone, Debug)]
pub struct IncidentLane {
    /// Who.
    pub who: String,
    /// Address of its session's page then.
    pub url: Option<String>,
    /// The lock.
    pub lock: String,
    /// When it came.
    pub joined_ms: i64,
    /// When it held.
    pub held_ms: Option<i64>,
    /// When it left.
    pub left_ms: Option<i64>,
    /// How, in words.
    pub how: &'static str,
    /// It made the others wait.
    pub is_root: bool,
    /// It waits for nothing that anybody should let go.
    pub stands_by: bool,
}

/// The same lock in the same trouble before.
#[derive(Clone, Debug)]
pub struct IncidentBefore {
    /// When it began.
    pub from_ms: i64,
    /// How long it lasted.
    pub lasted_ms: i64,
    /// How it ended, in words.
    pub ended: &'static str,
    /// Address of its page.
    pub url: String,
}

/// Incidents that were like it, on whatever lock.
#[derive(Clone, Debug)]
pub struct IncidentsAlike {
    /// How many there were, and how many ended likewise.
    pub sentence: String,
    /// The newest first.
    pub rows: Vec<AlikeIncident>,
}

/// One that was like it.
#[derive(Clone, Debug)]
pub struct AlikeIncident {
    /// When it began.
    pub from_ms: i64,
    /// How long it lasted.
    pub lasted_ms: i64,
    /// The root's lock.
    pub lock: String,
    /// How it ended, in words.
    pub ended: &'static str,
    /// As this one did.
    pub is_likewise: bool,
    /// Address of its page.
    pub url: String,
}

/// What was done about it, or who was called.
#[derive(Clone, Debug)]
pub struct IncidentAct {
    /// When.
    pub at_ms: i64,
    /// The lock.
    pub lock: String,
    /// What.
    pub what: IncidentActKind,
    /// Address of the page that says more.
    pub url: Option<String>,
}

/// What was done.
#[derive(Clone, Debug)]
pub enum IncidentActKind {
    /// Somebody released the lock.
    Release {
        /// Who, where that may be shown.
        by: Option<String>,
    },
    /// An alert fired.
    Alert {
        /// The rule.
        rule: String,
        /// When it was over.
        until_ms: Option<i64>,
        /// What it said.
        sentence: String,
    },
}

/// What happened meanwhile.
#[derive(Clone, Debug)]
pub struct IncidentFact {
    /// When.
    pub at_ms: i64,
    /// How bad: 0 for worth knowing, 2 for act.
    pub severity: u8,
    /// What it is called.
    pub name: String,
    /// The lock.
    pub lock: String,
    /// One sentence.
    pub text: String,
}

const LANES: Columns = &[
    ("Who", ""),
    ("Lock", ""),
    ("From begin to end", "incident-time"),
    (words::LANE_WAITED, "table-number"),
    (words::LANE_HELD, "table-number"),
    (super::incidents::HOW, ""),
];

/// The page.
pub fn incident_page(plain: &ServerPage<'_>, of: &IncidentView) -> String {
    super::page(plain, "Incident", "events", of.now_ms, || {
        let axis = Axis::of(of);
        let lanes = of.lanes.iter().map(|lane| row(lane, axis)).collect_view();
        let left_out = |number: usize| (number > 0).then(|| view! { <p class="quiet">{words::further(number)}</p> });
        let way = |(name, url): &(&'static str, String)| view! { <a class="tool" href=url.clone()>{*name}</a> };
        view! {
            <p class="crumbs"><a href=of.list_url.clone()>"Incidents"</a></p>
            <h1 class="page-title">{super::incidents::what(of.worst, of.finding.as_deref())} " " {visible(&of.sentence)}</h1>
            {figures(of)}
            <h2 class="part-title">{words::INCIDENT_LOCKS}</h2>
            <ul class="incident-list" data-testid="incident-locks">{of.locks.iter().map(lock).collect_view()}</ul>
            {left_out(of.locks_left_out)}
            <h2 class="part-title">{words::INCIDENT_LANES}</h2>
            <p class="quiet">{words::INCIDENT_LANES_LEAD} " " {stamp(axis.from_ms)} " – " {stamp(axis.to_ms)}</p>
            {depth(of, axis)}
            {marked_table("incident-lanes", LANES, lanes.into_any())}
            {left_out(of.lanes_left_out)}
            {acts(of)}
            {facts(of)}
            {before(of)}
            {alike(of)}
            <nav class="audit-ways" aria-label="As a file">{of.ways.iter().map(way).collect_view()}</nav>
            <p class="quiet">{numbers_way()}</p>
        }
    })
}

fn figures(of: &IncidentView) -> AnyView {
    let one = |name: &'static str, value: AnyView| view! { <div><dt>{marked(name)}</dt><dd>{value}</dd></div> };
    let ended = match of.to_ms {
        Some(to_ms) => stamp(to_ms).into_any(),
        None => view! { <span>"not yet"</span> }.into_any(),
    };
    let lasted = duration(of.to_ms.unwrap_or(of.now_ms) - of.from_ms);
    let (victims, peak) = of.victims;
    view! {
        <dl class="incident-figures" data-testid="incident-figures">
            {one(super::incidents::BEGAN, stamp(of.from_ms).into_any())}
            {one(words::INCIDENT_ENDED, ended)}
            {one(super::incidents::LASTED, view! { <span>{lasted}</span> }.into_any())}
            {one(words::INCIDENT_VICTIMS, view! { <span>{words::victims(victims, peak)}</span> }.into_any())}
            {one(words::INCIDENT_WAITING, view! { <span>{duration(of.waiting_ms)}</span> }.into_any())}
            {one(words::INCIDENT_SEEN, view! { <span>{super::incidents::times(of.seen_before)}</span> }.into_any())}
        </dl>
    }
}

fn lock((path, url): &(String, String)) -> AnyView {
    let whole = visible(path);
    view! { <li><a href=url.clone()><code title=whole.clone()><bdi>{whole.clone()}</bdi></code></a></li> }
}

/// The time that is shown: the incident and a little around it.
#[derive(Clone, Copy, Debug)]
struct Axis {
    from_ms: i64,
    to_ms: i64,
}

impl Axis {
    fn of(of: &IncidentView) -> Self {
        let to_ms = of.to_ms.unwrap_or(of.now_ms).max(of.from_ms + 1);
        let around_ms = ((to_ms - of.from_ms) / 10).max(500);
        Self { from_ms: of.from_ms - around_ms, to_ms: (to_ms + around_ms).min(of.now_ms.max(to_ms)) }
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

/// How many waited when, as steps over the same time as the lanes.
fn depth(of: &IncidentView, axis: Axis) -> Option<AnyView> {
    let most = of.depth.iter().map(|(_, waiting)| *waiting).max().filter(|most| *most > 0)?;
    let path = steps(&of.depth, most, axis);
    Some(view! {
        <div class="incident-picture" data-testid="incident-depth">
            <p class="quiet">{marked(words::DEPTH)}{words::depth(most, of.is_depth_least)}</p>
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

fn row(of: &IncidentLane, axis: Axis) -> AnyView {
    let left_ms = of.left_ms.unwrap_or(axis.to_ms).max(of.joined_ms);
    let held_ms = of.held_ms.unwrap_or(left_ms).clamp(of.joined_ms, left_ms);
    let bar = |kind: &'static str, from_ms: i64, to_ms: i64| {
        let (x, width) = axis.bar(from_ms, to_ms);
        view! { <rect class="lane" data-lane=kind x=x.to_string() y="1" width=width.to_string() height="8"></rect> }
    };
    let waits =
        (held_ms > of.joined_ms).then(|| bar(if of.stands_by { "stands-by" } else { "waits" }, of.joined_ms, held_ms));
    let holds = of.held_ms.is_some().then(|| bar(if of.is_root { "root" } else { "holds" }, held_ms, left_ms));
    let who = visible(&of.who);
    let name = view! { <bdi title=who.clone()>{middle(&who, CELL_CHARS)}</bdi> };
    let name = match &of.url {
        Some(url) => view! { <a href=url.clone()>{name}</a> },
        None => name,
    };
    let path = visible(&of.lock);
    let root = of.is_root.then(|| view! { <div class="quiet">{words::INCIDENT_ROOT}</div> });
    view! {
        <tr data-is-root=of.is_root.to_string()>
            <td class="audit-where">{name}{root}</td>
            <td class="audit-where"><code title=path.clone()><bdi>{middle(&path, CELL_CHARS)}</bdi></code></td>
            <td class="incident-time"><svg viewBox=format!("0 0 {WIDTH} 10") preserveAspectRatio="none" aria-hidden="true">{waits}{holds}</svg></td>
            <td class="table-number" data-name="waited">{duration(held_ms - of.joined_ms)}</td>
            <td class="table-number" data-name=of.held_ms.map(|_| "held")>{of.held_ms.map(|_| duration(left_ms - held_ms))}</td>
            <td>{of.how}</td>
        </tr>
    }
}

fn acts(of: &IncidentView) -> Option<AnyView> {
    let act = |act: &IncidentAct| {
        let text = match &act.what {
            IncidentActKind::Release { by } => words::released(by.as_deref().map(visible).as_deref()),
            IncidentActKind::Alert { rule, until_ms, sentence } => {
                let lasted = until_ms.map(|until_ms| duration(until_ms - act.at_ms));
                words::alert_fired(&visible(rule), lasted.as_deref(), &visible(sentence))
            }
        };
        let text = match &act.url {
            Some(url) => view! { <a href=url.clone()>{text}</a> },
            None => view! { <span>{text}</span> },
        };
        view! { <li>{stamp(act.at_ms)} " " <code><bdi>{visible(&act.lock)}</bdi></code> " " {text}</li> }
    };
    (!of.acts.is_empty()).then(|| {
        view! {
            <h2 class="part-title">{words::INCIDENT_ACTS}</h2>
            <ol class="incident-list" data-testid="incident-acts">{of.acts.iter().map(act).collect_view()}</ol>
        }
    })
}

fn facts(of: &IncidentView) -> Option<AnyView> {
    let fact = |fact: &IncidentFact| {
        view! {
            <li data-severity=fact.severity.to_string()>
                {stamp(fact.at_ms)} " " <strong>{visible(&fact.name)}</strong> " " <code><bdi>{visible(&fact.lock)}</bdi></code> " " {visible(&fact.text)}
            </li>
        }
    };
    (!of.facts.is_empty()).then(|| {
        view! {
            <h2 class="part-title">{words::INCIDENT_FACTS}</h2>
            <ol class="incident-list" data-testid="incident-facts">{of.facts.iter().map(fact).collect_view()}</ol>
        }
    })
}

fn before(of: &IncidentView) -> Option<AnyView> {
    let one = |of: &IncidentBefore| {
        view! { <li><a href=of.url.clone()>{stamp(of.from_ms)}</a> ", " {duration(of.lasted_ms)} ", " {of.ended}</li> }
    };
    (!of.earlier.is_empty()).then(|| {
        view! {
            <h2 class="part-title">{words::INCIDENT_BEFORE}</h2>
            {(!of.again.is_empty()).then(|| view! { <p data-testid="incident-again">{visible(&of.again)}</p> })}
            <ul class="incident-list" data-testid="incident-before">{of.earlier.iter().map(one).collect_view()}</ul>
        }
    })
}

fn alike(of: &IncidentView) -> Option<AnyView> {
    let one = |of: &AlikeIncident| {
        let likewise = of.is_likewise.then_some(words::LIKEWISE);
        view! {
            <li><a href=of.url.clone()>{stamp(of.from_ms)}</a> " " <code><bdi>{visible(&of.lock)}</bdi></code> ", " {duration(of.lasted_ms)} ", " {of.ended} {likewise}</li>
        }
    };
    of.alike.as_ref().map(|alike| {
        view! {
            <h2 class="part-title">{marked(words::INCIDENTS_ALIKE)}</h2>
            <p data-testid="incident-alike">{visible(&alike.sentence)}</p>
            <ul class="incident-list">{alike.rows.iter().map(one).collect_view()}</ul>
        }
    })
}

#[cfg(test)]
mod tests;
