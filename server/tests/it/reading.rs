//! `docs/reading-the-board.md` explains every word that the page can say, and no other.

use std::collections::BTreeSet;

use lockscope_core::finding::{Code, Limits};
use lockscope_core::verdict::Thresholds;
use lockscope_view::guide::{FINDINGS, Guide, TermArea, VERDICTS, all_terms, steps_text};
use lockscope_view::{EdgeEvidence, Liveness, Missing, RootState, Verdict};

const READING: &str = include_str!("../../../docs/reading-the-board.md");

/// First cells of the table below a heading.
fn told(heading: &str) -> BTreeSet<&'static str> {
    let (_, rest) = READING.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = rest.split("\n## ").next().unwrap();
    section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect()
}

#[test]
fn every_word_is_explained_and_no_other() {
    assert_eq!(told("Verdicts"), Verdict::ALL.map(Verdict::name).into());
    assert_eq!(told("Findings"), Code::ALL.map(Code::name).into());
    assert_eq!(told("Liveness"), Liveness::ALL.map(Liveness::name).into());
    assert_eq!(told("Edges"), EdgeEvidence::ALL.map(EdgeEvidence::name).into());
    assert_eq!(told("How complete the picture is"), Missing::ALL.map(Missing::name).into());
    assert_eq!(told("Roots"), RootState::ALL.map(RootState::name).into());
}

/// The text with the rows of the table below a heading replaced.
fn with_table(text: &str, heading: &str, rows: &[String]) -> String {
    let (before, rest) = text.split_once(&format!("\n## {heading}\n")).unwrap();
    let is_row = |line: &&str| line.starts_with("| ");
    let lines: Vec<&str> = rest.lines().collect();
    let begin = lines.iter().position(|line| line.starts_with("|---")).unwrap() + 1;
    let end = begin + lines.iter().skip(begin).take_while(|line| is_row(line)).count();
    let mut all: Vec<String> = lines.iter().take(begin).map(|line| (*line).to_owned()).collect();
    all.extend(rows.iter().cloned());
    all.extend(lines.iter().skip(end).map(|line| (*line).to_owned()));
    format!("{before}\n## {heading}\n{}\n", all.join("\n"))
}

/// The tables of a page are those of `view::guide`; `UPDATE_DOCS=1` writes them.
fn check_tables(name: &str, tables: &[(&str, Vec<String>)]) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
    let written = std::fs::read_to_string(&path).unwrap();
    let made = tables.iter().fold(written.clone(), |text, (heading, rows)| with_table(&text, heading, rows));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &made).unwrap();
    } else {
        assert!(written == made, "docs/{name} differs from view::guide; UPDATE_DOCS=1 writes it");
    }
}

#[test]
fn its_tables_are_the_guide() {
    let verdict = |guide: &Guide| format!("| `{}` | {} | {} |", guide.name, guide.says, steps_text(guide));
    let finding = |guide: &Guide| {
        format!("| `{}` | {} | {} | {} | {} |", guide.name, guide.severity, guide.says, guide.cause, steps_text(guide))
    };
    let terms = |area: TermArea, mark: &str| -> Vec<String> {
        let of_area = all_terms().filter(|term| term.area == area);
        of_area.map(|term| format!("| {mark}{}{mark} | {} |", term.word, term.meaning)).collect()
    };
    let reading = [
        ("Verdicts", VERDICTS.iter().map(verdict).collect()),
        ("Findings", FINDINGS.iter().map(finding).collect()),
        ("Liveness", terms(TermArea::Liveness, "`")),
        ("Edges", terms(TermArea::Edges, "`")),
        ("How complete the picture is", terms(TermArea::Missing, "`")),
        ("Roots", terms(TermArea::Roots, "`")),
    ];
    check_tables("reading-the-board.md", &reading);
    let glossary = [
        ("ZooKeeper", terms(TermArea::ZooKeeper, "")),
        ("Locks", terms(TermArea::Locks, "")),
        ("Lockscope", terms(TermArea::Lockscope, "")),
        ("Numbers", terms(TermArea::Numbers, "")),
    ];
    check_tables("glossary.md", &glossary);
}

#[test]
fn its_numbers_are_the_defaults() {
    let (limits, times) = (Limits::default(), Thresholds::default());
    let thousands = |number: u32| {
        if number >= 1_000 { format!("{},{:03}", number / 1_000, number % 1_000) } else { number.to_string() }
    };
    let rows = [
        ("herd", format!("{} or more are woken", limits.herd_waiters)),
        ("deep_queue", format!("{} or more contenders", limits.deep_contenders)),
        ("sequence_overflow", format!("from {} % on", limits.sequence_percent)),
        ("empty_locks", format!("{} or more lock directories", thousands(limits.empty_locks))),
        ("session_hoards", format!("owns {} or more znodes", thousands(limits.hoard_znodes))),
        ("try_lock_churn", format!("{} or more attempts", limits.churn_attempts)),
        ("slow", format!("more than {} times the median", times.slow_times)),
        ("slow", format!("at least {} s", times.slow_min_ms / 1_000)),
        (
            "stuck",
            format!(
                "more than {} times the median of the holds seen here (at least {} s), or for more than {} min while fewer than {} holds",
                times.stuck_times,
                times.stuck_min_ms / 1_000,
                times.stuck_unknown_ms / 60_000,
                times.usual_after_holds
            ),
        ),
    ];
    for (word, number) in rows {
        let row = READING.lines().find(|line| line.starts_with(&format!("| `{word}` |"))).unwrap();
        assert!(row.contains(&number), "{word}: {number:?} is not in {row:?}");
    }
}
