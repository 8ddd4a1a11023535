//! Audit logs of other replicas: a page of this one's says which there are, so that nobody takes a part for the whole.

use std::collections::BTreeMap;
use std::time::Duration;

use lockscope_wire::{AuditPage, OtherAuditLog};

use super::Http;
use super::problem::ErrorResponse;
use audit::PageQuery;

/// How long ZooKeeper is waited for.
const HEADS_MAX: Duration = Duration::from_secs(1);

impl Http {
    /// A page of this replica's log, which says whose it is, and which others there are.
    pub(super) async fn audit(&self, query: PageQuery) -> Result<AuditPage, ErrorResponse> {
        let mut page = self.records.page(query).await?;
        self.name_other_logs(&mut page).await;
        Ok(page)
    }

    /// Says whose log a page is of, and which others there are, also of replicas that are gone.
    async fn name_other_logs(&self, page: &mut AuditPage) {
        let Some(cluster) = &self.cluster else { return };
        let heads = match tokio::time::timeout(HEADS_MAX, cluster.heads()).await {
            Ok(Ok(heads)) => heads,
            Ok(Err(error)) => {
                page.not_shown_trouble = error.to_string();
                Vec::new()
            }
            Err(_) => {
                "ZooKeeper does not answer".clone_into(&mut page.not_shown_trouble);
                Vec::new()
            }
        };
        let own = cluster.id();
        let there: Vec<String> = cluster.view().replicas.into_iter().map(|replica| replica.id).collect();
        let mut last: BTreeMap<String, Option<u64>> = there.iter().map(|id| (id.clone(), None)).collect();
        last.extend(heads.into_iter().map(|(id, head)| (id, Some(head.id))));
        last.remove(own);
        page.replica = Some(own.to_owned());
        let other = |(replica, last_id): (String, Option<u64>)| {
            let is_there = there.contains(&replica);
            OtherAuditLog { replica, last_id, is_there }
        };
        page.not_shown = last.into_iter().map(other).collect();
    }
}
