//! Alerts, against what the log says of their causes: none fires without a cause, no cause is without one, none comes twice,
//! and who is to be told is told.
//!
//! A cause owes an alert only while its lock was shown as LIVE and nothing that is known of was broken: what nobody can see
//! can't be told, and LIVE is what says that it can be seen.

mod alert;
mod causes;
mod told;

use std::collections::BTreeSet;

use crate::display::{self, Track};
use crate::fault::Faults;
use crate::truth::{Rule, Truth};
use crate::{AlertWrong, Capture, Counts, FaultSpan, Limits, Report, Wrong};
pub use alert::{Alert, Told};
use causes::{Causes, Span, union};

/// What begins again so soon after its end never ended, as the documents say.
pub const BEGINS_AGAIN_MS: i64 = 15_000;
/// What ends and begins again within this may pass for one: changes arrive together, and are looked at together.
const FLICKER_MS: i64 = 250;

/// When a rule fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertWhen {
    /// Somebody has held for longer than so many milliseconds.
    Held(i64),
    /// Somebody has waited for longer than so many milliseconds.
    Waiting(i64),
    /// More wait.
    Depth(usize),
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertRule {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub when: AlertWhen,
    /// For how long that must be so, in milliseconds.
    pub for_ms: i64,
}

/// Everything about alerts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alerts {
    /// The rules, for all locks.
    pub rules: Vec<AlertRule>,
    /// What fired, or fires still.
    pub fired: Vec<Alert>,
    /// When that was asked for.
    pub listed_at_ms: i64,
    /// Locks whose causes owe an alert.
    pub owing: BTreeSet<String>,
    /// Who is to be told.
    pub receivers: Vec<String>,
    /// Those of them to whom two alerts of one rule and lock are one: where the next one fires before the end of the one
    /// before was passed on, it goes on there.
    pub by_labels: BTreeSet<String>,
    /// What they took, in order.
    pub told: Vec<Told>,
    /// How often the server was killed: after each, what was on its way may be told once more.
    pub kills: usize,
}

impl AlertWhen {
    /// How long it lasts before it is so.
    fn after_ms(self) -> i64 {
        match self {
            Self::Held(ms) | Self::Waiting(ms) => ms,
            Self::Depth(_) => 0,
        }
    }
}

/// Who judges the alerts of one rule at one lock.
struct Bench<'a> {
    faults: Faults<'a>,
    limits: &'a Limits,
    rule: &'a AlertRule,
    lock: &'a str,
    /// In the order in which they fired.
    fired: Vec<&'a Alert>,
    /// What the log has, each by itself, from its beginning.
    causes: Vec<Span>,
    /// When the condition was so: all of them in one.
    is_so: Vec<Span>,
    /// When the lock was shown as LIVE.
    live: &'a [Span],
    listed_at_ms: i64,
}

/// Compares alerts with the log and with what was shown as LIVE.
pub fn judge_alerts(
    limits: &Limits,
    truth: &Truth,
    captures: &[Capture],
    faults: &[FaultSpan],
    alerts: &Alerts,
) -> Report {
    let mut report = Report::default();
    let tracks = display::tracks(captures, &mut Counts::default());
    let faults = Faults { spans: faults, limits };
    let fired = alerts.fired.iter().map(|alert| alert.lock.as_str());
    let locks: BTreeSet<&str> = alerts.owing.iter().map(String::as_str).chain(fired).collect();
    report.counts.alerts = alerts.fired.len() as u64;
    for lock in locks {
        let timeline = truth.timeline(lock);
        // Who waits for a znode of a fixed name is in no log.
        if !matches!(timeline.rule(), Rule::Queue | Rule::ReadWrite) {
            continue;
        }
        let live = live(&tracks, lock);
        let known = Causes::new(&timeline);
        for rule in &alerts.rules {
            let mut fired: Vec<&Alert> =
                alerts.fired.iter().filter(|alert| alert.rule == rule.name && alert.lock == lock).collect();
            fired.sort_by_key(|alert| alert.fired_at_ms);
            let causes = known.of(rule.when);
            let after_ms = rule.when.after_ms();
            let late = causes.iter().map(|span| Span { from_ms: span.from_ms.saturating_add(after_ms), ..*span });
            let is_so = union(late.filter(|span| span.from_ms < span.until_ms).collect(), 0);
            let listed_at_ms = alerts.listed_at_ms;
            let bench = Bench { faults, limits, rule, lock, fired, causes, is_so, live: &live, listed_at_ms };
            bench.judge(alerts.owing.contains(lock), &mut report);
        }
    }
    told::compare(alerts, &mut report);
    report
}

/// When a lock was shown as LIVE, to whomever.
fn live(tracks: &[Track<'_>], lock: &str) -> Vec<Span> {
    let of_it = tracks.iter().filter(|track| track.lock == lock).flat_map(|track| &track.displays);
    union(of_it.map(|display| Span { from_ms: display.from_ms, until_ms: display.until_ms }).collect(), 0)
}

impl Bench<'_> {
    fn judge(&self, is_owing: bool, report: &mut Report) {
        let mut push = |wrong| report.push(Wrong::Alert(wrong));
        for alert in &self.fired {
            if !self.has_cause(alert) {
                push(AlertWrong::WithoutCause((*alert).clone()));
            }
            if !self.ended_rightly(alert) {
                push(AlertWrong::EndWrong((*alert).clone(), self.last_so(alert)));
            }
        }
        for pair in self.fired.windows(2) {
            let &[one, next] = pair else { continue };
            let goes_on_until = one.over_at_ms.map_or(i64::MAX, |over| over.saturating_add(BEGINS_AGAIN_MS));
            if next.fired_at_ms.saturating_add(self.limits.clock_tolerance_ms) < goes_on_until {
                push(AlertWrong::Twice(one.clone(), next.clone()));
            }
        }
        if is_owing {
            self.owed(report);
        }
    }

    /// Whether the lock was LIVE all the while.
    fn was_live(&self, from_ms: i64, until_ms: i64) -> bool {
        self.live.iter().any(|span| span.from_ms <= from_ms && until_ms <= span.until_ms)
    }

    /// Until when what ended then may have been believed in.
    fn believed_until(&self, ended_at_ms: i64) -> i64 {
        let came_true = if ended_at_ms == i64::MAX { ended_at_ms } else { self.faults.came_true_ms(ended_at_ms) };
        came_true.saturating_add(self.limits.age_max_ms + self.limits.clock_tolerance_ms)
    }

    /// Something lasted so long when it fired. What was out of sight meanwhile may have ended and begun again: it need not
    /// have lasted all the time that the rule asks for.
    fn has_cause(&self, alert: &Alert) -> bool {
        let fired = alert.fired_at_ms;
        let tolerance = self.limits.clock_tolerance_ms;
        let for_ms = self.rule.for_ms;
        let for_ms = if self.was_live(fired.saturating_sub(for_ms), fired) { for_ms } else { 0 };
        let flicker = FLICKER_MS.max(tolerance);
        let mut rough = union(self.is_so.clone(), flicker);
        rough.retain(|span| span.from_ms.saturating_add(for_ms).saturating_sub(tolerance) <= fired);
        rough.last().is_some_and(|span| fired <= self.believed_until(span.until_ms))
    }

    /// Where it is over, something ended then, or before that while nobody saw it; where it fires, nothing ended so long ago
    /// that it would be over.
    fn ended_rightly(&self, alert: &Alert) -> bool {
        let tolerance = self.limits.clock_tolerance_ms;
        let mut began = self.is_so.iter().filter(|span| span.from_ms <= alert.over_at_ms.unwrap_or(self.listed_at_ms));
        // What was not LIVE when it ended is seen to be over when it is LIVE again.
        let seen = |ended: i64| {
            // What is LIVE may be so old; a server that is killed meanwhile took no note of it either, however often.
            let noted = |span: &&Span| span.until_ms > self.believed_until(ended.max(span.from_ms));
            let later = self.live.iter().find(noted);
            later.map_or(i64::MAX, |span| self.believed_until(ended.max(span.from_ms)))
        };
        match alert.over_at_ms {
            Some(over) => {
                began.clone().any(|span| span.until_ms.saturating_sub(tolerance) <= over && over <= seen(span.until_ms))
            }
            None => began.next_back().is_none_or(|span| {
                span.until_ms == i64::MAX
                    || self.listed_at_ms <= seen(span.until_ms).saturating_add(BEGINS_AGAIN_MS)
                    || !self.was_live(span.until_ms, self.listed_at_ms)
            }),
        }
    }

    /// From and until when it was so last, before it was said to be over.
    fn last_so(&self, alert: &Alert) -> Option<(i64, i64)> {
        let before = alert.over_at_ms.unwrap_or(self.listed_at_ms);
        let last = self.is_so.iter().rfind(|span| span.from_ms <= before);
        last.map(|span| (span.from_ms, span.until_ms))
    }

    /// When it could be seen: LIVE, and nothing known was broken.
    fn visible(&self) -> Vec<Span> {
        let mut spans = self.live.to_vec();
        for fault in self.faults.spans {
            let good = fault.ends_ms().saturating_add(self.limits.exact_max_ms);
            let cut = |span: Span| {
                let before = Span { until_ms: span.until_ms.min(fault.lost_at_ms), ..span };
                let after = Span { from_ms: span.from_ms.max(good), ..span };
                [before, after].into_iter().filter(|piece| piece.from_ms < piece.until_ms)
            };
            spans = spans.into_iter().flat_map(cut).collect();
        }
        spans
    }

    /// Each cause that lasted, and could be seen, fired in time and was not over before it was.
    fn owed(&self, report: &mut Report) {
        let tolerance = self.limits.clock_tolerance_ms;
        let takes_ms = self.rule.when.after_ms() + self.rule.for_ms + self.limits.alert_max_ms;
        let visible = self.visible();
        for cause in &self.causes {
            for span in &visible {
                let (from_ms, until_ms) = (cause.from_ms.max(span.from_ms), cause.until_ms.min(span.until_ms));
                let due_ms = from_ms.saturating_add(takes_ms);
                if until_ms <= due_ms {
                    continue;
                }
                report.counts.causes += 1;
                let goes_on =
                    |alert: &&&Alert| alert.over_at_ms.is_none_or(|over| over.saturating_add(tolerance) >= until_ms);
                let seen_at_ms = self.fired.iter().filter(goes_on).map(|alert| alert.seen_at_ms).min();
                if let Some(seen_at_ms) = seen_at_ms {
                    let late_ms = seen_at_ms.saturating_sub(due_ms.saturating_sub(self.limits.alert_max_ms));
                    report.worst.fires_ms = report.worst.fires_ms.max(late_ms);
                }
                if seen_at_ms.is_none_or(|seen_at_ms| seen_at_ms > due_ms) {
                    let (rule, lock) = (self.rule.name.clone(), self.lock.to_owned());
                    let wrong = AlertWrong::CauseWithout { rule, lock, from_ms, until_ms, due_ms };
                    report.push(Wrong::Alert(wrong));
                }
            }
        }
    }
}
