//! Prometheus' text format, version 0.0.4: every metric with its HELP and TYPE once, also those without a series. Pure.

use std::fmt;

use lockscope_core::durations::{Durations, EDGES_MS};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet, prometheus_text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use super::catalogue::{Family, PREFIX};

const SECOND_MS: f64 = 1_000.0;

#[derive(Debug)]
enum Value {
    Count(u64),
    Number(f64),
    Durations(Durations),
}

type Sample = (Vec<(&'static str, String)>, Value);

/// An exposition being put together; samples may come in any order.
#[derive(Debug)]
pub struct Exposition {
    samples: Vec<Vec<Sample>>,
}

impl Default for Exposition {
    fn default() -> Self {
        Self { samples: Family::ALL.iter().map(|_| Vec::new()).collect() }
    }
}

impl Exposition {
    /// Adds a sample. The values of its labels come in the order of the table.
    pub fn add(&mut self, family: Family, labels: &[&str], value: f64) {
        self.sample(family, labels, Value::Number(value));
    }

    pub fn count(&mut self, family: Family, labels: &[&str], value: u64) {
        self.sample(family, labels, Value::Count(value));
    }

    pub fn ms(&mut self, family: Family, labels: &[&str], ms: i64) {
        self.add(family, labels, seconds(ms));
    }

    /// Adds one sample for each of all states: 1 for the one that is, 0 for the others.
    pub fn one_of<'s>(&mut self, family: Family, labels: &[&str], all: impl IntoIterator<Item = &'s str>, is: &str) {
        for state in all {
            let labels: Vec<&str> = labels.iter().copied().chain([state]).collect();
            self.count(family, &labels, (state == is).into());
        }
    }

    pub fn durations(&mut self, family: Family, labels: &[&str], durations: &Durations) {
        self.sample(family, labels, Value::Durations(*durations));
    }

    pub fn finish(self) -> String {
        let (mut text, mut registry) = (String::new(), Registry::default());
        registry.register_collector(Box::new(self));
        // Writing to a String cannot fail.
        let _ = prometheus_text::encode(&mut text, &registry);
        text
    }

    fn sample(&mut self, family: Family, labels: &[&str], value: Value) {
        let about = family.about();
        debug_assert_eq!(about.labels.len(), labels.len(), "labels of {}", about.name);
        let Some(out) = self.samples.get_mut(family as usize) else { return };
        out.push((about.labels.iter().copied().zip(labels.iter().map(|label| (*label).to_owned())).collect(), value));
    }
}

impl Collector for Exposition {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for (family, samples) in Family::ALL.iter().zip(&self.samples) {
            let about = family.about();
            // The encoder puts it back for a counter.
            let name = format!("{PREFIX}{}", about.name.strip_suffix("_total").unwrap_or(about.name));
            let mut metric = encoder.encode_descriptor(&name, about.help, None, about.kind)?;
            let is_counter = about.kind == MetricType::Counter;
            for (labels, value) in samples {
                let mut series = metric.encode_family(labels)?;
                match value {
                    Value::Count(count) if is_counter => series.encode_counter::<NoLabelSet, _, f64>(count, None)?,
                    Value::Count(count) => series.encode_gauge(count)?,
                    Value::Number(number) if is_counter => series.encode_counter::<NoLabelSet, _, f64>(number, None)?,
                    Value::Number(number) => series.encode_gauge(number)?,
                    Value::Durations(durations) => {
                        let edges = EDGES_MS.into_iter().map(seconds).chain([f64::INFINITY]);
                        let buckets: Vec<(f64, u64)> = edges.zip(durations.buckets).collect();
                        let (sum, count) = (seconds(durations.sum_ms().cast_signed()), durations.count());
                        series.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)?;
                    }
                }
            }
        }
        Ok(())
    }
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
