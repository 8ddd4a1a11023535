//! Files and pages of the past through a replica that watches nothing: the same as those of an owner, from which they come
//! piece by piece.

use super::acts::same_token;
use super::{RECORDED, Server, secret, three};
use crate::harness::{Truth, open, queue, zookeeper};
use crate::served::until;

struct Got {
    status: u16,
    headers: reqwest::header::HeaderMap,
    body: Vec<u8>,
}

impl Got {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

async fn get(server: &Server, token: &str, target: &str) -> Got {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let answer = client.get(format!("{}{target}", server.url)).bearer_auth(token).send().await.unwrap();
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    Got { status, headers, body: answer.bytes().await.unwrap().to_vec() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_and_pages_of_the_past_are_those_of_an_owner() {
    let zookeeper = zookeeper().await;
    let truth = Truth::new(&zookeeper.address()).await;
    for path in ["/a", "/a/order", "/a/theirs"] {
        truth.make(path).await;
    }
    let client = open(&zookeeper.address()).await;
    let place = tempfile::tempdir().unwrap();
    let [one, two, gateway] = three(&zookeeper, &secret(&place), RECORDED).await;
    let token = same_token(&[&one, &two, &gateway], "operator", "ops").await;
    for _ in 0..20 {
        let held = queue(&client, "/a/order/lock-").await;
        until(async || get(&one, &token, "/api/v1/lock?ensemble=default&path=/a/order").await.text().contains(&held))
            .await;
        truth.client.delete(&held, None).await.unwrap();
    }
    let _held = queue(&client, "/a/order/lock-").await;
    let lives = "/api/v1/history/holds?ensemble=default&path=/a/order&limit=100";
    until(async || get(&one, &token, lives).await.text().matches("\"how\":\"released\"").count() >= 20).await;
    let history: serde_json::Value = serde_json::from_str(&get(&one, &token, "/api/v1/history").await.text()).unwrap();
    let (from, to) = (history["from_at_ms"].as_i64().unwrap(), history["to_at_ms"].as_i64().unwrap());

    let range = format!("ensemble=default&from={from}&to={to}");
    for (format, name) in
        [("csv", "lockscope-history.csv"), ("perfetto", "lockscope-history.json"), ("sqlite", "lockscope-")]
    {
        let target = format!("/api/v1/history/export?{range}&format={format}");
        let (here, there) = (get(&gateway, &token, &target).await, get(&one, &token, &target).await);
        assert_eq!((here.status, there.status), (200, 200), "{format}: {}", here.text());
        for header in ["content-type", "content-disposition"] {
            assert_eq!(here.header(header), there.header(header), "{format}");
        }
        assert!(here.header("content-disposition").contains(name), "{format}");
        if format == "sqlite" {
            assert!(
                here.body.starts_with(b"SQLite format 3")
                    && here.header("content-length") == here.body.len().to_string()
            );
        } else {
            assert!(here.text().contains("/a/order"), "{format}");
        }
        if format == "csv" {
            assert_eq!(here.text().lines().count(), there.text().lines().count());
        }
    }
    let bad = get(&gateway, &token, "/api/v1/history/export?ensemble=default&format=none").await;
    assert!(bad.status == 400 && bad.text().contains("format"), "{}", bad.text());

    // Pages of a moment: the same document, whose links stay at the host that was asked.
    for page in ["/lock?ensemble=default&path=%2Fa%2Forder", "/?ensemble=default", "/sessions?ensemble=default"] {
        let target = format!("{page}&at={to}");
        let (here, there) = (get(&gateway, &token, &target).await, get(&one, &token, &target).await);
        assert_eq!((here.status, there.status), (200, 200), "{target}");
        let (text, theirs) = (here.text(), there.text());
        assert!(text.contains(&format!("at={to}")) && !text.contains(&one.url) && !text.contains(&two.url), "{target}");
        for (text, whose) in [(&text, "here"), (&theirs, "there")] {
            let is_past = text.contains("data-testid=\"past-band\"") && text.contains(&format!("data-at=\"{to}\""));
            assert!(is_past && text.contains("/a/order"), "{target} {whose}: {text}");
        }
        assert!(here.header("content-security-policy").contains("nonce-"), "{target}");
    }
    let newest = get(&gateway, &token, "/lock?ensemble=default&path=/a/order&at=now").await;
    assert!(newest.status == 303 && newest.header("location").starts_with("/lock?"), "{}", newest.header("location"));
    // Whoever may see one lock sees no other, here as there.
    let bounded = same_token(&[&gateway], "viewer", "mine").await;
    assert_eq!(get(&gateway, &bounded, &format!("/?ensemble=default&at={to}")).await.status, 200, "it is known here");
    assert_eq!(get(&gateway, "none", &format!("/?ensemble=default&at={to}")).await.status, 401);
}
