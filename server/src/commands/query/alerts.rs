//! `lockscope alerts` and `alerts test`: what fires, and when a rule would have fired.

use lockscope_view::api::{Backtest, Firing};
use lockscope_view::{Alert, Alerts, visible};
use serde_json::{Map, Value, json};

use super::client::QueryClient;
use super::past_range::range;
use super::print;
use super::table::{Cell, Column, OutputStyle, of_severity, render as table};
use super::words::{duration, instant, word};
use crate::cli::{AlertsArgs, AlertsCommand, AlertsTestArgs};
use crate::error::RunError;
use lockscope_runtime::clock::Clock;

/// Says what fires, or when a rule would have fired.
///
/// # Errors
/// One sentence. That nothing fires is no error.
pub(in crate::commands) async fn alerts(args: &AlertsArgs, clock: &Clock) -> Result<(), RunError> {
    match &args.question {
        Some(AlertsCommand::Test(test)) => try_rule(test, clock.now_ms()).await,
        None => list(args).await,
    }
}

async fn list(args: &AlertsArgs) -> Result<(), RunError> {
    let server = QueryClient::new(&args.answer.server)?;
    let text = server.get("/api/v1/alerts", &[("state", word(args.state))]).await?;
    print(&args.answer, &text, |shown| Ok(listed(&server.read(&text)?, shown)))
}

async fn try_rule(args: &AlertsTestArgs, now_ms: i64) -> Result<(), RunError> {
    let mut order = Map::new();
    if let Some(rule) = &args.rule {
        order.insert("rule".to_owned(), json!(rule));
    }
    if let Some(file) = &args.file {
        let text = std::fs::read_to_string(file).map_err(|error| {
            let shown = file.display();
            RunError::wrong(format!("--file {shown} can't be read ({error}); name a file with [[alert]] tables"))
        })?;
        order.insert("toml".to_owned(), json!(text));
    }
    order.insert("ensemble".to_owned(), json!(args.ensemble.as_deref().unwrap_or_default()));
    let [from, to] = range(&args.from, args.to.as_deref(), now_ms)?;
    // Digits that are no number are too many.
    order.insert("from".to_owned(), json!(from.parse().unwrap_or(i64::MAX)));
    order.insert("to".to_owned(), json!(if to.is_empty() { now_ms } else { to.parse().unwrap_or(i64::MAX) }));
    let server = QueryClient::new(&args.answer.server)?;
    let text = server.try_rule(&Value::Object(order)).await?;
    print(&args.answer, &text, |shown| Ok(tested(&server.read(&text)?, shown)))
}

fn listed(answer: &Alerts, shown: OutputStyle) -> String {
    if answer.alerts.is_empty() {
        return "nothing\n".to_owned();
    }
    let columns = [
        Column::of_words("STATE", |alert: &Alert| match (&alert.silenced_by, &alert.acked_by) {
            (Some(_), _) => format!("{}, silenced", alert.state),
            (None, Some(by)) => format!("{}, {} looks at it", alert.state, visible(&by.by)),
            (None, None) => alert.state.to_string(),
        }),
        Column::of_words("SEVERITY", |alert: &Alert| {
            Cell(of_severity(alert.severity.name()), alert.severity.to_string())
        }),
        Column::of_words("SINCE", |alert: &Alert| instant(alert.since_at_ms)),
        Column::of_names("RULE", 10, |alert: &Alert| visible(&alert.rule)),
        Column::of_names("LOCK", 16, |alert: &Alert| visible(&alert.lock)),
        Column::of_names("WHAT", 24, |alert: &Alert| visible(&alert.sentence)),
    ];
    table(&columns, &answer.alerts, 0, shown)
}

fn tested(answer: &Backtest, shown: OutputStyle) -> String {
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
    let columns = [
        Column::of_words("FROM", |firing: &Firing| instant(firing.from_at_ms)),
        Column::of_numbers("LASTS", |firing: &Firing| {
            firing.to_at_ms.map(|to| duration(to.saturating_sub(firing.from_at_ms)))
        }),
        Column::of_names("RULE", 10, |firing: &Firing| visible(&firing.rule)),
        Column::of_names("LOCK", 16, |firing: &Firing| visible(&firing.lock)),
        Column::of_names("WHAT", 24, |firing: &Firing| visible(&firing.sentence)),
    ];
    let mut text = format!("{head}\n{}", table(&columns, &answer.firings, 0, shown));
    if answer.left_out > 0 {
        text.push_str(&format!("… and {} later; ask for a shorter time\n", answer.left_out));
    }
    text
}
