//! Audit logs of all replicas as one list, each record with the replica whose log it is in. A log that can't be read is named,
//! and of each other one it is said whether its newest records are those that it showed the others.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};
use lockscope_wire::{AuditLogPart, AuditLogState, AuditPage, OtherAuditLog};

use super::Http;
use super::audit_merge::{self, Cursor};
use super::caller::Caller;
use super::problem::{ErrorResponse, echo};
use super::replica_request::{ReplicaAddress, ReplicaRequest};
use audit::chain::ChainHead;
use audit::{LIMIT_MAX, PageQuery};

/// The newest records of a log that are checked.
const CHECKED_MAX: usize = 100;
/// How long a page of another's log may take.
const PAGE_WITHIN: Duration = Duration::from_secs(3);
/// Logs that are put together. Overflow policy: further ones are named as missing.
const LOGS_MAX: usize = 16;

/// Whose log is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// This replica's.
    Own,
    /// Everybody's, from somewhere on.
    All(Cursor),
    /// Another replica's.
    Of(String),
}

impl Whose {
    /// Takes `replica` and `cursor` out of what was asked.
    pub(super) fn take(pairs: &mut Vec<(String, String)>) -> Result<Self, ErrorResponse> {
        let take = |pairs: &mut Vec<(String, String)>, name: &str| {
            let at = pairs.iter().position(|(key, _)| key == name);
            at.map(|at| pairs.remove(at).1).filter(|value| !value.is_empty())
        };
        let (replica, cursor) = (take(pairs, "replica"), take(pairs, "cursor"));
        let cursor = match cursor {
            None => None,
            Some(text) => Some(Cursor::parse(&text).ok_or_else(|| {
                ErrorResponse::bad_request(format!("`cursor={}` is no `next_cursor` of an answer", echo(&text)))
            })?),
        };
        let is_paged = pairs.iter().any(|(name, _)| matches!(name.as_str(), "after" | "before"));
        match (replica, cursor) {
            (None, None) => Ok(Self::Own),
            (Some(all), _) if all == "all" && is_paged => Err(ErrorResponse::bad_request(
                "numbers are those of one log: with `replica=all` use `cursor` in place of `after` and `before`"
                    .to_owned(),
            )),
            (Some(all), cursor) if all == "all" => Ok(Self::All(cursor.unwrap_or_default())),
            (Some(one), None) => Ok(Self::Of(one)),
            (_, Some(_)) => Err(ErrorResponse::bad_request("`cursor` goes with `replica=all`".to_owned())),
        }
    }
}

impl Http {
    /// A page of the log, or logs, that somebody asked for.
    pub(super) async fn audit_of(
        &self,
        caller: &Caller,
        whose: Whose,
        query: PageQuery,
        pairs: &[(String, String)],
    ) -> Result<AuditPage, ErrorResponse> {
        let own_id = self.cluster.as_ref().map(|cluster| cluster.id());
        match whose {
            Whose::All(cursor) if own_id.is_some() => self.merged_audit(caller, query, pairs, &cursor).await,
            Whose::Of(one) if own_id != Some(&*one) => {
                let there = self.other_replicas().into_iter().find(|there| there.id == one).ok_or_else(|| {
                    ErrorResponse::bad_request(format!(
                        "there is no replica {}; /api/v1/cluster lists them",
                        echo(&one)
                    ))
                })?;
                let page = self.audit_at(&there, pairs, None, caller).await?;
                Ok(AuditPage { replica: Some(one), ..page })
            }
            Whose::Own | Whose::All(_) | Whose::Of(_) => {
                let mut page = self.records.page(query).await?;
                self.name_other_logs(&mut page).await;
                Ok(page)
            }
        }
    }

    pub(super) fn other_replicas(&self) -> Vec<ReplicaAddress> {
        let Some(cluster) = &self.cluster else { return Vec::new() };
        let replicas = cluster.view().replicas.into_iter().filter(|replica| replica.id != cluster.id());
        replicas.map(|replica| ReplicaAddress { id: replica.id, address: replica.address }).collect()
    }

    async fn merged_audit(
        &self,
        caller: &Caller,
        query: PageQuery,
        pairs: &[(String, String)],
        cursor: &Cursor,
    ) -> Result<AuditPage, ErrorResponse> {
        let limit = query.limit.min(LIMIT_MAX);
        let own_id = self.cluster.as_ref().map(|cluster| cluster.id().to_owned()).unwrap_or_default();
        let mut own = self.records.page(PageQuery { before: cursor.before(&own_id), ..query }).await?;
        self.name_other_logs(&mut own).await;
        let heads = self.shown_heads().await;
        let mut others = self.other_replicas();
        let further = others.split_off(others.len().min(LOGS_MAX));
        let asked: Vec<BoxFuture<'_, _>> = others
            .iter()
            .map(|there| self.part_of(there, pairs, cursor, caller, heads.get(&there.id)).boxed())
            .collect();
        let mut logs = vec![AuditLogPart {
            replica: own_id.clone(),
            state: AuditLogState::Unchecked,
            why: "it is this replica's own, which the others check".to_owned(),
            total: Some(own.total),
            checked: 0,
        }];
        let mut pages = BTreeMap::new();
        let (mut total, mut open_requests) = (own.total, own.open_requests);
        for (id, page, part) in join_all(asked).await {
            logs.push(part);
            if let Some(page) = page {
                total += page.total;
                open_requests += page.open_requests;
                pages.insert(id, page);
            }
        }
        let is_listed = |other: &&OtherAuditLog| !logs.iter().any(|part| part.replica == other.replica);
        let gone = own.not_shown.iter().filter(is_listed).map(|other| {
            let is_further = further.iter().any(|there| there.id == other.replica);
            let why = if is_further { "too many replicas are there" } else { "its replica is gone at present" };
            AuditLogPart { total: other.last_id, ..missing(&other.replica, why) }
        });
        let gone: Vec<AuditLogPart> = gone.collect();
        logs.extend(gone);
        let head = AuditPage { records: Vec::new(), ..own.clone() };
        pages.insert(own_id, own);
        let (records, next_cursor) = audit_merge::merged(pages, limit, cursor);
        Ok(AuditPage {
            total,
            open_requests,
            next_before: None,
            next_cursor,
            logs,
            not_shown: Vec::new(),
            records,
            ..head
        })
    }

    /// Another's page, and how its log stands.
    async fn part_of<'a>(
        &'a self,
        there: &'a ReplicaAddress,
        pairs: &'a [(String, String)],
        cursor: &'a Cursor,
        caller: &'a Caller,
        head: Option<&'a ChainHead>,
    ) -> (String, Option<AuditPage>, AuditLogPart) {
        let page = self.audit_at(there, pairs, Some(cursor), caller).await;
        let part = match &page {
            Ok(page) => self.checked(there, page, head).await,
            Err(error) => missing(&there.id, error.sentence()),
        };
        (there.id.clone(), page.ok(), part)
    }

    /// A page of another's log, as far as whoever asks may see it.
    async fn audit_at(
        &self,
        there: &ReplicaAddress,
        pairs: &[(String, String)],
        cursor: Option<&Cursor>,
        caller: &Caller,
    ) -> Result<AuditPage, ErrorResponse> {
        let before = cursor.and_then(|cursor| cursor.before(&there.id)).map(|before| before.to_string());
        let target = {
            let mut query = form_urlencoded::Serializer::new(String::new());
            query.extend_pairs(pairs).extend_pairs(before.map(|before| ("before", before)));
            format!("/api/v1/audit?{}", query.finish())
        };
        self.page_at(there, &ReplicaRequest::new(&target, caller)).await
    }

    async fn page_at(&self, there: &ReplicaAddress, request: &ReplicaRequest) -> Result<AuditPage, ErrorResponse> {
        let answer = self.ask_replica(there, request, PAGE_WITHIN).await?;
        let wrong = |why: String| {
            ErrorResponse::owner_unreachable(format!("the replica {} at {} answers {why}", there.id, there.address))
        };
        if answer.status != 200 {
            let text = lockscope_wire::visible(&String::from_utf8_lossy(&answer.body));
            return Err(wrong(format!("{}: {}", answer.status, text.chars().take(300).collect::<String>())));
        }
        serde_json::from_slice(&answer.body).map_err(|error| wrong(format!("what is no page of a log: {error}")))
    }

    /// Whether the newest records of another's log are those that it showed. Asked for by this replica, whoever looks: what
    /// they are is not shown.
    async fn checked(&self, there: &ReplicaAddress, page: &AuditPage, head: Option<&ChainHead>) -> AuditLogPart {
        let part = |state, why: String, checked| AuditLogPart {
            replica: there.id.clone(),
            state,
            why,
            total: Some(page.total),
            checked,
        };
        let Some(head) = head else {
            return part(AuditLogState::Unchecked, "it showed the others no head yet".to_owned(), 0);
        };
        let target = format!("/api/v1/audit?before={}&limit={CHECKED_MAX}", head.id.saturating_add(1));
        let own_id = self.cluster.as_ref().map(|cluster| cluster.id()).unwrap_or_default();
        match self.page_at(there, &ReplicaRequest::of_replica(&target, own_id)).await {
            Err(error) => part(AuditLogState::Unchecked, error.sentence().to_owned(), 0),
            Ok(newest) => match audit_merge::check(&newest.records, head) {
                Ok(checked) => part(AuditLogState::Checked, String::new(), checked),
                Err(why) => part(AuditLogState::Broken, why, 0),
            },
        }
    }

    /// The heads that others showed.
    async fn shown_heads(&self) -> BTreeMap<String, ChainHead> {
        let Some(cluster) = &self.cluster else { return BTreeMap::new() };
        let heads = tokio::time::timeout(super::audit_others::HEADS_MAX, cluster.heads()).await;
        let heads = heads.ok().and_then(Result::ok).unwrap_or_default();
        heads.into_iter().map(|(id, head)| (id, ChainHead { id: head.id, hash: head.hash })).collect()
    }
}

fn missing(replica: &str, why: &str) -> AuditLogPart {
    AuditLogPart {
        replica: replica.to_owned(),
        state: AuditLogState::Missing,
        why: why.to_owned(),
        total: None,
        checked: 0,
    }
}
