//! Golden screens, keys, and what is said while the link is lost.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use lockscope_view::{
    Access, Advice, AsOf, Board, BoardHead, BoardQuery, Body, ClientFrame, CompactFrame, Confidence, Contender,
    ContenderRole, Depth, Epoch, Headline, Liveness, LockHead, LockPage, LockProblem, LockQuery, LockRow, LockStats,
    Recipe, RootBrief, RootState, SessionId, Step, StepAct, Totals, Trust, Verdict, View, Window, Zxid,
};

use super::app::{App, Size, Turn};
use super::viewer::Moment;
use crate::commands::query::table::OutputStyle;

mod screens;
mod steering;

pub(super) const PLAIN: OutputStyle = OutputStyle { columns: None, is_colored: false };
pub(super) const NOW_MS: i64 = 1_764_191_000_000;

pub(super) fn contender(node: &str, position: u32, label: &str) -> Contender {
    let role = if position == 0 { ContenderRole::Holder } else { ContenderRole::Waiter };
    Contender {
        path: format!("/order/{node}"),
        node: Some(node.to_owned()),
        sequence: Some(i64::from(position)),
        position,
        role,
        access: Access::Exclusive,
        session_id: Some(SessionId(0x1000_0000_0000 + i64::from(position))),
        ephemeral: Some(true),
        client: None,
        liveness: Liveness::Connected,
        runs_out: None,
        only_on: Vec::new(),
        label: Some(label.to_owned()),
        data: None,
        created_at_ms: None,
        waiting_since_ms: (position > 0).then_some(NOW_MS - 9_000),
        waiting_is_lower_bound: false,
        holding_since_ms: (position == 0).then_some(NOW_MS - 125_000),
        holding_is_lower_bound: true,
        waits_for: Vec::new(),
        czxid: None,
        version: 0,
    }
}

pub(super) fn row(path: &str, verdict: Verdict, label: &str, waiters: u32) -> LockRow {
    LockRow {
        key: path.to_owned(),
        ensemble: "default".to_owned(),
        tag: None,
        path: path.to_owned(),
        root: "/".to_owned(),
        recipe: Recipe::SequentialMutex,
        recipe_label: "kazoo Lock".to_owned(),
        confidence: Confidence::High,
        verdict,
        sentence: format!("{label} holds it."),
        state: RootState::Live,
        holders: vec![contender("lock-0", 0, label)],
        holder_count: 1,
        waiter_count: Some(waiters),
        oldest_wait_at_ms: (waiters > 0).then_some(NOW_MS - 9_000),
        wait_is_lower_bound: false,
        waiting_since_sum_ms: 0,
        missing: Vec::new(),
        held_since_ms: Some(NOW_MS - 125_000),
        hold_is_lower_bound: true,
        findings: Vec::new(),
        depth: Depth::default(),
        hand_offs_in_10_s: None,
    }
}

pub(super) fn headline() -> Headline {
    Headline {
        before: "labels-1@app-1 has held it for".to_owned(),
        since_ms: Some(NOW_MS - 125_000),
        is_lower_bound: true,
        after: "(usually 0.3 s). 4 wait.".to_owned(),
    }
}

pub(super) fn step() -> Step {
    let act = StepAct::Copy { command: "ssh app-1 jstack".to_owned() };
    Step { text: "Look at what its threads do.".to_owned(), act: Some(act) }
}

pub(super) fn problem() -> LockProblem {
    LockProblem {
        key: "stuck".to_owned(),
        ensemble: "default".to_owned(),
        tag: None,
        verdict: Verdict::Stuck,
        finding: None,
        locks: vec!["/shipping/labels".to_owned()],
        lock_count: 1,
        headline: headline(),
        waiter_count: 4,
        waiting_since_sum_ms: 0,
        step: step(),
        looked_after: None,
    }
}

pub(super) fn as_of(state: RootState) -> AsOf {
    AsOf { state, zxid: Zxid(42), ..AsOf::default() }
}

pub(super) fn board(rows: Vec<LockRow>, problems: Vec<LockProblem>) -> Board {
    let locks = u32::try_from(rows.len()).unwrap();
    let root = RootBrief {
        tag: None,
        path: "/".to_owned(),
        state: RootState::Live,
        since_ms: 0,
        why: String::new(),
        locks,
        help: String::new(),
    };
    let totals = Totals {
        locks,
        held: locks,
        waiters: 7,
        oldest_wait_at_ms: Some(NOW_MS - 9_000),
        verdicts: vec![(Verdict::Healthy, locks)],
        ..Totals::default()
    };
    let head = BoardHead {
        as_of: as_of(RootState::Live),
        totals,
        roots: vec![root],
        problem_count: u32::try_from(problems.len()).unwrap(),
        problems,
        problems_left_out: Vec::new(),
        ensembles_without_evidence: 0,
    };
    Board { head, window: Window { total: locks, offset: 0, rows } }
}

pub(super) fn lock_page(contenders: Vec<Contender>, total: u32) -> LockPage {
    let head = LockHead {
        row: row("/shipping/labels", Verdict::Stuck, "labels-1@app-1", 4),
        as_of: as_of(RootState::Live),
        recognised_by: Vec::new(),
        capacity: None,
        foreign: Vec::new(),
        findings: Vec::new(),
        notes: Vec::new(),
        stat: None,
        stats: LockStats::default(),
        past: Vec::new(),
        herd: None,
        fired: Vec::new(),
        hidden_waiters: 0,
        trust: Trust {
            connections_at_ms: None,
            watches_at_ms: None,
            members: 0,
            members_heard: 0,
            clock_offset_ms: None,
            clock_error_ms: None,
            zxid_behind: None,
        },
        advice: Some(Advice { headline: headline(), steps: vec![step()], why: "Held 400 times its usual.".to_owned() }),
    };
    LockPage { head, window: Window { total, offset: 0, rows: contenders } }
}

pub(super) fn size(columns: usize, rows: usize) -> Size {
    Size { columns, rows }
}

/// A moment at which a frame of `NOW_MS` arrives without delay.
pub(super) fn moment(after_ms: i64) -> Moment {
    Moment { wall_ms: NOW_MS + after_ms, steady_ms: 1_000_000 + after_ms }
}

pub(super) fn snapshot(app: &mut App, id: u32, body: Body, after_ms: i64) {
    let at_ms = NOW_MS + after_ms;
    let frame = CompactFrame::Snapshot {
        id,
        epoch: Epoch(1),
        seq: 1,
        server_time_ms: at_ms,
        known_at_ms: at_ms,
        body: Box::new(body),
    };
    app.viewer.take(frame, moment(after_ms));
}

pub(super) fn opened(size: Size, body: Body) -> App {
    let lock = match &body {
        Body::Lock(_) => Some(LockQuery { path: "/shipping/labels".to_owned(), ..LockQuery::default() }),
        _ => None,
    };
    let mut app = App::new("http://127.0.0.1:3000", BoardQuery::default(), lock, size);
    app.viewer.connected(moment(0));
    snapshot(&mut app, 1, body, 0);
    let _ = app.viewer.outbox();
    app
}

pub(super) fn text(app: &mut App) -> Vec<String> {
    app.screen().iter().map(|line| line.render(PLAIN)).collect()
}

pub(super) fn asked(app: &mut App) -> Vec<View> {
    let of = |frame| match frame {
        ClientFrame::Subscribe { view, .. } => Some(view),
        _ => None,
    };
    app.viewer.outbox().into_iter().filter_map(of).collect()
}

pub(super) fn press(app: &mut App, keys: &[KeyCode]) {
    for key in keys {
        assert_eq!(app.press((*key).into()), Turn::Go);
    }
}

pub(super) fn control(char: char) -> KeyEvent {
    KeyEvent::new(KeyCode::Char(char), KeyModifiers::CONTROL)
}
