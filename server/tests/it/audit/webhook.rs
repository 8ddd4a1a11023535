//! The webhook against a real server.

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::post;
use lockscope_audit::webhook::{Delivery, Pace, Webhook};
use lockscope_audit::{Entry, Journal as _, Log, PageQuery, Records as _};
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::{self, DropGuard};
use lockscope_runtime::webhook_client::{SIGNATURE_HEADER, signature};
use lockscope_view::{AuditKind, AuditRecord};
use tokio::net::{TcpListener, TcpSocket};

use super::{append, open};
use crate::cli::dead_port;
use crate::harness::DEADLINE;
use crate::served::until;

const SECRET: &[u8] = b"0123456789abcdef";
const NOW_MS: i64 = 1_790_000_000_123;

/// Fast, and patient only with answers.
const PACE: Pace =
    Pace { answer_within: DEADLINE, first_wait: Duration::from_millis(1), longest_wait: Duration::from_millis(20) };

/// What the next answers are; then everything is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Status(u16),
    Redirect,
    Never,
}

/// A signature and what it signs.
type Taken = (String, Vec<u8>);

#[derive(Clone, Default)]
struct Receiver {
    answers: Arc<Mutex<Vec<Answer>>>,
    taken: Arc<Mutex<Vec<Taken>>>,
    refused: Arc<Mutex<u32>>,
    strayed: Arc<Mutex<u32>>,
}

async fn receive(State(receiver): State<Receiver>, headers: HeaderMap, body: Bytes) -> Response {
    let answer = {
        let mut answers = receiver.answers.lock().unwrap();
        if answers.is_empty() { None } else { Some(answers.remove(0)) }
    };
    if answer.is_some() {
        *receiver.refused.lock().unwrap() += 1;
    }
    match answer {
        Some(Answer::Status(status)) => StatusCode::from_u16(status).unwrap().into_response(),
        Some(Answer::Redirect) => Redirect::temporary("/elsewhere").into_response(),
        Some(Answer::Never) => std::future::pending().await,
        None => {
            assert_eq!(headers["content-type"], "application/json");
            receiver
                .taken
                .lock()
                .unwrap()
                .push((headers[SIGNATURE_HEADER].to_str().unwrap().to_owned(), body.to_vec()));
            StatusCode::NO_CONTENT.into_response()
        }
    }
}

impl Receiver {
    fn that(answers: &[Answer]) -> Self {
        Self { answers: Arc::new(Mutex::new(answers.to_vec())), ..Self::default() }
    }

    async fn listen(&self) -> u16 {
        self.listen_at(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    fn listen_at(&self, listener: TcpListener) -> u16 {
        let port = listener.local_addr().unwrap().port();
        let stray = post(async |State(receiver): State<Self>| *receiver.strayed.lock().unwrap() += 1);
        let router = Router::new().route("/hook", post(receive)).route("/elsewhere", stray).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        port
    }

    fn taken(&self) -> Vec<u64> {
        let taken = self.taken.lock().unwrap();
        taken.iter().map(|(_, body)| serde_json::from_slice::<AuditRecord>(body).unwrap().id).collect()
    }
}

fn deliver_to(log: &Log, url: &str, pace: Pace) -> DropGuard {
    let webhook = Webhook::new(Webhook::address(url, false).unwrap(), SECRET.to_vec()).unwrap();
    let delivery = Delivery::new(log, webhook, Clock::manual(NOW_MS), pace).unwrap();
    let (stopper, stop) = shutdown::token();
    tokio::spawn(delivery.run(stop.clone()));
    stopper
}

fn deliver(log: &Log, port: u16) -> DropGuard {
    deliver_to(log, &format!("http://127.0.0.1:{port}/hook"), PACE)
}

async fn trouble(log: &Log) -> String {
    log.page(PageQuery { limit: 1, ..PageQuery::default() }).await.unwrap().delivery_trouble
}

fn lines(dir: &Path) -> Vec<Vec<u8>> {
    let text = std::fs::read(dir.join("audit.log")).unwrap();
    text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
}

#[tokio::test]
async fn every_act_comes_signed_and_in_order_and_nothing_else_does() {
    let place = tempfile::tempdir().unwrap();
    let receiver = Receiver::default();
    let port = receiver.listen().await;
    let log = open(place.path()).await;
    append(&log, "before there was a webhook").await;
    let _stopper = deliver(&log, port);
    for kind in AuditKind::ALL {
        log.append(Entry::of_server(kind, kind.to_string())).await.unwrap();
    }
    let looked = [AuditKind::Started, AuditKind::SignedIn, AuditKind::SignedOut, AuditKind::HeadsSeen];
    let expected: Vec<u64> =
        (3..).zip(AuditKind::ALL).filter(|(_, kind)| !looked.contains(kind)).map(|(id, _)| id).collect();
    until(async || receiver.taken() == expected).await;
    let lines = lines(place.path());
    for (signed, body) in receiver.taken.lock().unwrap().iter() {
        assert_eq!(*signed, signature(SECRET, NOW_MS, body));
        assert!(lines.contains(body), "it is the line as it stands in the log");
    }
    assert_eq!(trouble(&log).await, "");
}

#[tokio::test]
async fn refusals_are_tried_again_until_each_record_is_taken_in_order() {
    let place = tempfile::tempdir().unwrap();
    let receiver = Receiver::that(&[
        Answer::Status(500),
        Answer::Status(503),
        Answer::Status(404),
        Answer::Redirect,
        Answer::Status(429),
    ]);
    let log = open(place.path()).await;
    // At first nobody listens there.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let port = socket.local_addr().unwrap().port();
    let _stopper = deliver(&log, port);
    for number in 0..5 {
        append(&log, format!("act {number}")).await;
    }
    until(async || {
        trouble(&log).await.contains(&format!("the webhook at http://127.0.0.1:{port} did not take record 2: "))
    })
    .await;
    receiver.listen_at(socket.listen(64).unwrap());
    until(async || receiver.taken().len() == 5).await;
    assert_eq!(receiver.taken(), [2, 3, 4, 5, 6]);
    assert_eq!((*receiver.refused.lock().unwrap(), *receiver.strayed.lock().unwrap()), (5, 0));
    until(async || trouble(&log).await.is_empty()).await;
}

/// The log, as soon as the delivery that was told to stop has let go of it.
async fn reopened(dir: &Path) -> Log {
    let mut log = None;
    until(async || {
        log = Log::open(dir, Clock::manual(1_790_000_000_000)).await.ok();
        log.is_some()
    })
    .await;
    log.unwrap()
}

#[tokio::test]
async fn nothing_is_lost_over_restarts() {
    let place = tempfile::tempdir().unwrap();
    let receiver = Receiver::default();
    let port = receiver.listen().await;
    let mut expected = Vec::new();
    for round in 0..4 {
        let log = reopened(place.path()).await;
        // In some rounds nobody listens, in others the receiver takes what it can until the stop.
        let to = if round % 2 == 0 { dead_port() } else { port };
        let stopper = deliver(&log, to);
        for number in 0..30 {
            expected.push(append(&log, format!("act {round} {number}")).await);
        }
        drop(stopper);
    }
    let log = reopened(place.path()).await;
    let _stopper = deliver(&log, port);
    let last = append(&log, "last").await;
    expected.push(last);
    until(async || receiver.taken().last() == Some(&last)).await;
    let taken = receiver.taken();
    let mut once = taken.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once, expected);
    // A record may come again after a stop, and then all that follow it do, in order.
    let again = taken.windows(2).filter(|pair| pair[1] <= pair[0]).count();
    assert!(again <= 4, "{again}");
}

#[tokio::test]
async fn a_receiver_that_never_answers_holds_nobody_up() {
    let place = tempfile::tempdir().unwrap();
    let receiver = Receiver::that(&[Answer::Never]);
    let port = receiver.listen().await;
    let log = open(place.path()).await;
    let pace = Pace { answer_within: Duration::from_millis(100), ..PACE };
    let _stopper = deliver_to(&log, &format!("http://127.0.0.1:{port}/hook"), pace);
    let mut expected = Vec::new();
    for number in 0..20 {
        expected.push(append(&log, format!("act {number}")).await);
    }
    until(async || receiver.taken().last() == expected.last()).await;
    let mut taken = receiver.taken();
    // An answer that comes too late, on a machine that is busy, is none: the record comes again.
    taken.dedup();
    assert_eq!(taken, expected);
    assert_eq!(*receiver.refused.lock().unwrap(), 1);
}

#[tokio::test]
async fn https_means_that_tls_is_spoken() {
    let place = tempfile::tempdir().unwrap();
    let receiver = Receiver::default();
    let port = receiver.listen().await;
    let log = open(place.path()).await;
    let _stopper = deliver_to(&log, &format!("https://127.0.0.1:{port}/hook"), PACE);
    append(&log, "act").await;
    until(async || trouble(&log).await.contains("did not take record 2")).await;
    let said = trouble(&log).await.to_lowercase();
    assert!(!said.contains("scheme") && !said.contains("/hook"), "{said}");
    assert!(receiver.taken().is_empty());
}

#[tokio::test]
async fn a_cursor_that_is_none_is_told() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("audit.webhook"), b"soon").unwrap();
    let log = open(place.path()).await;
    let webhook = Webhook::new(Webhook::address("http://127.0.0.1:1/", false).unwrap(), SECRET.to_vec()).unwrap();
    let error = Delivery::new(&log, webhook, Clock::manual(0), PACE).unwrap_err().0;
    assert!(error.contains("audit.webhook does not hold a number; write {\"id\":N}"), "{error}");
    assert_eq!(trouble(&log).await, error);
}
