//! Connections from outside: slow, big, many, broken, and by TLS.

mod file_descriptors;
mod tls;

use std::time::Duration;

use lockscope_web::Limits;
use lockscope_web::listener::Bounds;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::harness::DEADLINE;
use crate::served::{Served, until};

/// Short where waiting is part of the test.
fn hasty() -> Bounds {
    let soon = Duration::from_millis(300);
    Bounds { head_max: soon, handshake_max: soon, stall_max: soon, ..Bounds::default() }
}

async fn served(bounds: Bounds) -> Served {
    Served::start_with(Limits::default(), bounds, None, |http| http).await
}

/// What comes until the other side closes.
async fn to_end(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> String {
    let mut all = Vec::new();
    // A reset is an end as well.
    let _ = timeout(DEADLINE, stream.read_to_end(&mut all)).await.expect("the connection stays open");
    String::from_utf8_lossy(&all).into_owned()
}

/// The answer to these bytes, up to the end of the connection.
async fn answer_to(served: &Served, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    // Whoever is refused early is cut off while it still sends.
    let _ = stream.write_all(bytes).await;
    to_end(&mut stream).await
}

#[tokio::test]
async fn a_client_that_dawdles_is_cut_off() {
    let served = served(hasty()).await;
    // Says nothing at all; half a line; a header now and then, for ever.
    for begin in ["", "GET /healthz HT", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"] {
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        stream.write_all(begin.as_bytes()).await.unwrap();
        assert!(!to_end(&mut stream).await.contains("200 OK"));
    }
    let (mut reads, mut writes) = TcpStream::connect(served.address).await.unwrap().into_split();
    let drips = tokio::spawn(async move {
        let _ = writes.write_all(b"GET /healthz HTTP/1.1\r\n").await;
        while writes.write_all(b"x-drip: 1\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    assert!(!to_end(&mut reads).await.contains("200 OK"));
    timeout(DEADLINE, drips).await.unwrap().unwrap();
    // Idle after an answer.
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    assert!(to_end(&mut stream).await.contains("200 OK"));
    assert_eq!(served.get("/healthz").await.0, 200, "others are served meanwhile");
}

#[tokio::test]
async fn heads_and_bodies_are_bounded() {
    let served = served(Bounds::default()).await;
    let head = |rest: &str| format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{rest}\r\n");
    let many = |count: usize| (0..count).map(|at| format!("x-{at}: 1\r\n")).collect::<String>();
    assert!(answer_to(&served, head(&many(60)).as_bytes()).await.starts_with("HTTP/1.1 200"));
    assert!(answer_to(&served, head(&many(63)).as_bytes()).await.starts_with("HTTP/1.1 431"));
    let long = |bytes: usize| format!("x-long: {}\r\n", "y".repeat(bytes));
    assert!(answer_to(&served, head(&long(30_000)).as_bytes()).await.starts_with("HTTP/1.1 200"));
    let refused = answer_to(&served, head(&long(40_000)).as_bytes()).await;
    assert!(refused.is_empty() || refused.starts_with("HTTP/1.1 431"), "{refused}");
    let address = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "z".repeat(100_000));
    let refused = answer_to(&served, address.as_bytes()).await;
    assert!(refused.is_empty() || refused.starts_with("HTTP/1.1 4"), "{refused}");
    let body = "POST /api/v1/release/plan HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 70000\r\n\r\n";
    assert!(answer_to(&served, format!("{body}{{").as_bytes()).await.starts_with("HTTP/1.1 413"));
}

#[tokio::test]
async fn what_is_no_request_hurts_nobody() {
    let served = served(hasty()).await;
    let two_lengths =
        "POST /api/v1/status HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab";
    let smuggled = "POST /api/v1/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let spaced = "GET /healthz HTTP/1.1\r\nHost : localhost\r\n\r\n";
    let folded = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n x: y\r\n\r\n";
    let http2 = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let tls = "\x16\x03\x01\x02\x00\x01\x00\x01\u{fc}\x03\x03";
    for bytes in [
        two_lengths,
        smuggled,
        spaced,
        folded,
        http2,
        tls,
        "\0\0\0\0\r\n\r\n",
        "\r\n\r\n\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
    ] {
        let answer = answer_to(&served, bytes.as_bytes()).await;
        assert!(!answer.contains("alive"), "{bytes:?}: {answer}");
    }
    assert_eq!(served.get("/healthz").await.0, 200);
}

#[tokio::test]
async fn connections_are_counted() {
    let served = served(Bounds { connections_max: 2, ..Bounds::default() }).await;
    let ask = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut open = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        stream.write_all(ask).await.unwrap();
        assert!(stream.read(&mut [0; 512]).await.unwrap() > 0);
        open.push(stream);
    }
    assert_eq!(answer_to(&served, ask).await, "", "the third is closed");
    drop(open);
    until(async || {
        let close = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        answer_to(&served, close).await.contains("alive")
    })
    .await;
}

#[tokio::test]
async fn a_client_that_takes_nothing_is_cut_off() {
    let served = served(hasty()).await;
    served.fake.set(&(0..500).map(|at| format!("/{at}-{}", "long".repeat(50))).collect::<Vec<_>>());
    let (mut reads, mut writes) = TcpStream::connect(served.address).await.unwrap().into_split();
    let asks = tokio::spawn(async move {
        // Asks on and on, until the server has no more room for its answers and gives up.
        while writes.write_all(b"GET /api/v1/locks?limit=500 HTTP/1.1\r\nHost: localhost\r\n\r\n").await.is_ok() {
            tokio::task::yield_now().await;
        }
    });
    timeout(DEADLINE, asks).await.expect("the server gives up").unwrap();
    // What lay in between may still come; then it ends.
    let _ = timeout(DEADLINE, reads.read_to_end(&mut Vec::new())).await.expect("it ends");
    assert_eq!(served.get("/healthz").await.0, 200);
}

#[tokio::test]
async fn the_door_closes_and_answers_under_way_end() {
    let served = served(Bounds::default()).await;
    let mut idle = TcpStream::connect(served.address).await.unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"alive\n") {
        assert!(idle.read_buf(&mut answer).await.unwrap() > 0);
    }
    served.close.cancel();
    assert_eq!(to_end(&mut idle).await, "", "an idle connection is closed at once");
    until(async || TcpStream::connect(served.address).await.is_err()).await;
}
