//! A replica that is up, whose live sockets work, and whose answers do not come, never end, are of any length, or nonsense:
//! what others said stays live at once for whoever looks, what it said is live for as long as it is proved, and whoever asks
//! it for much takes no room of others.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::acts::{get, same_token};
use super::fleet::{fleet, places, tile};
use super::slow_readers::resident_kib;
use super::{Server, secret, that_agree};
use crate::harness::{Truth, open, queue, zookeeper};
use crate::served::until;

const ENSEMBLES: usize = 8;
/// How long somebody may look at the fleet while one replica does not answer: what is waited for it, and a busy machine.
const LOOK_MAX: Duration = Duration::from_millis(1_000);
/// What the one that asks may grow by while it is flooded, in KiB.
const GROWTH_KIB_MAX: u64 = 64 * 1024;

/// What becomes of requests of other replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answers {
    Come,
    Never,
    ByteByByte,
    Flood,
    Nonsense,
}

/// Stands before a replica, and passes on all but what others ask of it.
struct Door {
    address: String,
    answers: watch::Sender<Answers>,
    to: watch::Sender<Option<String>>,
}

impl Door {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (answers, to) = (watch::Sender::new(Answers::Come), watch::Sender::new(None));
        let (mode, target) = (answers.subscribe(), to.subscribe());
        tokio::spawn(async move {
            while let Ok((inbound, _)) = listener.accept().await {
                tokio::spawn(pass(inbound, target.clone(), mode.clone()));
            }
        });
        Self { address, answers, to }
    }
}

async fn pass(mut inbound: TcpStream, mut to: watch::Receiver<Option<String>>, mode: watch::Receiver<Answers>) {
    let Ok(target) = to.wait_for(Option::is_some).await.map(|target| target.clone().unwrap()) else { return };
    let Ok(mut outbound) = TcpStream::connect(target).await else { return };
    let mut first = vec![0; 4_096];
    let Ok(count) = inbound.read(&mut first).await else { return };
    let is_asked = first[..count].starts_with(b"POST /api/v1/cluster/ask");
    let how = if is_asked { *mode.borrow() } else { Answers::Come };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nlockscope-replica-proof: 00\r\ncontent-length: 104857600\r\n\r\n";
    match how {
        Answers::Come if is_asked => {
            let _ = outbound.write_all(&first[..count]).await;
            let _ = copy_until(&mut inbound, &mut outbound, mode).await;
        }
        Answers::Come => {
            let _ = outbound.write_all(&first[..count]).await;
            let _ = copy_bidirectional(&mut inbound, &mut outbound).await;
        }
        Answers::Never => tokio::time::sleep(Duration::from_secs(60)).await,
        Answers::ByteByByte => {
            let _ = inbound.write_all(head.as_bytes()).await;
            while inbound.write_all(b"{").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        Answers::Flood => {
            let _ = inbound.write_all(head.as_bytes()).await;
            let much = vec![b' '; 1 << 20];
            while inbound.write_all(&much).await.is_ok() {}
        }
        Answers::Nonsense => {
            let _ = inbound.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await;
        }
    }
}

/// Passes bytes on for as long as answers come.
async fn copy_until(one: &mut TcpStream, other: &mut TcpStream, mut mode: watch::Receiver<Answers>) {
    tokio::select! {
        _ = copy_bidirectional(one, other) => {}
        _ = mode.wait_for(|mode| *mode != Answers::Come) => {}
    }
}

/// The tiles of some ensembles.
fn tiles_of<'a>(fleet: &'a Value, names: &[String]) -> Vec<&'a Value> {
    names.iter().map(|name| tile(fleet, name)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_whose_answers_do_not_come_holds_up_nobody_else() {
    let zookeeper = zookeeper().await;
    let truth = Truth::new(&zookeeper.address()).await;
    truth.make("/f").await;
    let client = open(&zookeeper.address()).await;
    let mut first = String::new();
    for at in 0..ENSEMBLES {
        for path in [format!("/f/e{at}"), format!("/f/e{at}/mine")] {
            truth.make(&path).await;
        }
        queue(&client, &format!("/f/e{at}/mine/lock-")).await;
        let zk = zookeeper.address();
        first +=
            &format!("[[ensemble]]\nname = \"e{at}\"\nzk = \"{zk}/f/e{at}\"\nevidence = \"off\"\nroot = [\"/mine\"]\n");
    }
    let place = tempfile::tempdir().unwrap();
    let door = Door::start().await;
    let secret = secret(&place);
    let behind = format!("address = \"http://{}\"\n", door.address);
    let a = Server::start("a", &secret, ("", &(behind + &first))).await;
    door.to.send_replace(Some(a.url.trim_start_matches("http://").to_owned()));
    let b = Server::start("b", &secret, ("", &first)).await;
    let c = Server::start("c", &secret, ("", &first)).await;
    let [a, b, c] = that_agree([a, b, c]).await;
    let all = [&a, &b, &c];
    let token = same_token(&all, "operator", "ops").await;

    // Whoever asks the one behind the door for some, and the other one for others.
    let (mut of_a, mut of_others) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for at in 0..ENSEMBLES {
        let name = format!("e{at}");
        let ([one, _], other) = places(&all, &token, &name).await;
        let Some(who) = [&b, &c].iter().position(|server| server.id == other.id) else { continue };
        if one.id == "a" { of_a[who].push(name) } else { of_others[who].push(name) }
    }
    let who = (0..2).find(|who| !of_a[*who].is_empty() && !of_others[*who].is_empty());
    eprintln!("asked of a: {of_a:?}, of another: {of_others:?}");
    let who = who.expect("one of the two asks both others");
    let (asker, of_a, of_others) = ([&b, &c][who], &of_a[who], &of_others[who]);
    until(async || fleet(asker, &token).await["not_live"] == 0).await;

    let before_kib = resident_kib(asker);
    for how in [Answers::Never, Answers::ByteByByte, Answers::Flood, Answers::Nonsense] {
        door.answers.send_replace(how);
        let (mut looks, mut longest, mut not_live) = (0, Duration::ZERO, 0);
        let begin = Instant::now();
        let mut lost = Value::Null;
        while begin.elapsed() < Duration::from_secs(4) {
            let asked = Instant::now();
            let seen = fleet(asker, &token).await;
            longest = longest.max(asked.elapsed());
            looks += 1;
            not_live += tiles_of(&seen, of_others).iter().filter(|tile| tile["is_live"] != true).count();
            lost = tiles_of(&seen, of_a)[0].clone();
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        eprintln!(
            "{how:?}: {looks} looks, the longest {longest:?}, {not_live} tiles of others not live; {}",
            lost["why"]
        );
        assert_eq!((not_live, &lost["is_live"]), (0, &json!(false)), "{how:?}");
        assert!(longest < LOOK_MAX, "{how:?}: {longest:?}");
        let why = lost["why"].as_str().unwrap();
        assert!(why.contains("not known: the replica a") && why.len() < 400, "{why}");
    }
    let grown = resident_kib(asker).saturating_sub(before_kib);
    eprintln!("the one that asks grew by {grown} KiB");
    assert!(grown <= GROWTH_KIB_MAX, "{grown}");
    door.answers.send_replace(Answers::Come);
    until(async || fleet(asker, &token).await["not_live"] == 0).await;

    // Whoever asks it for much takes no room of what is asked of others.
    door.answers.send_replace(Answers::Never);
    let target = format!("/api/v1/history?ensemble={}", of_a[0]);
    let (url, bearer) = (asker.url.clone(), token.clone());
    tokio::spawn(async move {
        // Not all at once: who comes after those that hang is sent to the other owner, which takes a while for each.
        for _ in 0..60 {
            let request = reqwest::Client::new().get(format!("{url}{target}")).bearer_auth(&bearer);
            tokio::spawn(request.send());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(3) {
        let seen = fleet(asker, &token).await;
        let late: Vec<&Value> = tiles_of(&seen, of_others).into_iter().filter(|tile| tile["is_live"] != true).collect();
        assert!(late.is_empty(), "{late:#?}");
        let (status, said) = get(asker, &token, &format!("/api/v1/events?ensemble={}", of_others[0])).await;
        assert_eq!(status, 200, "what another one answers: {said}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
