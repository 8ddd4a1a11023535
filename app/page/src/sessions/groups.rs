//! Sessions by client host or by application: a row for each, worst first.

use leptos::prelude::*;

use super::list::empty;
use super::state::{ListState, address_of};
use super::words;
use crate::erase::{dynamic, effect, view};
use crate::format::{count, middle, visible};
use crate::live::{FETCH_ROWS, OpenView};
use crate::parts::{Age, Chip, Columns, Table, cycle_mark, outside_link, pager, rows};
use lockscope_view::{SessionGroup, SessionGroupRow, SessionsQuery, View};

const NAME_CHARS: usize = 60;

const HOSTS: Columns = &[
    ("Host", ""),
    ("State", ""),
    ("Sessions", "table-number"),
    ("Holds", "table-number sess-wide"),
    ("Waits", "table-number sess-wide"),
    ("Blocks", "table-number"),
    ("Oldest hold", "table-number sess-wide"),
    ("Oldest wait", "table-number"),
];
const APPLICATIONS: Columns = &[
    ("Application", ""),
    ("State", ""),
    ("Sessions", "table-number"),
    ("Holds", "table-number sess-wide"),
    ("Waits", "table-number sess-wide"),
    ("Blocks", "table-number"),
    ("Oldest hold", "table-number sess-wide"),
    ("Oldest wait", "table-number"),
];

/// A group, and where its sessions are listed; nowhere where it has no name.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    row: SessionGroupRow,
    url: Option<String>,
}

fn url_of(row: &SessionGroupRow, query: &SessionsQuery) -> Option<String> {
    let all = SessionsQuery { group: SessionGroup::Session, offset: 0, ..query.clone() };
    let of = match query.group {
        SessionGroup::Host => SessionsQuery { host: row.name.clone(), ..all },
        SessionGroup::Session | SessionGroup::Application => SessionsQuery { application: row.name.clone(), ..all },
    };
    (!row.name.is_empty()).then(|| address_of(&of))
}

#[component]
pub(super) fn GroupList(state: ListState, opened: OpenView, by: SessionGroup) -> AnyView {
    let entries = Memo::new(move |_| {
        let query = state.query.get();
        let entry = |row: &SessionGroupRow| Entry { row: row.clone(), url: url_of(row, &query) };
        state.live.sessions(|sessions| sessions.groups.rows.iter().map(entry).collect()).unwrap_or_default()
    });
    let total = Memo::new(move |_| state.live.sessions(|sessions| sessions.groups.total).unwrap_or_default());
    effect(move || opened.look_at(View::Sessions(SessionsQuery { limit: FETCH_ROWS, ..state.query.get() }), false));
    let columns = match by {
        SessionGroup::Host => HOSTS,
        SessionGroup::Session | SessionGroup::Application => APPLICATIONS,
    };
    let pages = move || {
        state
            .query
            .with(|query| pager(words::MORE_GROUPS, &address_of(query), (query.offset, FETCH_ROWS, total.get()), false))
    };
    view! {
        <div class="caption"><span class="caption-count" role="status">{move || words::groups(by, total.get())}</span></div>
        <Table class="table sess-groups dims" testid="groups" columns=columns rows=rows(entries, |entry| &entry.row.name, row) />
        {dynamic(move || empty(state, total.get()))}
        {dynamic(pages)}
    }
}

fn row(Entry { row, url }: Entry) -> AnyView {
    let short = middle(&visible(&row.name), NAME_CHARS);
    let name = match url {
        Some(url) => outside_link(Some("nowrap"), url, &row.name, &short),
        None => view! { <span class="quiet">"not known"</span> },
    };
    let number = |class: &'static str, number: u32| view! { <td class=class>{count(number)}</td> };
    view! {
        <tr data-group=crate::exact::Exact(row.name.clone()) data-cycle=cycle_mark(row.cycle_verdict)>
            <td>{name}</td>
            <td>{row.cycle_verdict.map(|verdict| view! { <Chip verdict=verdict /> })}</td>
            {number("table-number", row.sessions)}
            {number("table-number sess-wide", row.holds)}
            {number("table-number sess-wide", row.waits)}
            {number("table-number", row.blocks)}
            <td class="table-number sess-wide"><Age since_ms=row.oldest_hold_at_ms or="–" /></td>
            <td class="table-number"><Age since_ms=row.oldest_wait_at_ms or="–" /></td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_leads_to_its_sessions() {
        let row = |name: &str| SessionGroupRow {
            name: name.to_owned(),
            sessions: 1,
            holds: 0,
            waits: 0,
            blocks: 0,
            oldest_hold_at_ms: None,
            oldest_wait_at_ms: None,
            cycle_verdict: None,
        };
        let by = |group| SessionsQuery { group, q: "x".to_owned(), offset: 100, ..SessionsQuery::default() };
        assert_eq!(url_of(&row("10.0.0.5"), &by(SessionGroup::Host)).as_deref(), Some("/sessions?q=x&host=10.0.0.5"));
        assert_eq!(
            url_of(&row("a b"), &by(SessionGroup::Application)).as_deref(),
            Some("/sessions?q=x&application=a%20b")
        );
        assert_eq!(url_of(&row(""), &by(SessionGroup::Host)), None);
    }
}
