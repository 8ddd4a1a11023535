//! The model against frames as the server would send them.

use super::*;
use crate::{Board, BoardQuery, QueueMapQuery};

fn board(locks: u32) -> Board {
    let mut board = Board::default();
    board.head.totals.locks = locks;
    board
}

fn view() -> View {
    View::Board(BoardQuery::default())
}

fn delta(id: u32, seq: u64, from: u32, to: u32) -> CompactFrame {
    let body = Body::Board(board(from)).patch_to(&Body::Board(board(to))).unwrap();
    CompactFrame::Delta { id, server_time_ms: 5, seq, known_at_ms: 5, body }
}

fn locks(model: &LiveModel) -> u32 {
    match model.body() {
        Some(Body::Board(board)) => board.head.totals.locks,
        other => panic!("{other:?}"),
    }
}

trait Shows {
    fn shows(&mut self, frame: CompactFrame) -> AppliedFrame;
}

impl Shows for LiveModel {
    /// Draws each frame.
    fn shows(&mut self, frame: CompactFrame) -> AppliedFrame {
        let applied = self.take(frame);
        self.draw();
        applied
    }
}

fn opened() -> (LiveModel, u32) {
    let mut model = LiveModel::default();
    let id = model.open(view(), Some((Epoch(7), 3, 1, Body::Board(board(1)))));
    model.connected();
    (model, id)
}

#[test]
fn goes_on_from_what_the_server_rendered() {
    let (mut model, id) = opened();
    assert_eq!(model.take_outbox(), [ClientFrame::ResumeAfter { id, view: view(), epoch: Epoch(7), seq: 3 }]);
    assert!(model.shows(delta(id, 4, 1, 2)).changed);
    assert_eq!(locks(&model), 2);
}

/// What the page is about and what is beside it, both boards here.
fn read(model: &LiveModel) -> (u32, Option<u32>) {
    (locks(model), model.board_head().map(|head| head.totals.locks))
}

#[test]
fn all_is_read_as_drawn() {
    let (mut model, id) = opened();
    assert!(model.take(delta(id, 4, 1, 2)).changed);
    assert_eq!(read(&model), (1, Some(1)), "whoever reads before it is drawn");
    assert!(matches!(model.newest(), Some(Body::Board(board)) if board.head.totals.locks == 2));
    model.take(delta(id, 5, 2, 3));
    model.draw();
    assert_eq!(read(&model), (3, Some(3)));
}

#[test]
fn drawn_age_stands_until_drawn() {
    let (mut model, id) = opened();
    let confirm = |model: &mut LiveModel, seq, known_at_ms| {
        let views = vec![KnownView { id, seq, known_at_ms }];
        model.take(CompactFrame::Heartbeat { seq: 0, server_time_ms: known_at_ms, views });
        model.known_at_ms()
    };
    assert_eq!(confirm(&mut model, 3, 20), Some(20), "it is what is shown");
    model.take(delta(id, 4, 1, 2));
    assert_eq!(confirm(&mut model, 4, 30), Some(20), "what is confirmed is not what is shown");
    model.draw();
    assert_eq!(model.known_at_ms(), Some(30));
}

#[test]
fn what_waits_beside_ages_nothing() {
    let mut model = LiveModel::default();
    let id = model.open(View::Lock(crate::LockQuery::default()), Some((Epoch(7), 3, 1, Body::Lock(None))));
    model.connected();
    let body = Box::new(Body::Board(board(9)));
    model.take(CompactFrame::Snapshot { id: BESIDE, epoch: Epoch(7), seq: 1, server_time_ms: 5, known_at_ms: 5, body });
    assert!(model.board_head().is_none(), "it waits to be drawn");
    let views = vec![KnownView { id, seq: 3, known_at_ms: 20 }];
    model.take(CompactFrame::Heartbeat { seq: 0, server_time_ms: 20, views });
    assert_eq!(model.known_at_ms(), Some(20), "the page's own view is confirmed all the same");
}

#[test]
fn a_gap_asks_for_a_snapshot_and_keeps_what_is_shown() {
    let (mut model, id) = opened();
    model.take_outbox();
    assert!(!model.shows(delta(id, 6, 1, 9)).changed);
    assert_eq!(locks(&model), 1);
    assert_eq!(model.take_outbox(), [ClientFrame::Subscribe { id, view: view() }]);
    assert!(!model.shows(delta(id, 7, 1, 9)).changed);
    assert!(model.take_outbox().is_empty());
    let body = Box::new(Body::Board(board(9)));
    assert!(
        model
            .shows(CompactFrame::Snapshot { id, epoch: Epoch(7), seq: 7, server_time_ms: 5, known_at_ms: 5, body })
            .changed
    );
    assert!(model.shows(delta(id, 8, 9, 10)).changed);
    assert_eq!(locks(&model), 10);
}

#[test]
fn a_new_window_ignores_what_was_under_way_for_the_old_one() {
    let (mut model, id) = opened();
    model.take_outbox();
    let next = View::Board(BoardQuery { offset: 100, ..BoardQuery::default() });
    model.look_at(id, next.clone());
    assert_eq!(model.take_outbox(), [ClientFrame::Subscribe { id, view: next }]);
    assert!(!model.shows(delta(id, 4, 1, 2)).changed);
    assert!(model.take_outbox().is_empty());
}

#[test]
fn frames_of_a_view_that_was_left_change_nothing() {
    let (mut model, id) = opened();
    let second = model.open(View::Status {}, None);
    assert_ne!(id, second);
    assert!(!model.shows(delta(id, 4, 1, 2)).changed);
    model.close(id);
    assert!(model.current.is_some());
}

#[test]
fn a_reconnect_resumes_and_stays_paused() {
    let (mut model, id) = opened();
    model.shows(delta(id, 4, 1, 2));
    model.set_paused(true);
    model.disconnected();
    model.connected();
    assert_eq!(
        model.take_outbox(),
        [ClientFrame::ResumeAfter { id, view: view(), epoch: Epoch(7), seq: 4 }, ClientFrame::Pause { id }]
    );
}

#[test]
fn what_was_on_its_way_when_the_pause_began_waits_for_its_end() {
    let (mut model, id) = opened();
    model.set_paused(true);
    model.take_outbox();
    assert!(!model.shows(delta(id, 4, 1, 2)).changed);
    assert_eq!(locks(&model), 1, "a paused view stands still");
    model.set_paused(false);
    // Nothing may come after it, so its content is asked for.
    assert_eq!(model.take_outbox(), [ClientFrame::Subscribe { id, view: view() }]);
    model.shows(CompactFrame::Snapshot {
        id,
        epoch: Epoch(7),
        seq: 4,
        server_time_ms: 5,
        known_at_ms: 5,
        body: Box::new(Body::Board(board(2))),
    });
    assert_eq!(locks(&model), 2);
    model.set_paused(true);
    model.set_paused(false);
    assert_eq!(model.take_outbox(), [ClientFrame::Pause { id }, ClientFrame::Resume { id }]);
}

#[test]
fn a_map_is_asked_for_besides_and_is_never_what_the_page_is_about() {
    let (mut model, id) = opened();
    model.take_outbox();
    let map =
        |app: &str| View::QueueMap(QueueMapQuery { path: "/l".into(), app: app.into(), ..QueueMapQuery::default() });
    model.survey(Some(map("")));
    model.survey(Some(map("")));
    assert_eq!(model.take_outbox(), [ClientFrame::Subscribe { id: SURVEY, view: map("") }]);
    let epoch = Epoch(7);
    let body = Box::new(Body::QueueMap(None));
    model.shows(CompactFrame::Snapshot { id: SURVEY, epoch, seq: 1, server_time_ms: 5, known_at_ms: 9, body });
    assert!(matches!(model.surveyed(), Some(Body::QueueMap(None))));
    assert!(matches!(model.body(), Some(Body::Board(_))));
    assert_eq!(model.known_at_ms(), Some(1), "the page is as old as its own view");
    model.survey(Some(map("report")));
    assert_eq!(model.take_outbox(), [ClientFrame::Subscribe { id: SURVEY, view: map("report") }]);
    assert_eq!(model.surveyed(), None, "another map may not stand for it");
    model.disconnected();
    model.connected();
    let asked = model.take_outbox();
    assert!(asked.contains(&ClientFrame::Subscribe { id: SURVEY, view: map("report") }), "{id}: {asked:?}");
    model.survey(None);
    assert_eq!(model.take_outbox(), [ClientFrame::Unsubscribe { id: SURVEY }]);
}
