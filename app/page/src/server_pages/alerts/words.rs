//! The page of alerts, in words. Pure.

use super::view::{AlertDone, AlertFilter};
use crate::format::{count, duration, middle, plural, visible};
use lockscope_view::{AlertMatchers, AlertState};

/// Longest sentence and name in a line; the whole is in its title, or in the list.
const SENTENCE_CHARS: usize = 240;
const NAME_CHARS: usize = 80;

pub(super) const LEAD: &str = "Locks that meet one of the alert rules below for as long as the rule says.";
pub(super) const SINCE: &str = "since ";
pub(super) const FROM: &str = "from ";
pub(super) const TO: &str = " to ";
pub(super) const UNSEEN: &str = "ZooKeeper was not seen since ";
pub(super) const UNSEEN_END: &str = "; this is how it was then.";
pub(super) const MOMENT: &str = "show the moment";
pub(super) const TRY_WAY: &str = "Try a rule on what was recorded";
pub(super) const TRY_LEAD: &str = "When a rule would have fired, over what was recorded: the same rules over the same model, replayed. No notification is sent.";
pub(super) const TRY_BACK: &str = "Alerts";
pub(super) const TRY_TEXT: &str = "The rule, as the configuration would have it";
pub(super) const TRY_OVER: &str = "Over the last";
pub(super) const TRIED: &str = "What it would have said";
pub(super) const TRIED_FROM: &str = "From";
pub(super) const TRIED_LASTS: &str = "Lasts";
pub(super) const TRIED_LOCK: &str = "Lock";
pub(super) const TRIED_WHAT: &str = "What";

pub(super) const SILENCES: &str = "Silences";
pub(super) const RULES: &str = "Rules";
pub(super) const ROUTES: &str = "Where alerts are sent";
pub(super) const NO_SILENCE: &str = "Nothing is silenced.";
pub(super) const NO_ROUTE: &str = "Alerts show here only; a [[route]] in the configuration sends them to Alertmanager, PagerDuty, Slack, Teams, Feishu, DingTalk, WeCom or a signed webhook.";
pub(super) const ACT: &str = "Acknowledge or silence";
pub(super) const ACK_MEANS: &str = "Says that you look at it. It goes on firing.";
pub(super) const ACK_REASON: &str = "What you do about it";
pub(super) const SILENCE_MEANS: &str = "No notifications of this rule at this lock for a while. It stays in this list.";
pub(super) const SILENCE_FOR: &str = "For";
pub(super) const REASON: &str = "Why";
pub(super) const LENGTHS: [(i64, &str); 4] =
    [(1_800_000, "30 min"), (7_200_000, "2 h"), (28_800_000, "8 h"), (86_400_000, "24 h")];
pub(super) const WHICH: &str = "Which alerts";
pub(super) const BY: &str = "By";
pub(super) const UNTIL: &str = "Until";
pub(super) const END: &str = "End it";
pub(super) const NAME: &str = "Name";
pub(super) const WHEN: &str = "Fires when it is";
pub(super) const PATH: &str = "Locks";
pub(super) const ENSEMBLE: &str = "Ensemble";
pub(super) const FOR: &str = "For";
pub(super) const SEVERITY: &str = "Severity";
pub(super) const SENT_TO: &str = "Sent to";
pub(super) const KIND: &str = "Kind";
pub(super) const ADDRESS: &str = "Address";
pub(super) const WAITING: &str = "Waiting";
pub(super) const LAST_SENT: &str = "Last taken";
pub(super) const TROUBLE: &str = "State";
pub(super) const OR: &str = " or ";
pub(super) const BUILT_IN: &str = "built in";
pub(super) const SILENCED: &str = "silenced";
pub(super) const EACH: &str = "each";
pub(super) const ALL_LOCKS: &str = "all";
pub(super) const NOBODY: &str = "nobody: shown here only";
pub(super) const NEVER_SENT: &str = "nothing yet";
pub(super) const TAKES: &str = "takes messages";
pub(super) const NONE_YET: &str = "no message yet";
pub(super) const TELL: &str = "Tell me in this browser";
pub(super) const TELLS: &str = "Stop telling me in this browser";
pub(super) const TELLS_NOT: &str = "This browser shows no messages of this page";
pub(super) const FIRE: (&str, &str) = ("fires", "fire");
pub(super) const CHANGED: &str = "Other alerts fire by now: show them";

/// What is the matter at all; the worst one's sentence goes behind it. `loud` fire and are not silenced; so many of
/// those are not known to go on.
pub(super) fn summary(loud: usize, silenced: usize, unknown: usize) -> String {
    let also = match silenced {
        0 => String::new(),
        1 => ", besides 1 that is silenced".to_owned(),
        many => format!(", besides {} that are silenced", count(many as u64)),
    };
    let unsure = match (unknown, loud) {
        (0, _) => String::new(),
        (all, loud) if all == loud => " when ZooKeeper was last seen".to_owned(),
        (some, _) => format!(" ({} of them when ZooKeeper was last seen)", count(some as u64)),
    };
    match (loud, silenced) {
        (0, 0) => "Nothing fires.".to_owned(),
        (0, 1) => "Nothing fires but 1 alert that is silenced.".to_owned(),
        (0, many) => format!("Nothing fires but {} alerts that are silenced.", count(many as u64)),
        (1, _) => format!("1 alert {}{unsure}{also}: ", if unknown == 1 { "fired" } else { "fires" }),
        (many, _) => {
            let fire = if unknown == many { "fired" } else { "fire" };
            format!("{} alerts {fire}{unsure}{also}. The worst: ", count(many as u64))
        }
    }
}

pub(super) fn sentence(text: &str) -> String {
    middle(&visible(text), SENTENCE_CHARS)
}

pub(super) fn name(text: &str) -> String {
    middle(&visible(text), NAME_CHARS)
}

pub(super) fn not_kept(why: &str) -> String {
    format!(
        "Alerts are not kept, so a restart forgets what fires, who looks at it and what is silenced: {}",
        visible(why)
    )
}

pub(super) fn done(done: AlertDone) -> &'static str {
    match done {
        AlertDone::Acknowledged => "It is acknowledged: everybody sees that you look at it.",
        AlertDone::Silenced => "It is silenced. The list of silences ends it sooner.",
        AlertDone::SilenceEnded => "The silence is ended: notifications are sent again.",
    }
}

pub(super) fn wrong(why: &str) -> String {
    format!("Nothing was done: {}", visible(why))
}

pub(super) fn filter(filter: AlertFilter) -> &'static str {
    match filter {
        AlertFilter::All => "All",
        AlertFilter::Firing => "Firing",
        AlertFilter::Pending => "Pending",
        AlertFilter::Resolved => "Resolved",
        AlertFilter::Silenced => "Silenced",
    }
}

pub(super) fn none(filter: AlertFilter) -> &'static str {
    match filter {
        AlertFilter::All => "Nothing fires, and nothing did lately.",
        AlertFilter::Firing => "Nothing fires.",
        AlertFilter::Pending => "Nothing is about to fire.",
        AlertFilter::Resolved => "Nothing that fired is over.",
        AlertFilter::Silenced => "No alert is silenced.",
    }
}

pub(super) fn group(state: AlertState) -> &'static str {
    match state {
        AlertState::Firing => "Firing",
        AlertState::Pending => "Pending, not yet for long enough",
        AlertState::Resolved => "Resolved",
    }
}

/// How long it is so, or was; `is_least` where it may be so still, unseen.
pub(super) fn lasted(ms: i64, is_least: bool) -> String {
    format!(" ({}{})", if is_least { "≥ " } else { "" }, duration(ms))
}

pub(super) fn rule(rule: &str) -> String {
    format!("rule {}", name(rule))
}

/// Its ensemble; nothing of the one that has no name of its own.
pub(super) fn ensemble(ensemble: &str) -> Option<String> {
    (ensemble != "default").then(|| format!("ensemble {}", name(ensemble)))
}

/// Who silenced it; an instant, how long it is left and why go behind it.
pub(super) fn silenced(by: &str) -> String {
    format!("Silenced by {} until ", name(by))
}

pub(super) fn silence_left(left_ms: i64, reason: &str) -> String {
    format!(" ({}): {}", left(left_ms), sentence(reason))
}

pub(super) fn left(ms: i64) -> String {
    if ms > 0 { format!("{} left", duration(ms)) } else { "over".to_owned() }
}

pub(super) fn acked(by: &str, reason: &str, ms: i64) -> String {
    format!("{} looks at it for {}: {}", name(by), duration(ms), sentence(reason))
}

/// What tells a form from those of other alerts.
pub(super) fn of_which(rule: &str, lock: &str) -> String {
    format!(": {}, {}", name(rule), name(lock))
}

/// What tells a silence's button from the others.
pub(super) fn of_silence(id: u64) -> String {
    format!(" silence {id}")
}

pub(super) fn matchers(of: &AlertMatchers) -> String {
    let said = [
        of.rule.as_deref().map(rule),
        of.ensemble.as_deref().and_then(ensemble),
        of.path.as_deref().map(|path| format!("locks {}", sentence(path))),
    ];
    let said: Vec<String> = said.into_iter().flatten().collect();
    if said.is_empty() { "every alert".to_owned() } else { said.join(", ") }
}

/// For how long it must be so.
pub(super) fn wait(ms: i64) -> String {
    const UNITS: [(i64, &str); 4] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s")];
    if ms <= 0 {
        return "at once".to_owned();
    }
    let whole = UNITS.into_iter().find(|(unit, _)| ms % unit == 0);
    whole.map_or_else(|| duration(ms), |(unit, name)| format!("{}\u{a0}{name}", ms / unit))
}

pub(super) fn trouble(why: &str) -> String {
    format!("takes none: {}", visible(why))
}

/// What those read who may only look: signed in or not, where there is a way to sign in or none.
pub(super) fn who_may_act(is_signed_in: bool, can_sign_in: bool) -> &'static str {
    match (is_signed_in, can_sign_in) {
        (true, _) => "Acknowledging and silencing needs an operator; who you are signed in as may only look.",
        (false, true) => "Acknowledging and silencing needs an operator: ",
        (false, false) => {
            "Acknowledging and silencing needs an operator, and nobody can sign in here; `lockscope token new` makes a token."
        }
    }
}

pub(super) fn not_tried(why: &str) -> String {
    format!("It was not tried: {}", visible(why))
}

pub(super) fn last_hours(hours: u32) -> String {
    match hours {
        1 => "hour".to_owned(),
        168 => "week".to_owned(),
        hours => format!("{hours} hours"),
    }
}

pub(super) fn would_have_fired(times: usize, hours: u32) -> String {
    let over = format!("in the last {}", last_hours(hours));
    match times {
        0 => format!("It would not have fired {over}."),
        1 => format!("It would have fired once {over}."),
        times => format!("It would have fired {} times {over}.", count(times as u64)),
    }
}

pub(super) fn tried_lasts(ms: Option<i64>) -> String {
    ms.map_or_else(|| "until now".to_owned(), duration)
}

pub(super) fn tried_unknown(ms: i64) -> String {
    format!("Nothing is known of {} of that time: nobody can say what would have fired in it.", duration(ms))
}

pub(super) fn tried_left_out(count: usize) -> String {
    format!("{} later, which are not listed; a shorter time has them.", plural(count as u64, "more", "more"))
}

pub(super) fn caption(title: &str, rows: usize) -> String {
    format!("{title}, {}", plural(rows as u64, "row", "rows"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_counts_what_somebody_is_told_of() {
        assert_eq!(summary(0, 0, 0), "Nothing fires.");
        assert_eq!(summary(0, 1, 0), "Nothing fires but 1 alert that is silenced.");
        assert_eq!(summary(1, 0, 0), "1 alert fires: ");
        assert_eq!(summary(1, 0, 1), "1 alert fired when ZooKeeper was last seen: ");
        assert_eq!(summary(2, 1, 0), "2 alerts fire, besides 1 that is silenced. The worst: ");
        assert_eq!(summary(3, 0, 1), "3 alerts fire (1 of them when ZooKeeper was last seen). The worst: ");
        assert_eq!(
            summary(3, 2, 3),
            "3 alerts fired when ZooKeeper was last seen, besides 2 that are silenced. The worst: "
        );
    }

    #[test]
    fn a_wait_is_as_short_as_it_was_written() {
        assert_eq!(
            [wait(0), wait(30_000), wait(120_000), wait(7_200_000)],
            ["at once", "30\u{a0}s", "2\u{a0}min", "2\u{a0}h"]
        );
        assert_eq!((wait(90_000), wait(1_500)), ("90\u{a0}s".to_owned(), "1.5 s".to_owned()));
    }

    #[test]
    fn a_silence_of_all_says_so() {
        assert_eq!(matchers(&AlertMatchers::default()), "every alert");
        let of = AlertMatchers { rule: Some("stuck".to_owned()), path: Some("/a/*".to_owned()), ..Default::default() };
        assert_eq!(matchers(&of), "rule stuck, locks /a/*");
    }
}
