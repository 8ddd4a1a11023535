//! Prometheus' text format, version 0.0.4: every metric with its HELP and TYPE once, also those without a series. Pure.

use std::fmt::Write as _;

use lockscope_core::durations::Durations;

use super::catalogue::{Family, Kind, PREFIX};

/// Milliseconds of a second.
const SECOND_MS: f64 = 1_000.0;

/// An exposition being put together; samples may come in any order.
#[derive(Debug)]
pub struct Exposition {
    samples: Vec<String>,
}

impl Default for Exposition {
    fn default() -> Self {
        Self { samples: vec![String::new(); Family::ALL.len()] }
    }
}

impl Exposition {
    /// Adds a sample. The values of its labels come in the order of the table.
    pub fn add(&mut self, family: Family, labels: &[&str], value: f64) {
        self.line(family, "", labels, None, value);
    }

    /// Adds a whole number.
    pub fn count(&mut self, family: Family, labels: &[&str], value: u64) {
        self.add(family, labels, number(value));
    }

    /// Adds a time given in milliseconds.
    pub fn ms(&mut self, family: Family, labels: &[&str], ms: i64) {
        self.add(family, labels, seconds(ms));
    }

    /// Adds one sample for each of all states: 1 for the one that is, 0 for the others.
    pub fn one_of<'s>(&mut self, family: Family, labels: &[&str], all: impl IntoIterator<Item = &'s str>, is: &str) {
        for state in all {
            let labels: Vec<&str> = labels.iter().copied().chain([state]).collect();
            self.add(family, &labels, if state == is { 1.0 } else { 0.0 });
        }
    }

    /// Adds a histogram.
    pub fn durations(&mut self, family: Family, labels: &[&str], durations: &Durations) {
        for (edge_ms, count) in durations.cumulative() {
            self.line(family, "_bucket", labels, Some(&seconds(edge_ms).to_string()), number(count));
        }
        self.line(family, "_bucket", labels, Some("+Inf"), number(durations.count()));
        self.line(family, "_sum", labels, None, number(durations.sum_ms()) / SECOND_MS);
        self.line(family, "_count", labels, None, number(durations.count()));
    }

    /// The whole text.
    pub fn finish(self) -> String {
        let mut text = String::new();
        for (family, samples) in Family::ALL.iter().zip(self.samples) {
            let about = family.about();
            // Writing to a String cannot fail.
            let _ = write!(
                text,
                "# HELP {PREFIX}{0} {1}\n# TYPE {PREFIX}{0} {2}\n{samples}",
                about.name,
                help(about.help),
                about.kind.name()
            );
        }
        text
    }

    fn line(&mut self, family: Family, part: &str, labels: &[&str], le: Option<&str>, value: f64) {
        let about = family.about();
        debug_assert_eq!(about.labels.len(), labels.len(), "labels of {}", about.name);
        debug_assert_eq!(about.kind == Kind::Histogram, !part.is_empty(), "kind of {}", about.name);
        let Some(out) = self.samples.get_mut(family as usize) else { return };
        let _ = write!(out, "{PREFIX}{}{part}", about.name);
        let pairs = about.labels.iter().copied().zip(labels.iter().copied()).chain(le.map(|edge| ("le", edge)));
        for (at, (name, value)) in pairs.enumerate() {
            out.push(if at == 0 { '{' } else { ',' });
            let _ = write!(out, "{name}=\"");
            escape(value, out);
            out.push('"');
        }
        if !about.labels.is_empty() || le.is_some() {
            out.push('}');
        }
        let _ = writeln!(out, " {value}");
    }
}

fn escape(value: &str, out: &mut String) {
    for character in value.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            other => out.push(other),
        }
    }
}

/// In HELP quotes stand as they are.
fn help(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}

#[expect(clippy::cast_precision_loss, reason = "the format has nothing but 64-bit floats")]
fn number(value: u64) -> f64 {
    value as f64
}

#[expect(clippy::cast_precision_loss, reason = "the format has nothing but 64-bit floats")]
fn seconds(ms: i64) -> f64 {
    ms as f64 / SECOND_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(text: &str) -> Vec<&str> {
        text.lines().filter(|line| !line.starts_with('#')).collect()
    }

    #[test]
    fn labels_are_escaped_and_nothing_else_is_changed() {
        let mut out = Exposition::default();
        out.count(Family::LockWaiters, &["prod", "/a\"b\\c\nd/\u{202e}é"], 3);
        assert_eq!(
            samples(&out.finish()),
            ["lockscope_lock_waiters{ensemble=\"prod\",path=\"/a\\\"b\\\\c\\nd/\u{202e}é\"} 3"]
        );
    }

    #[test]
    fn every_metric_has_its_head_once_although_nothing_is_known() {
        let text = Exposition::default().finish();
        assert!(samples(&text).is_empty());
        for family in Family::ALL {
            let name = family.about().name;
            for head in ["HELP", "TYPE"] {
                assert_eq!(text.matches(&format!("# {head} lockscope_{name} ")).count(), 1, "{head} {name}");
            }
        }
    }

    #[test]
    fn histograms_are_cumulative_and_in_seconds() {
        let mut durations = Durations::default();
        [1, 2, 700, 3_600_000].into_iter().for_each(|ms| durations.note(ms));
        let mut out = Exposition::default();
        out.durations(Family::HoldDuration, &["a"], &durations);
        let text = out.finish();
        for line in [
            "lockscope_hold_duration_seconds_bucket{ensemble=\"a\",le=\"0.001\"} 1",
            "lockscope_hold_duration_seconds_bucket{ensemble=\"a\",le=\"0.5\"} 2",
            "lockscope_hold_duration_seconds_bucket{ensemble=\"a\",le=\"1\"} 3",
            "lockscope_hold_duration_seconds_bucket{ensemble=\"a\",le=\"1800\"} 3",
            "lockscope_hold_duration_seconds_bucket{ensemble=\"a\",le=\"+Inf\"} 4",
            "lockscope_hold_duration_seconds_sum{ensemble=\"a\"} 3600.703",
            "lockscope_hold_duration_seconds_count{ensemble=\"a\"} 4",
        ] {
            assert!(samples(&text).contains(&line), "{line}\n{text}");
        }
    }

    #[test]
    fn one_state_is_one_and_all_others_are_nothing() {
        let mut out = Exposition::default();
        out.one_of(Family::LinkState, &["a"], ["live", "lost"], "lost");
        let text = out.finish();
        assert_eq!(
            samples(&text),
            [
                "lockscope_link_state{ensemble=\"a\",state=\"live\"} 0",
                "lockscope_link_state{ensemble=\"a\",state=\"lost\"} 1"
            ]
        );
    }
}
