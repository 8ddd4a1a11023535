//! Views and sockets: what one caller may have open, and what all of them together may take.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use futures_util::{SinkExt as _, StreamExt as _};
use lockscope_access::{Access, Grant, ListenScope, Settings, new_token};
use lockscope_live::BYTES_MAX;
use lockscope_runtime::clock::Clock;
use lockscope_view::Role;
use lockscope_web::listener::Bounds;
use lockscope_web::{CALLER_SOCKETS_MAX, CALLER_VIEWS_MAX, Limits};
use tempfile::TempDir;
use tokio_tungstenite::tungstenite::Message;

use super::{PATIENCE, alone, good_client, memory_mib};
use crate::access::bearer;
use crate::served::{Client, NOW_MS, Served, closed, hear, say};

/// Subscriptions of one socket.
const A_SOCKET: usize = 16;

/// A server that knows one script, beside whoever comes unknown.
async fn served(limits: Limits) -> (Served, String, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let (_, token) = new_token(dir.path(), "greedy", Grant::everywhere(Role::Viewer), NOW_MS, None).unwrap();
    let access =
        Access::new(Some(dir.path().to_owned()), Settings::default(), ListenScope::LOOPBACK, Clock::manual(NOW_MS));
    let served = Served::start_with(limits, Bounds::default(), None, |http| http.with_access(access)).await;
    (served, bearer(token.expose()), dir)
}

async fn open(served: &Served, token: &str) -> Client {
    served.open(&[("sec-websocket-protocol", "lockscope.v1.json"), ("authorization", token)]).await.unwrap()
}

fn subscribe(id: usize, q: &str, limit: u32) -> String {
    format!(r#"{{"type":"subscribe","id":{id},"view":{{"kind":"board","q":"{q}","limit":{limit}}}}}"#)
}

#[tokio::test]
async fn a_caller_has_so_many_sockets_and_views_and_others_have_their_own() {
    let (served, token, _dir) = served(Limits::default()).await;
    let mut sockets = Vec::new();
    for _ in 0..CALLER_SOCKETS_MAX {
        let mut client = open(&served, &token).await;
        hear(&mut client, "hello").await;
        sockets.push(client);
    }
    let refused = closed(&mut open(&served, &token).await).await;
    assert_eq!(refused, (1013, "16 live sockets of yours are open; close one, then connect again".to_owned()));
    for at in 0..=CALLER_VIEWS_MAX {
        let client = &mut sockets[at / A_SOCKET];
        say(client, &subscribe(at % A_SOCKET, &format!("q{at}"), 1)).await;
        if at < CALLER_VIEWS_MAX {
            hear(client, "snapshot").await;
        } else {
            let error = hear(client, "error").await;
            assert!(
                error["detail"].as_str().unwrap().starts_with("64 views of yours are open on all your sockets"),
                "{error}"
            );
        }
    }
    // One that is open may be replaced by another.
    say(&mut sockets[0], &subscribe(0, "other", 1)).await;
    hear(&mut sockets[0], "snapshot").await;
    let mut good = served.json().await;
    say(&mut good, &subscribe(1, "mine", 1)).await;
    hear(&mut good, "snapshot").await;
    say(&mut sockets[0], r#"{"type":"unsubscribe","id":0}"#).await;
    say(&mut sockets[1], r#"{"type":"unsubscribe","id":0}"#).await;
    say(&mut sockets[5], &subscribe(7, "again", 1)).await;
    let metrics = served.get("/metrics").await.2;
    for sample in [r#"limited_total{limit="caller_sockets"} 1"#, r#"limited_total{limit="caller_views"} 1"#] {
        assert!(metrics.contains(sample), "{metrics}");
    }
}

#[tokio::test]
async fn viewers_behind_one_proxy_are_not_one_caller() {
    let few = Limits { caller_sockets_max: 1, caller_views_max: 1, sockets_max: 24, ..Limits::default() };
    let (served, token, _dir) = served(few).await;
    let mut sockets = Vec::new();
    // Those of one client, whom the proxy names or who has a connection.
    let json = ("sec-websocket-protocol", "lockscope.v1.json");
    for _ in 0..4 {
        let mut client = served.open(&[json, ("x-forwarded-for", "10.0.0.1")]).await.unwrap();
        hear(&mut client, "hello").await;
        sockets.push(client);
    }
    let refused = closed(&mut served.open(&[json, ("x-forwarded-for", "10.0.0.1")]).await.unwrap()).await;
    assert_eq!(refused, (1013, "4 live sockets of yours are open; close one, then connect again".to_owned()));
    for at in 4..12 {
        let mut client = if at % 2 == 0 {
            served.json().await
        } else {
            served.open(&[json, ("x-forwarded-for", &format!("9.9.9.9, 10.0.0.{at}"))]).await.unwrap()
        };
        for id in 0..4 {
            say(&mut client, &subscribe(id, &format!("q{at}-{id}"), 1)).await;
            hear(&mut client, "snapshot").await;
        }
        sockets.push(client);
    }
    // All of them together have half.
    let refused = closed(&mut served.json().await).await;
    assert_eq!(refused, (1013, "12 live sockets of yours are open; close one, then connect again".to_owned()));
    hear(&mut open(&served, &token).await, "hello").await;
}

/// Reads whatever comes; so many snapshots and errors came when it ends.
async fn swallow(mut client: Client, views: std::ops::Range<usize>) -> (usize, usize, Client) {
    for at in views.clone() {
        client.send(Message::text(subscribe(at % A_SOCKET, &format!("q{at}"), 500))).await.unwrap();
    }
    let (mut snapshots, mut errors) = (0, 0);
    while snapshots + errors < views.len() {
        // One that is too slow for its views is sent away.
        let Some(Ok(message)) = client.next().await else { break };
        if let Message::Text(text) = message {
            snapshots += usize::from(text.starts_with(r#"{"type":"snapshot""#));
            errors += usize::from(text.contains(r#""type":"error""#));
        }
    }
    (snapshots, errors, client)
}

#[test]
fn two_thousand_views_take_little_memory_and_nobody_elses_time() {
    alone("budgets::views::two_thousand_views_take_little_memory_and_nobody_elses_time", || async {
        const VIEWS: usize = 2_048;
        let limits = Limits { caller_sockets_max: VIEWS, caller_views_max: VIEWS, ..Limits::default() };
        let (served, token, _dir) = served(limits).await;
        let paths =
            |step: usize| (0..500).map(|at| format!("/orders/{at}/{step}-{}", "long".repeat(20))).collect::<Vec<_>>();
        served.fake.set(&paths(0));
        let mut good = served.json().await;
        say(&mut good, &subscribe(1, "mine", 3)).await;
        hear(&mut good, "snapshot").await;
        // It reads all the time, as a browser does.
        let (tell, mut deltas) = tokio::sync::mpsc::channel(64);
        tokio::spawn(async move { while tell.send(hear(&mut good, "delta").await).await.is_ok() {} });
        let before_mib = memory_mib("VmRSS");
        let abuse = async {
            let sockets = join_all((0..VIEWS / A_SOCKET).map(|_| open(&served, &token))).await;
            let views =
                sockets.into_iter().enumerate().map(|(at, client)| swallow(client, at * A_SOCKET..(at + 1) * A_SOCKET));
            let all = join_all(views).await;
            let (snapshots, errors) =
                all.iter().fold((0, 0), |(snapshots, errors), one| (snapshots + one.0, errors + one.1));
            eprintln!("figure: {snapshots} views were opened, {errors} refused");
            assert!(snapshots >= 64, "{snapshots}");
            // They are all changed, and the good client's with them.
            for step in 1..6 {
                let began = Instant::now();
                served.fake.set(&paths(step));
                let is_it = |delta: &serde_json::Value| delta.to_string().contains(&format!("/orders/0/{step}-"));
                while !is_it(&deltas.recv().await.expect("the good client is sent away")) {}
                eprintln!("figure: a change was shown to another after {:?}", began.elapsed());
                assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        let longest = good_client(&served, "/healthz", abuse).await;
        let taken_mib = memory_mib("VmHWM").saturating_sub(before_mib);
        eprintln!("figure: {VIEWS} views took {taken_mib} MiB at most; /healthz answered within {longest:?}");
        assert!(taken_mib <= 256, "{taken_mib} MiB");
        assert!(served.bytes() <= BYTES_MAX, "{}", served.bytes());
    });
}
