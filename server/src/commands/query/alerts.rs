//! `lockscope alerts` and `alerts test`: what fires, and when a rule would have fired.

use lockscope_view::{Alerts, Severity, visible};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::client::QueryClient;
use super::past_range::at;
use super::table::{Cell, Column, OutputStyle, Tone, render as table};
use super::terminal;
use super::words::{self, NONE, duration, instant};
use crate::cli::{AlertChoice, AlertsArgs, AlertsCommand, AlertsTestArgs};
use crate::config::ConfigError;
use crate::error::RunError;
use crate::stdout;

const ALERTS: [Column; 6] = [
    Column::of_words("STATE"),
    Column::of_words("SEVERITY"),
    Column::of_words("SINCE"),
    Column::of_names("RULE", 10),
    Column::of_names("LOCK", 16),
    Column::of_names("WHAT", 24),
];
const FIRINGS: [Column; 5] = [
    Column::of_words("FROM"),
    Column::of_numbers("LASTS"),
    Column::of_names("RULE", 10),
    Column::of_names("LOCK", 16),
    Column::of_names("WHAT", 24),
];

/// Answer of `/api/v1/alerts/test`.
#[derive(Debug, Deserialize)]
struct Tested {
    firings: Vec<Firing>,
    left_out: usize,
    unknown_ms: i64,
}

#[derive(Debug, Deserialize)]
struct Firing {
    rule: String,
    lock: String,
    from_at_ms: i64,
    to_at_ms: Option<i64>,
    sentence: String,
}

pub(super) async fn ask(args: &AlertsArgs, now_ms: i64) -> Result<(), RunError> {
    match &args.question {
        Some(AlertsCommand::Test(test)) => try_rule(test, now_ms).await,
        None => list(args).await,
    }
}

async fn list(args: &AlertsArgs) -> Result<(), RunError> {
    let state = match args.state {
        AlertChoice::Firing => "firing",
        AlertChoice::Pending => "pending",
        AlertChoice::Resolved => "resolved",
        AlertChoice::Silenced => "silenced",
        AlertChoice::All => "all",
    };
    let server = QueryClient::new(&args.server)?;
    let text = server.alerts(state).await?;
    if args.form.json {
        stdout::print(&words::json(&text));
        return Ok(());
    }
    let shown = terminal::stdout_style(args.form.color);
    stdout::print(&listed(&server.read(&text)?, shown));
    Ok(())
}

async fn try_rule(args: &AlertsTestArgs, now_ms: i64) -> Result<(), RunError> {
    let mut order = Map::new();
    if let Some(rule) = &args.rule {
        order.insert("rule".to_owned(), json!(rule));
    }
    if let Some(file) = &args.file {
        let text = std::fs::read_to_string(file).map_err(|error| {
            ConfigError(format!("--file {} can't be read ({error}); name a file with [[alert]] tables", file.display()))
        })?;
        order.insert("toml".to_owned(), json!(text));
    }
    order.insert("ensemble".to_owned(), json!(args.ensemble.as_deref().unwrap_or_default()));
    let number = |flag: &str, text: &str| -> Result<Value, RunError> {
        Ok(json!(at(flag, text, now_ms)?.parse::<i64>().unwrap_or(i64::MAX)))
    };
    order.insert("from".to_owned(), number("--from", &args.from)?);
    order.insert("to".to_owned(), args.to.as_deref().map_or(Ok(json!(now_ms)), |to| number("--to", to))?);
    let server = QueryClient::new(&args.server)?;
    let text = server.try_rule(&Value::Object(order)).await?;
    if args.form.json {
        stdout::print(&words::json(&text));
        return Ok(());
    }
    stdout::print(&tested(&server.read(&text)?, terminal::stdout_style(args.form.color)));
    Ok(())
}

fn tone_of(severity: Severity) -> Tone {
    match severity {
        Severity::Critical => Tone::Bad,
        Severity::Warning => Tone::Odd,
        Severity::Info => Tone::Plain,
    }
}

fn listed(answer: &Alerts, shown: OutputStyle) -> String {
    if answer.alerts.is_empty() {
        return "nothing\n".to_owned();
    }
    let rows = answer.alerts.iter().map(|alert| {
        let state = match (&alert.silenced_by, &alert.acked_by) {
            (Some(_), _) => format!("{}, silenced", alert.state.name()),
            (None, Some(by)) => format!("{}, {} looks at it", alert.state.name(), visible(&by.by)),
            (None, None) => alert.state.name().to_owned(),
        };
        vec![
            Cell::plain(state),
            Cell(tone_of(alert.severity), alert.severity.name().to_owned()),
            Cell::plain(instant(alert.since_at_ms)),
            Cell::plain(visible(&alert.rule)),
            Cell::plain(visible(&alert.lock)),
            Cell::plain(visible(&alert.sentence)),
        ]
    });
    table(&ALERTS, &rows.collect::<Vec<_>>(), 0, shown)
}

fn tested(answer: &Tested, shown: OutputStyle) -> String {
    let count = answer.firings.len() + answer.left_out;
    let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
    let mut head =
        if count == 0 { "it would not have fired\n".to_owned() } else { format!("it would have fired {times}\n") };
    if answer.unknown_ms > 0 {
        let unknown = duration(answer.unknown_ms);
        head.push_str(&format!("nothing is known of {unknown} of that time, in which nothing is found\n"));
    }
    if answer.firings.is_empty() {
        return head;
    }
    let rows = answer.firings.iter().map(|firing| {
        let lasts = firing.to_at_ms.map(|to| duration(to.saturating_sub(firing.from_at_ms)));
        vec![
            Cell::plain(instant(firing.from_at_ms)),
            Cell::plain(lasts.unwrap_or_else(|| NONE.to_owned())),
            Cell::plain(visible(&firing.rule)),
            Cell::plain(visible(&firing.lock)),
            Cell::plain(visible(&firing.sentence)),
        ]
    });
    let mut text = format!("{head}\n{}", table(&FIRINGS, &rows.collect::<Vec<_>>(), 0, shown));
    if answer.left_out > 0 {
        text.push_str(&format!("… and {} later; ask for a shorter time\n", answer.left_out));
    }
    text
}
