//! Every recipe as its client library writes it: what is recognised, who holds, who waits for whom, what is said.
//!
//! Fixtures are text. `<a>` stands for a uuid with dashes, `{a}` for one without, `#7` for the sequence number
//! `0000000007`; behind a report's first line the path is left out.

mod changes;
mod configured;
mod elections;
mod gatherings;
mod mutexes;
mod order;
mod queues;
mod read_write;
mod semaphores;

mod single;

use lockscope_core::configured::Configured;
use lockscope_core::recipe::Recipe;

use crate::language::Story;

/// Syncs a tree given as `PATH fields` lines under the root `/`.
pub(crate) fn tree(lines: &str) -> Story {
    synced(Story::new(&["/"]), lines)
}

/// The same where the configuration says something of some paths.
fn tree_configured(configured: &[(&str, Recipe)], lines: &str) -> Story {
    synced(Story::configured(&["/"], entries(configured)), lines)
}

fn entries(configured: &[(&str, Recipe)]) -> Vec<Configured> {
    let entry = |(pattern, recipe): &(&str, Recipe)| Configured {
        pattern: (*pattern).to_owned(),
        recipe: Some(*recipe),
        max: None,
    };
    configured.iter().map(entry).collect()
}

/// The same where the configuration says how many a path admits.
fn tree_admitting(pattern: &str, recipe: Option<Recipe>, max: u32, lines: &str) -> Story {
    let entry = Configured { pattern: pattern.to_owned(), recipe, max: Some(max) };
    synced(Story::configured(&["/"], vec![entry]), lines)
}

fn synced(mut story: Story, lines: &str) -> Story {
    let nodes: String = trimmed(lines).map(|line| format!("10 node {}\n", expand(line))).collect();
    story.tell(&format!("10 sync /\n{nodes}10 end /"));
    story
}

fn trimmed(lines: &str) -> impl Iterator<Item = &str> {
    lines.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// Goes on with a story told in the short hand.
fn tell(story: &mut Story, lines: &str) {
    trimmed(lines).for_each(|line| {
        story.tell(&expand(line));
    });
}

/// Writes out the short hand.
pub(crate) fn expand(text: &str) -> String {
    let mut out = text.to_owned();
    for letter in 'a'..='f' {
        let of = |count| letter.to_string().repeat(count);
        out = out.replace(&format!("<{letter}>"), &format!("{}-0000-4000-8000-{}", of(8), of(12)));
        out = out.replace(&format!("{{{letter}}}"), &of(32));
    }
    let mut parts = out.split('#');
    let first = parts.next().unwrap_or("").to_owned();
    parts.fold(first, |out, part| {
        let digits = part.len() - part.trim_start_matches(|char: char| char.is_ascii_digit()).len();
        match part[..digits].parse::<u32>() {
            Ok(number) => format!("{out}{number:010}{}", &part[digits..]),
            Err(_) => format!("{out}#{part}"),
        }
    })
}

/// The lock at the first word of a report is told of exactly as in the report.
fn says(story: &Story, report: &str) {
    let wanted: Vec<String> = trimmed(report).map(expand).collect();
    let path = wanted[0].split_whitespace().next().unwrap();
    assert_eq!(story.report(path), wanted.join("\n"));
}

/// A tree with one lock and its report.
fn check(lines: &str, report: &str) -> Story {
    let story = tree(lines);
    assert_eq!(story.paths().len(), 1, "{:?}", story.paths());
    says(&story, report);
    story
}

/// A tree in which nothing is a lock.
fn check_none(lines: &str) {
    assert!(tree(lines).paths().is_empty(), "{:?}", tree(lines).paths());
}
