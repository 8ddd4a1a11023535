//! `lockscope watch` on real terminals, beside a real server and a real ZooKeeper.

mod pty;
mod secured;

use std::process::Stdio;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use zookeeper_client::{Acls, CreateMode};

use self::pty::{Pty, Screen};
use crate::cli::{check, dead_port, lockscope};
use crate::harness::proxy::{Mode, Proxy};
use crate::harness::{DEADLINE, Truth};
use crate::recipes::lockscope::{Lockscope, shared_zookeeper};

/// What a client says of itself where it wants to take the terminal over.
const ATTACK: &str = "evil\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}[31m\u{9b}5n\u{202e}";

struct Scene {
    truth: Truth,
    /// The session of the waiter.
    _other: Truth,
    lockscope: Lockscope,
    order: String,
    first: String,
}

/// A server that watches a folder with two locks: `order` has a hostile name, a holder with a hostile payload, and a waiter.
async fn scene(name: &str) -> Scene {
    let zookeeper = shared_zookeeper().await.address();
    let (truth, other) = (Truth::new(&zookeeper).await, Truth::new(&zookeeper).await);
    let root = format!("/watched/{name}");
    let order = format!("{root}/order\u{202e}evil\u{200b}");
    truth.make(&order).await;
    truth.make(&format!("{root}/库存")).await;
    let mode = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
    let created = truth.client.create(&format!("{order}/lock-"), ATTACK.as_bytes(), &mode).await.unwrap();
    let first = format!("{order}/lock-{}", created.1);
    other.queue(&format!("{order}/lock-")).await;
    truth.queue(&format!("{root}/库存/lock-")).await;
    let lockscope = Lockscope::run(&["--zk", &zookeeper, "--root", &root]).await;
    Scene { truth, _other: other, lockscope, order, first }
}

fn is_live(screen: &Screen) -> bool {
    screen.lines[0].starts_with("LIVE")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_board_and_a_lock_are_watched_with_keys_and_the_terminal_is_given_back() {
    let scene = scene("keys").await;
    let mut pty = Pty::run(&["watch", "--server", scene.lockscope.address()], 80, 24);
    let board = pty.until(80, 24, |screen| is_live(screen) && screen.has("order") && screen.has("库存")).await;
    assert!(board.is_taken && !board.has_cursor && !pty.is_as_before(), "{board:?}");
    assert!(board.lines[1].starts_with(scene.lockscope.address().trim_start_matches("http://")), "{board:?}");
    pty.press("/order\r");
    pty.until(80, 24, |screen| !screen.has("库存") && screen.lines[1].ends_with("1 to 1 of 1")).await;
    pty.press("j\r");
    let lock =
        pty.until(80, 24, |screen| screen.has("waits") && screen.has("holds") && screen.has("order␥evil␥")).await;
    assert!(lock.lines[1].ends_with("1 to 2 of 2"), "{lock:?}");
    scene.truth.delete(&scene.first).await;
    pty.until(80, 24, |screen| screen.lines[1].ends_with("1 to 1 of 1") && screen.has("holds")).await;
    pty.resize(40, 15);
    let narrow = pty.until(40, 15, |screen| is_live(screen) && !screen.is_overrun && screen.has("holds")).await;
    assert!(narrow.lines[14].starts_with("j/k Esc p"), "{narrow:?}");
    pty.press("?");
    pty.until(40, 15, |screen| screen.has("open the chosen lock") && !screen.is_overrun).await;
    // Closes the help; then an escape that nothing follows leads back to the board, which is as it was filtered.
    pty.press("x");
    pty.until(40, 15, |screen| !screen.has("open the chosen lock")).await;
    pty.press("\u{1b}");
    pty.until(40, 15, |screen| screen.has("VERDICT") && screen.lines[1].contains("/order")).await;
    pty.press("\u{1b}");
    pty.until(40, 15, |screen| screen.has("库存")).await;
    pty.press("p");
    pty.until(40, 15, |screen| screen.lines[0].starts_with("PAUSED")).await;
    pty.press("q");
    assert_eq!(pty.end().await, Some(0));
    let after = pty.until(40, 15, |screen| !screen.is_taken).await;
    assert!(after.has_cursor && pty.is_as_before());
    let sent = String::from_utf8(pty.sent()).unwrap();
    for hostile in ["\u{1b}]", "\u{7}", "\u{9b}", "\u{202e}", "\u{200b}", "evil\u{1b}"] {
        assert!(!sent.contains(hostile), "{hostile:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_that_is_lost_is_told_and_made_again() {
    let scene = scene("link").await;
    let proxy = Proxy::start(scene.lockscope.address().trim_start_matches("http://").to_owned()).await;
    let server = format!("http://{}", proxy.address());
    let mut pty = Pty::run(&["watch", &scene.order, "--no-color", "--server", &server], 100, 20);
    pty.until(100, 20, |screen| is_live(screen) && screen.has("holds")).await;
    // Nothing closes, and nothing comes.
    proxy.set(Mode::Silent);
    let stale = pty.until(100, 20, |screen| !is_live(screen)).await;
    assert!(stale.lines[0].starts_with("STALE  shown as of "), "{stale:?}");
    let lost = pty.until(100, 20, |screen| screen.lines[0].starts_with("OFFLINE")).await;
    assert!(lost.lines[0].contains("link lost") && lost.lines[0].contains("shown as of"), "{lost:?}");
    assert!(lost.has("holds"), "the last that is known stays");
    proxy.set(Mode::Open);
    pty.until(100, 20, is_live).await;
    // All closes at once, and nobody is there.
    proxy.set(Mode::Cut);
    pty.until(100, 20, |screen| screen.lines[0].starts_with("OFFLINE")).await;
    scene.truth.delete(&scene.first).await;
    proxy.set(Mode::Open);
    pty.until(100, 20, |screen| is_live(screen) && screen.lines[1].ends_with("1 to 1 of 1")).await;
    let sent = String::from_utf8(pty.sent()).unwrap();
    assert!(["[1m", "[2m", "[32m", "[33m", "[1;31m"].iter().all(|tone| !sent.contains(tone)), "no colours");
    pty.press("\u{3}");
    assert_eq!(pty.end().await, Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_terminal_is_given_back_whatever_ends_or_stops_it() {
    let scene = scene("signals").await;
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        let mut pty = Pty::run(&["watch", "--server", scene.lockscope.address()], 80, 24);
        pty.until(80, 24, is_live).await;
        pty.signal(signal);
        assert_eq!(pty.end().await, Some(130), "{signal:?}");
        let after = pty.until(80, 24, |screen| !screen.is_taken).await;
        assert!(after.has_cursor && pty.is_as_before(), "{signal:?}");
    }
    let mut pty = Pty::run(&["watch", "--server", scene.lockscope.address()], 80, 24);
    for stop in ["\u{1a}", ""] {
        pty.until(80, 24, |screen| screen.is_taken && is_live(screen)).await;
        if stop.is_empty() {
            pty.signal(Signal::TSTP);
        } else {
            pty.press(stop);
        }
        stopped(&pty).await;
        let screen = pty.until(80, 24, |screen| !screen.is_taken).await;
        assert!(screen.has_cursor && pty.is_as_before(), "as a shell needs it");
        pty.signal(Signal::CONT);
    }
    pty.until(80, 24, |screen| screen.is_taken && is_live(screen)).await;
    pty.press("q");
    assert_eq!(pty.end().await, Some(0));
    // A terminal that takes nothing, as behind Ctrl-S.
    let mut pty = taken(Pty::unread(&["watch", "--server", scene.lockscope.address()], 200, 100)).await;
    pty.signal(Signal::TERM);
    assert_eq!(pty.end().await, Some(130));
    assert!(pty.is_as_before());
    // A terminal that is gone without a signal.
    let pty = taken(Pty::unread(&["watch", "--server", scene.lockscope.address()], 80, 24)).await;
    assert_eq!(pty.hang_up().await, Some(0));
}

/// Waits until it has taken the terminal over.
async fn taken(pty: Pty) -> Pty {
    crate::served::until(async || !pty.is_as_before()).await;
    pty
}

/// Waits until the system has stopped it.
async fn stopped(pty: &Pty) {
    let pid = Pid::from_raw(i32::try_from(pty.program.id().unwrap()).unwrap()).unwrap();
    let is_stopped = async || {
        let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(pid), options).unwrap().is_some_and(|status| status.stopped())
    };
    crate::served::until(is_stopped).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_terminal_each_change_is_a_line_and_once_is_once() {
    let scene = scene("lines").await;
    let server = scene.lockscope.address();
    let once = async |args: &[&str]| {
        let mut command = lockscope(&[&["watch", "--once", "--server", server], args].concat());
        tokio::time::timeout(DEADLINE, command.output()).await.unwrap().unwrap()
    };
    let board = once(&[]).await;
    let text = String::from_utf8(board.stdout).unwrap();
    assert_eq!(board.status.code(), Some(0), "{text}");
    assert!(text.starts_with("LIVE  ") && text.contains("order␥evil␥") && !text.contains('\u{1b}'), "{text}");
    let lock = once(&[scene.order.as_str()]).await;
    let text = String::from_utf8(lock.stdout).unwrap();
    assert!(lock.status.code() == Some(0) && text.contains("holds") && text.contains("waits"), "{text}");
    assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{text}");
    let missing = once(&["/watched/lines/nothing"]).await;
    assert_eq!(missing.status.code(), Some(66));
    check(&["watch", "order"], 64, "PATH \"order\" is no path of a lock").await;
    let nobody = format!("http://127.0.0.1:{}", dead_port());
    check(&["watch", "--server", &nobody], 69, "check that it runs, and where with --server").await;

    let mut command = lockscope(&["watch", &scene.order, "--server", server]);
    let mut program = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    let mut next = async || tokio::time::timeout(DEADLINE, lines.next_line()).await.unwrap().unwrap().unwrap();
    while !next().await.contains("order␥evil␥") {}
    scene.truth.delete(&scene.first).await;
    let line = next().await;
    assert!(line.contains(" UTC  ") && line.contains("order␥evil␥") && line.contains(" holds it"), "{line}");
}
