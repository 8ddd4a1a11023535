//! The live socket from outside, over a model of our own: what clients may rely on, and what bad ones get.

use futures_util::{SinkExt as _, StreamExt as _};
use lockscope_view::{BoardQuery, ClientFrame, CompactFrame, PROTOCOL, View, decode_frame, encode_frame};
use lockscope_web::Limits;
use tokio_tungstenite::tungstenite::{self, Message};

use crate::served::{Client, Served, closed, hear, say, short, until};

const SUBSCRIBE: &str = r#"{"type":"subscribe","id":1,"view":{"kind":"board","limit":500}}"#;

fn paths(count: usize, tag: &str) -> Vec<String> {
    (0..count).map(|at| format!("/{tag}-{at}")).collect()
}

async fn refused(served: &Served, headers: &[(&'static str, &str)]) -> (u16, String) {
    match served.open(headers).await {
        Err(tungstenite::Error::Http(answer)) => {
            (answer.status().as_u16(), String::from_utf8(answer.into_body().unwrap_or_default()).unwrap())
        }
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn a_script_sees_hello_snapshot_delta_and_heartbeat() {
    let served = Served::start(short(500)).await;
    let mut client = served.json().await;
    let hello = hear(&mut client, "hello").await;
    assert_eq!(
        (hello["protocol"].as_u64(), hello["epoch"].as_str(), hello["server_time_ms"].as_i64()),
        (Some(PROTOCOL.into()), Some("0xe"), Some(1_000_000))
    );
    say(&mut client, SUBSCRIBE).await;
    let snapshot = hear(&mut client, "snapshot").await;
    assert_eq!(
        (snapshot["id"].as_u64(), snapshot["body"]["kind"].as_str(), snapshot["body"]["window"]["total"].as_u64()),
        (Some(1), Some("board"), Some(0))
    );
    served.fake.set(&paths(1, "a"));
    let delta = hear(&mut client, "delta").await;
    assert_eq!(delta["seq"].as_u64(), snapshot["seq"].as_u64().map(|seq| seq + 1));
    assert_eq!(delta["body"]["window"]["changed"][0][1]["path"], "/a-0");
    let beat = hear(&mut client, "heartbeat").await;
    assert_eq!(beat["seq"].as_u64(), Some(1));
    assert_eq!(beat["views"], serde_json::json!([{ "id": 1, "seq": delta["seq"], "known_at_ms": 1_000_000 }]));
}

#[tokio::test]
async fn a_script_follows_waits_sessions_and_one_session() {
    let served = Served::start(Limits::default()).await;
    let mut client = served.json().await;
    for (id, view) in [
        (1, r#"{"kind":"waits"}"#),
        (2, r#"{"kind":"sessions","sort":"id"}"#),
        (3, r#"{"kind":"session","id":"0x11"}"#),
    ] {
        say(&mut client, &format!(r#"{{"type":"subscribe","id":{id},"view":{view}}}"#)).await;
        let snapshot = hear(&mut client, "snapshot").await;
        assert_eq!(snapshot["id"].as_u64(), Some(id));
    }
    served.fake.set(&["/a".to_owned(), "/b".to_owned()]);
    for _ in 0..3 {
        let delta = hear(&mut client, "delta").await;
        let body = &delta["body"];
        match delta["id"].as_u64() {
            Some(1) => assert_eq!(
                (&body["kind"], &body["body"]["cycles"][0]["victim"]),
                (&"whole".into(), &"0x22".into()),
                "{delta}"
            ),
            Some(2) => assert_eq!(
                (&body["kind"], &body["window"]["changed"][1][1]["session_id"]),
                (&"sessions".into(), &"0x22".into()),
                "{delta}"
            ),
            Some(3) => {
                assert_eq!((&body["kind"], &body["body"]["row"]["holds"]), (&"whole".into(), &2.into()), "{delta}")
            }
            other => panic!("a delta for {other:?}"),
        }
    }
    served.fake.set(&[]);
    while hear(&mut client, "delta").await["id"] != 3 {}
    say(&mut client, r#"{"type":"subscribe","id":4,"view":{"kind":"session","id":"eleven"}}"#).await;
    let error = hear(&mut client, "error").await;
    assert!(
        error["detail"]
            .as_str()
            .is_some_and(|detail| detail.contains("`eleven` is not a hexadecimal id like 0x100000a1b2c0001")),
        "{error}"
    );
}

#[tokio::test]
async fn the_page_speaks_binary_and_its_reducer_follows() {
    let served = Served::start(Limits::default()).await;
    let mut client = served.open(&[("sec-websocket-protocol", "lockscope.v1.json, lockscope.v1.bin")]).await.unwrap();
    let frame = ClientFrame::Subscribe { id: 9, view: View::Board(BoardQuery::default()) };
    client.send(Message::binary(encode_frame(&frame).unwrap())).await.unwrap();
    let (mut body, mut rows) = (None, 0);
    while rows < 3 {
        let Message::Binary(bytes) = client.next().await.unwrap().unwrap() else { continue };
        match decode_frame::<CompactFrame>(&bytes).unwrap() {
            CompactFrame::Snapshot { id: 9, body: whole, .. } => {
                body = Some(*whole);
                served.fake.set(&paths(3, "b"));
            }
            CompactFrame::Delta { id: 9, body: delta, .. } => assert!(body.as_mut().unwrap().apply_patch(delta)),
            CompactFrame::Hello { .. } | CompactFrame::Heartbeat { .. } => {}
            other => panic!("unexpected {other:?}"),
        }
        if let Some(lockscope_view::Body::Board(board)) = &body {
            rows = board.window.rows.len();
        }
    }
}

#[tokio::test]
async fn frames_that_are_none_get_an_error_frame_and_the_socket_stays() {
    let served = Served::start(Limits::default()).await;
    let mut client = served.json().await;
    for (frame, detail) in [
        ("nonsense", "the frame is not JSON ("),
        (r#"{"type":"dance","id":4}"#, "`type` \"dance\" is unknown; use one of"),
        (r#"{"type":"pause","id":4}"#, "there is no subscription 4 on this socket; start one with `subscribe`"),
        (
            r#"{"type":"subscribe","id":4,"view":{"kind":"lock","path":"x"}}"#,
            "`x` is not the absolute path of a lock; write it like /order",
        ),
    ] {
        say(&mut client, frame).await;
        let error = hear(&mut client, "error").await;
        assert!(error["detail"].as_str().unwrap().starts_with(detail), "{error}");
    }
    client.send(Message::binary(vec![1, 2, 3])).await.unwrap();
    let error = hear(&mut client, "error").await;
    assert_eq!(error["detail"], "a binary frame came on lockscope.v1.json, which takes text frames");
    for id in 0..17 {
        say(&mut client, &format!(r#"{{"type":"subscribe","id":{id},"view":{{"kind":"status"}}}}"#)).await;
    }
    let error = hear(&mut client, "error").await;
    assert_eq!(
        (error["id"].as_u64(), error["detail"].as_str().unwrap().starts_with("16 subscriptions are open")),
        (Some(16), true)
    );
}

#[tokio::test]
async fn a_frame_that_is_too_long_closes_the_socket_with_1009() {
    let served = Served::start(Limits::default()).await;
    let mut client = served.json().await;
    say(&mut client, &"x".repeat(65 * 1024)).await;
    assert_eq!(closed(&mut client).await, (1009, "a frame may have at most 65536 bytes; send less".to_owned()));
}

#[tokio::test]
async fn strangers_are_refused_at_the_door() {
    let served = Served::start(Limits { sockets_max: 1, ..Limits::default() }).await;
    let (status, text) = refused(&served, &[("sec-websocket-protocol", "chat")]).await;
    assert_eq!(status, 400);
    assert!(
        text.contains("the subprotocol chat is not spoken here; offer lockscope.v1.json or lockscope.v1.bin"),
        "{text}"
    );
    let (status, text) = refused(&served, &[("origin", "http://evil.example")]).await;
    assert_eq!(status, 403);
    assert!(text.contains("evil.example"), "{text}");
    let own = format!("http://{}", served.address);
    let _first = served.open(&[("origin", &own)]).await.unwrap();
    let (status, text) = refused(&served, &[]).await;
    assert_eq!(status, 503);
    assert!(text.contains("1 live sockets are open"), "{text}");
}

#[tokio::test]
async fn a_paused_view_is_silent_and_catches_up_on_resume() {
    let served = Served::start(short(200)).await;
    let mut client = served.json().await;
    say(&mut client, SUBSCRIBE).await;
    hear(&mut client, "snapshot").await;
    say(&mut client, r#"{"type":"pause","id":1}"#).await;
    // An answer to a later frame says that the pause was taken in.
    say(&mut client, r#"{"type":"unsubscribe","id":7}"#).await;
    hear(&mut client, "error").await;
    served.fake.set(&paths(2, "p"));
    for _ in 0..5 {
        let beat = hear_any(&mut client).await;
        assert_eq!(beat["type"], "heartbeat");
    }
    say(&mut client, r#"{"type":"resume","id":1}"#).await;
    assert_eq!(hear(&mut client, "delta").await["body"]["window"]["total"], 2);
}

async fn hear_any(client: &mut Client) -> serde_json::Value {
    loop {
        if let Message::Text(text) = client.next().await.unwrap().unwrap() {
            return serde_json::from_str(&text).unwrap();
        }
    }
}

#[tokio::test]
async fn a_client_resumes_where_it_was_and_is_told_when_it_can_not() {
    let served = Served::start(Limits::default()).await;
    let mut client = served.json().await;
    say(&mut client, SUBSCRIBE).await;
    let seq = hear(&mut client, "snapshot").await["seq"].as_u64().unwrap();
    served.fake.set(&paths(1, "r"));
    hear(&mut client, "delta").await;
    drop(client);

    let mut client = served.json().await;
    let resume = |epoch: &str| {
        format!(
            r#"{{"type":"resume_after","id":2,"epoch":"{epoch}","seq":{seq},"view":{{"kind":"board","limit":500}}}}"#
        )
    };
    say(&mut client, &resume("0xe")).await;
    let delta = hear(&mut client, "delta").await;
    assert_eq!((delta["id"].as_u64(), delta["seq"].as_u64()), (Some(2), Some(seq + 1)));
    say(&mut client, &resume("0xf")).await;
    hear(&mut client, "resync").await;
    assert_eq!(hear(&mut client, "snapshot").await["body"]["window"]["total"], 1);
}

#[tokio::test]
async fn a_client_that_never_reads_is_closed_and_holds_nobody_back() {
    let served = Served::start(Limits { send_ms_max: 2_000, ..Limits::default() }).await;
    let mut slow = served.json().await;
    let mut quick = served.json().await;
    say(&mut quick, SUBSCRIBE).await;
    hear(&mut quick, "snapshot").await;
    say(&mut slow, SUBSCRIBE).await;
    // Each round changes every row: some 200 KB. The slow client reads none of it; the quick one every state.
    let mut round = 0;
    until(async || {
        round += 1;
        served.fake.set(&paths(400, &format!("round{round}")));
        hear(&mut quick, "delta").await;
        let (_, _, metrics) = served.get("/metrics").await;
        metrics.contains("lockscope_slow_sockets_closed_total 1\n")
    })
    .await;
    until(async || served.get("/metrics").await.2.contains("lockscope_socket_clients 1\n")).await;
    served.fake.set(&paths(1, "after"));
    hear(&mut quick, "delta").await;
}

#[tokio::test]
async fn at_shutdown_sockets_close_with_1001_and_ready_says_so() {
    let served = Served::start(Limits::default()).await;
    let mut client = served.json().await;
    say(&mut client, SUBSCRIBE).await;
    hear(&mut client, "snapshot").await;
    served.drain.cancel();
    assert_eq!(closed(&mut client).await, (1001, "the server is shutting down".to_owned()));
    drop(client);
    assert!(served.http.sockets_closed(crate::harness::DEADLINE).await);
    assert_eq!(served.get("/readyz").await.0, 503);
    assert_eq!(served.get("/healthz").await.0, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn views_go_on_while_others_are_waited_for() {
    let served = Served::start(short(300)).await;
    let mut client = served.json().await;
    say(&mut client, SUBSCRIBE).await;
    hear(&mut client, "snapshot").await;
    // Requests of the same caller take every turn there is, and further views of the socket wait behind them.
    served.fake.hold_looks(true);
    let url = format!("http://{}/api/v1/sessions?q=", served.address);
    let asking: Vec<_> = (0..8).map(|at| tokio::spawn(reqwest::get(format!("{url}{at}")))).collect();
    until(async || served.fake.looks() > 0).await;
    for id in [2, 3] {
        say(&mut client, &format!(r#"{{"type":"subscribe","id":{id},"view":{{"kind":"waits"}}}}"#)).await;
    }
    for step in 0..4 {
        served.fake.set(&paths(1, &format!("step{step}")));
        let delta = hear(&mut client, "delta").await;
        assert_eq!(delta["id"], 1, "{delta}");
        let beat = hear(&mut client, "heartbeat").await;
        assert_eq!(beat["views"].as_array().map(Vec::len), Some(1), "{beat}");
    }
    // What the client says in between is heard: one is stopped, and one that is not there can't be.
    say(&mut client, r#"{"type":"unsubscribe","id":2}"#).await;
    say(&mut client, r#"{"type":"unsubscribe","id":2}"#).await;
    assert_eq!(hear(&mut client, "error").await["id"], 2);
    served.fake.hold_looks(false);
    assert_eq!(hear(&mut client, "snapshot").await["id"], 3);
    for answer in asking {
        assert_eq!(answer.await.unwrap().unwrap().status(), 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_view_leaves_the_one_before() {
    let served = Served::start(Limits::default()).await;
    let mut client = served.json().await;
    say(&mut client, SUBSCRIBE).await;
    hear(&mut client, "snapshot").await;
    say(&mut client, r#"{"type":"subscribe","id":1,"view":{"kind":"lock","path":"no path"}}"#).await;
    assert_eq!(hear(&mut client, "error").await["id"], 1);
    served.fake.set(&paths(1, "a"));
    assert_eq!(hear(&mut client, "delta").await["id"], 1);
}

/// What lies in the kernel for the clients of this port and from them, at both ends.
fn queued_bytes(port: u16) -> u64 {
    let text = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let port = format!(":{port:04X}");
    let ours = text.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    let ours = ours.filter(|words| words[1].ends_with(&port) || words[2].ends_with(&port));
    let bytes = |words: &str| u64::from_str_radix(words, 16).unwrap();
    ours.map(|words| words[4].split_once(':').map_or(0, |(sent, read)| bytes(sent) + bytes(read))).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sockets_that_never_read_keep_little_in_the_kernel() {
    let served = Served::start(Limits { caller_sockets_max: 200, ..Limits::default() }).await;
    let mut quick = served.json().await;
    say(&mut quick, SUBSCRIBE).await;
    hear(&mut quick, "snapshot").await;
    let mut deaf = Vec::new();
    for _ in 0..100 {
        let mut client = served.json().await;
        say(&mut client, SUBSCRIBE).await;
        deaf.push(client);
    }
    // Each round changes every row: some 200 KB.
    for round in 0..20 {
        served.fake.set(&paths(400, &format!("round{round}")));
        hear(&mut quick, "delta").await;
    }
    let queued = queued_bytes(served.address.port());
    assert!(queued <= 32 << 20, "{queued} bytes for {} sockets", deaf.len());
}
