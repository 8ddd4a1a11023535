//! `lockscope history holds`, `marks`, `incidents` and `export`: what was, from a running server.

use lockscope_view::past::{Hold, Holds, Mark, Marks};
use lockscope_view::visible;

use super::client::QueryClient;
use super::past_range::Range;
use super::table::{Cell, Column, OutputStyle, Tone, list_of};
use super::words::{self, NONE, duration, held, instant};
use super::{incidents, terminal};
use crate::cli::{ExportFormat, HistoryCommand, PastArgs};
use crate::config::ConfigError;
use crate::error::RunError;
use crate::stdout;

const HOLDS: [Column; 6] = [
    Column::of_words("JOINED"),
    Column::of_names("LOCK", 16),
    Column::of_names("WHO", 12),
    Column::of_numbers("WAITED"),
    Column::of_numbers("HELD"),
    Column::of_words("END"),
];
const MARKS: [Column; 4] =
    [Column::of_words("WHEN"), Column::of_words("WHAT"), Column::of_names("LOCK", 16), Column::of_names("TEXT", 24)];

pub(super) async fn ask(question: &HistoryCommand, now_ms: i64) -> Result<(), RunError> {
    match question {
        HistoryCommand::Holds(args) => {
            let text = list("holds", args, now_ms).await?;
            print(args, &text, |text| Ok(holds(&QueryClient::new(&args.server)?.read(text)?, shown(args))))
        }
        HistoryCommand::Marks(args) => {
            let text = list("marks", args, now_ms).await?;
            print(args, &text, |text| Ok(marks(&QueryClient::new(&args.server)?.read(text)?, shown(args))))
        }
        HistoryCommand::Incidents(args) => incidents::ask(args, now_ms).await,
        HistoryCommand::Export(args) => {
            let format = match args.format {
                ExportFormat::Csv => "csv",
                ExportFormat::Perfetto => "perfetto",
                ExportFormat::Sqlite => "sqlite",
            };
            let range = Range::of(&args.range, now_ms)?;
            let pairs = [range.pairs().as_slice(), &[("format", format)]].concat();
            let client = QueryClient::new(&args.server)?;
            match (&args.out, args.format) {
                (Some(file), _) => client.past_to_file("export", &pairs, file).await,
                (None, ExportFormat::Sqlite) => {
                    Err(ConfigError("an SQLite database needs a file of its own; name one with --out FILE".to_owned())
                        .into())
                }
                (None, ExportFormat::Csv | ExportFormat::Perfetto) => {
                    stdout::print(&client.past("export", &pairs).await?);
                    Ok(())
                }
            }
        }
    }
}

async fn list(question: &str, args: &PastArgs, now_ms: i64) -> Result<String, RunError> {
    let (range, limit) = (Range::of(&args.range, now_ms)?, args.limit.to_string());
    let pairs = [range.pairs().as_slice(), &[("limit", &*limit)]].concat();
    QueryClient::new(&args.server)?.past(question, &pairs).await
}

fn print(args: &PastArgs, text: &str, render: impl FnOnce(&str) -> Result<String, RunError>) -> Result<(), RunError> {
    stdout::print(&if args.form.json { words::json(text) } else { render(text)? });
    Ok(())
}

fn shown(args: &PastArgs) -> OutputStyle {
    terminal::stdout_style(args.form.color)
}

fn holds(answer: &Holds, shown: OutputStyle) -> String {
    let row = |hold: &Hold| {
        let who = hold.label.as_deref().or(hold.session_id.as_deref()).unwrap_or(&hold.node);
        let tone = if hold.how == "session_ended" || hold.how == "forced" { Tone::Odd } else { Tone::Plain };
        vec![
            Cell::plain(instant(hold.joined_at_ms)),
            Cell::plain(visible(&hold.lock)),
            Cell::plain(visible(who)),
            Cell::plain(duration(hold.wait_ms)),
            Cell::plain(held(hold.hold_ms, hold.is_lower_bound)),
            Cell(tone, visible(&hold.how).replace('_', " ")),
        ]
    };
    let more =
        answer.next_before.is_some().then_some("older ones are left out; ask for a shorter time or a higher --limit");
    list_of(&HOLDS, answer.holds.iter().map(row).collect(), "nobody held or waited then", &answer.coverage, more, shown)
}

fn marks(answer: &Marks, shown: OutputStyle) -> String {
    let row = |mark: &Mark| {
        let tone = match mark.severity {
            2.. => Tone::Bad,
            1 => Tone::Odd,
            0 => Tone::Plain,
        };
        let what = format!("{} {}", mark.kind, mark.code.replace('_', " "));
        vec![
            Cell::plain(instant(mark.at_ms)),
            Cell(tone, visible(&what)),
            Cell::plain(mark.path.as_deref().map_or_else(|| NONE.to_owned(), visible)),
            Cell::plain(visible(&mark.text)),
        ]
    };
    list_of(&MARKS, answer.marks.iter().map(row).collect(), "nothing stood out then", &answer.coverage, None, shown)
}

#[cfg(test)]
mod tests {
    use lockscope_view::past::Coverage;

    use super::*;

    const PLAIN: OutputStyle = OutputStyle { columns: None, is_colored: false };

    #[test]
    fn who_held_and_how_much_is_known() {
        let hold = Hold {
            lock: "/locks/order".to_owned(),
            node: "lock-1".to_owned(),
            session_id: Some("0x1".to_owned()),
            label: Some("worker-1\u{202e}".to_owned()),
            how: "session_ended".into(),
            hold_ms: Some(2_000),
            is_lower_bound: true,
            ..Hold::default()
        };
        let coverage = |part| Coverage { part, ..Coverage::default() };
        let answer =
            |holds| Holds { holds, next_before: Some("x".to_owned()), coverage: coverage(0.5), ..Holds::default() };
        let text = holds(&answer(vec![hold]), PLAIN);
        assert!(text.contains("/locks/order") && text.contains("≥ 2.0 s") && text.contains("session ended"), "{text}");
        assert!(text.ends_with("--limit\n50.0 % of that time is kept\n") && !text.contains('\u{202e}'), "{text}");
        assert!(holds(&answer(Vec::new()), PLAIN).starts_with("nobody held or waited then\n"));
    }

    #[test]
    fn what_stood_out_has_its_sentence() {
        let mark = Mark {
            at_ms: 0,
            kind: "verdict".into(),
            code: "nobody_home".to_owned(),
            severity: 2,
            path: None,
            text: "It is stuck.".to_owned(),
        };
        let text = marks(
            &Marks { marks: vec![mark], coverage: Coverage { part: 1.0, ..Coverage::default() }, ..Marks::default() },
            PLAIN,
        );
        assert!(text.contains("verdict nobody home  -     It is stuck."), "{text}");
        assert!(!text.contains("% of that time"), "{text}");
    }
}
