//! Releases that are ordered by script, and what Lockscope's record says of each afterwards.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use lockscope_judge::{Outcome, OwnSessions, Plan, Releases};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::lockscope::{Lockscope, command};

/// How long a plan is asked for: what was just made has to be seen first, and a lost link to come back.
const PLAN_MAX: Duration = Duration::from_secs(10);
/// Pause before it is asked for again.
const PLAN_AGAIN: Duration = Duration::from_millis(200);

/// The file of the audit log inside the data directory.
const LOG: &str = "audit.log";

/// A plan that was ordered to be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ordered {
    path: String,
    czxid: i64,
}

/// How a script was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// 0: no answer came.
    pub status: u16,
    pub outcome: String,
}

/// Where the audit log lies, and what was ordered.
#[derive(Clone, Debug)]
pub struct Record {
    program: PathBuf,
    place: PathBuf,
    tokens: Vec<String>,
    ordered: Vec<Ordered>,
    count: usize,
    /// Why the last request for a plan was refused.
    pub why_no_plan: String,
}

impl Record {
    pub fn new(program: &Path, place: &Path, tokens: Vec<String>) -> Self {
        Self {
            program: program.to_owned(),
            place: place.to_owned(),
            tokens,
            ordered: Vec::new(),
            count: 0,
            why_no_plan: String::new(),
        }
    }

    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Somebody who may release: each time somebody else, for nobody may do much in a minute.
    fn token(&mut self) -> String {
        self.count += 1;
        self.tokens[self.count % self.tokens.len()].clone()
    }

    /// Asks for a plan until there is one; gives the token of who asked, and the plan.
    pub async fn plan(&mut self, lockscope: &Lockscope, path: &str) -> Option<(String, Value)> {
        let begin = Instant::now();
        while begin.elapsed() < PLAN_MAX {
            let token = self.token();
            let (status, plan) = lockscope.post("/api/v1/release/plan", &token, &json!({"path": path})).await;
            if status == 200 {
                return Some((token, plan));
            }
            self.why_no_plan = format!("{status}: {}", plan["detail"].as_str().unwrap_or_default());
            sleep(PLAN_AGAIN).await;
        }
        None
    }

    /// Notes that a plan is about to be carried out; gives the order.
    pub fn order(&mut self, plan: &Value) -> Value {
        let hex = plan["czxid"].as_str().and_then(|text| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok());
        let path = plan["path"].as_str().unwrap_or_default().to_owned();
        self.ordered.push(Ordered { path, czxid: hex.unwrap_or_default().cast_signed() });
        json!({"plan_id": plan["plan_id"], "confirm": plan["lock"], "reason": "the campaign"})
    }

    /// Plans and carries out.
    pub async fn release(&mut self, lockscope: &Lockscope, path: &str) -> Option<Answer> {
        let (token, plan) = self.plan(lockscope, path).await?;
        let order = self.order(&plan);
        Some(execute(lockscope, &token, &order).await)
    }

    /// What the audit log says, once the program has ended.
    pub fn releases(&self, sessions: BTreeSet<i64>) -> Releases {
        let text = std::fs::read_to_string(self.place.join(LOG)).unwrap_or_default();
        let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let plans = self.ordered.iter().map(|ordered| plan(ordered, &lines)).collect();
        Releases { ours: OwnSessions::These(sessions), plans }
    }

    /// Whether the program itself finds its record whole; else what it says.
    pub async fn verify(&self) -> Result<String, String> {
        let args = ["audit", "verify", "--data-dir", &self.place.display().to_string()].map(str::to_owned);
        let done = command(&self.program, &args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .output()
            .await
            .expect("lockscope runs");
        let text = [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        if done.status.success() { Ok(text) } else { Err(text) }
    }
}

/// Carries an order out.
pub async fn execute(lockscope: &Lockscope, token: &str, order: &Value) -> Answer {
    let (status, body) = lockscope.post("/api/v1/release/execute", token, order).await;
    Answer {
        status,
        outcome: body["outcome"].as_str().or_else(|| body["detail"].as_str()).unwrap_or_default().to_owned(),
    }
}

/// What the audit log has of a plan.
fn plan(ordered: &Ordered, lines: &[Value]) -> Plan {
    let czxid = format!("czxid {:#x},", ordered.czxid);
    let intent = lines.iter().find(|line| {
        line["kind"] == "release_intent"
            && line["path"] == ordered.path.as_str()
            && line["detail"].as_str().is_some_and(|detail| detail.contains(&czxid))
    });
    let outcome = intent.and_then(|intent| {
        lines.iter().find(|line| line["kind"] == "release_outcome" && line["intent"] == intent["id"])
    });
    Plan {
        path: ordered.path.clone(),
        czxid: ordered.czxid,
        intent_durable_at_ms: intent.and_then(|intent| intent["at_ms"].as_i64()),
        outcome: outcome.and_then(|line| line["outcome"].as_str()).map(outcome_of),
    }
}

fn outcome_of(word: &str) -> Outcome {
    match word {
        "released" => Outcome::Deleted,
        "released_other" => Outcome::DeletedOther,
        "unknown" | "asked" => Outcome::Unknown,
        _ => Outcome::NothingDeleted,
    }
}
