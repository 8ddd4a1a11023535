//! In which epoch each member is: one light question a second, each member in its own time. A deposed leader goes on
//! answering our session, `sync` included, until it notices (ZOOKEEPER-1675); only the other members know better.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use lockscope_core::evidence::{Health, MemberRole};
use reqwest::Client;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::failure::Failure;
use super::fault::Malformed;
use super::http;
use super::roster::MemberAddress;
use super::source::Source;

/// From one question to the next.
pub(crate) const EVERY: Duration = Duration::from_secs(1);
/// A later answer is none.
pub(crate) const ANSWER_MAX: Duration = Duration::from_millis(900);
/// Questions passed over after a member refused one.
const SPARED: u32 = 15;

/// What members answered last, by name.
pub(crate) type MemberEpochs = BTreeMap<Box<str>, MemberEpoch>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MemberEpoch {
    pub(crate) asked: Option<Instant>,
    /// Its role, while it serves; of an observer as well while it does not answer.
    pub(crate) role: Option<MemberRole>,
    /// High half of its last transaction. It rises with the first transaction after an election, of a leader as well.
    pub(crate) epoch: Option<u32>,
    /// It is down or has no leader, so it is part of no quorum.
    pub(crate) is_idle: bool,
    /// As a leader: followers in sync with it.
    pub(crate) followers: Option<usize>,
    /// Questions that timed out since it last answered; None before it ever did.
    pub(crate) timeouts: Option<u32>,
    /// As a leader: since when it answers so.
    pub(crate) led: Option<Led>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Led {
    /// Its first answer came.
    pub(crate) since: Instant,
    /// It was asked for its last answer.
    pub(crate) asked: Instant,
    /// Its last answer came.
    pub(crate) answered: Instant,
}

/// Asks every member of the roster until the roster ends.
pub(super) async fn ask_all(mut roster: watch::Receiver<Vec<MemberAddress>>, reports: watch::Sender<MemberEpochs>) {
    let (client, leaders) = (http::client().ok(), watch::Sender::new(()));
    loop {
        let members = roster.borrow_and_update().clone();
        reports.send_modify(|reports| reports.retain(|name, _| members.iter().any(|member| member.name == *name)));
        let asking = join_all(members.iter().map(|member| ask_member(member, client.as_ref(), &reports, &leaders)));
        tokio::select! {
            changed = roster.changed() => if changed.is_err() { return },
            _ = asking, if !members.is_empty() => return,
        }
    }
}

async fn ask_member(
    member: &MemberAddress,
    client: Option<&Client>,
    reports: &watch::Sender<MemberEpochs>,
    leaders: &watch::Sender<()>,
) {
    let admin = client.zip(member.admin_url.clone()).map(|(client, url)| Source::Admin { client: client.clone(), url });
    let sources: Vec<Source> = [Source::Words { address: member.address.clone() }].into_iter().chain(admin).collect();
    let (mut state, mut pace) = (MemberEpoch::default(), interval(EVERY));
    let (mut at, mut spared, mut is_synced_next) = (0_usize, 0, false);
    let mut another = leaders.subscribe();
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while let Some(source) = sources.get(at % sources.len()) {
        // Who may have been deposed is asked at once when another member leads.
        tokio::select! {
            _ = pace.tick() => {}
            Ok(()) = another.changed(), if state.leads() => pace.reset(),
        }
        let asked = Instant::now();
        state.asked = Some(asked);
        if spared > 0 {
            spared -= 1;
        } else if is_synced_next {
            state.followers = timeout(ANSWER_MAX, source.synced_followers()).await.ok().and_then(Result::ok);
            // Only a leader reports it.
            let led = state.led.filter(|_| state.followers.is_some());
            state.led = led.map(|led| Led { asked, answered: Instant::now(), ..led });
            is_synced_next = false;
        } else {
            let answer = timeout(ANSWER_MAX, source.serving()).await.ok();
            state = state.after(matches!(source, Source::Words { .. }), answer.as_ref());
            is_synced_next = state.role == Some(MemberRole::Leader);
            let (led, answered) = (state.led, Instant::now());
            state.led = is_synced_next.then(|| Led { since: led.map_or(answered, |led| led.since), asked, answered });
            if led.is_none() && is_synced_next {
                leaders.send_replace(());
            }
            // The other way may be open.
            at += usize::from(state.epoch.is_none() && !state.is_idle);
            let is_refused = matches!(&answer, Some(Err(failure)) if !failure.whole_way && !state.is_idle);
            spared = if is_refused && at.is_multiple_of(sources.len()) { SPARED } else { 0 };
        }
        reports.send_modify(|reports| _ = reports.insert(member.name.clone(), state));
    }
}

impl MemberEpoch {
    /// The same after an answer; None when it timed out. An AdminServer may be off by itself.
    fn after(self, is_client_port: bool, answer: Option<&Result<Health, Failure>>) -> Self {
        let is_idle = matches!(answer, Some(Err(failure))
            if *failure == Failure::from(Malformed::NotServing) || is_client_port && *failure == Failure::nobody());
        let timeouts = match answer {
            Some(Ok(_)) => Some(0),
            Some(Err(_)) => self.timeouts.map(|_| 0),
            None => self.timeouts.map(|count| count.saturating_add(1)),
        };
        let Some(Ok(health)) = answer else {
            let role = self.role.filter(|role| *role == MemberRole::Observer);
            return Self { asked: self.asked, role, is_idle, timeouts, ..Self::default() };
        };
        let epoch = health.zxid.and_then(|zxid| u32::try_from(zxid.0 >> 32).ok());
        Self { role: health.role, epoch, is_idle, timeouts, ..self }
    }

    /// It leads others, or is alone.
    pub(crate) fn leads(&self) -> bool {
        matches!(self.role, Some(MemberRole::Leader | MemberRole::Standalone))
    }
}
