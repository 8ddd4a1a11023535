//! Answers that are compressed: text that is long enough, where the client takes it and no secret is at stake.

use lockscope_runtime::clock::Clock;
use lockscope_web::{Limits, pages};
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, VARY};
use reqwest::{Method, Response};

use lockscope_access::Access;

use crate::served::{NOW_MS, Served, hear, say};

/// A board of many rows.
const LOCKS: usize = 400;

async fn served() -> Served {
    let served = Served::start_for(Limits::default(), Access::open_to_all(Clock::manual(NOW_MS)), pages).await;
    served.fake.set(&(0..LOCKS).map(|n| format!("/order-{n}")).collect::<Vec<_>>());
    served
}

async fn ask(served: &Served, method: Method, path: &str, encodings: &str) -> Response {
    let url = format!("http://{}{path}", served.address);
    let request = reqwest::Client::new().request(method, url).header(ACCEPT_ENCODING, encodings);
    request.send().await.unwrap()
}

fn encoding(response: &Response) -> Option<&str> {
    response.headers().get(CONTENT_ENCODING).map(|encoding| encoding.to_str().unwrap())
}

#[tokio::test]
async fn pages_and_json_are_compressed_as_the_client_takes_it() {
    let served = served().await;
    for path in ["/api/v1/locks?limit=400", "/api/v1/openapi.json", "/", "/status", "/find?q=order", "/nowhere"] {
        let plain = ask(&served, Method::GET, path, "identity").await;
        assert_eq!(encoding(&plain), None, "{path}");
        assert_eq!(plain.headers()[VARY], "accept-encoding", "{path}: caches must know");
        let plain = plain.bytes().await.unwrap();
        for (takes, is) in [("gzip", "gzip"), ("gzip, br", "br"), ("br;q=0, gzip", "gzip")] {
            let response = ask(&served, Method::GET, path, takes).await;
            assert_eq!(encoding(&response), Some(is), "{path} {takes}");
            assert_eq!(response.headers()[VARY], "accept-encoding", "{path}");
            let bytes = response.bytes().await.unwrap();
            assert!(bytes.len() * 2 < plain.len(), "{path} {takes}: {} of {} bytes", bytes.len(), plain.len());
        }
    }
}

#[tokio::test]
async fn what_is_short_or_may_hold_a_secret_stays_as_it_is() {
    let served = served().await;
    for path in ["/healthz", "/api/v1/me", "/sign-in", "/sign-in/once?token=planted", "/release/approve?plan=planted"] {
        let response = ask(&served, Method::GET, path, "br, gzip").await;
        assert_eq!(encoding(&response), None, "{path}");
    }
    let plan = ask(&served, Method::POST, "/api/v1/release/plan", "br, gzip").await;
    assert_eq!(encoding(&plan), None);
}

#[tokio::test]
async fn a_head_keeps_its_length_and_the_socket_its_frames() {
    let served = served().await;
    let head = ask(&served, Method::HEAD, "/api/v1/locks?limit=400", "br").await;
    assert_eq!((head.status().as_u16(), encoding(&head)), (200, None));
    assert!(head.headers()[CONTENT_LENGTH].to_str().unwrap().parse::<usize>().unwrap() > 1_024);
    let headers = [("sec-websocket-protocol", "lockscope.v1.json"), ("accept-encoding", "br, gzip")];
    let mut client = served.open(&headers).await.unwrap();
    say(&mut client, r#"{"type":"subscribe","id":1,"view":{"kind":"board"}}"#).await;
    hear(&mut client, "snapshot").await;
}
