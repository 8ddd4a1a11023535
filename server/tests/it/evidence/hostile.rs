//! Servers that are no ZooKeeper, or a broken one: named as broken, bounded, and nobody else waits for them.

use std::time::Duration;

use lockscope_core::evidence::{MemberAnswer, Trouble};
use lockscope_zookeeper::members::Demand;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::collected::{Collected, trouble};
use crate::harness::zookeeper;

/// What a fake server does with whoever connects.
#[derive(Clone, Copy, Debug)]
enum Manner {
    /// Says something that makes no sense and hangs up.
    Garbage,
    /// Never stops.
    Endless,
    /// Accepts and says nothing.
    Silent,
    /// HTTP whose body never stops.
    EndlessHttp,
    /// Sends its visitors elsewhere.
    Redirect,
    /// Answers like a member that keeps far too many watches and ephemerals, and would be busy for long listing them.
    Heavy,
    /// Answers like a member without clients, a second late: as late as may be, and no failure.
    Slow,
}

async fn fake(manner: Manner) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, manner));
        }
    });
    address
}

async fn serve(mut stream: TcpStream, manner: Manner) {
    let mut asked = [0; 1024];
    let _ = stream.read(&mut asked).await;
    let opening: &[u8] = match manner {
        Manner::Garbage => b"\xff\xfe\x00 220 smtp ready\r\n\r\n",
        Manner::Endless => b" /127.0.0.1:1[1](sid=0x1,to=",
        Manner::EndlessHttp => b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"connections\":[",
        Manner::Redirect => b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/secret\r\ncontent-length: 0\r\n\r\n",
        Manner::Heavy if asked.starts_with(b"mntr") => {
            b"zk_server_state\tstandalone\nzk_watch_count\t100001\nzk_ephemerals_count\t200001\n"
        }
        Manner::Heavy if asked.starts_with(b"dump") => b"SessionTracker dump:\n",
        Manner::Heavy if asked.starts_with(b"wchp") => b"/asked\n\t0x1\n\n",
        Manner::Heavy => b"\n",
        Manner::Slow if asked.starts_with(b"mntr") => b"zk_server_state\tstandalone\n",
        Manner::Slow => b"\n",
        Manner::Silent => b"",
    };
    if matches!(manner, Manner::Slow) {
        // Not to wait for anything: this is how slow it is.
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let _ = stream.write_all(opening).await;
    match manner {
        Manner::Garbage | Manner::Redirect | Manner::Heavy | Manner::Slow => {}
        Manner::Silent => std::future::pending().await,
        Manner::Endless | Manner::EndlessHttp => {
            let zeros = vec![b'0'; 256 * 1024];
            while stream.write_all(&zeros).await.is_ok() {}
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_members_hold_nobody_up() {
    let server = zookeeper().await;
    let good = server.address();
    let mut bad = Vec::new();
    for manner in [Manner::Garbage, Manner::Endless, Manner::Silent] {
        bad.push(fake(manner).await);
    }
    let mut collected = Collected::start(&format!("{good},{}", bad.join(",")), &[]);
    collected.until("the good one", |said| said.get(&good).is_some_and(|one| one.connections.value().is_some())).await;
    collected
        .until("all the bad ones", |said| {
            bad.iter().all(|name| said.get(name).is_some_and(|one| trouble(&one.connections).is_some()))
        })
        .await;
    let said = |at: usize| {
        let (why, remedy) = trouble(&collected.said[&bad[at]].connections).unwrap();
        assert_eq!(why, Trouble::Broken, "{remedy}");
        assert!(remedy.contains(&bad[at]), "{remedy}");
        remedy
    };
    assert!(said(0).contains("was not understood"), "{}", said(0));
    assert!(
        said(1).contains("longer than 16 MiB") || said(1).contains("no whole answer came within 2 s"),
        "{}",
        said(1)
    );
    assert!(said(2).contains("no whole answer came within 2 s"), "{}", said(2));
    // The good one is asked in every round, the silent one is left alone for a while.
    let mut rounds = 0;
    while rounds < 2 {
        let round = collected.round().await;
        let fresh = round.reports.iter().find(|report| *report.member == *good).unwrap();
        rounds += usize::from(matches!(fresh.connections, MemberAnswer::Ok { .. }));
    }
    collected.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_member_is_not_waited_for() {
    let server = zookeeper().await;
    let (good, slow) = (server.address(), fake(Manner::Slow).await);
    let mut collected = Collected::start(&format!("{good},{slow}"), &[]);
    collected
        .until("both", |said| {
            [&good, &slow].iter().all(|name| said.get(*name).is_some_and(|one| one.connections.value().is_some()))
        })
        .await;
    // What came is handed on while the slow one is still asked. It never fails, so that it is asked in every round.
    collected
        .until_round("the good one alone", |round| {
            let said = |name: &str| &round.reports.iter().find(|report| *report.member == *name).unwrap().connections;
            said(&good).value().is_some() && matches!(said(&slow), MemberAnswer::NotAsked)
        })
        .await;
    assert_eq!(trouble(&collected.said[&slow].connections), None);
    collected.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_admin_server_leaves_the_words() {
    for manner in [Manner::EndlessHttp, Manner::Redirect, Manner::Garbage] {
        let server = zookeeper().await;
        let name = server.address();
        let mut collected = Collected::start(&name, &[format!("http://{}", fake(manner).await)]);
        collected
            .until("an answer by words", |said| said.get(&name).is_some_and(|one| one.connections.value().is_some()))
            .await;
        assert_eq!(&*collected.said[&name].by, "four-letter words", "{manner:?}");
        collected.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_with_too_many_watches_or_ephemerals_is_spared() {
    let name = fake(Manner::Heavy).await;
    let mut collected = Collected::start(&name, &[]);
    collected.demand.send(Demand { watches: true, waiters: false }).unwrap();
    collected.until("watches", |said| said.get(&name).is_some_and(|one| one.watches != MemberAnswer::NotAsked)).await;
    let (why, remedy) = trouble(&collected.said[&name].watches).expect("it is not asked");
    assert_eq!(why, Trouble::Spared);
    assert!(remedy.contains(&name) && remedy.contains("100001 watches") && remedy.contains("100000"), "{remedy}");
    let (why, remedy) = trouble(&collected.said[&name].sessions).expect("it is not asked");
    assert_eq!(why, Trouble::Spared);
    assert!(remedy.contains(&name) && remedy.contains("200001 ephemerals") && remedy.contains("200000"), "{remedy}");
    collected.stop().await;
}
