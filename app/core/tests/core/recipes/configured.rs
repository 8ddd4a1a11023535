//! What the operator says goes before what names say.

use lockscope_core::finding::{Code, Limits};
use lockscope_core::recipe::Recipe;

use super::{entries, says, tell, tree_admitting, tree_configured};

#[test]
fn a_path_may_be_called_what_it_is() {
    let story = tree_configured(
        &[("/x/*", Recipe::Election), ("/y/**", Recipe::Unknown), ("/z", Recipe::Membership)],
        "/x/a
        /x/a/app_#0 owner=a
        /x/a/app_#1 owner=b
        /y/b/c/lock-#0 owner=a
        /z/worker-#0 owner=a
        /z/worker-#1 owner=b",
    );
    assert_eq!(story.paths(), ["/x/a", "/z"]);
    says(
        &story,
        "/x/a Election High Healthy: sequential election
        Leader: session 0xa. 1 standby.
        Leader holds app_#0
        Leader waits app_#1 -> app_#0",
    );
    says(
        &story,
        "/z Membership High Healthy: plain sequential lock (configured)
        2 members: session 0xa and 1 more.
        Member holds worker-#0
        Member holds worker-#1",
    );
}

#[test]
fn a_znode_of_any_name_may_be_a_lock() {
    let mut story = tree_configured(
        &[("/apps/*/owner", Recipe::SingleNodeMutex), ("/gates/*", Recipe::Barrier)],
        "/apps/billing/owner owner=a data=host-1
        /apps/billing/other owner=b
        /gates/deploy",
    );
    assert_eq!(story.paths(), ["/apps/billing/owner", "/gates/deploy"]);
    says(
        &story,
        "/apps/billing/owner SingleNodeMutex High Healthy: one znode (configured)
        host-1 holds it. Waiters can't be counted here.
        Exclusive holds owner",
    );
    assert_eq!(
        story.sentence("/gates/deploy"),
        "Up: everybody waits until it is taken down. Waiters can't be counted here."
    );
    tell(&mut story, "20 - /apps/billing/owner\n21 + /apps/orders/owner\n22 = /apps/orders/owner owner=c");
    assert_eq!(story.sentence("/apps/billing/owner"), "Free. Last held by host-1.");
    assert_eq!(story.sentence("/apps/orders/owner"), "session 0xc holds it. Waiters can't be counted here.");
}

#[test]
fn a_directory_of_any_names_may_gather() {
    let story = tree_configured(
        &[("/meet", Recipe::DoubleBarrier), ("/team", Recipe::Membership), ("/todo", Recipe::Queue)],
        "/meet
        /meet/a owner=a
        /team
        /team/10.0.0.1 owner=a
        /team/10.0.0.2 owner=b
        /todo
        /todo/mail#0
        /todo/mail#1",
    );
    assert_eq!(story.sentence("/meet"), "Gathering: 1 waits for the rest.");
    assert_eq!(story.sentence("/team"), "2 members: session 0xa and 1 more.");
    assert_eq!(story.sentence("/todo"), "2 items wait.");
}

#[test]
fn how_many_are_admitted_or_awaited_may_be_said() {
    let story = tree_admitting(
        "/s",
        None,
        5,
        "/s
        /s/leases
        /s/locks
        /s/leases/_c_<a>-lease-#0 owner=a
        /s/leases/_c_<b>-lease-#1 owner=b",
    );
    assert_eq!(story.sentence("/s"), "2 of 5 leases are held, the first by session 0xa. Nobody waits.");
    let story = tree_admitting("/*", None, 3, "/barrier\n/barrier/<a> owner=a\n/barrier/<b> owner=b");
    assert_eq!(story.sentence("/barrier"), "Gathering: 2 of 3 are there.");
}

#[test]
fn a_queue_may_be_called_a_semaphore() {
    let mut story = tree_admitting(
        "/s",
        Some(Recipe::Semaphore),
        2,
        "/s
        /s/_c_<a>-lock-#0 owner=a
        /s/_c_<b>-lock-#1 owner=b
        /s/_c_<c>-lock-#2 owner=c
        /s/_c_<d>-lock-#3 owner=d",
    );
    says(
        &story,
        "/s Semaphore High Healthy: Curator InterProcessMutex or LeaderSelector (configured)
        2 of 2 leases are held, the first by session 0xa. 2 wait.
        Lease holds _c_<a>-lock-#0
        Lease holds _c_<b>-lock-#1
        Lease waits _c_<c>-lock-#2 -> _c_<a>-lock-#0
        Lease waits _c_<d>-lock-#3 -> _c_<b>-lock-#1",
    );
    tell(&mut story, "20 - /s/_c_<b>-lock-#1");
    assert_eq!(story.sentence("/s"), "2 of 2 leases are held, the first by session 0xa. 1 waits.");
}

#[test]
fn what_is_said_anew_is_as_if_it_had_been_said_from_the_start() {
    const TREE: &str = "/x/a
        /x/a/app_#0 owner=a
        /x/a/app_#1 owner=b
        /y/lock-#0 owner=a
        /y/lock-#1 owner=b
        /team/any owner=c
        /apps/owner owner=a data=host-1";
    let words: [&[(&str, Recipe)]; 4] = [
        &[],
        &[("/x/*", Recipe::Election), ("/y", Recipe::Unknown)],
        &[("/x/*", Recipe::Queue), ("/team", Recipe::Membership), ("/apps/owner", Recipe::SingleNodeMutex)],
        &[("/**", Recipe::Unknown)],
    ];
    for first in words {
        for then in words {
            let mut story = tree_configured(first, TREE);
            story.said(entries(then), Limits::default());
            assert_eq!(story.show(), tree_configured(then, TREE).show(), "{first:?} {then:?}");
            story.said(entries(then), Limits::default());
            assert!(story.changes.is_empty(), "nothing new was said");
        }
    }
}

#[test]
fn other_limits_are_heard_within_moments() {
    let queue: String = (0..6).map(|at| format!("/q/lock-#{at} owner=a{at}\n")).collect();
    let mut story = tree_configured(&[], &queue);
    assert!(!story.findings("/q").contains("deep_queue"));
    story.said(Vec::new(), Limits { deep_contenders: 5, ..Limits::default() });
    story.tell("1000 tick");
    assert!(story.findings("/q").contains("deep_queue"), "{}", story.findings("/q"));
    story.said(Vec::new(), Limits { deep_contenders: 5, off: vec![Code::DeepQueue], ..Limits::default() });
    story.tell("2000 tick");
    assert!(!story.findings("/q").contains("deep_queue"));
}
