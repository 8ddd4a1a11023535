//! The bytes of the compact encoding. A page of one build talks to a server of another: what these tests see changed
//! needs a new [`PROTOCOL`], and what is added to an enum goes last.

use std::fmt::Write as _;

use super::patch::{BoardHeadField, ContenderField, LockHeadField, LockRowField};
use super::*;

/// In hexadecimal.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn frame(frame: &impl serde::Serialize) -> String {
    hex(&encode_frame(frame).unwrap_or_default())
}

fn first_byte(value: &impl serde::Serialize) -> Option<u8> {
    postcard::to_extend(value, Vec::new()).ok().and_then(|bytes| bytes.first().copied())
}

#[test]
fn frames_are_these_bytes() {
    let epoch = Epoch(7);
    assert_eq!(frame(&ServerFrame::Hello { protocol: PROTOCOL, epoch, server_time_ms: 5 }), "0700070e0a");
    let body = DeltaBody::Whole(Body::Lab(None));
    assert_eq!(
        frame(&ServerFrame::Delta { id: 1, server_time_ms: 3, seq: 4, known_at_ms: 5, body }),
        "07020106040a030600"
    );
    let body = Body::Lock(None);
    assert_eq!(
        frame(&ServerFrame::Snapshot { id: 1, epoch, seq: 4, server_time_ms: 3, known_at_ms: 5, body: body.into() }),
        "0701010e04060a0100"
    );
    assert_eq!(frame(&ServerFrame::Resync { id: 1, why: "no".to_owned() }), "070301026e6f");
    let views = vec![KnownView { id: 3, seq: 4, known_at_ms: 5 }];
    assert_eq!(frame(&ServerFrame::Heartbeat { seq: 1, server_time_ms: 2, views }), "070401040103040a");
    assert_eq!(frame(&ServerFrame::Error { id: Some(9), detail: "no".to_owned() }), "07050109026e6f");
    assert_eq!(frame(&ClientFrame::Subscribe { id: 1, view: View::Status {} }), "07000102");
    assert_eq!(
        frame(&ClientFrame::ResumeAfter { id: 1, view: View::Waits(WaitsQuery::default()), epoch, seq: 4 }),
        "07010103000e04"
    );
    let rest = [ClientFrame::Unsubscribe { id: 6 }, ClientFrame::Pause { id: 6 }, ClientFrame::Resume { id: 6 }];
    assert_eq!(rest.map(|one| frame(&one)), ["070206", "070306", "070406"]);
}

#[test]
fn views_and_bodies_keep_their_places() {
    let views = [
        View::Board(BoardQuery::default()),
        View::Lock(LockQuery::default()),
        View::Status {},
        View::Waits(WaitsQuery::default()),
        View::Sessions(SessionsQuery::default()),
        View::Session(SessionQuery::default()),
        View::Lab(LabQuery::default()),
        View::Events(EventsQuery::default()),
        View::QueueMap(QueueMapQuery::default()),
    ];
    assert_eq!(views.map(|view| first_byte(&view)), std::array::from_fn(|at| u8::try_from(at).ok()));
    let bodies = [
        Body::Board(Board::default()),
        Body::Lock(None),
        Body::Waits(Box::default()),
        Body::Sessions(Sessions::default()),
        Body::Session(None),
        Body::Lab(None),
        Body::Events(Lately::default()),
        Body::QueueMap(None),
    ];
    assert_eq!(bodies.map(|body| first_byte(&body)), [0, 1, 3, 4, 5, 6, 7, 8].map(Some));
    let none = LatelyDelta { ensembles: Vec::new() };
    let deltas = [
        DeltaBody::Board(BoardDelta { head: None, window: None }),
        DeltaBody::Whole(Body::Lock(None)),
        DeltaBody::Events(none),
    ];
    assert_eq!(deltas.map(|delta| first_byte(&delta)), [0, 3, 4].map(Some));
}

/// In a patch, a field is known by its place: the last of each type.
#[test]
fn fields_keep_their_places() {
    let depth = Depth { until_ms: 1, slice_ms: 2, peaks: vec![3] };
    let row = LockRowField::Depth(depth);
    let hand_offs = LockRowField::HandOffsIn10S(Some(34));
    assert_eq!(hex_of(&hand_offs), "160122");
    let contender = ContenderField::Version(4);
    let head = LockHeadField::Trust(Trust::default());
    let roots = ListPatch { front: Vec::new(), from: 2, kept: 3, changed: Vec::new(), back: Vec::new() };
    let board = BoardHeadField::Roots(roots);
    assert_eq!(
        [hex_of(&row), hex_of(&contender), hex_of(&head), hex_of(&board)],
        ["1502020103", "1508", "0d00000000000000", "020002030000"]
    );
    let ended = Some(EndedHold { hold_ms: 1, session_ended: true, woke: Some(7), kept: 3 });
    let patch = LockPatch { window: None, holders_are_rows: true, ended, head: vec![LockHeadField::HiddenWaiters(5)] };
    assert_eq!(hex_of(&BodyPatch::Lock(patch)), "0100010102010107 03010c05".replace(' ', ""));
    let back =
        vec![Appended::After(TextPatch { start: 1, end: 2, middle: "x".into() }), Appended::Whole("y".to_owned())];
    let list = ListPatch { front: Vec::new(), from: 0, kept: 1, changed: Vec::new(), back };
    assert_eq!(hex_of::<ListPatch<String, TextPatch>>(&list), "00000100020001020178010179");
    let window = WindowPatch {
        total: 9,
        offset: 2,
        runs: Some(vec![Run::Kept { from: 1, count: 2 }, Run::New { count: 3 }]),
        rows: vec![(4, RowPatch::Changed(vec![contender]))],
    };
    assert_eq!(hex_of::<WindowPatch<Contender, _>>(&window), "09020102000102010301040001 1508".replace(' ', ""));
}

fn hex_of<T: serde::Serialize>(value: &T) -> String {
    hex(&postcard::to_extend(value, Vec::new()).unwrap_or_default())
}

#[test]
fn words_keep_their_places() {
    let told = |names: &[&str]| names.join(" ");
    assert_eq!(told(&RootState::ALL.map(RootState::name)), "live syncing stale partial denied gone reduced past");
    assert_eq!(told(&Link::ALL.map(Link::name)), "live syncing stale lost");
    assert_eq!(told(&Liveness::ALL.map(Liveness::name)), "connected silent disconnected persistent unknown");
    for (at, state) in (0..).zip(RootState::ALL) {
        assert_eq!(first_byte(&state), Some(at), "{state}");
    }
}

/// A variant that one side has and the other has not would shift all that come after it.
#[test]
fn nothing_on_the_wire_depends_on_a_feature() {
    let files = [
        include_str!("board.rs"),
        include_str!("events.rs"),
        include_str!("evidence.rs"),
        include_str!("frame.rs"),
        include_str!("lab.rs"),
        include_str!("lock.rs"),
        include_str!("name.rs"),
        include_str!("past_holder.rs"),
        include_str!("patch/body.rs"),
        include_str!("patch/fields.rs"),
        include_str!("patch/list.rs"),
        include_str!("patch/mod.rs"),
        include_str!("patch/text.rs"),
        include_str!("patch/window.rs"),
        include_str!("query.rs"),
        include_str!("queue_map.rs"),
        include_str!("release.rs"),
        include_str!("session.rs"),
        include_str!("sessions_query.rs"),
        include_str!("status.rs"),
        include_str!("waits.rs"),
        include_str!("window.rs"),
    ];
    for file in files {
        let line = file.lines().find(|line| line.contains("cfg(") && line.contains("feature"));
        assert_eq!(line, None);
    }
}
