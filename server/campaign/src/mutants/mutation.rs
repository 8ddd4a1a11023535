//! The mutations: what is taken out where, and the test that must notice. One entry each, those of one binary together, so
//! that little is compiled twice.

use super::Patch;
use super::check::{Binary, Check};

/// One thing that is taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    Watches,
    Relist,
    Identity,
    Counters,
    Durability,
    Canary,
    FrameAge,
    FrameOfPast,
    RestartGap,
    AnswerOfPast,
    PastScope,
    Hindsight,
    Payloads,
    IntentFirst,
}

impl Mutation {
    pub const ALL: [Self; 14] = [
        Self::Watches,
        Self::Relist,
        Self::Identity,
        Self::Counters,
        Self::Durability,
        Self::Canary,
        Self::FrameAge,
        Self::FrameOfPast,
        Self::RestartGap,
        Self::AnswerOfPast,
        Self::PastScope,
        Self::Hindsight,
        Self::Payloads,
        Self::IntentFirst,
    ];

    #[rustfmt::skip]
    pub(super) fn patch(self) -> Patch {
        match self {
            Self::Watches => Patch {
                name: "watches",
                taken_out: "after a reconnect the root is read again, and its watch is not set again",
                file: "server/zookeeper/src/watch.rs",
                text: "(_, Input::Connected(why)) => (State::Arming { why }, Action::SetWatch),",
                replacement: "(_, Input::Connected(why @ Why::Reconnected)) => (State::Syncing { watched: true }, Action::BeginSync(why)),
        (_, Input::Connected(why)) => (State::Arming { why }, Action::SetWatch),",
                check: Check { binary: Binary::Unit, filter: "the_believed_tree_becomes_the_real_one_and_nothing_is_missed" },
            },
            Self::Relist => Patch {
                name: "relist",
                taken_out: "after a gap a directory whose counters moved is not listed",
                file: "server/zookeeper/src/root/comparison.rs",
                text: "self.list(directory, ListPurpose::Gap, children);",
                replacement: "",
                check: Check { binary: Binary::Unit, filter: "root::tests::gaps::" },
            },
            Self::Identity => Patch {
                name: "czxid",
                taken_out: "a release compares the owner of the znode, and not its czxid",
                file: "app/core/src/release/target.rs",
                text: "self.czxid == seen.czxid && self.owner == seen.owner",
                replacement: "self.owner == seen.owner",
                check: Check { binary: Binary::Core, filter: "release::" },
            },
            Self::Counters => Patch {
                name: "counters",
                taken_out: "what a directory's counters show and no event did counts as nothing",
                file: "server/zookeeper/src/stat_counters.rs",
                text: "let unseen = at_least(tally.seen);",
                replacement: "let unseen = Missed::default();",
                check: Check { binary: Binary::Unit, filter: "silent_znodes_are_found" },
            },
            Self::Durability => Patch {
                name: "durability",
                taken_out: "a record of the audit log is written, and not made durable before a release is sent",
                file: "server/audit/src/writer.rs",
                text: "self.file.write_all(&text).and_then(|()| self.file.sync_data());",
                replacement: "self.file.write_all(&text);",
                check: Check { binary: Binary::Unit, filter: "what_is_written_and_not_durable_is_not_on_record" },
            },
            Self::Canary => Patch {
                name: "canary",
                taken_out: "a probe that is not answered makes nothing STALE",
                file: "server/zookeeper/src/probe.rs",
                text: "now.saturating_duration_since(self.good_sent.unwrap_or(self.began)) >= PROOF_EVERY + ANSWER_MAX",
                replacement: "now < self.began",
                check: Check { binary: Binary::Unit, filter: "probe::tests::" },
            },
            Self::FrameAge => Patch {
                name: "age",
                taken_out: "a view goes on calling itself LIVE however old it is",
                file: "server/feed/src/known.rs",
                text: "self.is_live && !is_fresh(self.at_ms, now_ms)",
                replacement: "self.is_live && now_ms == i64::MIN",
                check: Check { binary: Binary::Unit, filter: "tests::known::" },
            },
            Self::FrameOfPast => Patch {
                name: "past-frames",
                taken_out: "a frame of a past moment does not say that it was not live then",
                file: "server/feed/src/still.rs",
                text: "as_of.why = as_of.why_in_the_past();",
                replacement: "as_of.why.clear();",
                check: Check { binary: Binary::Unit, filter: "still::tests::" },
            },
            Self::RestartGap => Patch {
                name: "restart-gap",
                taken_out: "the time in which no server ran is no gap of the recording",
                file: "server/history/src/historian/writer.rs",
                text: "self.loss = Some(Loss { after_seq: coverage.last_seq, from: coverage.to, why: reason_before(&*store)? });",
                replacement: "self.loss = None;",
                check: Check { binary: Binary::History, filter: "historian::a_restart_is_a_gap" },
            },
            Self::AnswerOfPast => Patch {
                name: "past-answers",
                taken_out: "an answer of a past moment does not say that it was not live then",
                file: "server/http/src/api_as_of.rs",
                text: "let why = as_of.why_in_the_past();",
                replacement: "let why = String::new();",
                check: Check { binary: Binary::Http, filter: "api_as_of::tests::" },
            },
            Self::PastScope => Patch {
                name: "past-scopes",
                taken_out: "answers of a past moment are not cut to what the caller may see",
                file: "server/http/src/api.rs",
                text: "share_past(http, asked, move |http, scope| make(&http.at(moment.as_ref(), &scope)?, scope)).await",
                replacement: "share_past(http, asked, move |http, scope| make(&http.at(moment.as_ref(), &scope)?, VisibilityScope::ALL)).await",
                check: Check { binary: Binary::Server, filter: "history::scopes::nothing_outside_a_scope" },
            },
            Self::Hindsight => Patch {
                name: "hindsight",
                taken_out: "a past moment that lacks a contender which was noticed later claims to be whole",
                file: "server/http/src/history/moments.rs",
                text: "let shown = rewound.in_hindsight(&*store_of(handle)?, at).map_err(ReplayError::from)?;",
                replacement: "let shown = rewound.observatory().clone();",
                check: Check { binary: Binary::Server, filter: "history::hindsight::" },
            },
            Self::Payloads => Patch {
                name: "payloads",
                taken_out: "payloads that nobody may see are recorded",
                file: "server/src/serve/recording.rs",
                text: "self.recorder.hide_payloads(*self.payloads.borrow() == Payloads::Nobody);",
                replacement: "",
                check: Check { binary: Binary::Server, filter: "history::scopes::what_nobody_may_see" },
            },
            Self::IntentFirst => Patch {
                name: "intent-first",
                taken_out: "a release is sent before its intent is on record",
                file: "server/release/src/execute.rs",
                text: "    let intent = match log.intent(request.intent(), request.undone()).await {",
                replacement: "    let _ = request.ensemble.release(request.planned.target.clone()).await;
    let intent = match log.intent(request.intent(), request.undone()).await {",
                check: Check { binary: Binary::Server, filter: "release::service::nothing_leaves_without_its_record" },
            },
        }
    }
}
