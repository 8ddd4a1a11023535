//! One fault with one seed, from an empty ZooKeeper to what the judge says.

use std::path::{Path, PathBuf};
use std::{fs, io, slice};

use lockscope_judge::{
    CLOCK_TOLERANCE_MS, Capture, Limits, Report, Truth, judge_alerts, judge_releases, judge_within, split_at_restore,
};
use lockscope_txn_log::{LogReader, Transaction};

use crate::deposed::{committed, depose};
use crate::disconnects::false_claims;
use crate::fault::{Fault, Form};
use crate::scene::{Evidence, Scene};
use crate::ticker::Ticker;

/// Threads that one piece of news passes, each of which may be late: relay, observer, projection, socket.
const HOPS: i64 = 4;
/// The same for a reconnect, with its answers from ZooKeeper.
const RECONNECT_HOPS: i64 = 12;

/// What came of it.
#[derive(Debug, Default)]
pub struct Outcome {
    pub report: Report,
    /// What is wrong and no matter of views and releases, such as a frame that leads nowhere.
    pub wrong: Vec<String>,
    pub notes: Vec<String>,
    /// How long after the end of the fault all was LIVE again.
    pub back_ms: Option<i64>,
    /// How late this machine was at worst; all bounds were wider by it.
    pub machine_late_ms: i64,
}

impl Outcome {
    pub fn is_clean(&self) -> bool {
        self.report.is_clean() && self.wrong.is_empty()
    }
}

/// Runs it. A panic on the way, as when something never comes true, is what was wrong.
pub async fn run(program: &Path, fault: Fault, seed: u64, form: Form) -> Outcome {
    let program = program.to_owned();
    match tokio::spawn(async move { attempt(&program, fault, seed, form).await }).await {
        Ok(outcome) => outcome,
        Err(error) => Outcome { wrong: vec![words(error)], ..Outcome::default() },
    }
}

fn words(error: tokio::task::JoinError) -> String {
    let Ok(panic) = error.try_into_panic() else { return "the run was given up".to_owned() };
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_else(|| "a panic".to_owned())
}

async fn attempt(program: &Path, fault: Fault, seed: u64, form: Form) -> Outcome {
    let ticker = Ticker::start();
    let mut scene = Scene::start(program, &fault.setup(), seed).await;
    fault.throw(&mut scene, form).await;
    let evidence = scene.end(form.awaits_alerts(fault)).await;
    let machine_late_ms = ticker.worst_ms();
    drop(ticker);
    decide(fault, evidence, machine_late_ms).await
}

/// `as_of.zxid` promises what may be read. Of contenders that may not be, no event tells: there the promise is one of time.
fn claim_time_only(captured: &mut [Capture], fault: Fault) {
    for capture in captured {
        match capture {
            Capture::Shown(shown) if fault.hides(&shown.lock) => shown.zxid = 0,
            Capture::Gone(gone) if fault.hides(&gone.lock) => gone.zxid = 0,
            _ => {}
        }
    }
}

/// What Lockscope promises, on a machine that was so late.
fn limits(machine_late_ms: i64) -> Limits {
    let promised = Limits::default();
    let late_ms = |hops: i64| hops.saturating_mul(machine_late_ms);
    Limits {
        age_max_ms: promised.age_max_ms + late_ms(HOPS),
        not_live_max_ms: promised.not_live_max_ms + late_ms(HOPS),
        silence_max_ms: promised.silence_max_ms + late_ms(HOPS),
        exact_max_ms: promised.exact_max_ms + late_ms(RECONNECT_HOPS),
        clock_tolerance_ms: CLOCK_TOLERANCE_MS + machine_late_ms,
        alert_max_ms: promised.alert_max_ms + late_ms(HOPS),
    }
}

async fn decide(fault: Fault, evidence: Evidence, machine_late_ms: i64) -> Outcome {
    let Evidence {
        mut captured,
        autopsy,
        mut spans,
        broken,
        dead,
        logs,
        replaced,
        record,
        alerts,
        sessions,
        back_ms,
        mut notes,
        mut wrong,
        servers,
        data,
    } = evidence;
    wrong.extend(broken);
    let transactions_of = |logs: &[PathBuf]| transactions(logs).expect("the servers' logs can be read");
    let transactions = if fault.parts_members() {
        committed(logs.iter().map(|log| transactions_of(slice::from_ref(log))).collect())
    } else {
        transactions_of(&logs)
    };
    let first = replaced.map(|replaced| (replaced.at_ms, transactions_of(&replaced.logs)));
    drop(servers);
    let limits = limits(machine_late_ms);
    claim_time_only(&mut captured, fault);
    if fault.parts_members() {
        depose(&mut captured, &mut spans, &transactions, &limits);
    }
    let (mut report, mut dead_after) = (Report::default(), dead.as_slice());
    if let Some((at_ms, first)) = first {
        let (dead_before, dead) = dead.split_at(dead.partition_point(|claim| claim.at_ms < at_ms));
        dead_after = dead;
        wrong.extend(false_claims(dead_before, &first, fault.keeps_clients()));
        let [before, after] = split_at_restore(&captured, &spans, at_ms);
        captured = after.captures;
        report.merge(judge_within(&limits, &truth(first, &mut wrong), &before.captures, &before.faults));
    }
    wrong.extend(false_claims(dead_after, &transactions, fault.keeps_clients()));
    notes.extend((!dead.is_empty()).then(|| format!("{} times a session was called dead", dead.len())));
    let truth = truth(transactions, &mut wrong);
    report.merge(judge_within(&limits, &truth, &captured, &spans));
    // An autopsy has the log itself: no fault excuses it, and what it shows of an instant is of that instant.
    report.merge(judge_within(&Limits { age_max_ms: 0, ..limits }, &truth, &autopsy, &[]));
    if let Some(alerts) = alerts {
        report.merge(judge_alerts(&limits, &truth, &captured, &spans, &alerts));
    }
    if let Some(record) = record {
        report.merge(judge_releases(&limits, &truth, &record.releases(sessions)));
        if let Err(words) = record.verify().await {
            wrong.push(format!("the audit log is not whole: {words}"));
        }
    }
    drop(data);
    Outcome { report, wrong, notes, back_ms, machine_late_ms }
}

/// What was true by these transactions.
fn truth(transactions: Vec<Transaction>, wrong: &mut Vec<String>) -> Truth {
    let truth = Truth::from_transactions(transactions);
    if truth.missing() > 0 {
        wrong
            .push(format!("the servers' logs lack {} transactions, so nothing can be judged by them", truth.missing()));
    }
    truth
}

/// All transactions that any of the servers has in its logs.
pub fn transactions(folders: &[PathBuf]) -> io::Result<Vec<Transaction>> {
    let mut transactions = Vec::new();
    for folder in folders {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let is_log = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("log."));
            if is_log {
                let bytes = fs::read(&path)?;
                for transaction in LogReader::new(&bytes) {
                    transactions
                        .push(transaction.map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?);
                }
            }
        }
    }
    Ok(transactions)
}
