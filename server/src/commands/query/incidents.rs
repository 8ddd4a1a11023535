//! `lockscope history incidents`: when something was wrong with which locks, because of whom, and how it ended. An autopsy
//! prints its incidents as the same table.

use lockscope_view::past::{Incident, IncidentEnd, Incidents};
use lockscope_view::{Verdict, visible};

use super::client::QueryClient;
use super::past_range::range;
use super::print;
use super::table::{Cell, Column, OutputStyle, Tone, list_of, of_verdict, render as table};
use super::words::{NONE, duration, instant};
use crate::cli::IncidentsArgs;
use crate::error::RunError;

pub(super) async fn ask(args: &IncidentsArgs, now_ms: i64) -> Result<(), RunError> {
    let [from, to] = range(&args.from, args.to.as_deref(), now_ms)?;
    let pairs = [
        ("ensemble", args.ensemble.clone().unwrap_or_default()),
        ("from", from),
        ("to", to),
        ("path", args.path.clone().unwrap_or_default()),
        ("min_ms", args.min_ms.to_string()),
        ("limit", args.limit.to_string()),
    ];
    let server = QueryClient::new(&args.answer.server)?;
    let text = server.get("/api/v1/incidents", &pairs).await?;
    print(&args.answer, &text, |shown| Ok(listed(&server.read(&text)?, now_ms, shown)))
}

fn listed(answer: &Incidents, now_ms: i64, shown: OutputStyle) -> String {
    let more = (answer.left_out > 0)
        .then(|| format!("{} older are left out; ask for a shorter time or a higher --limit", answer.left_out));
    list_of(&columns(now_ms), &answer.incidents, "nothing was wrong then", &answer.coverage, more, shown)
}

/// The table of some; `now_ms` is how far those are that go on.
pub(in crate::commands) fn rendered<'a>(
    incidents: impl IntoIterator<Item = &'a Incident>,
    now_ms: i64,
    shown: OutputStyle,
) -> String {
    table(&columns(now_ms), incidents, 0, shown)
}

fn columns<'a>(now_ms: i64) -> [Column<'a, Incident>; 9] {
    let least = |of: &Incident| if of.is_lower_bound { "≥ " } else { "" };
    [
        Column::of_words("FROM", |of: &Incident| instant(of.from_at_ms)),
        Column::of_numbers("LASTED", move |of: &Incident| duration(of.lasted_ms(now_ms))),
        Column::of_words("WORST", worst),
        Column::of_names("LOCK", 16, |of: &Incident| match of.locks.len().saturating_sub(1) {
            0 => visible(&of.root_lock),
            others => format!("{} +{others}", visible(&of.root_lock)),
        }),
        Column::of_names("BECAUSE OF", 12, root),
        Column::of_numbers("VICTIMS", move |of: &Incident| format!("{}{}", least(of), of.victims)),
        Column::of_numbers("WAITED", move |of: &Incident| format!("{}{}", least(of), duration(of.waiting_ms))),
        Column::of_words("ENDED", ended),
        Column::of_numbers("BEFORE", |of: &Incident| {
            Some(of.seen_before).filter(|times| *times > 0).map(|times| times.to_string())
        }),
    ]
}

/// The worst verdict, or the findings where they alone say that something was wrong.
fn worst(of: &Incident) -> Cell {
    if matches!(of.worst, Verdict::Healthy | Verdict::Free | Verdict::Unknown) && !of.findings.is_empty() {
        return Cell(Tone::Odd, visible(&of.findings.join(", ")).replace('_', " "));
    }
    Cell(of_verdict(of.worst.name()), of.worst.name().replace('_', " "))
}

/// Who is at its root: what it says of itself, else its host, else its session.
fn root(of: &Incident) -> String {
    match (&of.root_client, &of.root_host, &of.root_session_id) {
        (Some(client), Some(host), _) if !client.contains('@') && !client.contains(&**host) => {
            visible(&format!("{client} @ {host}"))
        }
        (Some(name), ..) | (None, Some(name), _) | (None, None, Some(name)) => visible(name),
        (None, None, None) => NONE.to_owned(),
    }
}

fn ended(of: &Incident) -> String {
    if of.is_seen_now == Some(false) {
        return "not seen now".to_owned();
    }
    match (of.ended_by, &of.forced_by) {
        (IncidentEnd::Forced, Some(by)) => format!("forced by {}", visible(by)),
        (IncidentEnd::Still, _) => "still on".to_owned(),
        (by, _) => by.name().replace('_', " "),
    }
}

#[cfg(test)]
pub(in crate::commands) mod tests {
    use lockscope_view::past::Coverage;

    use super::*;

    const PLAIN: OutputStyle = OutputStyle { columns: None, is_colored: false };

    pub(in crate::commands) fn incident() -> Incident {
        Incident {
            to_at_ms: Some(62_000),
            worst: Verdict::Stuck,
            locks: vec!["/order\u{202e}".to_owned(), "/other".to_owned()],
            root_lock: "/order\u{202e}".to_owned(),
            root_client: Some("import-2".to_owned()),
            root_host: Some("10.0.0.7".to_owned()),
            root_session_id: Some("0x1".to_owned()),
            victims: 3,
            waiting_ms: 100_000,
            is_lower_bound: true,
            ended_by: IncidentEnd::SessionEnded,
            seen_before: 2,
            ..Incident::default()
        }
    }

    fn answer(incidents: Vec<Incident>, left_out: usize) -> Incidents {
        Incidents {
            incidents,
            left_out,
            coverage: Coverage { part: 0.5, ..Coverage::default() },
            ..Incidents::default()
        }
    }

    #[test]
    fn a_row_says_what_was_wrong_because_of_whom_and_how_it_ended() {
        let text = listed(&answer(vec![incident()], 7), 0, PLAIN);
        let expected = "import-2 @ 10.0.0.7      ≥ 3  ≥ 1 min 40 s  session ended       2\n";
        assert!(text.contains("1 min 02 s  stuck") && text.contains(" +1  ") && text.contains(expected), "{text}");
        assert!(text.contains("7 older are left out") && text.ends_with("50.0 % of that time is kept\n"), "{text}");
        assert!(!text.contains('\u{202e}'));
        assert!(listed(&answer(Vec::new(), 0), 0, PLAIN).starts_with("nothing was wrong then\n"));
    }

    #[test]
    fn what_goes_on_has_no_end_and_a_finding_stands_for_a_verdict() {
        let on = Incident { to_at_ms: None, ended_by: IncidentEnd::Still, is_seen_now: Some(true), ..incident() };
        assert!(rendered([&on], 5_000, PLAIN).contains(" 5.0 s  stuck") && ended(&on) == "still on");
        assert_eq!(ended(&Incident { is_seen_now: Some(false), ..on }), "not seen now");
        let forced = Incident { ended_by: IncidentEnd::Forced, forced_by: Some("ada".to_owned()), ..incident() };
        assert_eq!(ended(&forced), "forced by ada");
        let findings = vec!["lease_leak".to_owned(), "missing_watch".to_owned()];
        let odd = Incident { worst: Verdict::Healthy, findings, root_client: None, ..incident() };
        assert_eq!((worst(&odd).1.as_str(), root(&odd).as_str()), ("lease leak, missing watch", "10.0.0.7"));
        let nobody = Incident { root_host: None, root_session_id: None, ..odd };
        assert_eq!(root(&nobody), NONE);
    }
}
