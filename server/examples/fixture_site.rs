//! Serves the page over made-up data, to look at it without ZooKeeper:
//! `cargo run -p server --example fixture_site -- [full|empty|stale|unread] [PORT]`.
#![expect(clippy::print_stdout, reason = "an example tells where to look")]

use std::sync::Arc;
use std::time::Duration;

use app::ports::{First, Source};
use app::wire::{
    Access, AsOf, Board, BoardHead, BoardQuery, Body, ClientFrame, Confidence, Contender, Edge, EdgeEvidence, EnsembleStatus, Epoch, FindingRow,
    Foreign, Link, Liveness, LockHead, LockPage, LockQuery, LockRow, LockStats, PastHolder, Recipe, Role, RootBrief, RootState, RootStatus,
    SUBPROTOCOL_BIN, ServerFrame, SessionId, Severity, Sort, StatRow, Status, Totals, Verdict, View, Window, Zxid, decode_frame, encode_frame,
};
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::routing::any;

const EPOCH: Epoch = Epoch(0x5eed);
const ROOTS: [&str; 3] = ["/app", "/jobs", "/late"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Full,
    Empty,
    Stale,
    Unread,
}

struct Fixture {
    mode: Mode,
    started_ms: i64,
}

fn now_ms() -> i64 {
    server::clock::Clock::system().now_ms()
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let mode = match args.next().as_deref() {
        Some("empty") => Mode::Empty,
        Some("stale") => Mode::Stale,
        Some("unread") => Mode::Unread,
        _ => Mode::Full,
    };
    let port = args.next().unwrap_or_else(|| "3999".to_owned());
    let fixture = Arc::new(Fixture { mode, started_ms: now_ms() });
    let socket_fixture = Arc::clone(&fixture);
    let router = server::http::pages(fixture).route(
        "/api/v1/live",
        any(move |upgrade: WebSocketUpgrade| {
            let fixture = Arc::clone(&socket_fixture);
            async move { upgrade.protocols([SUBPROTOCOL_BIN]).on_upgrade(move |socket| talk(socket, fixture)) }
        }),
    );
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    println!("fixture on http://{}", listener.local_addr()?);
    axum::serve(listener, router).await?;
    Ok(())
}

/// One socket: a snapshot on every request, then the view's differences twice a second.
async fn talk(mut socket: WebSocket, fixture: Arc<Fixture>) {
    let hello = ServerFrame::Hello { protocol: app::wire::PROTOCOL, epoch: EPOCH, server_time_ms: now_ms() };
    if send(&mut socket, &hello).await.is_none() {
        return;
    }
    let mut open: Option<(u32, View, u64, Body, bool)> = None;
    let mut clock = tokio::time::interval(Duration::from_millis(500));
    loop {
        let frame = tokio::select! {
            message = socket.recv() => match message {
                Some(Ok(Message::Binary(bytes))) => decode_frame::<ClientFrame>(&bytes),
                Some(Ok(_)) => None,
                _ => return,
            },
            _ = clock.tick() => {
                if let Some((id, view, seq, body, false)) = &mut open {
                    let next = fixture.body(view);
                    if let Some(delta) = body.diff(&next) {
                        *seq += 1;
                        *body = next;
                        if send(&mut socket, &ServerFrame::Delta { id: *id, seq: *seq, body: delta }).await.is_none() {
                            return;
                        }
                    }
                }
                if send(&mut socket, &ServerFrame::Heartbeat { seq: 1, server_time_ms: now_ms() }).await.is_none() {
                    return;
                }
                None
            }
        };
        match frame {
            Some(ClientFrame::Subscribe { id, view } | ClientFrame::ResumeAfter { id, view, .. }) => {
                let body = fixture.body(&view);
                let snapshot = ServerFrame::Snapshot { id, epoch: EPOCH, seq: 1, server_time_ms: now_ms(), body: body.clone() };
                if send(&mut socket, &snapshot).await.is_none() {
                    return;
                }
                open = Some((id, view, 1, body, false));
            }
            Some(ClientFrame::Unsubscribe { id }) if open.as_ref().is_some_and(|open| open.0 == id) => open = None,
            Some(ClientFrame::Pause { .. }) => open.iter_mut().for_each(|open| open.4 = true),
            Some(ClientFrame::Resume { .. }) => open.iter_mut().for_each(|open| open.4 = false),
            _ => {}
        }
    }
}

async fn send(socket: &mut WebSocket, frame: &ServerFrame) -> Option<()> {
    socket.send(Message::Binary(encode_frame(frame)?.into())).await.ok()
}

impl Fixture {
    fn body(&self, view: &View) -> Body {
        match view {
            View::Board(query) => Body::Board(self.make_board(query)),
            View::Lock(query) => Body::Lock(self.make_lock(query).map(Box::new)),
            View::Status {} => Body::Status(self.make_status()),
        }
    }

    fn first<T>(&self, value: T) -> First<T> {
        First { epoch: EPOCH, seq: 1, server_time_ms: now_ms(), value }
    }

    /// Moves on every two seconds, so that something happens on screen.
    fn beat(&self) -> i64 {
        (now_ms() - self.started_ms) / 2_000
    }

    fn as_of(&self) -> AsOf {
        let zxid = Zxid(0x1_0000_2f4a + self.beat());
        match self.mode {
            Mode::Full | Mode::Empty => AsOf { state: RootState::Live, since_ms: self.started_ms - 60_000, why: String::new(), zxid },
            Mode::Stale => AsOf { state: RootState::Stale, since_ms: self.started_ms - 12_000, why: "disconnected from zk1:2181".to_owned(), zxid },
            Mode::Unread => AsOf { state: RootState::Syncing, since_ms: self.started_ms - 3_000, why: String::new(), zxid: Zxid(0) },
        }
    }

    fn rows(&self) -> Vec<LockRow> {
        if matches!(self.mode, Mode::Empty | Mode::Unread) {
            return Vec::new();
        }
        let at = self.started_ms;
        let beat = self.beat();
        let long = format!("/app/{}/lock", "a-rather-long-directory-name/".repeat(14).trim_end_matches('/'));
        let specs: Vec<(&str, &str, Verdict, u32, i64, &str)> = vec![
            ("/jobs/nightly/import", "Curator InterProcessMutex", Verdict::Stuck, 1_000, 1_900_000, "worker-7.eu-west.example"),
            ("/app/orders", "kazoo Lock", Verdict::Healthy, 3 + (beat % 5) as u32, 900, "orders-api-2"),
            ("/app/ledger", "ZooKeeper recipes WriteLock", Verdict::Slow, 12, 44_000, "ledger-1"),
            ("/jobs/exclusive_lock", "single znode", Verdict::Expiring, 6, 21_000, "cron-host"),
            ("/app/migrations", "plain sequential mutex", Verdict::Orphan, 2, 86_400_000 * 3, ""),
            ("/app/cache/warm", "kazoo Lock", Verdict::DoubleOwner, 1, 7_000, "warm-1"),
            ("/app/transfers/b", "Curator InterProcessMutex", Verdict::Deadlocked, 4, 610_000, "transfer-3"),
            ("/jobs/gone", "plain sequential mutex", Verdict::NobodyHome, 3, 12_000, ""),
            ("/app/订单/锁", "kazoo Lock", Verdict::Healthy, 0, 3_400, "工人-4"),
            ("/app/قفل/الطلبات", "kazoo Lock", Verdict::Healthy, 1, 5_100, "عامل-9"),
            ("/app/<img src=x onerror=alert(1)>", "plain sequential mutex", Verdict::Unknown, 0, 100, "</script><script>alert(1)</script>"),
            (&long, "Curator InterProcessMutex", Verdict::Free, 0, 0, ""),
            ("/app/a\u{202e}gnp.exe", "go-zookeeper Lock", Verdict::Free, 0, 0, ""),
        ];
        let mut rows: Vec<LockRow> = specs.iter().zip(1..).map(|(spec, n)| row(spec, n, at, beat)).collect();
        rows.extend((0..150).map(|n| {
            row(
                &(&format!("/jobs/shard/{n:04}"), "zookeeper-client LockClient", Verdict::Healthy, n % 3, 500 + i64::from(n) * 40, "shard-runner"),
                100 + i64::from(n),
                at,
                0,
            )
        }));
        rows
    }

    fn make_board(&self, query: &BoardQuery) -> Board {
        let rows = self.rows();
        let totals = totals(&rows);
        let roots = ROOTS.iter().map(|root| self.root(root, &rows)).collect();
        let mut matching: Vec<LockRow> = rows.into_iter().filter(|row| matches(row, query)).collect();
        match query.sort {
            Sort::Damage => matching.sort_by_key(|row| -(i64::from(row.waiter_count) * self.started_ms - row.waiting_since_sum_ms)),
            Sort::OldestWait => matching.sort_by_key(|row| row.oldest_wait_at_ms.unwrap_or(i64::MAX)),
            Sort::Depth => matching.sort_by_key(|row| std::cmp::Reverse(row.waiter_count)),
            Sort::Hold => matching.sort_by_key(|row| row.held_since_ms.unwrap_or(i64::MAX)),
            Sort::Path => matching.sort_by(|a, b| a.path.cmp(&b.path)),
        }
        if query.group {
            matching.sort_by(|a, b| a.root.cmp(&b.root));
        }
        Board { head: BoardHead { as_of: self.as_of(), totals, roots }, window: cut(matching, query.offset, query.limit) }
    }

    fn root(&self, path: &str, rows: &[LockRow]) -> RootBrief {
        let locks = rows.iter().filter(|row| row.root == path).count() as u32;
        let (state, why) = match (self.mode, path) {
            (Mode::Full, "/late") => (RootState::Gone, "the root does not exist; it is watched for".to_owned()),
            (Mode::Stale, _) => (RootState::Stale, "disconnected".to_owned()),
            (Mode::Unread, _) => (RootState::Syncing, String::new()),
            _ => (RootState::Live, String::new()),
        };
        RootBrief { path: path.to_owned(), state, since_ms: self.started_ms - 60_000, why, locks }
    }

    fn make_lock(&self, query: &LockQuery) -> Option<LockPage> {
        let row = self.rows().into_iter().find(|row| row.path == query.path)?;
        let at = self.started_ms;
        let contenders = contenders(&row, at);
        let findings = if row.verdict == Verdict::Stuck {
            vec![FindingRow {
                code: "stuck_holder".to_owned(),
                severity: Severity::Critical,
                text: "The holder is alive and has held for 40 times the usual time.".to_owned(),
                paths: vec![row.path.clone()],
                since_ms: at - 900_000,
            }]
        } else {
            Vec::new()
        };
        let head = LockHead {
            as_of: self.as_of(),
            recognised_by: vec!["children are named _c_<uuid>-lock-<sequence>".to_owned(), "every child is ephemeral and sequential".to_owned()],
            foreign: vec![Foreign { path: format!("{}/config", row.path), reason: "no sequence number in its name".to_owned() }],
            findings,
            notes: if row.recipe == Recipe::SingleNodeMutex {
                vec!["Waiters of this recipe have no znode; they can't be counted.".to_owned()]
            } else {
                Vec::new()
            },
            stat: Some(StatRow {
                czxid: Zxid(0x1_0000_0007),
                mzxid: Zxid(0x1_0000_0007),
                pzxid: Zxid(0x1_0000_2f40),
                ctime_ms: at - 86_400_000,
                version: 0,
                cversion: 4_112,
                children: row.waiter_count + row.holder_count,
                creates_ever: 2_061,
            }),
            stats: LockStats {
                acquisitions: 2_048,
                owner_unknown: 3,
                hold_p50_ms: Some(47_000),
                hold_p99_ms: Some(190_000),
                wait_p50_ms: Some(320_000),
                wait_p99_ms: Some(1_200_000),
            },
            past: (1..9)
                .map(|n| PastHolder {
                    node: format!("_c_9f2a-lock-{:010}", 4_100 - n),
                    session_id: Some(SessionId(0x1_0000_0a1b_2c00 + n)),
                    label: Some(format!("worker-{n}")),
                    from_ms: at - 1_900_000 - n * 50_000,
                    until_ms: at - 1_900_000 - (n - 1) * 50_000,
                    is_lower_bound: n == 8,
                })
                .collect(),
            row,
        };
        Some(LockPage { head, window: cut(contenders, query.offset, query.limit) })
    }

    fn make_status(&self) -> Status {
        let rows = self.rows();
        let as_of = self.as_of();
        let roots = ROOTS.iter().map(|path| {
            let brief = self.root(path, &rows);
            RootStatus {
                path: brief.path,
                state: brief.state,
                since_ms: brief.since_ms,
                why: brief.why,
                locks: brief.locks.into(),
                znodes: u64::from(brief.locks) * 9,
            }
        });
        let link = match self.mode {
            Mode::Stale => Link::Lost,
            Mode::Unread => Link::Syncing,
            _ => Link::Live,
        };
        let ensemble = EnsembleStatus {
            name: "default".to_owned(),
            connect: "zk1:2181,zk2:2181,zk3:2181".to_owned(),
            link,
            since_ms: as_of.since_ms,
            why: as_of.why,
            session_id: Some(SessionId(0x1_0000_0a1b_2c00)),
            zxid: as_of.zxid,
            clock_offset_ms: Some(-14),
            roots: roots.collect(),
            evidence: Vec::new(),
            resyncs: 2,
            events: 184_211 + self.beat().unsigned_abs(),
            owner_unknown: 3,
            missed: 0,
        };
        Status {
            version: "0.1.0".to_owned(),
            protocol: 1,
            seq: 9_000 + self.beat().unsigned_abs(),
            read_only: true,
            started_at_ms: self.started_ms - 7_200_000,
            ensembles: vec![ensemble],
        }
    }
}

fn row(spec: &(&str, &str, Verdict, u32, i64, &str), n: i64, at: i64, beat: i64) -> LockRow {
    let (path, label, verdict, waiters, held_ms, who) = *spec;
    let is_held = !matches!(verdict, Verdict::Free | Verdict::NobodyHome);
    let since = at - held_ms + if path == "/app/orders" { beat * 2_000 } else { 0 };
    let oldest = at - held_ms.min(1_800_000);
    let mut row = LockRow {
        ensemble: "default".to_owned(),
        path: path.to_owned(),
        root: if path.starts_with("/jobs") { "/jobs".to_owned() } else { "/app".to_owned() },
        recipe: if label == "single znode" { Recipe::SingleNodeMutex } else { Recipe::SequentialMutex },
        recipe_label: label.to_owned(),
        confidence: Confidence::High,
        verdict,
        sentence: sentence(verdict, who, waiters),
        state: RootState::Live,
        holders: Vec::new(),
        holder_count: u32::from(is_held) + u32::from(verdict == Verdict::DoubleOwner),
        waiter_count: waiters,
        oldest_wait_at_ms: (waiters > 0).then_some(oldest),
        waiting_since_sum_ms: (0..i64::from(waiters)).map(|w| oldest + w * 1_500).sum(),
        held_since_ms: is_held.then_some(since),
        hold_is_lower_bound: n % 4 == 1,
        findings: Vec::new(),
        depth: if waiters == 0 {
            Vec::new()
        } else {
            (0..48).map(|slice: i64| ((slice * slice * n + beat) % (i64::from(waiters) + 2)) as u16).collect()
        },
    };
    if is_held {
        row.holders.push(contender(&row, 0, (!who.is_empty()).then(|| who.to_owned()), since));
    }
    row
}

fn sentence(verdict: Verdict, who: &str, waiters: u32) -> String {
    match verdict {
        Verdict::Free => "Free; nobody was seen to hold it yet.".to_owned(),
        Verdict::Stuck => format!("Stuck: {who} holds far beyond the usual time; usual is 47.0 s; {waiters} wait."),
        Verdict::Slow => format!("Slow: {who} holds longer than usual; usual is 2.1 s; {waiters} wait."),
        Verdict::Expiring => format!("{who} is gone; its session runs out by itself; {waiters} wait."),
        Verdict::Orphan => format!("Orphan: x-0000000012 is persistent, no session owns it, it never frees itself; {waiters} wait."),
        Verdict::NobodyHome => "The lock's directory went while three waited.".to_owned(),
        Verdict::DoubleOwner => format!("2 hold at once with the same sequence number: {who}, warm-2; {waiters} waits."),
        Verdict::Deadlocked => "Deadlock with /app/transfers/a: transfer-3 and transfer-8 wait for each other.".to_owned(),
        Verdict::Unknown => "Recognised as read/write lock; its queue is not read by this version.".to_owned(),
        Verdict::Healthy => format!("Held by {who}; {waiters} wait."),
    }
}

fn contender(row: &LockRow, position: u32, label: Option<String>, since: i64) -> Contender {
    let node = format!("_c_{:04x}9f2a-lock-{:010}", position * 7_919 % 65_536, 4_100 + position);
    let is_holder = position == 0;
    let is_orphan = is_holder && row.verdict == Verdict::Orphan;
    Contender {
        path: format!("{}/{node}", row.path),
        sequence: Some(4_100 + i64::from(position)),
        position,
        role: if is_holder { Role::Holder } else { Role::Waiter },
        access: Access::Exclusive,
        session_id: (!is_orphan).then_some(SessionId(0x1_0000_0a1b_2c00 + i64::from(position))),
        ephemeral: Some(!is_orphan),
        client: None,
        liveness: match position {
            _ if is_orphan => Liveness::Persistent,
            0 if row.verdict == Verdict::Expiring => Liveness::Disconnected,
            3 => Liveness::Silent,
            0..9 => Liveness::Connected,
            _ => Liveness::Unknown,
        },
        expires_at_ms: (row.verdict == Verdict::Expiring && is_holder).then_some(since + 60_000),
        label,
        data: None,
        created_at_ms: Some(since),
        waiting_since_ms: (!is_holder).then_some(since),
        holding_since_ms: is_holder.then_some(since),
        holding_is_lower_bound: is_holder && row.hold_is_lower_bound,
        waits_for: Vec::new(),
        czxid: Some(Zxid(0x1_0000_2000 + i64::from(position))),
        version: 0,
        node: Some(node),
    }
}

fn contenders(row: &LockRow, at: i64) -> Vec<Contender> {
    let mut all = row.holders.clone();
    for position in 1..=row.waiter_count {
        let label = (position % 3 != 0).then(|| format!("worker-{position}"));
        let mut waiter = contender(row, position, label, at - 1_800_000 + i64::from(position) * 1_500);
        let evidence = match position {
            2 => EdgeEvidence::Missing,
            _ if row.recipe == Recipe::SingleNodeMutex => EdgeEvidence::Shared,
            1..6 => EdgeEvidence::Confirmed,
            _ => EdgeEvidence::Inferred,
        };
        let to = if evidence == EdgeEvidence::Shared { all.first() } else { all.last() };
        waiter.waits_for.extend(to.map(|to| Edge { to: to.path.clone(), evidence }));
        all.push(waiter);
    }
    all
}

fn totals(rows: &[LockRow]) -> Totals {
    let verdicts = Verdict::ALL.into_iter().rev().map(|verdict| (verdict, rows.iter().filter(|row| row.verdict == verdict).count() as u32));
    Totals {
        locks: rows.len() as u32,
        held: rows.iter().filter(|row| row.holder_count > 0).count() as u32,
        waiters: rows.iter().map(|row| row.waiter_count).sum(),
        contended: rows.iter().filter(|row| row.waiter_count > 0).count() as u32,
        waiting_since_sum_ms: rows.iter().map(|row| row.waiting_since_sum_ms).sum(),
        oldest_wait_at_ms: rows.iter().filter_map(|row| row.oldest_wait_at_ms).min(),
        verdicts: verdicts.filter(|(_, count)| *count > 0).collect(),
    }
}

fn matches(row: &LockRow, query: &BoardQuery) -> bool {
    let text = format!("{} {} {}", row.path, row.recipe_label, row.holders.first().and_then(|holder| holder.label.clone()).unwrap_or_default());
    let wanted = query.q.split_whitespace().all(|term| match term.strip_prefix('!') {
        Some(term) => !text.contains(term),
        None => text.contains(term),
    });
    wanted && query.verdict.is_none_or(|verdict| verdict == row.verdict) && (query.root.is_empty() || query.root == row.root)
}

fn cut<R>(all: Vec<R>, offset: u32, limit: u32) -> Window<R> {
    let total = all.len() as u32;
    let offset = offset.min(total);
    Window { total, offset, rows: all.into_iter().skip(offset as usize).take(limit as usize).collect() }
}

impl Source for Fixture {
    fn board(&self, query: &BoardQuery) -> First<Board> {
        self.first(self.make_board(query))
    }

    fn lock(&self, query: &LockQuery) -> First<Option<LockPage>> {
        self.first(self.make_lock(query))
    }

    fn status(&self) -> First<Status> {
        self.first(self.make_status())
    }
}
