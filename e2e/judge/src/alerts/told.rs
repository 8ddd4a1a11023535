//! What receivers were told of alerts: each that fires and each end, in this order, and no more often than kills explain.

use std::collections::BTreeMap;

use super::{Alert, AlertWrong, Alerts, Told};
use crate::{Report, Wrong};

/// How often a receiver was told of an alert, that it fires and that it is over, and how often it said so.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    fires: usize,
    over: usize,
    answered: [usize; 2],
}

pub(super) fn compare(alerts: &Alerts, report: &mut Report) {
    let mut push = |wrong| report.push(Wrong::Alert(wrong));
    let mut times: BTreeMap<(&str, &str), Times> = BTreeMap::new();
    for told in &alerts.told {
        let of = times.entry((&told.receiver, &told.key)).or_default();
        let is_late = !told.is_over && of.over > 0;
        let count = if told.is_over { &mut of.over } else { &mut of.fires };
        *count += 1;
        let answered = &mut of.answered[usize::from(told.is_over)];
        *answered += usize::from(told.is_answered);
        if is_late || *answered > 1 + alerts.kills {
            push(AlertWrong::ToldTwice(told.clone()));
        }
        let listed = alerts.fired.iter().find(|alert| alert.key == told.key);
        if listed.is_none_or(|alert| told.is_over && alert.over_at_ms.is_none()) {
            push(AlertWrong::ToldFalse(told.clone()));
        }
    }
    for receiver in &alerts.receivers {
        let was_told = |alert: &Alert| times.contains_key(&(receiver.as_str(), alert.key.as_str()));
        let next_was_told = |alert: &Alert| {
            let is_next = |next: &&Alert| {
                (&next.rule, &next.lock) == (&alert.rule, &alert.lock) && next.fired_at_ms > alert.fired_at_ms
            };
            alerts.fired.iter().filter(is_next).any(was_told)
        };
        for alert in &alerts.fired {
            let of = times.get(&(receiver.as_str(), alert.key.as_str())).copied().unwrap_or_default();
            // What is over before anybody could be told that it fires is told to be over.
            let owes_fires = of.fires + of.over == 0;
            let goes_on = alerts.by_labels.contains(receiver) && next_was_told(alert);
            let owes_end = alert.over_at_ms.is_some() && of.over == 0 && !goes_on;
            for (is_owed, is_over) in [(owes_fires, false), (owes_end, true)] {
                if is_owed {
                    let (receiver, key) = (receiver.clone(), alert.key.clone());
                    push(AlertWrong::Untold(Told { receiver, key, is_over, is_answered: false }));
                }
            }
        }
    }
}
