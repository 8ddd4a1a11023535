//! Alerts beside every fault: rules about locks of their own, receivers that take them or fail, and somebody who looks at
//! what fires. In the end all of it is handed to the judge.

mod alertmanager;
mod receiver;
mod sightings;

use std::path::Path;
use std::time::Duration;

use lockscope_judge::{Alert, AlertRule, AlertWhen, Alerts, BEGINS_AGAIN_MS, Told};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::Value;
use tokio::time::sleep;

use crate::capture::now_ms;
use crate::lockscope::Lockscope;
use crate::workload::{Contention, Who};
use crate::{ROOT, STEP};
use alertmanager::Alertmanager;
use receiver::Receiver;
use sightings::Sightings;

/// The receivers of alerts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alarming {
    /// There are no rules.
    Off,
    /// A receiver that fails.
    Webhook,
    /// The same and a real Alertmanager, of more locks.
    Everybody,
}

/// Locks that alerts are about.
const LOCKS: usize = 4;
/// The same where alerts are what it is about.
const MANY_LOCKS: usize = 16;
/// What their names begin with.
const LOCK_NAME: &str = "alarm-";
/// The rules: name, condition as it is written, for how long, and the same for the judge.
const RULES: [(&str, &str, i64, AlertWhen); 3] = [
    ("held", "held > 1s", 0, AlertWhen::Held(1_000)),
    ("waiting", "waiting > 1500ms", 500, AlertWhen::Waiting(1_500)),
    ("depth", "depth > 2", 1_000, AlertWhen::Depth(2)),
];
/// The route of the receiver that fails.
const WEBHOOK: &str = "webhook";
/// The route of the real Alertmanager.
const ALERTMANAGER: &str = "alertmanager";
/// How long it takes at most until everybody took what there is to be told: a request that hangs, and what is waited after
/// failures.
const TOLD_WITHIN_MS: i64 = 30_000;
/// How long it takes until all alerts are over, beyond the time within which what begins again never ended.
const OVER_WITHIN_MS: i64 = 1_500;
/// How long the list of alerts may take.
const LIST_WITHIN: Duration = Duration::from_secs(5);

/// Everybody who has to do with alerts.
#[derive(Debug)]
pub struct Alarms {
    how: Alarming,
    receiver: Receiver,
    alertmanager: Option<Alertmanager>,
    sightings: Option<Sightings>,
    secret: std::path::PathBuf,
}

/// What becomes of them.
#[derive(Debug, Default)]
pub struct AlertsHeard {
    pub alerts: Alerts,
    pub notes: Vec<String>,
    pub wrong: Vec<String>,
}

impl Alarming {
    /// The locks, and what goes on there.
    pub fn contentions(self) -> Vec<Contention> {
        let count = match self {
            Self::Off => 0,
            Self::Webhook => LOCKS,
            Self::Everybody => MANY_LOCKS,
        };
        (0..count).map(|number| Contention { path: format!("{ROOT}/{LOCK_NAME}{number}"), who: Who::Slow }).collect()
    }
}

impl Alarms {
    /// The receivers, before there are alerts; None where there are no rules. A secret lies in the folder.
    pub async fn start(how: Alarming, folder: &Path, seed: u64) -> Option<Self> {
        if how == Alarming::Off {
            return None;
        }
        let secret = folder.join("alarm-secret");
        std::fs::write(&secret, receiver::SECRET).expect("the folder is ours");
        let receiver = Receiver::start(StdRng::seed_from_u64(seed ^ 0xa1a2)).await;
        let wants_alertmanager = how == Alarming::Everybody && Alertmanager::is_installed();
        let alertmanager =
            if wants_alertmanager { Some(Alertmanager::start(folder, &receiver.groups_url()).await) } else { None };
        Some(Self { how, receiver, alertmanager, sightings: None, secret })
    }

    /// What the program's configuration has of them.
    pub fn config(&self) -> String {
        let mut text = String::new();
        for (name, when, for_ms, _) in RULES {
            text.push_str(&format!(
                "\n[[alert]]\nname = \"{name}\"\nwhen = \"{when}\"\npath = \"{ROOT}/{LOCK_NAME}*\"\nfor = \"{for_ms}ms\"\n"
            ));
        }
        text.push_str(&format!(
            "\n[[route]]\nname = \"{WEBHOOK}\"\nkind = \"webhook\"\nurl = \"{}\"\nsecret_file = \"{}\"\n",
            self.receiver.url(),
            self.secret.display()
        ));
        if let Some(alertmanager) = &self.alertmanager {
            text.push_str(&format!(
                "\n[[route]]\nname = \"{ALERTMANAGER}\"\nkind = \"alertmanager\"\nurl = \"{}\"\n",
                alertmanager.url()
            ));
        }
        text
    }

    /// Somebody looks at what fires from now on.
    pub fn watch(&mut self, url: &str) {
        self.sightings = Some(Sightings::start(url));
    }

    /// Requests that the receiver was sent so far.
    pub fn requests(&self) -> usize {
        self.receiver.requests()
    }

    /// Nothing goes wrong at receivers any longer, once alerts are over where that is awaited. Waits until they took what they
    /// are to be told, and gives it all.
    pub async fn end(mut self, lockscope: &Lockscope, awaits_ends: bool) -> AlertsHeard {
        let begin_ms = now_ms();
        // What is over is told to a receiver that fails as well.
        let fails_ms = if awaits_ends { BEGINS_AGAIN_MS + OVER_WITHIN_MS } else { 0 };
        let lasts_ms = fails_ms + TOLD_WITHIN_MS;
        let (mut fired, mut wrong) = (Vec::new(), Vec::new());
        let listed_at_ms = loop {
            let listed_at_ms = now_ms();
            if listed_at_ms - begin_ms >= fails_ms {
                self.receiver.be_good();
            }
            match list(lockscope).await {
                Some(listed) => {
                    fired = listed;
                    let is_over = |alert: &Alert| !awaits_ends || alert.over_at_ms.is_some();
                    if fired.iter().all(|alert| is_over(alert) && self.is_told(alert, &fired)) {
                        break listed_at_ms;
                    }
                }
                None if listed_at_ms - begin_ms > lasts_ms => wrong.push("alerts are not listed".to_owned()),
                None => {}
            }
            if listed_at_ms - begin_ms > lasts_ms {
                break listed_at_ms;
            }
            sleep(STEP * 5).await;
        };
        let sightings = match self.sightings.take() {
            Some(sightings) => sightings.end().await,
            None => Default::default(),
        };
        for alert in &mut fired {
            alert.seen_at_ms = sightings.get(&alert.key).copied().unwrap_or(listed_at_ms);
        }
        let told = self.told(&fired);
        let mut receivers = vec![WEBHOOK.to_owned()];
        receivers.extend(self.alertmanager.is_some().then(|| ALERTMANAGER.to_owned()));
        wrong.extend(self.receiver.broken());
        let mut notes = vec![format!("alerts: {}", self.receiver.summary())];
        if self.how == Alarming::Everybody && self.alertmanager.is_none() {
            notes.push("no Alertmanager is installed, so none was told".to_owned());
        }
        let rule =
            |(name, _, for_ms, when): (&str, &str, i64, AlertWhen)| AlertRule { name: name.to_owned(), when, for_ms };
        let alerts = Alerts {
            rules: RULES.into_iter().map(rule).collect(),
            fired,
            listed_at_ms,
            owing: self.how.contentions().into_iter().map(|contention| contention.path).collect(),
            receivers,
            by_labels: [ALERTMANAGER.to_owned()].into(),
            told,
            kills: lockscope.kills,
        };
        AlertsHeard { alerts, notes, wrong }
    }

    /// Whether everybody took the last that there is to be told of an alert.
    fn is_told(&self, alert: &Alert, all: &[Alert]) -> bool {
        let told = self.told(all);
        let took = |receiver: &str| {
            let is_it = |told: &&Told| told.receiver == receiver && told.key == alert.key;
            told.iter().filter(is_it).any(|told| told.is_answered && told.is_over == alert.over_at_ms.is_some())
        };
        // To Alertmanager the next one of its labels goes on with it, unless its end was passed on before.
        let is_next = |next: &&Alert| {
            (&next.rule, &next.lock) == (&alert.rule, &alert.lock) && next.fired_at_ms > alert.fired_at_ms
        };
        let goes_on = || all.iter().any(|next| is_next(&next));
        took(WEBHOOK) && (self.alertmanager.is_none() || took(ALERTMANAGER) || goes_on())
    }

    /// What everybody took, in order.
    fn told(&self, fired: &[Alert]) -> Vec<Told> {
        let by_key = self.receiver.taken().into_iter().map(|taken| Told {
            receiver: WEBHOOK.to_owned(),
            key: taken.key,
            is_over: taken.is_over,
            is_answered: taken.is_answered,
        });
        // Alertmanager knows no key: by its labels and when it fired.
        let groups = self.receiver.groups().into_iter().map(|group| {
            let is_it = |alert: &&Alert| {
                alert.rule == group.rule && alert.lock == group.lock && alert.fired_at_ms == group.fired_at_ms
            };
            let key = fired.iter().find(is_it).map_or_else(|| format!("{group:?}"), |alert| alert.key.clone());
            Told { receiver: ALERTMANAGER.to_owned(), key, is_over: group.is_over, is_answered: true }
        });
        by_key.chain(groups).collect()
    }
}

/// What fired by these rules, as the program lists it; None where it lists nothing now.
async fn list(lockscope: &Lockscope) -> Option<Vec<Alert>> {
    let asked = lockscope.http.get(format!("{}/api/v1/alerts", lockscope.url())).timeout(LIST_WITHIN).send().await;
    let body: Value = asked.ok()?.error_for_status().ok()?.json().await.ok()?;
    let rows = body["alerts"].as_array()?;
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let fired = rows.iter().filter_map(|row| {
        let rule = text(row, "rule");
        let is_ours = RULES.iter().any(|(name, ..)| *name == rule);
        let fired_at_ms = row["fired_at_ms"].as_i64().filter(|_| is_ours)?;
        Some(Alert {
            key: text(row, "key"),
            rule,
            lock: text(row, "lock"),
            fired_at_ms,
            seen_at_ms: fired_at_ms,
            over_at_ms: row["resolved_at_ms"].as_i64(),
        })
    });
    Some(fired.collect())
}
