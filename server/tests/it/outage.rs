//! Links that break: servers that die, cuts with changes in between, silence, expiry, moving to another member.

use std::time::Duration;

use lockscope_core::observation::Link;

use crate::harness::proxy::{Mode, Proxy};
use crate::harness::{Observed, Truth, ensemble, zookeeper};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_during_a_cut_are_seen_after_it() {
    let server = zookeeper().await;
    let proxy = Proxy::start(server.address()).await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/locks/a").await;
    let before = truth.queue("/locks/a/lock-").await;
    let observed = Observed::start(&proxy.address(), &["/locks"]);
    observed.until_live().await;
    let session = observed.look(|believed| believed.session);

    proxy.set(Mode::Cut);
    observed.until("stale", |believed| believed.link == Some(Link::Stale)).await;
    truth.delete(&before).await;
    truth.queue("/locks/a/lock-").await;
    proxy.set(Mode::Open);
    observed.until_live().await;
    observed.until_true(&truth).await;
    let survived = observed.look(|believed| believed.session) == session;

    // Events must flow again: this fails when the watches are not added again.
    for _ in 0..3 {
        truth.queue("/locks/a/lock-").await;
        truth.make("/locks/b").await;
        observed.until_true(&truth).await;
        truth.delete("/locks/b").await;
        observed.until_true(&truth).await;
    }
    // A cut of more than a second may end with a session of its own.
    let again = if survived { "reconnected" } else { "new session" };
    assert_eq!(observed.look(|believed| believed.syncs.clone()), ["first sync", again]);
    observed.stop().await;
}

/// The client crate alone waits twice as long each time: so many attempts take it minutes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_cut_is_tried_every_second() {
    let server = zookeeper().await;
    let proxy = Proxy::start(server.address()).await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/locks").await;
    let observed = Observed::start_with(&proxy.address(), &["/locks"], Duration::from_secs(60));
    observed.until_live().await;
    proxy.set(Mode::Cut);
    proxy.refused(32).await;
    let was_lost =
        |believed: &crate::harness::Believed| believed.links.iter().skip(1).any(|(link, _)| *link == Link::Lost);
    assert!(!observed.look(was_lost), "while the session may still be alive");
    truth.queue("/locks/lock-").await;
    proxy.set(Mode::Open);
    observed.until_live().await;
    observed.until_true(&truth).await;
    assert!(!observed.look(was_lost));
    observed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silence_is_stale_by_the_probe_and_live_again_when_it_ends() {
    let server = zookeeper().await;
    let proxy = Proxy::start(server.address()).await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/locks").await;
    // A long session: the client itself notices nothing for twenty seconds.
    let observed = Observed::start_with(&proxy.address(), &["/locks"], Duration::from_secs(60));
    observed.until_live().await;
    proxy.set(Mode::Silent);
    truth.queue("/locks/lock-").await;
    observed.until("stale", |believed| believed.link == Some(Link::Stale)).await;
    // By the probe, whose bound is two seconds (`zookeeper::session`), and not by the client.
    let told = observed.look(|believed| believed.links.last().cloned());
    assert_eq!(told, Some((Link::Stale, "no answer for more than a second".to_owned())));
    proxy.set(Mode::Open);
    observed.until_live().await;
    observed.until_true(&truth).await;
    assert_eq!(observed.look(|believed| believed.syncs.len()), 1, "nothing was lost, so nothing is read again");
    observed.stop().await;
}

/// Each way takes 0.7 s: every question is answered, and each answer is too old to show anything as it is now.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_come_late_never_make_it_live() {
    let server = zookeeper().await;
    let proxy = Proxy::start(server.address()).await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/locks").await;
    let observed = Observed::start_with(&proxy.address(), &["/locks"], Duration::from_secs(60));
    observed.until_live().await;
    proxy.set(Mode::Late(Duration::from_millis(700)));
    observed.until("stale", |believed| believed.link == Some(Link::Stale)).await;
    let (links, synced) = observed.look(|believed| (believed.links.len(), believed.synced));
    observed.until("answers", |believed| believed.synced >= synced + 3).await;
    assert_eq!(observed.look(|believed| believed.links.len()), links, "an answer came, and it is stale all the same");
    truth.queue("/locks/lock-").await;
    proxy.set(Mode::Open);
    observed.until_live().await;
    observed.until_true(&truth).await;
    observed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expired_session_is_replaced() {
    let server = zookeeper().await;
    let proxy = Proxy::start(server.address()).await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/locks").await;
    let observed = Observed::start_with(&proxy.address(), &["/locks"], Duration::from_secs(8));
    observed.until_live().await;
    let first = observed.look(|believed| believed.session);
    proxy.set(Mode::Cut);
    observed.until("lost", |believed| believed.link == Some(Link::Lost)).await;
    truth.queue("/locks/lock-").await;
    proxy.set(Mode::Open);
    observed.until_live().await;
    observed.until_true(&truth).await;
    assert_ne!(observed.look(|believed| believed.session), first);
    assert_eq!(observed.look(|believed| believed.syncs.clone()), ["first sync", "new session"]);
    truth.queue("/locks/lock-").await;
    observed.until_true(&truth).await;
    observed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_and_restarted_on_the_same_data() {
    let mut server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/locks/a").await;
    let observed = Observed::start_with(&server.address(), &["/locks"], Duration::from_secs(8));
    observed.until_live().await;
    server.kill_minus_9().await.unwrap();
    observed.until("stale or lost", |believed| believed.link != Some(Link::Live)).await;
    server.restart().await.unwrap();
    let truth_again = Truth::new(&server.address()).await;
    truth_again.queue("/locks/a/lock-").await;
    observed.until_live().await;
    observed.until_true(&truth_again).await;
    truth_again.queue("/locks/a/lock-").await;
    observed.until_true(&truth_again).await;
    observed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_member_dies_while_the_ensemble_lives() {
    let mut ensemble = ensemble().await;
    let [ours, other] = [ensemble.members()[0].address(), ensemble.members()[1].address()];
    let truth = Truth::new(&other).await;
    truth.make("/locks/a").await;
    // Our member is reached through a proxy, so that changes can be made while we are on our way to another one.
    let proxy = Proxy::start(ours.clone()).await;
    let observed = Observed::start(&proxy.address(), &["/locks"]);
    observed.until_live().await;
    let both = Observed::start(&format!("{ours},{other}"), &["/locks"]);
    both.until_live().await;

    proxy.set(Mode::Cut);
    ensemble.members_mut()[0].kill_minus_9().await.unwrap();
    observed.until("stale", |believed| believed.link != Some(Link::Live)).await;
    // The other member may be electing a leader: then its client waits.
    truth.client.sync("/locks").await.ok();
    let truth = Truth::new(&other).await;
    truth.queue("/locks/a/lock-").await;
    both.until_live().await;
    both.until_true(&truth).await;

    ensemble.members_mut()[0].restart().await.unwrap();
    proxy.set(Mode::Open);
    observed.until_live().await;
    truth.queue("/locks/a/lock-").await;
    observed.until_true(&truth).await;
    both.until_true(&truth).await;
    observed.stop().await;
    both.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flapping_link_ends_in_the_truth() {
    const FLAPS: u64 = 12;
    let server = zookeeper().await;
    let proxy = Proxy::start(server.address()).await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/locks").await;
    let observed = Observed::start(&proxy.address(), &["/locks"]);
    observed.until_live().await;
    for flap in 0..FLAPS {
        proxy.set(Mode::Cut);
        truth.make(&format!("/locks/{flap}")).await;
        observed.until("the cut", |believed| believed.link != Some(Link::Live)).await;
        proxy.set(Mode::Open);
        truth.queue(&format!("/locks/{flap}/lock-")).await;
        if flap % 3 == 0 {
            observed.until_live().await;
        }
    }
    observed.until_live().await;
    observed.until_true(&truth).await;
    truth.queue("/locks/0/lock-").await;
    observed.until_true(&truth).await;
    observed.stop().await;
}
