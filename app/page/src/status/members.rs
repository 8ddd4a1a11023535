//! What each member of the ensemble tells beyond its znodes, and what would help where it tells nothing.

use crate::format::{count, visible};
use crate::html::Html;
use lockscope_wire::{MemberRole, MemberStatus, SourceState};

fn state_word(state: SourceState) -> &'static str {
    match state {
        SourceState::Ok => "ok",
        SourceState::Off => "off",
        SourceState::Denied => "denied",
        SourceState::Error => "error",
        SourceState::Spared => "spared",
        SourceState::NotAsked => "not asked",
    }
}

fn meaning(state: SourceState) -> &'static str {
    match state {
        SourceState::Ok => "Answered",
        SourceState::Off => "Nobody listens, or it is switched off",
        SourceState::Denied => "Refused",
        SourceState::Error => "Asked, and the answer was none",
        SourceState::Spared => "Not asked, because it would cost the member too much",
        SourceState::NotAsked => "Not asked yet, or not needed now",
    }
}

fn role_word(role: MemberRole) -> &'static str {
    match role {
        MemberRole::Leader => "leader",
        MemberRole::Follower => "follower",
        MemberRole::Observer => "observer",
        MemberRole::Standalone => "standalone",
        MemberRole::ReadOnly => "read-only",
    }
}

/// The members, and below them what would help.
pub(super) fn members(rows: &[MemberStatus], now_ms: i64) -> Html {
    let title = Html::of("h3", &[("class", "table-caption")], "Members");
    if rows.is_empty() {
        let nobody = "No members are known: evidence is off, or no member was asked yet.";
        return Html::all(vec![title, Html::of("p", &[("class", "quiet"), ("data-testid", "no-members")], nobody)]);
    }
    let number = "table-number";
    let columns = [
        ("Member", ""),
        ("No.", number),
        ("Role", ""),
        ("Version", ""),
        ("Zxid", ""),
        ("Behind", number),
        ("Connections", number),
        ("Watches", number),
        ("Clients", ""),
        ("Watch table", ""),
        ("Sessions", ""),
        ("Health", ""),
        ("Asked, ago", number),
        ("By", ""),
    ];
    let table = Html::table("table members", "members", &columns, rows.iter().map(|row| member(row, now_ms)).collect());
    Html::all(vec![title, table, remedies(rows)])
}

fn member(row: &MemberStatus, now_ms: i64) -> Html {
    let text = |text: Option<String>| Html::of("td", &[], &text.unwrap_or("–".to_owned()));
    let number = |text: Option<String>| Html::of("td", &[("class", "table-number")], &text.unwrap_or("–".to_owned()));
    let state = |state: SourceState| {
        let word = Html::of("span", &[("class", "answer"), ("data-answer", state.name()), ("title", meaning(state))], state_word(state));
        Html::tag("td", &[], word)
    };
    let role = if row.is_down { Some("down") } else { row.role.map(role_word) };
    let asked = Some(row.sampled_at_ms).filter(|at_ms| *at_ms > 0);
    let cells = vec![
        Html::tag("th", &[("scope", "row"), ("class", "mono")], Html::of("bdi", &[], &row.member)),
        number(row.number.map(|number| number.to_string())),
        Html::of("td", &[("class", "member-role"), ("data-role", role.unwrap_or_default())], role.unwrap_or("–")),
        text(row.version.clone()),
        Html::of("td", &[("class", "mono")], &row.zxid.map_or("–".to_owned(), |zxid| zxid.to_string())),
        number(row.behind.map(|behind| count(behind.max(0).unsigned_abs()))),
        number(row.connection_count.map(count)),
        number(row.watch_count.map(count)),
        state(row.connections),
        state(row.watches),
        state(row.sessions),
        state(row.health),
        Html::tag("td", &[("class", "table-number")], Html::age(asked, false, now_ms).or_dash()),
        text(Some(row.by.clone()).filter(|by| !by.is_empty())),
    ];
    Html::tag("tr", &[("data-key", &row.member), ("data-member", &row.member)], Html::all(cells))
}

/// Each sentence once; what it quotes is code, and lines for a configuration are told once more, to be copied.
fn remedies(rows: &[MemberStatus]) -> Html {
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
        return Html::default();
    }
    let title = Html::of("h3", &[("class", "table-caption")], "What would help");
    let sentences = sentences.into_iter().map(|sentence| Html::tag("li", &[], quoted(sentence)));
    let list = Html::tag("ul", &[("class", "bullets"), ("data-testid", "remedies")], Html::all(sentences.collect()));
    if lines.is_empty() {
        return Html::all(vec![title, list]);
    }
    let lead = Html::of("p", &[("class", "config-lead")], "Lines for a member's configuration:");
    let code = Html::all(lines.into_iter().map(|line| Html::of("code", &[("class", "config")], line)).collect());
    Html::all(vec![title, list, lead, Html::tag("div", &[("class", "configs"), ("data-testid", "config")], code)])
}

/// What a sentence quotes that is a line of a configuration.
fn config_lines(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split('`').skip(1).step_by(2).filter(|quoted| quoted.contains('='))
}

/// A sentence whose quotations are code.
fn quoted(sentence: &str) -> Html {
    let part = |(at, part): (usize, &str)| if at % 2 == 1 { Html::of("code", &[], part) } else { Html::text(part) };
    Html::all(visible(sentence).split('`').enumerate().map(part).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_to_copy_is_found_in_its_sentence() {
        let sentence = "the word `cons` is not listed; write `4lw.commands.whitelist=cons,wchp` or `admin.enableServer=true`";
        assert_eq!(config_lines(sentence).collect::<Vec<_>>(), ["4lw.commands.whitelist=cons,wchp", "admin.enableServer=true"]);
        assert_eq!(quoted("a `<b>` c").into_string(), "a <code>&lt;b&gt;</code> c");
    }

    #[test]
    fn nobody_asked_is_said() {
        assert!(members(&[], 5).into_string().contains("evidence is off, or no member was asked yet"));
    }
}
