//! Three members: each tells of its own clients, the leader of everybody's end, and one address is enough to find all.

use lockscope_core::evidence::{MemberRole, Report, SessionTable, Trouble};
use lockscope_core::znode::SessionId;
use lockscope_demo::PrivateEnsemble;
use lockscope_zookeeper::members::ask_word;
use zookeeper_client::EnsembleUpdate;

use super::collected::{Collected, Said, connection, trouble};
use crate::harness::{Truth, ensemble, options};

fn role(said: &Said, member: &str) -> Option<MemberRole> {
    said.get(member)?.health.value()?.1.role
}

/// Whether the leader alone tells when sessions end, and, asked by words, the others alone their time-outs. A session
/// that is heard of just then may be in no answer: it moves from one end to the next (`ExpiryQueue.update`).
fn ends_are_the_leaders(said: &Said, names: &[String], sessions: &[SessionId]) -> bool {
    names.iter().all(|name| {
        let Some((_, table)) = said[name].sessions.value() else { return false };
        let is_leader = role(said, name) == Some(MemberRole::Leader);
        let tells_timeouts = !is_leader && &*said[name].by == "four-letter words";
        sessions.iter().all(|session| {
            (table.expiries.contains_key(session), table.timeouts_ms.contains_key(session))
                == (is_leader, tells_timeouts)
        })
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_member_tells_of_its_own() {
    let mut ensemble = ensemble().await;
    let names: Vec<String> = ensemble.members().iter().map(lockscope_demo::PrivateZooKeeper::address).collect();
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
            let told = |name: &String| {
                said.get(name)
                    .is_some_and(|report| report.health.value().is_some() && report.sessions.value().is_some())
            };
            names.iter().zip(&sessions).all(|(name, session)| connection(said, name, *session).is_some() && told(name))
        })
        .await;
    assert_eq!(by_words.said.len(), 3);
    for (at, name) in names.iter().enumerate() {
        let report = &by_words.said[name];
        assert_eq!((report.number, &*report.by), (Some(i64::try_from(at + 1).unwrap()), "four-letter words"));
        let elsewhere = sessions
            .iter()
            .enumerate()
            .filter(|(other, session)| *other != at && connection(&by_words.said, name, **session).is_some());
        assert_eq!(elsewhere.count(), 0, "on {name}");
    }
    // A member may answer before it applied what another one acknowledged.
    by_words
        .until("every member knows all ephemerals", |said| {
            let knows =
                |table: &SessionTable, session| table.ephemerals.get(session).is_some_and(|paths| paths.len() == 1);
            names.iter().all(|name| {
                said[name]
                    .sessions
                    .value()
                    .is_some_and(|(_, table)| sessions.iter().all(|session| knows(table, session)))
            })
        })
        .await;
    by_words
        .until("ends by the leader, time-outs by the others", |said| ends_are_the_leaders(said, &names, &sessions))
        .await;
    assert_eq!(names.iter().filter(|name| role(&by_words.said, name) == Some(MemberRole::Leader)).count(), 1);
    by_words.stop().await;
    admin_servers(&ensemble, &names, &sessions).await;
    without_a_quorum(&mut ensemble, &names[2]).await;
}

async fn admin_servers(ensemble: &PrivateEnsemble, names: &[String], sessions: &[SessionId]) {
    let urls: Vec<String> =
        ensemble.members().iter().map(|member| format!("http://127.0.0.1:{}", member.admin_port())).collect();
    let mut right = Collected::start(&ensemble.connect_string(), &urls);
    right
        .until("all by AdminServer", |said| {
            names
                .iter()
                .zip(&urls)
                .all(|(name, url)| said.get(name).is_some_and(|one| *one.by == *format!("AdminServer {url}")))
        })
        .await;
    right
        .until("each client", |said| {
            names.iter().zip(sessions).all(|(name, session)| connection(said, name, *session).is_some())
        })
        .await;
    right.until("ends by the leader", |said| ends_are_the_leaders(said, names, sessions)).await;
    right.stop().await;
    // Named in the wrong order: what another member says must not be taken for this one's.
    let wrong: Vec<String> = urls.iter().rev().cloned().collect();
    let mut wrong = Collected::start(&ensemble.connect_string(), &wrong);
    wrong
        .until("the mistake is seen", |said| {
            let is_seen = [&names[0], &names[2]]
                .iter()
                .all(|name| said.get(*name).is_some_and(|one| &*one.by == "four-letter words"));
            is_seen && names.iter().zip(sessions).all(|(name, session)| connection(said, name, *session).is_some())
        })
        .await;
    wrong.stop().await;
}

/// The last member goes on running and serves nobody.
async fn without_a_quorum(ensemble: &mut PrivateEnsemble, last: &str) {
    for member in ensemble.members_mut().iter_mut().take(2) {
        member.stop().await.unwrap();
    }
    let mut collected = Collected::start(last, &[]);
    let is_broken = |report: &Report| {
        trouble(&report.sessions)
            .is_some_and(|(why, remedy)| why == Trouble::Broken && remedy.contains("not currently serving requests"))
    };
    collected.until("that it does not serve", |said| said.get(last).is_some_and(is_broken)).await;
    collected.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_without_clients_stamps_an_answer_to_us() {
    let ensemble = ensemble().await;
    let names: Vec<String> = ensemble.members().iter().map(lockscope_demo::PrivateZooKeeper::address).collect();
    let mut urls: Vec<String> =
        ensemble.members().iter().map(|member| format!("http://127.0.0.1:{}", member.admin_port())).collect();
    let mut leader = None;
    for name in &names {
        if ask_word(name, "srvr").await.unwrap().contains("Mode: leader") {
            leader = Some(name.clone());
        }
    }
    let leader = leader.unwrap();
    // Nobody but the collector comes near the leader.
    let at = names.iter().position(|name| *name != leader).unwrap();
    let follower = &names[at];
    // On one host an AdminServer belongs to the member at its place: those of the connect string, then by number.
    let first = urls.remove(at);
    urls.insert(0, first);
    let mut collected = Collected::start(follower, &urls);
    let is_stamped = |report: &Report| {
        let stamps = report
            .connections
            .value()
            .is_some_and(|(_, connections)| connections.iter().any(|one| one.answered_ms.is_some()));
        stamps
            && report.by.starts_with("AdminServer")
            && report.sessions.value().is_some_and(|(_, table)| !table.expiries.is_empty())
    };
    let truth = Truth::new(follower).await;
    truth.make("/locks").await;
    collected
        .until("a stamp of the leader's, which places its clock", |said| said.get(&leader).is_some_and(is_stamped))
        .await;
    collected.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_that_left_is_asked_no_more() {
    let options = options(&[("reconfigEnabled", "true")], &["-Dzookeeper.skipACL=yes"]);
    let mut ensemble = PrivateEnsemble::start(options).await.unwrap_or_else(|error| panic!("{error}"));
    let names: Vec<String> = ensemble.members().iter().map(lockscope_demo::PrivateZooKeeper::address).collect();
    let mut collected = Collected::start(&names[0], &[]);
    collected
        .until("all three answer", |said| said.len() == 3 && said.values().all(|report| !report.by.is_empty()))
        .await;
    let truth = Truth::new(&names[0]).await;
    let leaves = EnsembleUpdate::Incremental { joinings: Vec::new().into_iter(), leavings: vec!["3"].into_iter() };
    // A leader that leaves closes its connections before it answers; whether it left is seen below.
    let told = truth.client.update_ensemble(leaves, None).await;
    assert!(matches!(told, Ok(_) | Err(zookeeper_client::Error::ConnectionLoss)), "{told:?}");
    ensemble.members_mut()[2].stop().await.unwrap();
    collected.until("two are left", |said| said.len() == 2 && !said.contains_key(&names[2])).await;
    collected.stop().await;
}
