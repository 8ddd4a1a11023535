//! Three members: each tells of its own clients, the leader of everybody's end, and one address is enough to find all.

use app::domain::evidence::{MemberRole, Report, Trouble};
use app::domain::znode::SessionId;
use server::demo::{PrivateEnsemble, ServerOptions};

use super::collected::{Collected, Said, connection, trouble};
use crate::harness::Truth;

fn role(said: &Said, member: &str) -> Option<MemberRole> {
    said.get(member)?.health.value()?.1.role
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_member_tells_of_its_own() {
    let mut ensemble = PrivateEnsemble::start(ServerOptions::default()).await.unwrap_or_else(|error| panic!("{error}"));
    let names: Vec<String> = ensemble.members().iter().map(server::demo::PrivateZooKeeper::address).collect();
    let mut clients = Vec::new();
    for name in &names {
        clients.push(Truth::new(name).await);
    }
    clients[0].make("/locks").await;
    let sessions: Vec<SessionId> = clients.iter().map(|truth| SessionId(truth.client.session_id().0)).collect();
    for truth in &clients {
        truth.queue("/locks/x-").await;
    }
    // Only one member is named, and no AdminServer.
    let mut by_words = Collected::start(&names[0], &[]);
    by_words
        .until("each client on its member, and all that is asked besides", |said| {
            let told = |name: &String| said.get(name).is_some_and(|report| report.health.value().is_some() && report.sessions.value().is_some());
            names.iter().zip(&sessions).all(|(name, session)| connection(said, name, *session).is_some() && told(name))
        })
        .await;
    assert_eq!(by_words.said.len(), 3);
    for (at, name) in names.iter().enumerate() {
        let report = &by_words.said[name];
        assert_eq!((report.number, &*report.by), (Some(i64::try_from(at + 1).unwrap()), "four-letter words"));
        let elsewhere = sessions.iter().enumerate().filter(|(other, session)| *other != at && connection(&by_words.said, name, **session).is_some());
        assert_eq!(elsewhere.count(), 0, "on {name}");
        let (_, table) = report.sessions.value().expect("sessions");
        let is_leader = role(&by_words.said, name) == Some(MemberRole::Leader);
        for session in &sessions {
            assert_eq!(table.ephemerals[session].len(), 1, "every member knows all ephemerals");
            assert_eq!(
                (table.expiries.contains_key(session), table.timeouts_ms.contains_key(session)),
                (is_leader, !is_leader),
                "{session} on {name}"
            );
        }
    }
    assert_eq!(names.iter().filter(|name| role(&by_words.said, name) == Some(MemberRole::Leader)).count(), 1);
    by_words.stop().await;
    admin_servers(&ensemble, &names, &sessions).await;
    without_a_quorum(&mut ensemble, &names[2]).await;
}

async fn admin_servers(ensemble: &PrivateEnsemble, names: &[String], sessions: &[SessionId]) {
    let urls: Vec<String> = ensemble.members().iter().map(|member| format!("http://127.0.0.1:{}", member.admin_port())).collect();
    let mut right = Collected::start(&ensemble.connect_string(), &urls);
    right
        .until("all by AdminServer", |said| {
            names.iter().zip(&urls).all(|(name, url)| said.get(name).is_some_and(|one| *one.by == *format!("AdminServer {url}")))
        })
        .await;
    right.until("each client", |said| names.iter().zip(sessions).all(|(name, session)| connection(said, name, *session).is_some())).await;
    for name in names {
        let (_, table) = right.said[name].sessions.value().expect("sessions");
        let is_leader = role(&right.said, name) == Some(MemberRole::Leader);
        assert_eq!(sessions.iter().all(|session| table.expiries.contains_key(session)), is_leader, "on {name}");
    }
    right.stop().await;
    // Named in the wrong order: what another member says must not be taken for this one's.
    let wrong: Vec<String> = urls.iter().rev().cloned().collect();
    let mut wrong = Collected::start(&ensemble.connect_string(), &wrong);
    wrong
        .until("the mistake is seen", |said| {
            [&names[0], &names[2]].iter().all(|name| said.get(*name).is_some_and(|one| &*one.by == "four-letter words"))
        })
        .await;
    assert!(names.iter().zip(sessions).all(|(name, session)| connection(&wrong.said, name, *session).is_some()));
    wrong.stop().await;
}

/// The last member goes on running and serves nobody.
async fn without_a_quorum(ensemble: &mut PrivateEnsemble, last: &str) {
    for member in ensemble.members_mut().iter_mut().take(2) {
        member.stop().await.unwrap();
    }
    let mut collected = Collected::start(last, &[]);
    let is_broken = |report: &Report| {
        trouble(&report.sessions).is_some_and(|(why, remedy)| why == Trouble::Broken && remedy.contains("not currently serving requests"))
    };
    collected.until("that it does not serve", |said| said.get(last).is_some_and(is_broken)).await;
    collected.stop().await;
}
