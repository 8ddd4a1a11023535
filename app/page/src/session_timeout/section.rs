//! The section: whether the time-out suits in one sentence, the numbers that this rests on, and what to do.

use leptos::prelude::*;

use super::words;
use crate::erase::{erase, view};
use crate::explain::explained;
use crate::format::duration;
use crate::parts::{marked, text};
use lockscope_view::guide::anchor;
use lockscope_view::{SessionTimeout, TimeoutOutcome};

/// The section as a document has it; a context of the page.
#[derive(Clone, Debug)]
pub struct SessionTimeoutMarkup(pub String);

/// What is in the document at first.
pub(crate) fn initial() -> String {
    use_context().map_or_else(String::new, |SessionTimeoutMarkup(markup)| markup)
}

pub fn session_timeout_markup(told: &SessionTimeout) -> String {
    text(told.at_ms, || section(told))
}

fn section(told: &SessionTimeout) -> AnyView {
    let (outcome, title) = match told.outcome {
        TimeoutOutcome::Suits { .. } => ("suits", erase(words::TITLE)),
        TimeoutOutcome::Long { .. } => ("long", explained(anchor("finding", "long_timeout"), erase(words::TITLE))),
        TimeoutOutcome::Short { .. } => ("short", explained(anchor("finding", "short_timeout"), erase(words::TITLE))),
        TimeoutOutcome::Unknown(_) => ("unknown", erase(words::TITLE)),
    };
    let steps = words::steps(told);
    let steps = (!steps.is_empty()).then(|| {
        let steps = steps.into_iter().map(|step| view! { <li>{step}</li> }).collect_view();
        view! {
            <div data-testid="session-timeout-steps">
                <h3 class="part-title">{words::DO}</h3>
                <ol class="guide-steps">{steps}</ol>
            </div>
        }
    });
    view! {
        <section class="part dims" aria-labelledby="session-timeout-title" data-testid="session-timeout" data-outcome=outcome>
            <h2 class="part-title" id="session-timeout-title">{title}</h2>
            <p data-testid="session-timeout-lead">{words::lead(told)}</p>
            <dl class="totals">{numbers(told)}</dl>
            {steps}
        </section>
    }
}

fn numbers(told: &SessionTimeout) -> Vec<AnyView> {
    let enough_ms = words::enough_ms(told.outcome);
    let (mut saved, mut left) = (None, None);
    match told.outcome {
        TimeoutOutcome::Long { enough_ms } => saved = told.timeout_ms.map(|ms| ms.saturating_sub(enough_ms)),
        TimeoutOutcome::Short { .. } => {
            left = told.timeout_ms.map(|ms| ms.saturating_sub(told.silence_at_least_ms).max(0));
        }
        TimeoutOutcome::Suits { .. } | TimeoutOutcome::Unknown(_) => {}
    }
    [
        Some((words::TIMEOUT, told.timeout_ms.map(duration))),
        Some((words::SILENCE, words::silence(told))),
        Some((words::KNOWN_FOR, (told.over_ms > 0).then(|| duration(told.over_ms)))),
        Some((words::ENOUGH, enough_ms.map(duration))),
        saved.map(|ms| (words::SAVED, Some(duration(ms)))),
        left.map(|ms| (words::LEFT, Some(format!("≤ {}", duration(ms))))),
    ]
    .into_iter()
    .flatten()
    .map(|(name, value)| {
        view! {
            <div class="total">
                <dt>{marked(name)}</dt>
                <dd>{value.unwrap_or_else(|| words::UNKNOWN.to_owned())}</dd>
            </div>
        }
    })
    .collect()
}
