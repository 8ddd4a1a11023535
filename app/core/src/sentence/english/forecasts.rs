//! The sentences of findings of what must be and of what will be, in English.

pub(super) fn must_be_held(is_there: bool, waiting: u32) -> String {
    let state = match (is_there, waiting) {
        (false, _) => "there is no such znode",
        (true, 0) => "nobody contends for it",
        (true, _) => "those who contend for it do not get it",
    };
    format!("Nobody holds it, and the configuration says that somebody must: {state}. Start what should hold it.")
}

pub(super) fn watch_inversion(watching: &str, behind: &str, is_first: bool, is_circle: bool) -> String {
    let what = format!("{watching} watches {behind}, which stands behind it in the queue");
    let effect = match (is_first, is_circle) {
        (true, _) => format!(
            ": by the queue's order {watching} holds, but its client waits, and {behind} waits for it. Neither goes on"
        ),
        (false, true) => format!(", and {behind} waits for it: once both are first they wait for each other for ever"),
        (false, false) => format!(", and not what it waits for: it is woken only when {behind} goes"),
    };
    format!(
        "{what}{effect}. Restart the client of {watching}; its library may watch the wrong znode (kazoo before 2.9, issue 649)."
    )
}

pub(super) fn never_drains(arrive: u64, served: u64, gave_up: u64) -> String {
    let given_up = if gave_up == 0 { String::new() } else { format!(", and about {gave_up} give up") };
    format!(
        "For two minutes more have arrived than were served: about {arrive} a minute arrive, about {served} have had it{given_up}. While that is so, the queue never drains."
    )
}

pub(super) fn sequence(days: u64, a_day: u64) -> String {
    format!(
        "About {a_day} sequence numbers are given out a day, on average since its directory was made: in about {days} days the counter reaches 2147483647 and runs over."
    )
}
