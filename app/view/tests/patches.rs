//! Differences of fields: `apply(patch(a, b)) == b` for any two boards and lock pages, through the compact encoding; and
//! how few bytes a hand-off takes.
#![expect(clippy::unwrap_used, reason = "a test takes what it made itself for granted")]

use lockscope_view::{
    Access, AsOf, Board, BoardHead, Body, BodyPatch, ClientInfo, Confidence, Contender, ContenderRole, Depth, Edge,
    EdgeEvidence, EnsembleColor, EnsembleTag, FindingRow, Foreign, Headline, HoldEnd, Liveness, LockHead, LockPage,
    LockProblem, LockRow, LockStats, Missing, NodeData, PastHolder, Patched as _, ProblemsLeftOut, ROW_HOLDERS_MAX,
    Recipe, RootBrief, RootState, RunsOut, SessionId, Severity, StatRow, Step, StepAct, Totals, Trust, Verdict, Window,
    Zxid, decode_frame, encode_frame,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

fn session() -> impl Strategy<Value = SessionId> {
    prop_oneof![(1..5_i64).prop_map(SessionId), any::<i64>().prop_map(SessionId)]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[ab]{0,3}", "ä[äöü€]{0,2}b", "/l/_c_[ab]{2}-lock-000000000[0-9]"]
}

fn client() -> impl Strategy<Value = ClientInfo> {
    (text(), text(), option::of(0..9_i64), option::of(any::<i64>()), option::of(text())).prop_map(
        |(address, server, timeout_ms, heard, last_operation)| ClientInfo {
            address,
            server,
            timeout_ms,
            last_heard_at_ms: heard,
            connected_since_ms: timeout_ms,
            last_operation,
        },
    )
}

fn edges() -> impl Strategy<Value = Vec<Edge>> {
    let evidence = prop_oneof![Just(EdgeEvidence::Inferred), Just(EdgeEvidence::Confirmed)];
    vec((text(), evidence).prop_map(|(to, evidence)| Edge { to, evidence }), 0..3)
}

/// Of the path `/l/KEY`, or of none.
fn contender(key: String) -> impl Strategy<Value = Contender> {
    let who = (option::of(session()), option::of(client()), option::of(text()), option::of(any::<bool>()));
    let place = (option::of(any::<i64>()), 0..4_u32, any::<bool>(), any::<bool>());
    let rest = (edges(), vec(text(), 0..2), option::of(0..3_i64), option::of(text()), any::<i32>());
    (who, place, rest).prop_map(move |((session_id, client, label, ephemeral), place, rest)| {
        let (sequence, position, holds, has_name) = place;
        let (waits_for, only_on, at, data, version) = rest;
        Contender {
            path: format!("/l/{key}"),
            node: has_name.then(|| key.clone()),
            sequence,
            position,
            role: if holds { ContenderRole::Holder } else { ContenderRole::Waiter },
            access: Access::Exclusive,
            session_id,
            ephemeral,
            client,
            liveness: if holds { Liveness::Connected } else { Liveness::Unknown },
            runs_out: at.map(|at_ms| RunsOut { at_ms, is_told: holds }),
            only_on,
            label,
            data: data.map(|text| NodeData { text: Some(text), base64: None, bytes: 1, truncated: false }),
            created_at_ms: at,
            waiting_since_ms: sequence,
            waiting_is_lower_bound: has_name,
            holding_since_ms: at,
            holding_is_lower_bound: holds,
            waits_for,
            czxid: session_id.map(|session| Zxid(session.0)),
            version,
        }
    })
}

fn contenders() -> impl Strategy<Value = Vec<Contender>> {
    let keys = prop::collection::btree_set("[a-h]", 0..7).prop_map(|keys| keys.into_iter().collect::<Vec<_>>());
    keys.prop_shuffle().prop_flat_map(|keys| keys.into_iter().map(contender).collect::<Vec<_>>())
}

fn row(key: String) -> impl Strategy<Value = LockRow> {
    let who = (vec(contender("h".to_owned()), 0..3), 0..3_u32, option::of(0..3_u32));
    let when = (option::of(any::<i64>()), any::<i64>(), option::of(0..4_i64));
    let what = (text(), text(), vec(0..3_u16, 0..4), vec(text(), 0..2));
    (who, when, what).prop_map(move |((holders, holder_count, waiter_count), when, what)| {
        let (oldest_wait_at_ms, waiting_since_sum_ms, held_since_ms) = when;
        let (ensemble, sentence, peaks, findings) = what;
        LockRow {
            key: key.clone(),
            tag: held_since_ms.map(|_| EnsembleTag { name: ensemble.clone(), color: EnsembleColor::ALL[0] }),
            ensemble,
            path: key.clone(),
            root: "/".to_owned(),
            recipe: Recipe::SequentialMutex,
            recipe_label: String::new(),
            confidence: Confidence::High,
            verdict: if holder_count > 1 { Verdict::Healthy } else { Verdict::Stuck },
            sentence,
            state: RootState::Live,
            holders,
            holder_count,
            waiter_count,
            oldest_wait_at_ms,
            wait_is_lower_bound: holder_count > 0,
            waiting_since_sum_ms,
            missing: if holder_count == 0 { vec![Missing::ALL[0]] } else { Vec::new() },
            held_since_ms,
            hold_is_lower_bound: false,
            findings,
            depth: Depth { until_ms: waiting_since_sum_ms, slice_ms: 2_500, peaks },
            hand_offs_in_10_s: holder_count.checked_mul(11),
        }
    })
}

fn past() -> impl Strategy<Value = Vec<PastHolder>> {
    let end = (0..HoldEnd::ALL.len(), option::of(text()));
    let one =
        (text(), option::of(session()), 0..3_i64, end).prop_map(|(node, session_id, from_ms, (how, released_by))| {
            PastHolder {
                node,
                session_id,
                label: None,
                from_ms,
                until_ms: from_ms + 1,
                session_ended: false,
                is_lower_bound: false,
                address: None,
                woke: None,
                how: HoldEnd::ALL[how],
                record: released_by.as_ref().map(|_| 4),
                released_by,
            }
        });
    vec(one, 0..5)
}

/// Whose text and paths have what a holder's name has.
fn finding(of: &PastHolder) -> FindingRow {
    let paths = (0..of.until_ms).map(|at| format!("/l/{}{at}", of.node)).collect();
    FindingRow {
        code: "deep_queue".into(),
        severity: Severity::Info,
        text: of.node.clone(),
        paths,
        since_ms: of.from_ms,
    }
}

fn head() -> impl Strategy<Value = LockHead> {
    (row("/l".to_owned()), past(), option::of(0..3_i32), any::<u64>(), vec(text(), 0..2)).prop_map(
        |(row, past, stat, acquisitions, notes)| LockHead {
            row,
            as_of: AsOf::default(),
            recognised_by: notes.clone(),
            capacity: None,
            foreign: notes.iter().map(|path| Foreign { path: path.clone(), reason: String::new() }).collect(),
            findings: past.iter().map(finding).collect(),
            notes,
            stat: stat.map(|version| StatRow {
                czxid: Zxid(1),
                mzxid: Zxid(i64::from(version)),
                pzxid: Zxid(3),
                ctime_ms: 4,
                version,
                cversion: version,
                children: 3,
                creates_ever: 9,
            }),
            stats: LockStats { acquisitions, ..LockStats::default() },
            past,
            herd: None,
            fired: Vec::new(),
            hidden_waiters: 0,
            trust: Trust::default(),
            advice: None,
        },
    )
}

/// Sometimes the head's holders are those among the rows, as they are in truth.
fn page() -> impl Strategy<Value = Body> {
    (head(), contenders(), 0..9_u32, 0..4_u32, any::<bool>(), any::<bool>()).prop_map(
        |(mut head, mut rows, total, offset, is_numbered, agrees)| {
            if is_numbered {
                rows.iter_mut().zip(offset..).for_each(|(row, at)| row.position = at);
            }
            if agrees {
                let holders = rows.iter().filter(|row| row.role == ContenderRole::Holder).take(ROW_HOLDERS_MAX);
                head.row.holders = holders.map(|row| Contender { data: None, ..row.clone() }).collect();
            }
            Body::Lock(Some(Box::new(LockPage { head, window: Window { total, offset, rows } })))
        },
    )
}

fn board() -> impl Strategy<Value = Body> {
    let keys = prop::collection::btree_set("/[a-h]", 0..6).prop_map(|keys| keys.into_iter().collect::<Vec<_>>());
    let rows = keys.prop_shuffle().prop_flat_map(|keys| keys.into_iter().map(row).collect::<Vec<_>>());
    let root = (text(), 0..3_u32).prop_map(|(path, locks)| RootBrief {
        tag: None,
        path,
        state: RootState::Live,
        since_ms: 1,
        why: String::new(),
        locks,
        help: String::new(),
    });
    let problem =
        ("[a-c]{1,2}", 0..5_u32, any::<i64>(), option::of(any::<i64>())).prop_map(|(key, waiters, sum, since_ms)| {
            LockProblem {
                locks: vec![format!("/{key}")],
                key,
                ensemble: String::new(),
                tag: None,
                verdict: Verdict::Stuck,
                finding: None,
                lock_count: 1,
                headline: Headline { since_ms, ..Headline::default() },
                waiter_count: waiters,
                waiting_since_sum_ms: sum,
                step: Step { text: format!("{waiters} wait"), act: Some(StepAct::Waits) },
                looked_after: (waiters > 2).then(|| Headline { since_ms, ..Headline::default() }),
            }
        });
    (rows, vec(root, 0..4), vec(problem, 0..4), 0..9_u32, any::<i64>()).prop_map(
        |(rows, roots, problems, total, sum)| {
            let verdicts = vec![(Verdict::Healthy, total)];
            let problems_left_out = vec![ProblemsLeftOut { verdict: Verdict::Stuck, finding: None, count: total }];
            let totals = Totals { waiters: total, waiting_since_sum_ms: sum, verdicts, ..Totals::default() };
            Body::Board(Board {
                head: BoardHead {
                    as_of: AsOf::default(),
                    totals,
                    roots,
                    problem_count: total,
                    problems,
                    problems_left_out,
                    ensembles_without_evidence: total % 2,
                },
                window: Window { total, offset: 0, rows },
            })
        },
    )
}

/// Applies the difference of two bodies as a page does; gives its size in bytes.
fn follow(old: &Body, new: &Body) -> usize {
    let Some(patch) = old.patch_to(new) else {
        assert_eq!(old, new);
        return 0;
    };
    let bytes = encode_frame(&patch).unwrap();
    let decoded: BodyPatch = decode_frame(&bytes).unwrap();
    assert_eq!(patch, decoded);
    let mut state = old.clone();
    assert!(state.apply_patch(decoded));
    assert_eq!(state, *new);
    bytes.len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_patch_leads_to_the_next_lock_page(old in page(), new in page()) {
        follow(&old, &new);
    }

    #[test]
    fn a_patch_leads_to_the_next_board(old in board(), new in board()) {
        follow(&old, &new);
    }

    #[test]
    fn a_patch_leads_to_the_next_list(old in vec("[a-e]", 0..6), new in vec("[a-e]", 0..6)) {
        let mut state = old.clone();
        if let Some(patch) = old.patch_to(&new) {
            state.apply_patch(patch);
        }
        prop_assert_eq!(state, new);
    }

    #[test]
    fn a_patch_leads_to_the_next_text(old in text(), new in text(), third in "[äöüa€]{0,4}") {
        for (old, new) in [(&old, &new), (&old, &third), (&third, &new)] {
            let mut state = old.clone();
            if let Some(patch) = old.patch_to(new) {
                state.apply_patch(patch);
            }
            prop_assert_eq!(&state, new);
        }
    }

    /// A difference for another state leads somewhere else, and never to a panic.
    #[test]
    fn a_patch_for_another_page_does_no_harm(old in page(), new in page(), mut other in page()) {
        if let Some(patch) = old.patch_to(&new) {
            prop_assert!(other.apply_patch(patch));
        }
    }
}
