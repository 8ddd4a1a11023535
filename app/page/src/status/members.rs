//! What each member of the ensemble reports beyond its znodes, and what would help where it reports nothing.

use leptos::prelude::*;

use super::words;
use crate::erase::{erase, view};
use crate::exact::Exact;
use crate::format::{count, visible};
use crate::parts::{Age, Columns, Table, filled};
use lockscope_view::{MemberStatus, SourceState};

const MEMBERS: Columns = &[
    ("Member", ""),
    ("No.", "table-number"),
    ("Role", ""),
    ("Version", ""),
    ("Zxid", ""),
    ("Behind", "table-number"),
    ("Connections", "table-number"),
    ("Watches", "table-number"),
    ("Clients", ""),
    ("Watch table", ""),
    ("Sessions", ""),
    ("Health", ""),
    ("Asked, ago", "table-number"),
    ("By", ""),
];

pub(super) fn members(rows: &[MemberStatus]) -> AnyView {
    if rows.is_empty() {
        return view! {
            <h3 class="table-caption">"Members"</h3>
            <p class="quiet" data-testid="no-members">"No members are known: evidence is off, or no member was asked yet."</p>
        };
    }
    let members = rows.iter().map(member).collect_view();
    view! {
        <h3 class="table-caption">"Members"</h3>
        <Table class="table members" testid="members" columns=MEMBERS rows=members />
        {remedies(rows)}
    }
}

fn member(row: &MemberStatus) -> AnyView {
    let text = |text: Option<String>| view! { <td>{text.map_or("–".to_owned(), |text| visible(&text))}</td> };
    let number = |text: Option<String>| view! { <td class="table-number">{text.unwrap_or("–".to_owned())}</td> };
    let state = |state: SourceState| {
        view! { <td><span class="answer" data-answer=state.name() title=words::meaning(state)>{words::state_word(state)}</span></td> }
    };
    let role = words::role(row);
    let asked_at_ms = Some(row.sampled_at_ms).filter(|at_ms| *at_ms > 0);
    view! {
        <tr data-member=Exact(row.member.clone())>
            <th scope="row" class="mono"><bdi>{visible(&row.member)}</bdi></th>
            {number(row.number.map(|number| number.to_string()))}
            <td class="member-role" data-role=role>{role.unwrap_or("–")}</td>
            {text(row.version.clone())}
            <td class="mono">{row.zxid.map_or("–".to_owned(), |zxid| zxid.to_string())}</td>
            {number(row.behind.map(|behind| count(behind.max(0).unsigned_abs())))}
            {number(row.connection_count.map(count))}
            {number(row.watch_count.map(count))}
            {state(row.connections)}
            {state(row.watches)}
            {state(row.sessions)}
            {state(row.health)}
            <td class="table-number"><Age since_ms=asked_at_ms or="–" /></td>
            {text(filled(row.by.clone()))}
        </tr>
    }
}

/// Each sentence once; what it quotes is code, and lines for a configuration are listed once more, to be copied.
fn remedies(rows: &[MemberStatus]) -> Option<AnyView> {
    let (mut sentences, mut lines): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for sentence in rows.iter().flat_map(|row| &row.remedies) {
        if !sentences.contains(&&**sentence) {
            sentences.push(sentence);
        }
        for line in config_lines(sentence) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    if sentences.is_empty() {
        return None;
    }
    let sentences = sentences.into_iter().map(|sentence| view! { <li>{quoted(sentence)}</li> }).collect_view();
    let config = (!lines.is_empty()).then(|| {
        let lines = lines.into_iter().map(|line| view! { <code class="config">{visible(line)}</code> }).collect_view();
        view! {
            <p class="config-lead">"Lines for a member's configuration:"</p>
            <div class="configs" data-testid="config">{lines}</div>
        }
    });
    Some(view! {
        <h3 class="table-caption">"What would help"</h3>
        <ul class="bullets" data-testid="remedies">{sentences}</ul>
        {config}
    })
}

/// What a sentence quotes that is a line of a configuration.
fn config_lines(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split('`').skip(1).step_by(2).filter(|quoted| quoted.contains('='))
}

fn quoted(sentence: &str) -> Vec<AnyView> {
    let part = |(at, part): (usize, &str)| {
        let part = part.to_owned();
        if at % 2 == 1 {
            view! { <code>{part}</code> }
        } else {
            erase(part)
        }
    };
    visible(sentence).split('`').enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_to_copy_is_found_in_its_sentence() {
        let sentence =
            "the word `cons` is not listed; write `4lw.commands.whitelist=cons,wchp` or `admin.enableServer=true`";
        assert_eq!(
            config_lines(sentence).collect::<Vec<_>>(),
            ["4lw.commands.whitelist=cons,wchp", "admin.enableServer=true"]
        );
        assert_eq!(quoted("a `<b>` c").to_html().replace("<!>", ""), "a <code>&lt;b&gt;</code> c");
    }

    #[test]
    fn nobody_asked_is_said() {
        assert!(members(&[]).to_html().contains("evidence is off, or no member was asked yet"));
    }
}
