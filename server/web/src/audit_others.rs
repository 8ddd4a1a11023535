//! Audit logs of other replicas: a page of this one's says which there are, so that nobody takes a part for the whole.

use std::collections::BTreeMap;

use lockscope_view::{AuditPage, OtherAuditLog};

use super::Http;
use super::problem::ErrorResponse;
use lockscope_audit::PageQuery;

impl Http {
    /// A page of this replica's log, which says whose it is, and which others there are.
    pub(super) async fn audit(&self, query: PageQuery) -> Result<AuditPage, ErrorResponse> {
        let mut page = self.records.page(query).await?;
        self.name_other_logs(&mut page);
        Ok(page)
    }

    /// Says whose log a page is of, and which others there are, also of replicas that are gone.
    fn name_other_logs(&self, page: &mut AuditPage) {
        let Some(cluster) = &self.cluster else { return };
        let view = cluster.view();
        let heads = self.audit_heads.as_ref().map(|heads| heads.others()).unwrap_or_default();
        page.not_shown_trouble = match (&self.audit_heads, &view.shared_memory) {
            (None, _) => "the replicas share no database".to_owned(),
            (Some(_), Some(memory)) if !memory.why.is_empty() => memory.why.clone(),
            (Some(heads), _) => heads.trouble(),
        };
        let own = cluster.id();
        let there: Vec<String> = view.replicas.into_iter().map(|replica| replica.id).collect();
        let mut last: BTreeMap<String, Option<u64>> = there.iter().map(|id| (id.clone(), None)).collect();
        last.extend(heads.into_iter().map(|(id, last)| (id, Some(last))));
        last.remove(own);
        page.replica = Some(own.to_owned());
        let other = |(replica, last_id): (String, Option<u64>)| {
            let is_there = there.contains(&replica);
            OtherAuditLog { replica, last_id, is_there }
        };
        page.not_shown = last.into_iter().map(other).collect();
    }
}
