//! `lockscope lab`: starts a run, reports progress on standard error and the result on standard output. On a private
//! ZooKeeper of its own, on an ensemble, or by a running server.

use std::time::Duration;

use lockscope_view::{LabOrder, LabRun, LabStarted, LabState, Strategy};
use reqwest::Method;

use crate::api_client::{ApiClient, token_in};
use crate::cli::LabArgs;
use crate::error::{EXIT_INTERRUPTED, RunError};
use crate::serve::signalled;
use crate::stdout;
use lockscope_demo::{PrivateZooKeeper, ServerOptions};
use lockscope_lab::{Lab, LabEnsemble, LabRefusal, Limits, has_ended};
use lockscope_runtime::clock::Clock;
use lockscope_zookeeper::{Credentials, check_connect};

const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Looks between two lines of progress.
const LOOKS_A_LINE: u32 = 5;
/// How long a run that was stopped gets to be cleared.
const CLEAR_MAX: Duration = Duration::from_secs(30);
const ROOT: &str = "/lockscope-lab";
/// Java heap of the private ZooKeeper, MiB: up to 2,000 sessions come at once.
const HEAP_MB: u32 = 256;

/// Does what was asked.
///
/// # Errors
/// One sentence; a run that was interrupted, failed, or broke mutual exclusion is an error too.
pub(super) async fn run(asked: &LabArgs) -> Result<(), RunError> {
    let order = order(asked)?;
    if let Some(server) = &asked.server {
        let token = asked.token_file.as_deref().map(token_in).transpose()?;
        return go(&RunTarget::Server(ApiClient::new(server, token, None)?), order, asked.json).await;
    }
    if let Some(zk) = &asked.zk {
        check_connect(zk).map_err(|fault| RunError::wrong(format!("--zk {zk:?} {}; {}", fault.why, fault.remedy)))?;
        return run_locally(zk, order, asked.json).await;
    }
    tell("starting a private ZooKeeper");
    let options = ServerOptions { heap_mb: HEAP_MB, ..ServerOptions::default() };
    let started = tokio::select! {
        started = PrivateZooKeeper::start(options) => started,
        () = signalled() => return Err(RunError::Interrupted),
    };
    let mut zookeeper =
        started.map_err(|error| RunError::Unavailable(format!("the lab's ZooKeeper could not be started: {error}")))?;
    let done = run_locally(&zookeeper.address(), order, asked.json).await;
    if let Err(error) = zookeeper.stop().await {
        tracing::warn!(%error, "the lab's ZooKeeper did not stop by itself and is killed");
    }
    done
}

async fn run_locally(connect: &str, order: LabOrder, is_json: bool) -> Result<(), RunError> {
    let place = LabEnsemble {
        ensemble: "default".to_owned(),
        connect: connect.to_owned(),
        credentials: Credentials::default(),
        root: ROOT.to_owned(),
    };
    let lab = Lab::new(vec![place], Limits::default(), None, Clock::system());
    lab.sweep().await;
    let done = go(&RunTarget::Local(lab.clone()), order, is_json).await;
    if !lab.close(CLEAR_MAX).await {
        tell(&format!(
            "the run was not cleared within {CLEAR_MAX:?}; the next run on this ensemble removes what it left below {ROOT}"
        ));
    }
    done
}

enum RunTarget {
    Local(Lab),
    Server(ApiClient),
}

impl RunTarget {
    async fn start(&self, order: LabOrder) -> Result<String, RunError> {
        match self {
            Self::Local(lab) => lab.start(order, "lockscope lab").map_err(refused),
            Self::Server(client) => {
                let order = serde_json::to_string(&order)
                    .map_err(|error| RunError::Internal(format!("the request can't be written: {error}")))?;
                let started: LabStarted = client.ask(Method::POST, "/api/v1/lab/runs", Some(order)).await?;
                Ok(started.id)
            }
        }
    }

    async fn run(&self, id: &str) -> Result<LabRun, RunError> {
        match self {
            Self::Local(lab) => {
                lab.run(id).map(|run| LabRun::clone(&run)).ok_or_else(|| refused(LabRefusal::Unknown(id.to_owned())))
            }
            Self::Server(client) => Ok(client.ask(Method::GET, &format!("/api/v1/lab/runs/{id}"), None).await?),
        }
    }

    async fn stop(&self, id: &str) -> Result<(), RunError> {
        match self {
            Self::Local(lab) => lab.stop(id, "lockscope lab").map_err(refused),
            Self::Server(client) => {
                Ok(client.ask::<LabRun>(Method::DELETE, &format!("/api/v1/lab/runs/{id}"), None).await.map(drop)?)
            }
        }
    }
}

async fn go(target: &RunTarget, order: LabOrder, is_json: bool) -> Result<(), RunError> {
    let id = target.start(order).await?;
    let followed = tokio::select! {
        run = follow(target, &id) => run,
        () = signalled() => {
            tell("stopping and clearing; a second signal ends at once and leaves that to the next run");
            tokio::spawn(async {
                signalled().await;
                std::process::exit(EXIT_INTERRUPTED.into());
            });
            target.stop(&id).await?;
            let cleared = tokio::time::timeout(CLEAR_MAX, follow(target, &id)).await;
            cleared.unwrap_or_else(|_| Err(RunError::Unavailable(format!("the run was not cleared within {CLEAR_MAX:?}"))))
        }
    };
    let run = followed?;
    if is_json {
        let text = serde_json::to_string_pretty(&run)
            .map_err(|error| RunError::Internal(format!("the run can't be written: {error}")))?;
        stdout::print(&text);
    } else {
        stdout::print(lockscope_lab::table::render(&run).trim_end());
    }
    judge(&run)
}

/// What the exit code means.
fn judge(run: &LabRun) -> Result<(), RunError> {
    if run.state == LabState::Stopped {
        return Err(RunError::Interrupted);
    }
    if run.state == LabState::Failed {
        return Err(RunError::Unavailable(format!("the run failed: {}", run.why)));
    }
    let broken = run.strategies.iter().find(|lane| lane.broken > 0 && run.faults.is_empty());
    broken.map_or(Ok(()), |lane| {
        Err(RunError::Broken(format!("{}: two held the lock at a time, {} times", lane.name, lane.broken)))
    })
}

async fn follow(target: &RunTarget, id: &str) -> Result<LabRun, RunError> {
    let (mut told, mut looks) = (String::new(), 0_u32);
    loop {
        let run = target.run(id).await?;
        let line = progress(&run);
        // A line for each change, as long as they are rare enough to be read.
        if line != told && (looks.is_multiple_of(LOOKS_A_LINE) || has_ended(run.state)) {
            tell(&line);
            told = line;
        }
        if has_ended(run.state) {
            return Ok(run);
        }
        looks = looks.wrapping_add(1);
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

fn progress(run: &LabRun) -> String {
    let lanes = run.strategies.iter().map(|lane| {
        format!("{} {} of {}, {} events", lane.name, lane.acquisitions, lane.acquisitions_wanted, lane.watch_events)
    });
    format!("{}: {}", run.state, lanes.collect::<Vec<_>>().join("; "))
}

fn order(asked: &LabArgs) -> Result<LabOrder, RunError> {
    let strategy = |name: &String| {
        let found = Strategy::ALL.into_iter().find(|strategy| strategy.name() == name);
        let names = Strategy::ALL.map(Strategy::name).join(", ");
        found.ok_or_else(|| {
            RunError::wrong(format!("--strategies has {name:?}, which is none; use {names}, separated by commas"))
        })
    };
    Ok(LabOrder {
        ensemble: asked.ensemble.clone(),
        strategies: asked.strategies.iter().map(strategy).collect::<Result<_, _>>()?,
        clients: asked.clients,
        rounds: asked.rounds,
        hold_ms: asked.hold_ms,
        think_ms: asked.think_ms,
        duration_ms: asked.duration_ms,
        in_turn: !asked.at_once,
        seed: asked.seed,
    })
}

fn refused(refusal: LabRefusal) -> RunError {
    match refusal {
        LabRefusal::Bad(sentence) => RunError::wrong(sentence),
        other => RunError::Unavailable(other.to_string()),
    }
}

/// A line for whoever waits. A closed standard error is nobody waiting.
fn tell(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{line}");
}
