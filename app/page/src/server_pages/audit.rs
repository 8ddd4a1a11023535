//! The audit log, for auditors.

use crate::erase::view;
use crate::exact::Exact;
use leptos::prelude::*;

use super::{ServerPage, words};
use crate::address::with_parameter;
use crate::format::{middle, visible};
use crate::parts::{
    Columns, Table, filled, lock_url, option, select_field, shortened, shortened_code, stamp, text_field, tool_link,
};
use lockscope_view::{AuditKind, AuditPage, AuditRecord};

/// Longest text in a cell; the whole is in its title.
const CELL_CHARS: usize = 160;
const PATH_CHARS: usize = 60;
/// The same for what is known of it, of which the middle matters as well.
const DETAIL_CHARS: usize = 400;

#[derive(Clone, Debug, Default)]
pub struct AuditView {
    /// Only of this actor; empty for all.
    pub actor: String,
    /// Only of this kind; empty for all.
    pub kind: String,
    /// Only of this lock; empty for all.
    pub lock: String,
    /// Address of newer records; empty when there are none.
    pub newer: String,
    /// Address of older records; empty when there are none.
    pub older: String,
}

pub fn audit_page(plain: &ServerPage<'_>, view: &AuditView, page: &AuditPage) -> String {
    super::page(plain, "Audit", "audit", 0, || {
        let rows = page.records.iter().map(row).collect_view();
        let list = if page.records.is_empty() {
            view! { <p class="empty">{words::no_record(page.total)}</p> }
        } else {
            view! { <Table class="table audit-table" testid="audit" columns=COLUMNS rows=rows /> }
        };
        view! {
            <h1 class="page-title">"Audit"</h1>
            {lead(page)}
            {notices(page)}
            {filter(view)}
            {list}
            <nav class="audit-ways" aria-label="More records">{tool_link(&view.newer, words::NEWER)}{tool_link(&view.older, words::OLDER)}</nav>
        }
    })
}

const COLUMNS: Columns = &[
    ("#", "table-number"),
    ("When", ""),
    ("What", ""),
    ("Who", ""),
    ("Lock and znode", ""),
    ("Reason and result", ""),
];

/// What keeps the audit log from being written, delivered or complete.
fn notices(page: &AuditPage) -> AnyView {
    let trouble = filled(&*page.trouble).map(|trouble| {
        view! { <p class="notice" role="alert" data-testid="audit-trouble">{words::audit_trouble(trouble)}</p> }
    });
    let delivery = filled(&*page.delivery_trouble)
        .map(|trouble| view! { <p class="notice">{words::webhook_trouble(trouble)}</p> });
    let open = words::open_requests(page.open_requests);
    let others = words::other_logs(page).map(|text| view! { <p class="notice" data-testid="audit-others">{text}</p> });
    view! {
        {others}
        {trouble}
        {delivery}
        {open.map(|text| view! { <p class="notice" data-testid="audit-open">{text}</p> })}
    }
}

fn lead(page: &AuditPage) -> AnyView {
    let head = page.records.first().filter(|record| record.id == page.total).map(|record| visible(&record.hash));
    let head = head.map(|hash| {
        let short: String = hash.chars().take(16).collect();
        view! { ", the last hash begins " <code title=hash>{short}</code> }
    });
    view! {
        <p class="quiet audit-lead">
            {words::records(page.total)}
            {head}
            ". Kept in " <code>{visible(&page.file)}</code> "; check it with " <code>"lockscope audit verify"</code> "."
        </p>
    }
}

fn filter(view: &AuditView) -> AnyView {
    // An empty value would read as one that is left out.
    let all = option("any", words::EVERYTHING.to_owned(), view.kind.is_empty() || view.kind == "any");
    let kind = |kind: AuditKind| option(kind.name(), words::audit_kind(kind).to_owned(), view.kind == kind.name());
    let kinds = (all, AuditKind::ALL.into_iter().map(kind).collect_view());
    view! {
        <form class="filters audit-filter" method="get" action="/audit" role="search">
            {text_field("actor", words::WHO, &view.actor, None)}
            {select_field("kind", "What", kinds)}
            {text_field("lock", words::LOCK, &view.lock, None)}
            <button class="tool" type="submit">"Show"</button>
            <a class="tool push" href="/api/v1/audit/export" download="audit.jsonl">"Export all"</a>
        </form>
    }
}

fn row(record: &AuditRecord) -> AnyView {
    let from = words::by_and_from(&record.actor_by, record.address.as_deref(), record.through.as_deref());
    // Numbers are those of one log.
    let (number, id) = match record.replica.as_deref().map(visible) {
        Some(replica) => (format!("{replica} {}", record.id), format!("r-{replica}-{}", record.id)),
        None => (record.id.to_string(), format!("r{}", record.id)),
    };
    let ended = record.outcome.as_deref().map(visible).and_then(filled);
    view! {
        <tr id=id data-kind=record.kind.name() data-outcome=ended>
            <td class="table-number"><span title=words::hash(&record.hash)>{number}</span></td>
            <td>{stamp(record.at_ms)}</td>
            <td><span class="audit-kind">{words::audit_kind(record.kind)}</span>{outcome(record)}</td>
            <td>{shortened(&record.actor, CELL_CHARS)}<div class="quiet">{from}</div></td>
            <td class="audit-where">{place(record)}</td>
            <td class="audit-why">{why(record)}</td>
        </tr>
    }
}

fn outcome(record: &AuditRecord) -> Option<AnyView> {
    record.outcome.as_deref().map(|name| {
        let kind = match name {
            // A run of the lab that went to its end is as good as a release.
            "released" | "already_gone" | "finished" => "good",
            "asked" | "stopped" => "plain",
            _ => "stop",
        };
        view! { <div><span class="audit-outcome" data-kind=kind>{visible(&name.replace('_', " "))}</span></div> }
    })
}

fn place(record: &AuditRecord) -> AnyView {
    let code = |path: &str| shortened_code(path, PATH_CHARS);
    let below = record.path.as_ref().filter(|path| Some(*path) != record.lock.as_ref());
    let ensemble = record.ensemble.as_ref().filter(|name| *name != "default");
    view! {
        {record.lock.as_deref().map(code)}
        {below.map(|path| view! { <div class="quiet">{code(path)}</div> })}
        {ensemble.map(|name| view! { <div class="quiet">{visible(name)}</div> })}
    }
}

fn why(record: &AuditRecord) -> AnyView {
    let detail = visible(&record.detail);
    let short = middle(&detail, DETAIL_CHARS);
    view! {
        {record.reason.as_ref().map(|reason| view! { <div><q>{middle(&visible(reason), CELL_CHARS)}</q></div> })}
        <div class="quiet" title=filled(detail)>{short}</div>
        {incident(record).map(|url| view! { <div><a href=Exact(url)>{words::INCIDENT_OF}</a></div> })}
        {record.intent.map(|id| view! { <div><a href=format!("#r{id}")>{words::for_record(id)}</a></div> })}
    }
}

/// The way to the incident in which somebody released a lock, or to the lock then.
fn incident(record: &AuditRecord) -> Option<String> {
    let lock = record.lock.as_ref().filter(|_| record.kind == AuditKind::ReleaseOutcome)?;
    let url = lock_url(record.ensemble.as_deref().unwrap_or_default(), lock).replacen("/lock", "/incident", 1);
    Some(with_parameter(&url, &format!("around={}", record.at_ms)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::AssetNames;
    use lockscope_view::{OtherAuditLog, Person, Role, SignedBy};

    fn record(text: &str) -> AuditRecord {
        AuditRecord {
            id: 1,
            at_ms: 1_700_000_000_000,
            kind: AuditKind::ReleaseIntent,
            actor: text.to_owned(),
            actor_by: "operator by token".to_owned(),
            address: Some("127.0.0.1".to_owned()),
            through: None,
            ensemble: Some(text.to_owned()),
            lock: Some(text.to_owned()),
            path: Some(text.to_owned()),
            czxid: None,
            plan_id: None,
            intent: None,
            outcome: Some(text.to_owned()),
            reason: Some(text.to_owned()),
            detail: text.to_owned(),
            hash: "ab".repeat(32),
            replica: None,
        }
    }

    #[test]
    fn only_what_went_wrong_is_red() {
        let kind = |name: &str| {
            let record = AuditRecord { outcome: Some(name.to_owned()), ..record("x") };
            outcome(&record).map(|drawn| drawn.to_html()).unwrap_or_default()
        };
        for good in ["released", "already_gone", "finished"] {
            assert!(kind(good).contains("data-kind=\"good\""), "{good}");
        }
        assert!(kind("stopped").contains("data-kind=\"plain\""));
        for bad in ["denied", "failed", "unknown", "released_other"] {
            assert!(kind(bad).contains("data-kind=\"stop\""), "{bad}");
        }
    }

    #[test]
    fn what_people_wrote_stays_text() {
        let hostile = "</script><script>alert(1)</script>\u{202e}";
        let record = record(hostile);
        let mut page = AuditPage {
            total: 1,
            open_requests: 0,
            file: hostile.to_owned(),
            trouble: hostile.to_owned(),
            delivery_trouble: hostile.to_owned(),
            next_before: None,
            replica: Some("a".to_owned()),
            not_shown: vec![OtherAuditLog { replica: hostile.to_owned(), last_id: Some(7), is_there: false }],
            not_shown_trouble: hostile.to_owned(),
            records: vec![record],
        };
        let person = Person {
            name: hostile.to_owned(),
            role: Role::Auditor,
            by: SignedBy::Token,
            may_release: false,
            may_audit: true,
            can_sign_in: true,
            keeps_history: false,
            has_fleet: false,
        };
        let assets = AssetNames::default();
        let plain = ServerPage {
            assets: &assets,
            nonce: "n",
            person: &person,
            tab: crate::document_title::DocumentTitle::default(),
            alerts: None,
            forms: crate::ports::FormTokens::default(),
        };
        let view = AuditView { actor: hostile.to_owned(), lock: hostile.to_owned(), ..AuditView::default() };
        let html = audit_page(&plain, &view, &page);
        assert_eq!(html.matches("<script").count(), 2, "only those of the theme");
        assert!(!html.contains('\u{202e}') && html.contains("2023-11-14 22:13:20 UTC"));
        assert!(!html.contains("audit-open"));
        assert!(
            html.contains("This is the log of a alone. Not in it:") && html.contains("(7 records, gone at present)")
        );
        for (open, said) in [(1, "1 request has no outcome"), (1_200, "1\u{202f}200 requests have no outcome")] {
            page.open_requests = open;
            assert!(audit_page(&plain, &view, &page).contains(said));
        }
    }
}
