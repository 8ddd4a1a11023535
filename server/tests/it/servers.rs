//! Private servers: they answer, keep their data over restarts, and leave nothing behind, however we end.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::harness::{DEADLINE, Truth, zookeeper};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_keeps_its_data_and_leaves_nothing() {
    let mut server = zookeeper().await;
    assert!(server.four_letter("wchs").await.unwrap().contains("watching"), "four-letter words are on");
    let url = format!("http://127.0.0.1:{}/commands/ruok", server.admin_port());
    let answer = reqwest::get(url).await.expect("the AdminServer answers");
    assert!(answer.status().is_success());
    Truth::new(&server.address()).await.make("/kept").await;
    server.restart().await.unwrap();
    let truth = Truth::new(&server.address()).await;
    assert!(truth.client.check_stat("/kept").await.unwrap().is_some());
    let (folder, port) = (server.folder().to_owned(), server.client_port());
    drop(server);
    assert!(!folder.exists() && std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
}

/// Not a test of its own: the victim of the next one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "runs for ever; started by the test below"]
#[expect(clippy::print_stdout, reason = "its parent reads it")]
async fn hold_a_server_for_ever() {
    let server = zookeeper().await;
    println!("\nholding {} {}", server.client_port(), server.folder().display());
    std::future::pending::<()>().await;
}

#[test]
fn nothing_is_left_when_we_are_killed() {
    let program = std::env::current_exe().unwrap();
    let arguments = ["--exact", "servers::hold_a_server_for_ever", "--ignored", "--nocapture"];
    let mut victim = Command::new(program).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    let line =
        lines.map_while(Result::ok).find(|line| line.starts_with("holding ")).expect("the victim's server starts");
    let mut words = line.split(' ').skip(1);
    let port: u16 = words.next().unwrap().parse().unwrap();
    let folder = PathBuf::from(words.next().unwrap());
    assert!(folder.exists() && std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    victim.kill().unwrap();
    victim.wait().unwrap();
    let begin = Instant::now();
    while folder.exists() || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
        assert!(begin.elapsed() < DEADLINE, "{} or port {port} is still there", folder.display());
        std::thread::yield_now();
    }
}
