//! What is shown of ensembles of which nothing came yet: that they are there, since when nothing is known, and why. Pure.

use feed::worse;
use lockscope_wire::{
    AsOf, Board, BoardHead, Body, ConfigStatus, EnsembleStatus, EnsembleTag, Lately, Link, PROTOCOL, RootBrief,
    RootState, Sessions, SessionsHead, Status, View, Waits, Window, Zxid,
};

use crate::directory::Foreign;
use crate::plan::Plan;

/// None for a view of one thing: of that it is not even known whether it is there.
pub(crate) fn of(view: &View, plan: &Plan, names: &[String], since_ms: i64, why: &str) -> Option<Body> {
    let tag = |foreign: &Foreign| foreign.color.map(|color| EnsembleTag { name: foreign.name.clone(), color });
    let as_of = AsOf { state: RootState::Stale, since_ms, why: why.to_owned(), ..AsOf::default() };
    let foreign = || names.iter().filter_map(|name| plan.foreign(name));
    let of_all = match foreign().next().filter(|_| names.len() == 1) {
        Some(one) => AsOf { ensemble: tag(one), ..as_of },
        None => worse(as_of.clone(), as_of),
    };
    Some(match view {
        View::Board(_) => {
            let root = |foreign: &Foreign| RootBrief {
                tag: tag(foreign),
                path: "/".to_owned(),
                state: RootState::Stale,
                since_ms,
                why: why.to_owned(),
                locks: 0,
                help: String::new(),
            };
            let head = BoardHead { as_of: of_all, roots: foreign().map(root).collect(), ..BoardHead::default() };
            Body::Board(Board { head, window: Window::default() })
        }
        View::Waits(_) => Body::Waits(Box::new(Waits { as_of: of_all, ..Waits::default() })),
        View::Sessions(_) => {
            let head = SessionsHead { as_of: of_all, ..SessionsHead::default() };
            Body::Sessions(Sessions { head, ..Sessions::default() })
        }
        View::Status {} => {
            let ensembles = foreign().map(|one| unknown(one, since_ms, why)).collect();
            // What is about a server is about this one, which has a part of its own.
            Body::Status(Status {
                version: String::new(),
                protocol: PROTOCOL,
                seq: 0,
                read_only: true,
                started_at_ms: since_ms,
                config: ConfigStatus::default(),
                ensembles,
            })
        }
        View::Events(_) => Body::Events(Lately { ensembles: Vec::new() }),
        View::Lock(_) | View::Session(_) | View::QueueMap(_) | View::Lab(_) => return None,
    })
}

fn unknown(foreign: &Foreign, since_ms: i64, why: &str) -> EnsembleStatus {
    EnsembleStatus {
        name: foreign.name.clone(),
        color: foreign.color,
        connect: foreign.connect.clone(),
        link: Link::Lost,
        since_ms,
        why: why.to_owned(),
        session_id: None,
        zxid: Zxid::default(),
        clock_offset_ms: None,
        clock_error_ms: None,
        roots: Vec::new(),
        evidence: Vec::new(),
        findings: Vec::new(),
        resyncs: None,
        events: None,
        owner_unknown: None,
        missed: None,
        history: None,
        excluded: None,
        proof: Default::default(),
    }
}
