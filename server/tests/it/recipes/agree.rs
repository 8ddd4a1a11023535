//! What the clients of a lock say, and whether ZooKeeper and Lockscope say the same.

use serde_json::Value;

use super::host::Client;
use super::lockscope::{Lockscope, Scene};

/// A client's place in a lock, in its own words.
#[derive(Clone)]
pub(super) struct Seat<'a> {
    /// Who waits here must be silent.
    client: Option<&'a Client>,
    /// None for a znode that no session owns.
    session: Option<String>,
    /// The znode; where a client has several in one lock, any of them will do.
    paths: Vec<String>,
    /// One of these, parted by `|`.
    access: &'static str,
    /// What it waits for; unchecked when None.
    waits_for: Option<Vec<String>>,
}

/// What a lock should look like.
pub(super) struct Lock<'a> {
    pub(super) path: &'a str,
    /// One of these, parted by `|`.
    pub(super) recipe: &'static str,
    /// In order.
    pub(super) holders: Vec<Seat<'a>>,
    /// In order.
    pub(super) waiters: Vec<Seat<'a>>,
}

impl<'a> Seat<'a> {
    pub(super) fn of(client: &'a Client, path: &str, access: &'static str) -> Self {
        Self { client: Some(client), ..Self::unseen(&client.session, path, access) }
    }

    /// The seat of a session whose client is not at hand.
    pub(super) fn unseen(session: &str, path: &str, access: &'static str) -> Self {
        Self { client: None, session: Some(session.to_owned()), paths: vec![path.to_owned()], access, waits_for: None }
    }

    /// A znode without a session.
    pub(super) fn persistent(path: &str, access: &'static str) -> Self {
        Self { client: None, session: None, paths: vec![path.to_owned()], access, waits_for: None }
    }

    pub(super) fn or(mut self, path: &str) -> Self {
        self.paths.push(path.to_owned());
        self
    }

    pub(super) fn behind(mut self, paths: &[&str]) -> Self {
        self.waits_for = Some(paths.iter().map(|path| (*path).to_owned()).collect());
        self
    }

    /// Whether its name ends in a sequence number; a random name may end in as many digits by chance.
    fn is_numbered(&self) -> bool {
        let path = &self.paths[0];
        let (stem, digits) = path.split_at_checked(path.len() - 10).unwrap_or_default();
        stem.ends_with(['-', '_']) && digits.bytes().all(|byte| byte.is_ascii_digit())
    }

    /// What is wrong with a contender of Lockscope's answer.
    fn differs(&self, contender: &Value) -> Option<String> {
        let waits_for = self.waits_for.as_ref().map(|paths| Value::from(paths.clone()));
        let path = contender["path"].as_str().unwrap_or_default();
        let is_same = self.paths.iter().any(|own| own == path)
            && contender["node"].as_str() == path.rsplit('/').next()
            && contender["session_id"].as_str() == self.session.as_deref()
            && contender["ephemeral"].as_bool() == Some(self.session.is_some())
            && is_one_of(&contender["access"], self.access)
            && waits_for.as_ref().is_none_or(|paths| *paths == contender["waits_for"]);
        (!is_same).then(|| {
            format!("{:?} owned by {:?}, access {}, waits for {waits_for:?}", self.paths, self.session, self.access)
        })
    }
}

fn is_one_of(value: &Value, words: &str) -> bool {
    value.as_str().is_some_and(|value| words.split('|').any(|word| word == value))
}

impl Lock<'_> {
    /// Waits until ZooKeeper has what the clients say, then until Lockscope says it too. Clients that wait have said
    /// nothing meanwhile.
    pub(super) async fn agrees(&self, scene: &Scene) {
        scene.until("ZooKeeper has what the clients say", async || self.differs_really(scene).await).await;
        scene.until("Lockscope says what the clients say", async || self.differs_in(&scene.lockscope).await).await;
        for seat in &self.waiters {
            assert!(seat.client.is_none_or(Client::is_silent), "{:?} waits but has something to say", seat.paths);
        }
    }

    /// As [`Self::agrees`]; then a Lockscope that was not there until now must say the same.
    pub(super) async fn agrees_afresh(&self, scene: &Scene) {
        self.agrees(scene).await;
        let newcomer = scene.newcomer().await;
        scene.until("a newcomer says what the clients say", async || self.differs_in(&newcomer).await).await;
    }

    /// Whether the clients are right: each has a znode of its own session, and watches what it waits for.
    async fn differs_really(&self, scene: &Scene) -> Option<String> {
        for seat in self.holders.iter().chain(&self.waiters) {
            let mut is_there = false;
            for path in &seat.paths {
                let stat = scene.truth.client.check_stat(path).await.unwrap();
                let owner =
                    stat.map(|stat| (stat.ephemeral_owner != 0).then(|| format!("{:#x}", stat.ephemeral_owner)));
                is_there |= owner == Some(seat.session.clone());
            }
            if !is_there {
                return Some(format!("{:?} is not there as {:?}'s", seat.paths, seat.session));
            }
            for path in seat.waits_for.iter().flatten() {
                let Some(session) = &seat.session else { continue };
                if !scene.is_watching(session, path).await {
                    return Some(format!("{session} does not watch {path}"));
                }
            }
        }
        None
    }

    async fn differs_in(&self, lockscope: &Lockscope) -> Option<String> {
        let (status, answer) = lockscope.ask(&format!("/api/v1/lock?path={}", self.path)).await;
        if self.holders.is_empty() && self.waiters.is_empty() && status == 404 {
            // A lock that never held anybody while we looked, or whose directory went.
            return None;
        }
        let wrong = self.differs_from(&answer);
        wrong.map(|wrong| format!("{} has status {status}; {wrong}\nLockscope says {}", self.path, pretty(&answer)))
    }

    fn differs_from(&self, answer: &Value) -> Option<String> {
        let Some(mut contenders) = answer["contenders"].as_array().cloned() else {
            return Some("no contenders are told".to_owned());
        };
        contenders.sort_by_key(|contender| contender["position"].as_u64());
        for (role, seats) in [("holder", &self.holders), ("waiter", &self.waiters)] {
            let in_role = || contenders.iter().filter(|contender| contender["role"] == role);
            let mut found: Vec<&Value> = in_role().filter(|contender| !contender["node"].is_null()).collect();
            let mut seats: Vec<&Seat<'_>> = seats.iter().collect();
            if !seats.iter().any(|seat| seat.is_numbered()) {
                // Nothing but a number gives clients an order.
                found.sort_by_key(|contender| contender["path"].as_str().map(str::to_owned));
                seats.sort_by_key(|seat| &seat.paths);
            }
            let count = &answer[format!("{role}_count")];
            if self.holders.is_empty() && found.len() != in_role().count() {
                return Some(format!("nobody waits for what nobody holds: {}", answer["contenders"]));
            }
            // Items wait for nobody; and who waits without a znode may not be seen.
            let is_unknown = role == "waiter"
                && count.is_null()
                && answer["complete"] == false
                && (seats.is_empty() || self.recipe == "queue");
            if found.len() != seats.len() || !(is_unknown || count.as_u64() == u64::try_from(in_role().count()).ok()) {
                return Some(format!("not {} {role}s: {} in the list, {count} counted", seats.len(), found.len()));
            }
            for (seat, contender) in seats.iter().zip(&found) {
                if let Some(expected) = seat.differs(contender) {
                    return Some(format!("{role} should be {expected}, not {contender}"));
                }
            }
        }
        let brief =
            |contender: &Value| (contender["path"].clone(), contender["session_id"].clone(), contender["role"].clone());
        let holders = contenders.iter().filter(|contender| contender["role"] == "holder");
        if !answer["holders"].as_array().into_iter().flatten().map(brief).eq(holders.map(brief)) {
            return Some("`holders` differs from `contenders`".to_owned());
        }
        let is_whole =
            answer["path"] == self.path && (is_one_of(&answer["recipe"], self.recipe) || self.holders.is_empty());
        (!is_whole).then(|| format!("the recipe should be {}", self.recipe))
    }
}

fn pretty(answer: &Value) -> String {
    serde_json::to_string_pretty(answer).unwrap()
}
