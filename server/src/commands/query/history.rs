//! What is kept of an ensemble's past. Pure.

use std::fmt::Write as _;

use lockscope_history::store::GapReason;
use lockscope_view::api::KeptHistory;
use lockscope_view::past::Gap;
use lockscope_view::visible;
use lockscope_view::words::bytes;

use super::table::{Column, OutputStyle, Tone, render as table};
use super::words::{duration, instant};

/// Gaps that are listed; of more, the newest are. JSON has all that the server names.
const GAPS_SHOWN_MAX: usize = 20;

pub(super) fn render(kept: &KeptHistory, shown: OutputStyle) -> String {
    let mut text = format!("{}\n", shown.tone(Tone::Head, &visible(&kept.ensemble)));
    let mut line = |name: &str, value: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {name:<9} {value}");
    };
    match (kept.from_at_ms, kept.to_at_ms) {
        (Some(from), Some(to)) => line("kept", &format!("{} to {}", instant(from), instant(to))),
        _ => line("kept", "nothing"),
    }
    if let Some(until) = kept.generated_until_at_ms {
        line("generated", &format!("up to {}, for the demo", instant(until)));
    }
    if !kept.why.is_empty() {
        line("not now", &shown.tone(Tone::Bad, &visible(&kept.why)));
    }
    if kept.from_at_ms.is_some() {
        line("size", &format!("{}, {}/s", bytes(kept.bytes), bytes(whole(kept.rate_per_s))));
        let missing: i64 = kept.gaps.iter().map(missing_ms).sum();
        let gaps = kept.gaps.len();
        let gaps = if gaps == 0 { "none".to_owned() } else { format!("{gaps}, {} together", duration(missing)) };
        line("gaps", &gaps);
    }
    if !kept.gaps.is_empty() {
        let left_out = kept.gaps.len().saturating_sub(GAPS_SHOWN_MAX);
        let columns = [
            Column::of_words("FROM", |gap: &Gap| instant(gap.from_at_ms)),
            Column::of_words("TO", |gap: &Gap| instant(gap.to_at_ms)),
            Column::of_numbers("LASTS", |gap: &Gap| duration(missing_ms(gap))),
            Column::of_words("WHY", |gap: &Gap| {
                GapReason::of(&gap.why).map_or_else(|| visible(&gap.why), |why| why.to_string())
            }),
        ];
        let _ = writeln!(text, "\n{}", table(&columns, kept.gaps.iter().skip(left_out), 0, shown).trim_end());
        if left_out > 0 {
            let _ = writeln!(text, "… and {left_out} before; --json has them");
        }
    }
    text
}

fn missing_ms(gap: &Gap) -> i64 {
    gap.to_at_ms.saturating_sub(gap.from_at_ms)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate of bytes, never below zero")]
fn whole(rate: f64) -> u64 {
    rate as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: OutputStyle = OutputStyle { columns: None, is_colored: false };

    fn kept(gaps: Vec<Gap>) -> KeptHistory {
        KeptHistory {
            ensemble: "prod".to_owned(),
            from_at_ms: Some(0),
            to_at_ms: Some(86_400_000),
            gaps,
            bytes: 1_600_000_000,
            rate_per_s: 2_600.5,
            ..KeptHistory::default()
        }
    }

    #[test]
    fn what_is_kept_and_what_is_missing() {
        let gap = Gap { from_at_ms: 1_000, to_at_ms: 42_200, why: "not_running".into() };
        assert_eq!(
            render(&kept(vec![gap]), PLAIN),
            "prod\n  kept      1970-01-01 00:00:00 UTC to 1970-01-02 00:00:00 UTC\n  size      1.6 GB, 2.6 KB/s\n  \
             gaps      1, 41.2 s together\n\nFROM                     TO                        LASTS  WHY\n\
             1970-01-01 00:00:01 UTC  1970-01-01 00:00:42 UTC  41.2 s  Lockscope was not running\n"
        );
    }

    #[test]
    fn what_was_generated_says_so() {
        let demo = KeptHistory { generated_until_at_ms: Some(42_000), ..kept(Vec::new()) };
        let text = render(&demo, PLAIN);
        assert!(text.contains("\n  generated up to 1970-01-01 00:00:42 UTC, for the demo\n"), "{text}");
    }

    #[test]
    fn nothing_kept_says_why_and_only_the_newest_gaps_are_listed() {
        let off = KeptHistory { from_at_ms: None, to_at_ms: None, why: "off\u{202e}".to_owned(), ..kept(Vec::new()) };
        let text = render(&off, PLAIN);
        assert!(text.starts_with("prod\n  kept      nothing\n  not now   off") && !text.contains('\u{202e}'), "{text}");
        let many = (0..30).map(|at| Gap { from_at_ms: at * 10_000, to_at_ms: at * 10_000 + 1, why: "new".into() });
        let text = render(&kept(many.collect()), PLAIN);
        assert!(
            text.contains("  gaps      30, 30 ms together\n") && text.ends_with("… and 10 before; --json has them\n")
        );
        assert!(text.contains("00:04:50 UTC") && !text.contains("00:01:30 UTC"), "{text}");
    }
}
