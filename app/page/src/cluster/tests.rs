//! What the section draws.

use super::cluster_markup;
use lockscope_view::{Cluster, ClusterState, Replica, SharedMemory};

fn replica(id: &str) -> Replica {
    Replica {
        id: id.to_owned(),
        address: format!("http://{id}"),
        version: "0.1.0".to_owned(),
        since_ms: 1_000,
        is_leader: id == "a",
        is_this: id == "a",
        watches_same: true,
    }
}

fn cluster(ids: &[&str]) -> Cluster {
    Cluster {
        state: ClusterState::Member,
        root: Some("/lockscope".to_owned()),
        ensemble: Some("default".to_owned()),
        is_leader: true,
        leader: Some("a".to_owned()),
        is_alone: ids.len() < 2,
        replicas: ids.iter().map(|id| replica(id)).collect(),
        ..Cluster::default()
    }
}

#[test]
fn without_a_cluster_there_is_nothing() {
    assert_eq!(cluster_markup(&Cluster::default(), 0), "");
}

#[test]
fn one_alone_says_so() {
    let html = cluster_markup(&cluster(&["a"]), 5_000);
    assert!(
        html.contains("Alone: another replica is not seen.") && html.contains("Below /lockscope of default."),
        "{html}"
    );
}

#[test]
fn several_are_listed_and_what_comes_from_outside_is_escaped() {
    let mut two = cluster(&["a", "<b>evil"]);
    two.replicas[1].watches_same = false;
    let html = cluster_markup(&two, 5_000);
    for part in
        ["2 replicas watch the same. This one leads.", "&lt;b&gt;evil", "watches other ensembles", "(this server)"]
    {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert!(!html.contains("<b>evil"));
}

#[test]
fn who_is_no_member_says_why() {
    let refused =
        Cluster { state: ClusterState::Refused, why: "the id a is taken".to_owned(), leader: None, ..cluster(&["a"]) };
    let html = cluster_markup(&refused, 0);
    assert!(
        html.contains("class=\"notice\"") && html.contains("This server is no member: the id a is taken."),
        "{html}"
    );
    let nobody = Cluster { leader: None, is_leader: false, ..cluster(&["a", "b"]) };
    assert!(cluster_markup(&nobody, 0).contains("Nobody leads at present"));
}

#[test]
fn whether_replicas_share_what_people_say_is_told() {
    let with = |memory| cluster_markup(&Cluster { shared_memory: memory, ..cluster(&["a", "b"]) }, 5_000);
    assert!(with(None).contains("Each replica has sign-ins"));
    let up = SharedMemory { exchanged_at_ms: Some(4_000), ..SharedMemory::default() };
    assert!(with(Some(up.clone())).contains("The replicas share sign-ins"));
    let down = SharedMemory { failing_since_ms: Some(4_500), why: "PostgreSQL <b>".to_owned(), ..up };
    let html = with(Some(down));
    assert!(html.contains("the database does not answer (PostgreSQL &lt;b&gt;).") && html.contains("notice"), "{html}");
}
