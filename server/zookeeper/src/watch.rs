//! The state machine of one watched root: watch first, then read; the actions for each input. Pure, no paths, no I/O:
//! `root` executes the actions.

use lockscope_core::observation::{RESTORED, SEPARATE};

/// Ticks (of [`super::session::TICK`]) until a failed or denied root is tried again.
const RETRY_TICKS: u16 = 20;
/// Ticks between full reads of a root whose server refuses watches.
const POLL_TICKS: u16 = 12;

/// Why a root is read anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    FirstSync,
    Reconnected,
    NewSession,
    Restored,
    Separate,
    EventsLost,
    CountersDiffer,
    RootCreated,
    RootDeleted,
    WrongEvents,
    TooMany,
    ReadFailed,
    Retry,
    Poll,
}

impl Why {
    /// All, in the order they are declared.
    pub(super) const ALL: [Self; 14] = [
        Self::FirstSync,
        Self::Reconnected,
        Self::NewSession,
        Self::Restored,
        Self::Separate,
        Self::EventsLost,
        Self::CountersDiffer,
        Self::RootCreated,
        Self::RootDeleted,
        Self::WrongEvents,
        Self::TooMany,
        Self::ReadFailed,
        Self::Retry,
        Self::Poll,
    ];

    /// For counters.
    pub(super) fn name(self) -> &'static str {
        self.words().0
    }

    /// For the screen.
    pub(super) fn text(self) -> &'static str {
        self.words().1
    }

    /// Its name for counters, and its text for the screen.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::FirstSync => ("first_sync", "first sync"),
            Self::Reconnected => ("reconnected", "reconnected"),
            Self::NewSession => ("new_session", "new session"),
            Self::Restored => ("restored", RESTORED),
            Self::Separate => ("separate", SEPARATE),
            Self::EventsLost => ("events_lost", "events lost"),
            Self::CountersDiffer => ("counters_differ", "counters differ"),
            Self::RootCreated => ("root_created", "root created"),
            Self::RootDeleted => ("root_deleted", "root deleted"),
            Self::WrongEvents => ("wrong_events", "watch events name the wrong znode"),
            Self::TooMany => ("too_many", "more znodes than there is room for"),
            Self::ReadFailed => ("read_failed", "a read failed"),
            Self::Retry => ("retry", "tried again"),
            Self::Poll => ("poll", "read again, no watches"),
        }
    }

    pub(super) fn is_other_history(self) -> bool {
        matches!(self, Self::Restored | Self::Separate)
    }

    /// Quiet reads are announced only when the root turns out readable: else a denied root would flicker.
    pub(super) fn is_quiet(self) -> bool {
        matches!(self, Self::Retry | Self::Poll)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Offline,
    /// The watch is being set.
    Arming {
        why: Why,
    },
    Syncing {
        watched: bool,
    },
    /// Followed by events.
    Live,
    /// Watched, but the root does not exist.
    Absent,
    /// Denied or failed; tried again later.
    Resting {
        ticks_left: u16,
        watched: bool,
    },
    /// Not watched: read in full now and then.
    Polling {
        ticks_left: u16,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    Connected(Why),
    Disconnected,
    /// The watch is set.
    Armed,
    /// The server refuses persistent watches.
    Refused,
    /// Setting the watch failed for another reason.
    ArmFailed,
    SyncComplete,
    RootMissing,
    RootDenied,
    RootCreated,
    /// The root was deleted, as an event says.
    RootDeleted,
    /// No event is believed any more.
    Distrusted,
    /// A root that is not watched has changed.
    Hurried,
    Untrusted(Why),
    /// A request failed though the link is there.
    ReadFailed,
    Tick,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Nothing,
    /// Forget what is under way.
    Abandon,
    SetWatch,
    BeginSync(Why),
    EndSync,
    /// As `EndSync`, then say that the root is not followed.
    EndReducedSync,
    ReportGone,
    ReportDenied,
    /// Say that the root is to be read anew; that begins later.
    AwaitRetry,
}

pub(super) fn step(state: State, input: Input) -> (State, Action) {
    match (state, input) {
        (_, Input::Disconnected) => (State::Offline, Action::Abandon),
        (_, Input::Connected(why)) => (State::Arming { why }, Action::SetWatch),
        (State::Offline, _) => (state, Action::Nothing),
        (State::Arming { why }, _) => step_arming(state, why, input),
        (_, Input::Distrusted) => (State::Syncing { watched: false }, Action::BeginSync(Why::WrongEvents)),
        (_, Input::Tick) => step_tick(state),
        (_, Input::ReadFailed) => {
            (State::Resting { ticks_left: RETRY_TICKS, watched: is_watched(state) }, Action::AwaitRetry)
        }
        (
            State::Polling { .. } | State::Syncing { watched: false } | State::Resting { watched: false, .. },
            Input::Untrusted(why),
        ) => (State::Syncing { watched: false }, Action::BeginSync(why)),
        (_, Input::Untrusted(why)) => (State::Syncing { watched: true }, Action::BeginSync(why)),
        (State::Syncing { watched }, _) => step_syncing(state, watched, input),
        (State::Polling { .. }, Input::Hurried) => (State::Syncing { watched: false }, Action::BeginSync(Why::Poll)),
        (State::Live | State::Absent | State::Resting { watched: true, .. }, Input::RootCreated) => {
            (State::Syncing { watched: true }, Action::BeginSync(Why::RootCreated))
        }
        // Whether it is gone is read: some servers report it of each znode below (`root::trust`).
        (State::Live | State::Resting { watched: true, .. }, Input::RootDeleted) => {
            (State::Syncing { watched: true }, Action::BeginSync(Why::RootDeleted))
        }
        (State::Live | State::Absent | State::Resting { .. } | State::Polling { .. }, _) => (state, Action::Nothing),
    }
}

/// Events are followed, or will be.
pub(super) fn is_watched(state: State) -> bool {
    !matches!(state, State::Polling { .. } | State::Syncing { watched: false } | State::Resting { watched: false, .. })
}

fn step_arming(state: State, why: Why, input: Input) -> (State, Action) {
    match input {
        Input::Armed => (State::Syncing { watched: true }, Action::BeginSync(why)),
        Input::Refused => (State::Syncing { watched: false }, Action::BeginSync(why)),
        // Only a link that breaks makes it fail, and that is about to be reported.
        Input::ArmFailed => (state, Action::SetWatch),
        _ => (state, Action::Nothing),
    }
}

fn step_syncing(state: State, watched: bool, input: Input) -> (State, Action) {
    match input {
        Input::SyncComplete if watched => (State::Live, Action::EndSync),
        Input::SyncComplete => (State::Polling { ticks_left: POLL_TICKS }, Action::EndReducedSync),
        Input::RootMissing if watched => (State::Absent, Action::ReportGone),
        Input::RootMissing => (State::Polling { ticks_left: POLL_TICKS }, Action::ReportGone),
        Input::RootDenied => (State::Resting { ticks_left: RETRY_TICKS, watched }, Action::ReportDenied),
        _ => (state, Action::Nothing),
    }
}

fn step_tick(state: State) -> (State, Action) {
    match state {
        State::Resting { ticks_left: 0, watched } => (State::Syncing { watched }, Action::BeginSync(Why::Retry)),
        State::Resting { ticks_left, watched } => {
            (State::Resting { ticks_left: ticks_left - 1, watched }, Action::Nothing)
        }
        State::Polling { ticks_left: 0 } => (State::Syncing { watched: false }, Action::BeginSync(Why::Poll)),
        State::Polling { ticks_left } => (State::Polling { ticks_left: ticks_left - 1 }, Action::Nothing),
        State::Offline | State::Arming { .. } | State::Syncing { .. } | State::Live | State::Absent => {
            (state, Action::Nothing)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(inputs: &[Input]) -> (State, Vec<Action>) {
        let mut actions = Vec::new();
        let mut state = State::Offline;
        for input in inputs {
            let (next, action) = step(state, *input);
            state = next;
            actions.push(action);
        }
        (state, actions)
    }

    #[test]
    fn watches_come_before_reads() {
        let (state, actions) = run(&[Input::Connected(Why::FirstSync), Input::Armed, Input::SyncComplete]);
        assert_eq!(state, State::Live);
        assert_eq!(actions, [Action::SetWatch, Action::BeginSync(Why::FirstSync), Action::EndSync]);
    }

    #[test]
    fn a_reconnect_sets_the_watches_again_and_reads_again() {
        let up = [Input::Connected(Why::FirstSync), Input::Armed, Input::SyncComplete];
        let again = [Input::Disconnected, Input::Connected(Why::Reconnected), Input::Armed];
        let (state, actions) = run(&[&up[..], &again[..]].concat());
        assert_eq!(state, State::Syncing { watched: true });
        assert_eq!(actions[3..], [Action::Abandon, Action::SetWatch, Action::BeginSync(Why::Reconnected)]);
    }

    #[test]
    fn a_root_comes_late_vanishes_and_returns() {
        let up = [
            Input::Connected(Why::FirstSync),
            Input::Armed,
            Input::RootMissing,
            Input::RootCreated,
            Input::SyncComplete,
        ];
        let (state, actions) = run(&[&up[..], &[Input::RootDeleted, Input::RootMissing, Input::RootCreated]].concat());
        assert_eq!(state, State::Syncing { watched: true });
        let (came, went) = (Action::BeginSync(Why::RootCreated), Action::BeginSync(Why::RootDeleted));
        assert_eq!(actions[2..], [Action::ReportGone, came, Action::EndSync, went, Action::ReportGone, came]);
    }

    #[test]
    fn a_server_without_watches_is_read_now_and_then() {
        let (mut state, _) = run(&[Input::Connected(Why::FirstSync), Input::Refused, Input::SyncComplete]);
        assert_eq!(state, State::Polling { ticks_left: POLL_TICKS });
        let mut ticks = 0;
        while matches!(state, State::Polling { .. }) {
            state = step(state, Input::Tick).0;
            ticks += 1;
        }
        assert_eq!((state, ticks), (State::Syncing { watched: false }, POLL_TICKS + 1));
    }

    #[test]
    fn a_server_whose_events_are_wrong_is_read_now_and_then_and_when_something_happens() {
        let up = [Input::Connected(Why::FirstSync), Input::Armed, Input::SyncComplete];
        let (state, actions) = run(&[&up[..], &[Input::Distrusted, Input::SyncComplete, Input::Hurried]].concat());
        assert_eq!(state, State::Syncing { watched: false });
        let (wrong, poll) = (Action::BeginSync(Why::WrongEvents), Action::BeginSync(Why::Poll));
        assert_eq!(actions[3..], [wrong, Action::EndReducedSync, poll]);
        // Whatever it says of the root is no reason to believe that.
        for input in [Input::RootDeleted, Input::RootCreated, Input::ReadFailed, Input::Untrusted(Why::EventsLost)] {
            assert!(!is_watched(step(state, input).0), "{input:?}");
        }
    }

    #[test]
    fn a_denied_root_is_tried_again_quietly() {
        let (mut state, actions) = run(&[Input::Connected(Why::FirstSync), Input::Armed, Input::RootDenied]);
        assert_eq!(actions[2], Action::ReportDenied);
        let mut last = Action::Nothing;
        for _ in 0..=RETRY_TICKS {
            (state, last) = step(state, Input::Tick);
        }
        assert_eq!((state, last), (State::Syncing { watched: true }, Action::BeginSync(Why::Retry)));
        assert!(Why::Retry.is_quiet());
    }

    #[test]
    fn a_failed_read_is_tried_again_later() {
        let (state, actions) =
            run(&[Input::Connected(Why::FirstSync), Input::Armed, Input::SyncComplete, Input::ReadFailed]);
        assert_eq!(
            (state, actions[3]),
            (State::Resting { ticks_left: RETRY_TICKS, watched: true }, Action::AwaitRetry)
        );
    }

    #[test]
    fn nothing_but_a_connection_leaves_offline() {
        let others = [
            Input::Armed,
            Input::Refused,
            Input::ArmFailed,
            Input::SyncComplete,
            Input::RootMissing,
            Input::RootDenied,
            Input::Tick,
        ];
        let more = [
            Input::RootCreated,
            Input::RootDeleted,
            Input::Distrusted,
            Input::Hurried,
            Input::ReadFailed,
            Input::Untrusted(Why::EventsLost),
            Input::Disconnected,
        ];
        for input in others.into_iter().chain(more) {
            assert_eq!(step(State::Offline, input).0, State::Offline, "{input:?}");
        }
    }
}
