//! What is asked for over HTTP: nobody who asks a lot makes others late.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;

use super::{PATIENCE, good_client};
use crate::served::{Served, hear, say, short};

/// What a look at 10,000 locks with 10 contenders each takes.
const LOOK: Duration = Duration::from_millis(25);
/// 80 a second, for 4 s.
const ASKS: usize = 320;
const ASK_EVERY: Duration = Duration::from_micros(12_500);
/// Hand-offs beside it.
const HAND_OFFS: usize = 20;

/// Each hand-off is shown, soon; how long each took.
async fn hand_offs(served: &Served) -> Vec<Duration> {
    let mut client = served.json().await;
    say(&mut client, r#"{"type":"subscribe","id":1,"view":{"kind":"board"}}"#).await;
    hear(&mut client, "snapshot").await;
    let mut took = Vec::new();
    for at in 0..HAND_OFFS {
        let began = Instant::now();
        served.fake.set(&[format!("/held-by-{at}")]);
        let frame = hear(&mut client, "delta").await;
        assert!(frame.to_string().contains(&format!("/held-by-{at}")), "{frame}");
        took.push(began.elapsed());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    took.sort();
    took
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eighty_looks_a_second_make_nobody_late() {
    let served = Served::start(short(1_000)).await;
    served.fake.set_look(LOOK);
    let client = reqwest::Client::new();
    let url = format!("http://{}/api/v1/waits", served.address);
    let (answered, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let abuse = async {
        let began = tokio::time::Instant::now();
        let ask = async |at: usize| {
            tokio::time::sleep_until(began + ASK_EVERY * u32::try_from(at).unwrap()).await;
            let answer = client.get(&url).send().await.unwrap();
            match answer.status().as_u16() {
                200 => answered.fetch_add(1, Ordering::Relaxed),
                429 => refused.fetch_add(1, Ordering::Relaxed),
                status => panic!("{status}"),
            };
        };
        join_all((0..ASKS).map(ask)).await;
    };
    let (took, longest) = tokio::join!(hand_offs(&served), good_client(&served, "/healthz", abuse));
    let (answered, refused) = (answered.into_inner(), refused.into_inner());
    eprintln!(
        "figure: {answered} of {ASKS} looks answered, {refused} refused; hand-offs {:?} to {:?}; /healthz {longest:?}",
        took[0],
        took[HAND_OFFS - 1]
    );
    assert_eq!(answered + refused, ASKS);
    assert!(answered > 0 && took[HAND_OFFS - 1] < PATIENCE, "{took:?}");
    assert!(served.fake.looks() < ASKS / 4, "{} looks were taken for {ASKS} questions", served.fake.looks());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_asks_without_end_is_told_to_wait() {
    let served = Served::start(short(1_000)).await;
    served.fake.set_look(Duration::from_millis(200));
    let client = reqwest::Client::new();
    let ask = async |at: usize| {
        let answer = client.get(format!("http://{}/api/v1/sessions?q={at}", served.address)).send().await.unwrap();
        let wait = answer.headers().get("retry-after").map(|wait| wait.to_str().unwrap().to_owned());
        (answer.status().as_u16(), wait, answer.text().await.unwrap())
    };
    // Far more than one may have waiting; whoever waits longest gives up when the first is refused.
    let mut all: Vec<_> = (0..300).map(|at| Box::pin(ask(at))).collect();
    let (status, wait, text) = loop {
        let (answer, _, rest) = futures_util::future::select_all(all).await;
        all = rest;
        if answer.0 != 200 {
            break answer;
        }
    };
    assert_eq!((status, wait.as_deref()), (429, Some("1")), "{text}");
    assert!(text.contains("requests of yours wait for an answer already"), "{text}");
    assert_eq!(served.get("/healthz").await.0, 200);
}
