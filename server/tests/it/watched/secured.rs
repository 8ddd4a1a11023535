//! The same where a server wants to know who watches, and by TLS.

use lockscope_access::{Grant, ListenScope, Settings, revoke_token};
use lockscope_view::Role;

use super::pty::Pty;
use crate::access::House;
use crate::cli::{check, dead_port, lockscope};
use crate::harness::DEADLINE;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_lets_in_and_its_end_is_told() {
    let house = House::new(Settings { anonymous: Some(false), ..Settings::default() }, ListenScope::LOOPBACK).await;
    house.served.fake.set(&["/order".to_owned()]);
    let server = format!("http://{}", house.served.address);
    check(&["watch", "--server", &server], 77, "requires authentication; make a token there").await;
    let token = house.token("ci", Grant::everywhere(Role::Viewer), None);
    let file = house.path().join("token");
    std::fs::write(&file, format!("{token}\n")).unwrap();
    let mut pty = Pty::run(&["watch", "--server", &server, "--token-file", &file.display().to_string()], 80, 24);
    pty.until(80, 24, |screen| screen.has("/order")).await;
    revoke_token(&house.path(), "ci").unwrap();
    house.pass(1_000).await;
    let out = pty.until(80, 24, |screen| screen.lines[0].starts_with("SIGNED OUT  your sign-in ended")).await;
    assert!(out.has("/order") && !String::from_utf8_lossy(&pty.sent()).contains(&token), "{out:?}");
    pty.press("q");
    assert_eq!(pty.end().await, Some(0));
}

#[tokio::test]
async fn the_live_socket_goes_by_tls_with_the_authorities_that_are_named() {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned(), "localhost".to_owned()]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    std::fs::write(path("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(path("key.pem"), made.signing_key.serialize_pem()).unwrap();
    let zk = format!("127.0.0.1:{}", dead_port());
    let (cert, key) = (path("cert.pem"), path("key.pem"));
    let mut serve =
        lockscope(&["serve", "--zk", &zk, "--listen", "127.0.0.1:0", "--tls-cert", &cert, "--tls-key", &key]);
    let mut process = serve.stderr(std::process::Stdio::null()).spawn().unwrap();
    let server = crate::cli::listening(&mut process).await;
    assert!(server.starts_with("https://"), "{server}");
    check(&["watch", "--once", "--server", &server], 69, "with --server-ca FILE").await;
    let mut watch = lockscope(&["watch", "--once", "--server", &server, "--server-ca", &cert]);
    let done = tokio::time::timeout(DEADLINE, watch.output()).await.unwrap().unwrap();
    let text = String::from_utf8_lossy(&done.stdout);
    assert_eq!(done.status.code(), Some(75), "{text}{}", String::from_utf8_lossy(&done.stderr));
    assert!(text.lines().count() >= 2 && !text.starts_with("LIVE"), "{text}");
}
