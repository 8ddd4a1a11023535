//! The reducer shared by server and browser: `apply(diff(a, b)) == b` for any two views, also through the
//! compact encoding and JSON.

use lockscope_view::{
    AsOf, Board, Body, DeltaBody, Happened, Liveness, SessionEvent, SessionGroupRow, SessionId, SessionPage,
    SessionRow, Sessions, SessionsHead, Verdict, WaitEdge, Waits, Window, WindowRow, decode_frame, encode_frame,
};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Row {
    key: String,
    value: u8,
}

impl WindowRow for Row {
    fn key(&self) -> &str {
        &self.key
    }
}

fn window() -> impl Strategy<Value = Window<Row>> {
    let rows = prop::collection::btree_map("[a-h]", any::<u8>(), 0..8)
        .prop_map(|rows| rows.into_iter().map(|(key, value)| Row { key, value }).collect::<Vec<_>>())
        .prop_shuffle();
    (rows, 0..20_u32, 0..5_u32).prop_map(|(rows, total, offset)| Window { total, offset, rows })
}

fn session_row(id: i64, holds: u32) -> SessionRow {
    SessionRow {
        tag: None,
        key: SessionId(id).to_string(),
        ensemble: "default".to_owned(),
        session_id: SessionId(id),
        label: (holds > 2).then(|| "packer".to_owned()),
        client: None,
        liveness: Liveness::Unknown,
        runs_out: None,
        holds,
        waits: 0,
        ephemerals: holds,
        oldest_hold_at_ms: None,
        oldest_wait_at_ms: Some(5),
        blocks: 0,
        locks: vec!["/a".to_owned()],
        in_cycle: false,
        cycle_verdict: None,
        stands_by: 0,
    }
}

fn sessions() -> impl Strategy<Value = Sessions> {
    let rows = prop::collection::btree_map(0..8_i64, 0..4_u32, 0..8)
        .prop_map(|rows| rows.into_iter().map(|(id, holds)| session_row(id, holds)).collect::<Vec<_>>())
        .prop_shuffle();
    (rows, 0..3_u32, 0..20_u32).prop_map(|(rows, holding, total)| Sessions {
        head: SessionsHead { holding, ..SessionsHead::default() },
        window: Window { total, offset: 0, rows },
        groups: Window { total: holding, offset: 0, rows: (0..holding).map(|at| group_row(at, total)).collect() },
    })
}

fn group_row(at: u32, sessions: u32) -> SessionGroupRow {
    SessionGroupRow {
        name: at.to_string(),
        sessions,
        holds: 0,
        waits: 0,
        blocks: 0,
        oldest_hold_at_ms: None,
        oldest_wait_at_ms: None,
        cycle_verdict: None,
    }
}

fn waits() -> impl Strategy<Value = Waits> {
    let edges = prop::collection::vec((0..4_i64, 0..4_i64, any::<bool>()), 0..4);
    (edges, 0..2_u32).prop_map(|(edges, left_out)| {
        let edge = |(from, to, in_cycle): (i64, i64, bool)| WaitEdge {
            from: SessionId(from),
            to: SessionId(to),
            lock: "/a".to_owned(),
            since_ms: 1,
            in_cycle,
            cycle_verdict: in_cycle.then_some(Verdict::MaybeDeadlocked),
        };
        Waits { edges: edges.into_iter().map(edge).collect(), left_out, ..Waits::default() }
    })
}

fn session() -> impl Strategy<Value = SessionPage> {
    (0..3_u32, prop::collection::vec(0..9_i64, 0..3)).prop_map(|(holds, history)| {
        let event = |at_ms| SessionEvent { at_ms, lock: "/a".to_owned(), node: "n".to_owned(), what: Happened::Joined };
        SessionPage {
            as_of: AsOf::default(),
            row: session_row(1, holds),
            spots: Window::default(),
            history: history.into_iter().map(event).collect(),
        }
    })
}

fn body() -> impl Strategy<Value = Body> {
    prop_oneof![
        4 => sessions().prop_map(Body::Sessions),
        2 => waits().prop_map(|waits| Body::Waits(Box::new(waits))),
        2 => session().prop_map(|page| Body::Session(Some(Box::new(page)))),
        1 => Just(Body::Session(None)),
        1 => Just(Body::Lock(None)),
        1 => Just(Body::Board(Board::default())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn a_difference_leads_to_the_next_window(old in window(), new in window()) {
        match old.diff(&new) {
            None => prop_assert_eq!(&old, &new),
            Some(delta) => {
                let bytes = encode_frame(&delta).unwrap();
                let decoded = decode_frame(&bytes).unwrap();
                prop_assert_eq!(&delta, &decoded);
                let mut state = old.clone();
                state.apply(&decoded);
                prop_assert_eq!(&state, &new);
            }
        }
    }

    /// Any view to any other of its kind, or of another: what `diff` says, `apply` does.
    #[test]
    fn a_difference_leads_to_the_next_body(old in body(), new in body()) {
        match old.diff(&new) {
            None => prop_assert_eq!(&old, &new),
            Some(delta) => {
                let decoded: DeltaBody = decode_frame(&encode_frame(&delta).unwrap()).unwrap();
                prop_assert_eq!(&delta, &decoded);
                let mut state = old.clone();
                prop_assert!(state.apply(&decoded));
                prop_assert_eq!(&state, &new);
            }
        }
    }

    #[test]
    fn bytes_that_are_no_frame_are_refused_quietly(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode_frame::<lockscope_view::ServerFrame>(&bytes);
        let _ = decode_frame::<lockscope_view::ClientFrame>(&bytes);
    }
}

#[test]
fn a_difference_for_another_kind_of_view_is_refused() {
    let mut board = Body::Board(Board::default());
    assert!(!board.apply(&DeltaBody::Lock(lockscope_view::LockDelta { head: None, window: None })));
    assert!(board.apply(&DeltaBody::Whole(Body::Lock(None))));
    assert_eq!(board, Body::Lock(None));
}

#[test]
fn ids_keep_all_64_bits_in_both_encodings() {
    let id = lockscope_view::SessionId(0x0100_000a_1b2c_0001);
    assert_eq!(serde_json::to_string(&id).unwrap(), "\"0x100000a1b2c0001\"");
    assert_eq!(serde_json::from_str::<lockscope_view::SessionId>("\"0x100000a1b2c0001\"").unwrap(), id);
    let negative = lockscope_view::SessionId(-2);
    assert_eq!(negative.to_string(), "0xfffffffffffffffe");
    assert_eq!(negative.to_string().parse(), Ok(negative));
    assert_eq!(decode_frame::<lockscope_view::SessionId>(&encode_frame(&negative).unwrap()), Some(negative));
}

#[test]
fn a_query_survives_its_own_link() {
    use lockscope_view::{BoardQuery, Recipe, Sort, Verdict};
    let query = BoardQuery {
        root: "/a b".into(),
        q: "ünï !x&y".into(),
        recipe: Some(Recipe::Election),
        verdict: Some(Verdict::Stuck),
        sort: Sort::Hold,
        group: true,
        pins: vec!["/b".to_owned(), "prod /a b".to_owned()],
        ..BoardQuery::default()
    };
    let link = query.to_url_query();
    let rest = "&recipe=election&verdict=stuck&sort=hold&group=root&pin=/b&pin=prod%20/a%20b";
    assert_eq!(link, format!("?root=/a%20b&q=%C3%BCn%C3%AF%20!x%26y{rest}"));
    assert_eq!(BoardQuery::default().to_url_query(), "");
    let error = BoardQuery::from_pairs([("sort", "size")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`size` is not a value of `sort`; use one of worst, damage, oldest_wait, depth, hold, path, recipe, holder"
    );
}

/// A field that is misspelled must not be taken for one that was left out.
#[test]
fn orders_of_releases_have_no_unknown_fields() {
    use lockscope_view::{PlanRequest, ReleaseOrder};
    let plan = serde_json::from_str::<PlanRequest>(r#"{"path":"/locks/a","ensmble":"prod"}"#).unwrap_err();
    assert!(plan.to_string().contains("unknown field `ensmble`"), "{plan}");
    let order =
        serde_json::from_str::<ReleaseOrder>(r#"{"plan_id":"1","confirm":"/locks/a","reason":"gone","force":true}"#)
            .unwrap_err();
    assert!(order.to_string().contains("unknown field `force`"), "{order}");
}
