//! How many bytes a hand-off takes: of a lock with clients as Curator's, each with a session of its own.
#![expect(clippy::unwrap_used, reason = "a test takes what it made itself for granted")]

use lockscope_view::{
    Access, Advice, AsOf, Board, BoardHead, Body, ClientInfo, Confidence, Contender, ContenderRole, Depth, Edge,
    EdgeEvidence, Headline, HoldEnd, Liveness, LockHead, LockPage, LockRow, LockStats, NodeData, PastHolder, Recipe,
    RootState, SessionId, StatRow, Step, StepAct, Totals, Trust, Verdict, Window, Zxid, encode_frame,
};

/// Of a board that shows a hand-off: 52 of them are the name of the znode that holds now, 36 of which are random.
const BOARD_MAX: usize = 153;
/// The same of a lock that changes hands all the time.
const RATE_BOARD_MAX: usize = 150;
/// Of a lock page that shows a hand-off, however long the queue is.
const LOCK_MAX: usize = 100;
/// The same while something is advised whose sentence has the number of those who wait.
const ADVICE_MAX: usize = 150;
/// Of a lock page that shows who joined: 52 of them are the name of the znode.
const JOIN_MAX: usize = 200;
const START_MS: i64 = 1_795_000_000_000;

/// What is random in a name, from a number.
fn scattered(number: i64) -> u64 {
    number.cast_unsigned().wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn node(number: i64) -> String {
    let id = scattered(number);
    let (a, b, c) = (id >> 32, (id >> 16) & 0xffff, id & 0xffff);
    format!("_c_{a:08x}-{b:04x}-{c:04x}-{b:04x}-{c:04x}{a:08x}-lock-{number:010}")
}

/// The `number`th that ever contended, `at` in line.
fn contender(number: i64, at: u32) -> Contender {
    let path = |number| format!("/shop/orders/checkout/{}", node(number));
    let holds = at == 0;
    let created_ms = START_MS + number * 20;
    let data = NodeData { text: Some(format!("10.1.2.{}", number % 250)), base64: None, bytes: 10, truncated: false };
    Contender {
        path: path(number),
        node: Some(node(number)),
        sequence: Some(number),
        position: at,
        role: if holds { ContenderRole::Holder } else { ContenderRole::Waiter },
        access: Access::Exclusive,
        session_id: Some(SessionId(0x0100_000a_1b2c_0000 + number * 7)),
        ephemeral: Some(true),
        client: Some(ClientInfo {
            address: format!("10.1.{}.{}:{}", number % 7, number % 250, 30_000 + scattered(number) % 30_000),
            server: "10.0.0.1:2181".to_owned(),
            timeout_ms: Some(30_000),
            last_heard_at_ms: None,
            connected_since_ms: Some(START_MS + number),
            last_operation: None,
        }),
        liveness: Liveness::Connected,
        runs_out: None,
        only_on: Vec::new(),
        label: Some(format!("10.1.2.{}", number % 250)),
        data: Some(data),
        created_at_ms: Some(created_ms),
        waiting_since_ms: (!holds).then_some(created_ms),
        waiting_is_lower_bound: false,
        holding_since_ms: holds.then_some(created_ms + 1_000),
        holding_is_lower_bound: false,
        waits_for: if holds {
            Vec::new()
        } else {
            vec![Edge { to: path(number - 1), evidence: EdgeEvidence::Inferred }]
        },
        czxid: Some(Zxid(0x1_0000_0000 + number * 3)),
        version: 0,
    }
}

/// The board's row after so many hand-offs.
fn row(passed: i64, contenders: u32) -> LockRow {
    let holder = Contender { data: None, ..contender(passed, 0) };
    let waiters = contenders - 1;
    let label = holder.label.clone().unwrap_or_default();
    LockRow {
        key: "/shop/orders/checkout".to_owned(),
        ensemble: "default".to_owned(),
        tag: None,
        path: "/shop/orders/checkout".to_owned(),
        root: "/shop".to_owned(),
        recipe: Recipe::SequentialMutex,
        recipe_label: "Curator InterProcessMutex".to_owned(),
        confidence: Confidence::High,
        verdict: Verdict::Healthy,
        sentence: format!("Held by {label}, {waiters} wait."),
        state: RootState::Live,
        held_since_ms: holder.holding_since_ms,
        holders: vec![holder],
        holder_count: 1,
        waiter_count: Some(waiters),
        oldest_wait_at_ms: Some(START_MS + (passed + 1) * 20),
        wait_is_lower_bound: false,
        waiting_since_sum_ms: (1..i64::from(contenders)).map(|at| START_MS + (passed + at) * 20).sum(),
        missing: Vec::new(),
        hold_is_lower_bound: false,
        findings: Vec::new(),
        depth: Depth { until_ms: START_MS, slice_ms: 2_500, peaks: vec![3; 48] },
        hand_offs_in_10_s: None,
    }
}

fn as_of(passed: i64) -> AsOf {
    AsOf { state: RootState::Live, zxid: Zxid(0x1_0000_0000 + passed * 3), ..AsOf::default() }
}

fn past(number: i64) -> PastHolder {
    let one = contender(number, 0);
    PastHolder {
        node: node(number),
        session_id: one.session_id,
        label: one.label,
        from_ms: one.holding_since_ms.unwrap_or_default(),
        until_ms: START_MS + number * 20 + 1_040,
        session_ended: false,
        is_lower_bound: false,
        address: one.client.map(|client| client.address),
        woke: None,
        how: HoldEnd::Released,
        released_by: None,
        record: None,
    }
}

fn page(passed: i64, contenders: u32) -> Body {
    let rows = (0..contenders).map(|at| contender(passed + i64::from(at), at)).collect();
    let stat = StatRow {
        czxid: Zxid(5),
        mzxid: Zxid(5),
        pzxid: Zxid(0x1_0000_0000 + passed * 3),
        ctime_ms: START_MS,
        version: 0,
        cversion: i32::try_from(passed * 2).unwrap(),
        children: contenders,
        creates_ever: u32::try_from(passed).unwrap() + contenders,
    };
    let head = LockHead {
        row: row(passed, contenders),
        as_of: as_of(passed),
        recognised_by: Vec::new(),
        capacity: None,
        foreign: Vec::new(),
        findings: Vec::new(),
        notes: Vec::new(),
        stat: Some(stat),
        stats: LockStats { acquisitions: u64::try_from(passed).unwrap(), ..LockStats::default() },
        past: (0..16).map(|ago| past(passed - 1 - ago)).collect(),
        herd: None,
        fired: Vec::new(),
        hidden_waiters: 0,
        trust: Trust::default(),
        advice: None,
    };
    let window = Window { total: contenders, offset: 0, rows };
    Body::Lock(Some(Box::new(LockPage { head, window })))
}

/// A hundred such locks, of which the first changed hands so many times.
fn board(passed: i64, contenders: u32) -> Body {
    let others = (0..99).map(|at| LockRow { key: format!("/shop/other-{at}"), ..row(100, 3) });
    let rows: Vec<LockRow> = std::iter::once(row(passed, contenders)).chain(others).collect();
    let totals = Totals {
        locks: 100,
        held: 100,
        waiters: 300 - u32::try_from(passed).unwrap(),
        contended: 100,
        waiting_since_sum_ms: rows.iter().map(|row| row.waiting_since_sum_ms).sum(),
        oldest_wait_at_ms: rows.iter().filter_map(|row| row.oldest_wait_at_ms).min(),
        verdicts: vec![(Verdict::Healthy, 100)],
        ..Totals::default()
    };
    let head = BoardHead { as_of: as_of(passed), totals, ..BoardHead::default() };
    Body::Board(Board { head, window: Window { total: 100, offset: 0, rows } })
}

fn bytes(old: &Body, new: &Body) -> usize {
    encode_frame(&old.patch_to(new).unwrap()).unwrap().len()
}

#[test]
fn a_hand_off_takes_few_bytes_however_long_the_queue_is() {
    let on_board = bytes(&board(40, 3), &board(41, 2));
    assert!(on_board <= BOARD_MAX, "{on_board} bytes on a board of 100");
    for contenders in [3, 50, 1_000] {
        let on_page = bytes(&page(40, contenders), &page(41, contenders - 1));
        assert!(on_page <= LOCK_MAX, "{on_page} bytes on the page of a lock of {contenders}");
    }
}

/// Its sentence stays the same, and so does the rate.
#[test]
fn a_hand_off_of_a_lock_with_a_rate_takes_no_more() {
    let with_rate = |passed: i64, contenders: u32| {
        let Body::Board(mut board) = board(passed, contenders) else { unreachable!() };
        board.window.rows[0].sentence = "Changes hands 50 times a second.".to_owned();
        board.window.rows[0].hand_offs_in_10_s = Some(500);
        Body::Board(board)
    };
    let (plain, fast) = (bytes(&board(40, 3), &board(41, 2)), bytes(&with_rate(40, 3), &with_rate(41, 2)));
    assert!(fast < plain && fast <= RATE_BOARD_MAX, "{fast} bytes, {plain} without a rate");
}

#[test]
fn what_is_advised_takes_only_what_changes_of_it() {
    let advised = |passed: i64, contenders: u32| {
        let Body::Lock(Some(mut page)) = page(passed, contenders) else { unreachable!() };
        let before =
            format!("10.1.2.7 holds it, connected to no member; {} sessions wait for it since ", contenders - 1);
        let act = StepAct::Release { lock: page.head.row.path.clone(), znode: contender(7, 0).path };
        let text = "Wait until its session ends, or release it once the client says that it does not hold.".to_owned();
        page.head.advice = Some(Advice {
            headline: Headline { before, ..Headline::default() },
            steps: vec![Step { text, act: Some(act) }],
            why: format!("Nobody works under it. {passed} holds were seen."),
        });
        Body::Lock(Some(page))
    };
    let on_page = bytes(&advised(40, 50), &advised(41, 49));
    assert!(on_page <= ADVICE_MAX, "{on_page} bytes");
}

#[test]
fn who_joins_takes_few_bytes() {
    let on_page = bytes(&page(40, 50), &page(40, 51));
    assert!(on_page <= JOIN_MAX, "{on_page} bytes");
}
