//! Requests that are handed on to replicas that hang, close, lie or are not there: what was perhaps sent is told apart from
//! what was not, and each is sent once.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cluster::{Greeting, PIECES_TYPE, PieceWriter, ReplicaSecret};
use gateway::{GatewaySettings, HandOnError, OwnerAddress, ReplicaClient};
use runtime::clock::Clock;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";
const BODY: &[u8] = b"{\"all\": true}";

/// What whoever listens does with a connection.
#[derive(Clone, Copy, Debug)]
enum Owner {
    Closes,
    Hangs,
    Refuses,
    /// Answers with what was signed by this.
    Answers(&'static [u8]),
    /// The same, and closes before the last piece.
    Cuts,
}

fn secret(bytes: &[u8]) -> ReplicaSecret {
    ReplicaSecret::new(bytes).unwrap()
}

async fn serve(owner: Owner, mut socket: TcpStream, address: String) {
    let mut head = Vec::new();
    while !head.ends_with(BODY) {
        let mut bytes = [0; 4_096];
        match socket.read(&mut bytes).await {
            Ok(0) | Err(_) => return,
            Ok(count) => head.extend_from_slice(&bytes[..count]),
        }
    }
    let head = String::from_utf8(head).unwrap();
    let header = head.lines().find_map(|line| line.strip_prefix("authorization: ")).unwrap();
    let now_ms = Clock::system().now_ms();
    let greeting: Greeting = secret(SECRET).verify_handed_on(header, ("a", &address), now_ms, BODY).unwrap();
    let pieces = |key: &[u8], is_whole: bool| {
        let mut writer = PieceWriter::new(secret(key), greeting.clone(), &address);
        let mut all = [writer.write(b"head", false), writer.write(b"body", false)].concat();
        if is_whole {
            all.extend_from_slice(&writer.write(b"", true));
        }
        all
    };
    let ok = format!("HTTP/1.1 200 OK\r\ncontent-type: {PIECES_TYPE}\r\nconnection: close\r\n\r\n");
    let answer = match owner {
        Owner::Closes => return,
        Owner::Hangs => return std::future::pending().await,
        Owner::Refuses => {
            b"HTTP/1.1 403 Forbidden\r\ncontent-length: 26\r\n\r\n{\"detail\":\"clocks differ\"} ".to_vec()
        }
        Owner::Answers(key) => [ok.as_bytes(), &pieces(key, true)].concat(),
        Owner::Cuts => [ok.as_bytes(), &pieces(SECRET, false)].concat(),
    };
    let _ = socket.write_all(&answer).await;
}

/// How it ends, and how many connections there were.
async fn ended(owner: Owner) -> (Result<Result<Vec<u8>, String>, HandOnError>, usize) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let opened = Arc::new(AtomicUsize::new(0));
    let (count, at) = (opened.clone(), address.clone());
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(serve(owner, socket, at.clone()));
        }
    });
    let to = OwnerAddress { id: "a".to_owned(), address };
    let answered = client().hand_on(&to, BODY.into(), Duration::from_millis(1_500)).await;
    let whole = match answered {
        Err(error) => Err(error),
        Ok((head, mut pieces)) => {
            let mut whole = head.to_vec();
            Ok(loop {
                match pieces.next().await {
                    Ok(Some(piece)) => whole.extend_from_slice(&piece),
                    Ok(None) => break Ok(whole),
                    Err(why) => break Err(why),
                }
            })
        }
    };
    (whole, opened.load(Ordering::SeqCst))
}

fn client() -> ReplicaClient {
    let settings = GatewaySettings { id: "b".to_owned(), secret: secret(SECRET) };
    ReplicaClient::new(settings, Clock::system(), 1_024).unwrap()
}

#[tokio::test]
async fn what_was_perhaps_sent_is_not_called_unsent_and_is_sent_once() {
    assert_eq!(ended(Owner::Answers(SECRET)).await, (Ok(Ok(b"headbody".to_vec())), 1));
    for (owner, words) in [
        (Owner::Closes, "no connection"),
        (Owner::Hangs, "hangs"),
        (Owner::Refuses, "refuses (403): clocks differ"),
        (Owner::Answers(b"1123456789abcdef0123456789abcdef"), "not proved"),
    ] {
        let (answer, connections) = ended(owner).await;
        let Err(HandOnError::NoAnswer(why)) = &answer else { panic!("{owner:?}: {answer:?}") };
        assert!(why.contains(words) && connections == 1, "{owner:?}: {why}, {connections} connections");
    }
    let (cut, _) = ended(Owner::Cuts).await;
    assert_eq!(cut, Ok(Err("its answer was cut off".to_owned())));
    // Nobody listens: nothing can have left.
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let nobody = OwnerAddress { id: "a".to_owned(), address: format!("http://{free}") };
    let unsent = client().hand_on(&nobody, BODY.into(), Duration::from_millis(1_500)).await;
    assert!(matches!(unsent, Err(HandOnError::NotSent(_))), "{:?}", unsent.map(|_| ()));
}
