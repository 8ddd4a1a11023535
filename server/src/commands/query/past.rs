//! `lockscope history holds`, `marks`, `incidents` and `export`: what was, from a running server.

use lockscope_view::past::{Hold, Holds, Mark, Marks};
use lockscope_view::visible;
use serde::de::DeserializeOwned;

use super::client::QueryClient;
use super::past_range::pairs;
use super::table::{Cell, Column, OutputStyle, Tone, list_of};
use super::words::{duration, held, instant, word};
use super::{incidents, print};
use crate::cli::{ExportFormat, HistoryCommand, PastArgs};
use crate::error::RunError;
use crate::stdout;

pub(super) async fn ask(question: &HistoryCommand, now_ms: i64) -> Result<(), RunError> {
    match question {
        HistoryCommand::Holds(args) => list("/api/v1/history/holds", args, now_ms, holds).await,
        HistoryCommand::Marks(args) => list("/api/v1/history/marks", args, now_ms, marks).await,
        HistoryCommand::Incidents(args) => incidents::ask(args, now_ms).await,
        HistoryCommand::Export(args) => {
            let mut pairs = pairs(&args.range, now_ms)?;
            pairs.push(("format", word(args.format)));
            let client = QueryClient::new(&args.server)?;
            match (&args.out, args.format) {
                (Some(file), _) => client.download("/api/v1/history/export", &pairs, file).await,
                (None, ExportFormat::Sqlite) => {
                    Err(RunError::wrong("an SQLite database needs a file of its own; name one with --out FILE"))
                }
                (None, ExportFormat::Csv | ExportFormat::Perfetto) => {
                    stdout::print(&client.get("/api/v1/history/export", &pairs).await?);
                    Ok(())
                }
            }
        }
    }
}

async fn list<T: DeserializeOwned>(
    path: &str,
    args: &PastArgs,
    now_ms: i64,
    render: fn(&T, OutputStyle) -> String,
) -> Result<(), RunError> {
    let mut pairs = pairs(&args.range, now_ms)?;
    pairs.push(("limit", args.limit.to_string()));
    let client = QueryClient::new(&args.answer.server)?;
    let text = client.get(path, &pairs).await?;
    print(&args.answer, &text, |shown| Ok(render(&client.read(&text)?, shown)))
}

fn holds(answer: &Holds, shown: OutputStyle) -> String {
    let columns = [
        Column::of_words("JOINED", |hold: &Hold| instant(hold.joined_at_ms)),
        Column::of_names("LOCK", 16, |hold: &Hold| visible(&hold.lock)),
        Column::of_names("WHO", 12, |hold: &Hold| {
            visible(hold.label.as_deref().or(hold.session_id.as_deref()).unwrap_or(&hold.node))
        }),
        Column::of_numbers("WAITED", |hold: &Hold| duration(hold.wait_ms)),
        Column::of_numbers("HELD", |hold: &Hold| held(hold.hold_ms, hold.is_lower_bound)),
        Column::of_words("END", |hold: &Hold| {
            let tone = if hold.how == "session_ended" || hold.how == "forced" { Tone::Odd } else { Tone::Plain };
            Cell(tone, visible(&hold.how).replace('_', " "))
        }),
    ];
    let more = answer
        .next_before
        .is_some()
        .then(|| "older ones are left out; ask for a shorter time or a higher --limit".to_owned());
    list_of(&columns, &answer.holds, "nobody held or waited then", &answer.coverage, more, shown)
}

fn marks(answer: &Marks, shown: OutputStyle) -> String {
    let columns = [
        Column::of_words("WHEN", |mark: &Mark| instant(mark.at_ms)),
        Column::of_words("WHAT", |mark: &Mark| {
            let tone = match mark.severity {
                2.. => Tone::Bad,
                1 => Tone::Odd,
                0 => Tone::Plain,
            };
            Cell(tone, visible(&format!("{} {}", mark.kind, mark.code.replace('_', " "))))
        }),
        Column::of_names("LOCK", 16, |mark: &Mark| mark.path.as_deref().map(visible)),
        Column::of_names("TEXT", 24, |mark: &Mark| visible(&mark.text)),
    ];
    list_of(&columns, &answer.marks, "nothing stood out then", &answer.coverage, None, shown)
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
