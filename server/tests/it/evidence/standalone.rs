//! One server: who is connected, by either way, by none, and after it was away.

use lockscope_core::evidence::{Expiry, MemberRole, Trouble};
use lockscope_core::znode::SessionId;

use super::collected::{Collected, connection, trouble};
use super::zookeeper_with;
use crate::harness::{Truth, open, zookeeper};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_shows_in_the_next_round_by_words() {
    let server = zookeeper_with(&[("admin.enableServer", "false")]).await;
    let name = server.address();
    let mut collected = Collected::start(&format!("{name}/some/chroot"), &[]);
    collected
        .until("the first answer", |said| said.get(&name).is_some_and(|report| report.connections.value().is_some()))
        .await;
    let truth = Truth::new(&name).await;
    let session = SessionId(truth.client.session_id().0);
    assert!(session.0 > 1 << 53, "an id that a float would not hold: {session}");
    // The first answer that was asked for after it came has it; how far rounds are apart is held where that is set.
    let came_at = lockscope_runtime::clock::Clock::system().now_ms();
    collected
        .until("our client", |said| {
            let is_there = connection(said, &name, session).is_some();
            let asked_at = said[&name].connections.value().map(|(asked_at, _)| asked_at.0);
            assert!(is_there || asked_at.is_none_or(|asked_at| asked_at <= came_at), "{said:#?}");
            is_there
        })
        .await;
    truth.make("/some/chroot/locks").await;
    let path = truth.queue("/some/chroot/locks/x-").await;
    let path = path.trim_start_matches("/some/chroot");
    let owned =
        |said: &super::collected::Said| Some(said.get(&name)?.sessions.value()?.1.ephemerals.get(&session)?.clone());
    collected
        .until("what it owns", |said| owned(said).is_some_and(|paths| paths.iter().any(|owned| &**owned == path)))
        .await;
    let told = connection(&collected.said, &name, session).unwrap();
    assert_eq!(i128::from(told.timeout_ms), i128::try_from(truth.client.session_timeout().as_millis()).unwrap());
    let line = format!("/{}[1](", told.address);
    let cons = server.four_letter("cons").await.unwrap();
    assert!(
        cons.lines().any(|real| real.contains(&line) && real.contains(&format!("sid={session}"))),
        "{} in {cons}",
        told.address
    );
    assert!(
        told.established_ms.is_some()
            && told.answered_ms.is_some()
            && told.received.is_some()
            && told.last_operation.is_some(),
        "{told:?}"
    );
    let report = &collected.said[&name];
    let (_, table) = report.sessions.value().unwrap();
    assert!(matches!(table.expiries.get(&session), Some(Expiry::QuarterHour(0..900_000))), "{table:?}");
    let (_, health) = report.health.value().unwrap();
    assert_eq!((health.role, &*report.by, report.number), (Some(MemberRole::Standalone), "four-letter words", None));
    let only_ours =
        |said: &super::collected::Said| said[&name].connections.value().is_some_and(|(_, all)| all.len() == 1);
    assert!(only_ours(&collected.said), "the session that looked the members up has ended");
    assert!(
        health.zxid.is_some_and(|zxid| zxid.0 > 0) && health.watches.is_some() && health.ephemerals == Some(1),
        "{health:?}"
    );
    collected.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_admin_server_alone_tells_the_same() {
    let server = zookeeper_with(&[("4lw.commands.whitelist", "srvr")]).await;
    let (name, url) = (server.address(), format!("http://127.0.0.1:{}", server.admin_port()));
    let truth = Truth::new(&name).await;
    truth.make("/locks").await;
    let path = truth.queue("/locks/x-").await;
    let session = SessionId(truth.client.session_id().0);
    let mut collected = Collected::start(&name, std::slice::from_ref(&url));
    // The AdminServer opens its port after the clients'.
    collected.until("our client", |said| connection(said, &name, session).is_some()).await;
    let by = format!("AdminServer {url}");
    collected.until("everything by it", |said| *said[&name].by == *by && said[&name].sessions.value().is_some()).await;
    let report = &collected.said[&name];
    let told = connection(&collected.said, &name, session).unwrap();
    assert_eq!(i128::from(told.timeout_ms), i128::try_from(truth.client.session_timeout().as_millis()).unwrap());
    assert!(
        told.address.starts_with("127.0.0.1:") && told.answered_ms.is_some() && told.established_ms.is_some(),
        "{told:?}"
    );
    let (_, table) = report.sessions.value().unwrap();
    assert!(matches!(table.expiries.get(&session), Some(Expiry::Running(1..))), "{table:?}");
    assert_eq!(table.ephemerals[&session], [path.into_boxed_str()]);
    let (_, health) = report.health.value().unwrap();
    assert_eq!((health.role, health.tick_ms, health.ephemerals), (Some(MemberRole::Standalone), Some(500), Some(1)));
    assert!(health.zxid.is_some_and(|zxid| zxid.0 > 0), "{health:?}");
    collected.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_neither_the_remedy_is_told() {
    let server = zookeeper_with(&[("4lw.commands.whitelist", "srvr"), ("admin.enableServer", "false")]).await;
    let name = server.address();
    let mut collected = Collected::start(&name, &[]);
    collected.round().await;
    let report = &collected.said[&name];
    let (why, remedy) = trouble(&report.connections).unwrap();
    assert_eq!(why, Trouble::Denied);
    for part in [
        &*name,
        "`cons`",
        "not in its whitelist",
        "4lw.commands.whitelist=srvr,cons,dump,wchp,mntr",
        "admin.enableServer=true",
    ] {
        assert!(remedy.contains(part), "{part} in {remedy}");
    }
    assert_eq!(trouble(&report.sessions).unwrap().0, Trouble::Denied);
    let (_, health) = report.health.value().expect("`srvr` is answered by default");
    assert_eq!((health.role, health.watches), (Some(MemberRole::Standalone), None));
    collected.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_away_is_off_and_comes_back() {
    let mut server = zookeeper().await;
    let (name, url) = (server.address(), format!("http://127.0.0.1:{}", server.admin_port()));
    server.stop().await.unwrap();
    let mut collected = Collected::start(&name, std::slice::from_ref(&url));
    collected.round().await;
    let (why, remedy) = trouble(&collected.said[&name].connections).unwrap();
    assert_eq!(why, Trouble::Off);
    assert!(
        remedy.contains(&url) && remedy.contains("connection refused") && remedy.contains("check that it runs"),
        "{remedy}"
    );
    assert_eq!(&*collected.said[&name].by, "");
    server.restart().await.unwrap();
    let client = open(&name).await;
    let session = SessionId(client.session_id().0);
    collected.until("our client", |said| connection(said, &name, session).is_some()).await;
    collected.stop().await;
}
