//! The section: where this server stands, and who there is.

use leptos::prelude::*;

use super::words;
use crate::erase::{erase, view};
use crate::format::{middle, visible};
use crate::parts::{Age, Columns, Table, text};
use lockscope_view::{Cluster, ClusterState, Replica};

const NAME_CHARS: usize = 60;

const COLUMNS: Columns = &[
    ("Replica", ""),
    ("Address", ""),
    ("Version", ""),
    ("Running for", "table-number"),
    ("Leads", ""),
    ("Remark", ""),
];

/// The section as markup; nothing where there is no cluster.
pub fn cluster_markup(cluster: &Cluster, now_ms: i64) -> String {
    if cluster.state == ClusterState::Off {
        return String::new();
    }
    text(now_ms, || section(cluster))
}

fn section(cluster: &Cluster) -> AnyView {
    let is_well = cluster.state == ClusterState::Member && cluster.leader.is_some() && cluster.strangers == 0;
    let class = if is_well { "quiet" } else { "notice" };
    let rows = (!cluster.replicas.is_empty()).then(|| {
        let rows = cluster.replicas.iter().map(row).collect_view();
        erase(view! { <Table class="table" columns=COLUMNS rows=rows /> })
    });
    let place = words::place(cluster).map(|place| view! { <p class="quiet">{place}</p> });
    let strangers = words::strangers(cluster.strangers).map(|told| view! { <p class="notice">{told}</p> });
    let (memory, is_shared) = words::memory(cluster.shared_memory.as_ref());
    let memory_class = if is_shared { "quiet" } else { "notice" };
    view! {
        <section class="part dims" aria-labelledby="cluster-title" data-testid="cluster">
            <h2 class="part-title" id="cluster-title">{words::TITLE}</h2>
            <p class=class data-testid="cluster-lead">{words::lead(cluster)}</p>
            {rows}
            {strangers}
            <p class=memory_class data-testid="cluster-memory">{memory}</p>
            {place}
        </section>
    }
}

fn row(replica: &Replica) -> AnyView {
    let (id, address) = (visible(&replica.id), visible(&replica.address));
    let this = if replica.is_this { words::THIS } else { "" };
    let leads = if replica.is_leader { words::LEADS } else { "" };
    view! {
        <tr data-replica=id.clone()>
            <td><bdi>{id.clone()}</bdi>{this}</td>
            <td class="mono" title=address.clone()><bdi>{middle(&address, NAME_CHARS)}</bdi></td>
            <td>{visible(&replica.version)}</td>
            <td class="table-number"><Age since_ms=Some(replica.since_ms) /></td>
            <td>{leads}</td>
            <td>{words::oddity(replica.watches_same)}</td>
        </tr>
    }
}
