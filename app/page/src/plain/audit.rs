//! The record of acts, for auditors.

use super::{Plain, document};
use crate::format::{count, date, middle, visible};
use crate::html::Html;
use lockscope_wire::{AuditKind, AuditPage, AuditRecord};

/// Longest text in a cell; the whole is in its title.
const CELL_CHARS: usize = 160;

/// What of the record is shown, as it was asked for, and where more is.
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

/// The page.
pub fn audit_page(plain: &Plain<'_>, view: &AuditView, page: &AuditPage) -> String {
    let trouble = if page.trouble.is_empty() {
        Html::default()
    } else {
        let text = format!("Nothing can be recorded now, so nothing can be released: {}", page.trouble);
        Html::of("p", &[("class", "notice"), ("role", "alert"), ("data-testid", "audit-trouble")], &text)
    };
    let delivery = if page.delivery_trouble.is_empty() {
        Html::default()
    } else {
        Html::of("p", &[("class", "notice")], &format!("The webhook is behind: {}", page.delivery_trouble))
    };
    let open = match page.open_requests {
        0 => Html::default(),
        1 => Html::of("p", &[("class", "notice"), ("data-testid", "audit-open")], "1 request has no outcome on record yet."),
        many => {
            Html::of("p", &[("class", "notice"), ("data-testid", "audit-open")], &format!("{} requests have no outcome on record yet.", count(many)))
        }
    };
    let rows: Vec<Html> = page.records.iter().map(row).collect();
    let list = if rows.is_empty() {
        Html::of("p", &[("class", "empty")], if page.total == 0 { "Nothing was done yet." } else { "No record fits this filter." })
    } else {
        let columns = [("№", "table-number"), ("When", ""), ("What", ""), ("Who", ""), ("Lock and znode", ""), ("Reason and result", "")];
        Html::table("table audit-table", "audit", &columns, rows)
    };
    let inner = vec![Html::of("h1", &[("class", "page-title")], "Audit"), lead(page), trouble, delivery, open, filter(view), list, ways(view)];
    document(plain, "Audit", "audit", Html::all(inner))
}

/// What it is, where it lies, and how it is checked.
fn lead(page: &AuditPage) -> Html {
    let head = page.records.first().filter(|record| record.id == page.total).map(|record| record.hash.clone()).unwrap_or_default();
    let short: String = head.chars().take(16).collect();
    let head = if short.is_empty() {
        Html::default()
    } else {
        Html::all(vec![Html::text(", the last hash begins "), Html::of("code", &[("title", &head)], &short)])
    };
    let words = format!("{} records, each chained to the one before", count(page.total));
    let line = vec![
        Html::text(&words),
        head,
        Html::text(". Kept in "),
        Html::of("code", &[], &page.file),
        Html::text("; check it with "),
        Html::of("code", &[], "lockscope audit verify"),
        Html::text("."),
    ];
    Html::tag("p", &[("class", "quiet audit-lead")], Html::all(line))
}

fn filter(view: &AuditView) -> Html {
    let field = |name: &'static str, label: &str, value: &str| {
        let input = Html::tag(
            "input",
            &[("class", "filter-input"), ("type", "text"), ("name", name), ("value", value), ("autocomplete", "off")],
            Html::default(),
        );
        Html::tag("label", &[("class", "field")], Html::all(vec![Html::of("span", &[("class", "field-name")], label), input]))
    };
    let option = |value: &str, text: &str| {
        // An empty value is one that is left out, and then the text would be sent.
        let value = if value.is_empty() { "any" } else { value };
        let selected = if view.kind == value || (view.kind.is_empty() && value == "any") { "selected" } else { "" };
        Html::of("option", &[("value", value), ("selected", selected)], text)
    };
    let mut options = vec![option("", "everything")];
    options.extend(AuditKind::ALL.into_iter().map(|kind| option(kind.name(), word(kind))));
    let select = Html::tag("select", &[("class", "select"), ("name", "kind")], Html::all(options));
    let kind = Html::tag("label", &[("class", "field")], Html::all(vec![Html::of("span", &[("class", "field-name")], "What"), select]));
    let go = Html::of("button", &[("class", "tool"), ("type", "submit")], "Show");
    let export = Html::of("a", &[("class", "tool push"), ("href", "/api/v1/audit/export"), ("download", "audit.jsonl")], "Export all");
    let inner = vec![field("actor", "Who", &visible(&view.actor)), kind, field("lock", "Lock", &visible(&view.lock)), go, export];
    Html::tag("form", &[("class", "filters audit-filter"), ("method", "get"), ("action", "/audit"), ("role", "search")], Html::all(inner))
}

fn ways(view: &AuditView) -> Html {
    let way = |href: &str, text: &str| if href.is_empty() { Html::default() } else { Html::of("a", &[("class", "tool"), ("href", href)], text) };
    Html::tag(
        "nav",
        &[("class", "audit-ways"), ("aria-label", "More records")],
        Html::all(vec![way(&view.newer, "Newer"), way(&view.older, "Older")]),
    )
}

fn row(record: &AuditRecord) -> Html {
    let cell = |class: &'static str, inner: Html| Html::tag("td", &[("class", class)], inner);
    let text = |text: &str| Html::of("bdi", &[("title", &visible(text))], &middle(&visible(text), CELL_CHARS));
    let from = record.address.as_deref().map(|address| format!("{}, from {address}", record.actor_by)).unwrap_or_else(|| record.actor_by.clone());
    let who = vec![text(&record.actor), Html::of("div", &[("class", "quiet")], &from)];
    let id = format!("r{}", record.id);
    let ended = visible(record.outcome.as_deref().unwrap_or_default());
    let attributes = [("id", &*id), ("data-kind", record.kind.name()), ("data-outcome", &*ended)];
    let cells = vec![
        cell("table-number", Html::of("span", &[("title", &format!("SHA-256 {}", record.hash))], &record.id.to_string())),
        cell("audit-when", Html::text(&date(record.at_ms))),
        cell("", Html::all(vec![Html::of("span", &[("class", "audit-kind")], word(record.kind)), outcome(record)])),
        cell("", Html::all(who)),
        cell("audit-where", place(record)),
        cell("audit-why", why(record)),
    ];
    Html::tag("tr", &attributes, Html::all(cells))
}

fn outcome(record: &AuditRecord) -> Html {
    let Some(name) = &record.outcome else { return Html::default() };
    let kind = if matches!(&**name, "released" | "already_gone") { "good" } else { "stop" };
    Html::tag("div", &[], Html::of("span", &[("class", "audit-outcome"), ("data-kind", kind)], &name.replace('_', " ")))
}

fn place(record: &AuditRecord) -> Html {
    let code = |path: &String| Html::tag("code", &[("title", &visible(path))], Html::of("bdi", &[], &middle(&visible(path), 60)));
    let below = record.path.as_ref().filter(|path| Some(*path) != record.lock.as_ref());
    let ensemble = record.ensemble.as_ref().filter(|name| *name != "default").map(|name| Html::of("div", &[("class", "quiet")], name));
    let below = below.map(|path| Html::tag("div", &[("class", "quiet")], code(path)));
    Html::all(vec![record.lock.as_ref().map(code).unwrap_or_default(), below.unwrap_or_default(), ensemble.unwrap_or_default()])
}

fn why(record: &AuditRecord) -> Html {
    let reason =
        record.reason.as_ref().map(|reason| Html::tag("div", &[], Html::of("q", &[], &middle(&visible(reason), CELL_CHARS)))).unwrap_or_default();
    let intent = record.intent.map(|id| {
        let href = format!("#r{id}");
        Html::tag("div", &[], Html::of("a", &[("href", &href)], &format!("of № {id}")))
    });
    let detail = Html::of("div", &[("class", "quiet"), ("title", &visible(&record.detail))], &middle(&visible(&record.detail), CELL_CHARS));
    Html::all(vec![reason, detail, intent.unwrap_or_default()])
}

fn word(kind: AuditKind) -> &'static str {
    match kind {
        AuditKind::Started => "started",
        AuditKind::SignedIn => "signed in",
        AuditKind::SignedOut => "signed out",
        AuditKind::Refused => "refused",
        AuditKind::ReleaseIntent => "release ordered",
        AuditKind::ReleaseOutcome => "release ended",
        AuditKind::RevokeIntent => "asked to let go",
        AuditKind::RevokeOutcome => "asking ended",
        AuditKind::Approved => "approved",
        AuditKind::LabStarted => "lab started",
        AuditKind::LabEnded => "lab ended",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::AssetNames;
    use lockscope_wire::{Duty, Person, SignedBy};

    #[test]
    fn what_people_wrote_stays_text() {
        let hostile = "</script><script>alert(1)</script>\u{202e}";
        let record = AuditRecord {
            id: 1,
            at_ms: 1_700_000_000_000,
            kind: AuditKind::ReleaseIntent,
            actor: hostile.to_owned(),
            actor_by: "operator by token".to_owned(),
            address: Some("127.0.0.1".to_owned()),
            ensemble: Some(hostile.to_owned()),
            lock: Some(hostile.to_owned()),
            path: Some(hostile.to_owned()),
            czxid: None,
            plan_id: None,
            intent: None,
            outcome: Some(hostile.to_owned()),
            reason: Some(hostile.to_owned()),
            detail: hostile.to_owned(),
            hash: "ab".repeat(32),
        };
        let mut page = AuditPage {
            total: 1,
            open_requests: 0,
            file: hostile.to_owned(),
            trouble: hostile.to_owned(),
            delivery_trouble: hostile.to_owned(),
            next_before: None,
            records: vec![record],
        };
        let person =
            Person { name: hostile.to_owned(), role: Duty::Auditor, by: SignedBy::Token, may_release: false, may_audit: true, can_sign_in: true };
        let assets = AssetNames::default();
        let plain = Plain { assets: &assets, nonce: "n", person: &person, tab: crate::tab::Tab::default() };
        let view = AuditView { actor: hostile.to_owned(), lock: hostile.to_owned(), ..AuditView::default() };
        let html = audit_page(&plain, &view, &page);
        assert_eq!(html.matches("<script").count(), 1, "only the one that remembers the theme");
        assert!(!html.contains('\u{202e}') && html.contains("2023-11-14 22:13:20 UTC"));
        assert!(!html.contains("audit-open"));
        for (open, said) in [(1, "1 request has no outcome"), (1_200, "1\u{202f}200 requests have no outcome")] {
            page.open_requests = open;
            assert!(audit_page(&plain, &view, &page).contains(said));
        }
    }
}
