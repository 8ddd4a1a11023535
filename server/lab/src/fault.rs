//! Faults, thrown into a run: who is hit, whether that makes sense in its lane, and what the board will show of it.
//! Owns the choice and the words; the client that is hit does the rest.

use std::time::Duration;

use lockscope_view::{Fault, FaultOrder, LabState, Strategy, ThrownFault};
use tokio::time::timeout;
use zookeeper_client::{Acls, Client, CreateMode, Error};

use super::LabRefusal;
use super::client::{Command, STALE_LABEL};
use super::run::Run;
use super::strategy::{fixed_path, is_numbered, numbered_path};
use super::strategy_run::StrategyRun;
use super::tally::Seat;

const FAULTS_MAX: usize = 50;
/// Holds after which the board knows what is usual for a lock, so that an orphan among its heads is found sooner.
const USUAL_AFTER: u64 = 8;
/// How long a client may take to queue up again after its reply was lost.
const TWIN_WITHIN: Duration = Duration::from_secs(10);
/// Znodes right before a client's own that are looked at for its other one.
const TWINS_LOOK: usize = 50;
/// Clients on the way from one seat to the next are waited for this long.
const SEAT_WITHIN: Duration = Duration::from_secs(2);

fn not_now<T>(why: String) -> Result<T, LabRefusal> {
    Err(LabRefusal::NotNow(why))
}

/// Why a fault makes no sense in a lane; None: it does.
fn unfit(fault: Fault, strategy: Strategy) -> Option<String> {
    let name = strategy.name();
    match fault {
        _ if is_numbered(strategy) => None,
        Fault::Orphan => Some(format!(
            "in {name} a client that waits has no znode, so it leaves none behind; throw orphan into predecessor or herd_lowest"
        )),
        Fault::DropReply => Some(format!(
            "in {name} there is one fixed znode, so a second create makes no second one; throw drop_reply into predecessor or herd_lowest"
        )),
        Fault::Kill | Fault::Pause | Fault::Stale => None,
    }
}

/// The first lane that was asked for, is counted now and can have this fault.
fn lane<'a>(run: &'a Run, order: &FaultOrder) -> Result<&'a StrategyRun, LabRefusal> {
    let asked = || run.lanes.iter().filter(|lane| order.strategy.is_none_or(|asked| asked == lane.strategy));
    let running = || asked().filter(|lane| lane.measured().state == LabState::Running);
    if let Some(lane) = running().find(|lane| unfit(order.fault, lane.strategy).is_none()) {
        return Ok(lane);
    }
    match running().chain(asked()).find_map(|lane| unfit(order.fault, lane.strategy)) {
        Some(why) => Err(LabRefusal::Bad(why)),
        None => not_now(format!("run {} counts no such lane now; throw faults while it runs", run.id)),
    }
}

pub(super) async fn throw(run: &Run, order: &FaultOrder) -> Result<ThrownFault, LabRefusal> {
    if run.faults() >= FAULTS_MAX {
        return not_now(format!("run {} has had {FAULTS_MAX} faults, which is the limit; begin another", run.id));
    }
    let lane = lane(run, order)?;
    let at_ms = run.clock.now_ms();
    let (client, path) = match order.fault {
        Fault::Stale if is_numbered(lane.strategy) => (None, put_first(lane).await?),
        fault => {
            let (client, path) = hit(lane, fault).await?;
            (Some(client), path)
        }
    };
    let timeout_s =
        client.and_then(|client| lane.session(client)).map_or(0, |session| session.session_timeout().as_secs());
    let expect = expectation(order.fault, lane.strategy, &path, timeout_s);
    let thrown = ThrownFault { fault: order.fault, strategy: lane.strategy, client, path, at_ms, expect };
    run.thrown(thrown.clone());
    Ok(thrown)
}

fn target(lane: &StrategyRun, fault: Fault) -> Option<u32> {
    let tally = lane.board.tally();
    match fault {
        Fault::Kill | Fault::Pause | Fault::Stale => tally.find(Seat::Holding),
        // As many hold before it as make the usual time known.
        Fault::Orphan => tally.waiter_behind(
            usize::try_from(USUAL_AFTER.saturating_sub(tally.progress().acquisitions)).unwrap_or_default(),
        ),
        Fault::DropReply => tally.waiter_behind(0),
    }
}

/// Instructs a client; gives it and the znode that it is about.
async fn hit(lane: &StrategyRun, fault: Fault) -> Result<(u32, String), LabRefusal> {
    let command = match fault {
        Fault::Kill => Command::Kill,
        Fault::Pause => Command::Pause,
        Fault::Orphan => Command::GiveUp,
        Fault::DropReply => Command::CreateTwice,
        Fault::Stale => Command::LeaveStale,
    };
    let mut progress = lane.board.progress();
    let seeking = async {
        loop {
            progress.borrow_and_update();
            if let Some(client) = target(lane, fault) {
                let number = lane.board.tally().number(client);
                if lane.command(client, command) {
                    return Some((client, number));
                }
            }
            if progress.changed().await.is_err() {
                return None;
            }
        }
    };
    let found = timeout(SEAT_WITHIN, seeking).await.ok().flatten();
    let Some((client, number)) = found else {
        return not_now(format!(
            "nobody in {} is in a state for it now; try again, or order longer holds",
            lane.strategy.name()
        ));
    };
    let path = match fault {
        Fault::DropReply => twin(lane, client, number).await,
        _ => Some(
            number
                .and_then(|number| numbered_path(lane.strategy, &lane.path, number))
                .unwrap_or_else(|| fixed_path(&lane.path)),
        ),
    };
    Ok((client, path.unwrap_or_default()))
}

/// The znode of a client that it does not know of: of its own session, before the one that it knows.
async fn twin(lane: &StrategyRun, client: u32, left: Option<u64>) -> Option<String> {
    let mut progress = lane.board.progress();
    let is_back = |lane: &StrategyRun| {
        let tally = lane.board.tally();
        tally.number(client) != left && tally.seat(client) == Some(Seat::Waiting)
    };
    let back = async {
        loop {
            progress.borrow_and_update();
            if is_back(lane) || progress.changed().await.is_err() {
                return;
            }
        }
    };
    timeout(TWIN_WITHIN, back).await.ok()?;
    let own = numbered_path(lane.strategy, &lane.path, lane.board.tally().number(client)?)?;
    let session = lane.session(client)?.session_id().0;
    let referee = &lane.referee()?.client;
    let mut names = referee.list_children(&lane.path).await.ok()?;
    names.sort_unstable();
    let paths = names.iter().map(|name| format!("{}/{name}", lane.path)).filter(|path| *path < own);
    for path in paths.rev().take(TWINS_LOOK) {
        if is_of(referee, &path, session).await {
            return Some(path);
        }
    }
    None
}

async fn is_of(referee: &Client, path: &str, session: i64) -> bool {
    matches!(referee.check_stat(path).await, Ok(Some(stat)) if stat.ephemeral_owner == session)
}

/// Leaves a persistent znode before all that are numbered: number 0 was used up when the lane was made.
async fn put_first(lane: &StrategyRun) -> Result<String, LabRefusal> {
    let path = numbered_path(lane.strategy, &lane.path, 0).unwrap_or_else(|| fixed_path(&lane.path));
    let Some(referee) = lane.referee() else { return not_now("the lane is not open yet; try again".to_owned()) };
    lane.disturb();
    let made = referee.client.create(&path, STALE_LABEL, &CreateMode::Persistent.with_acls(Acls::anyone_all())).await;
    match made {
        Ok(_) => Ok(path),
        Err(Error::NodeExists) => not_now(format!("{path} is there already; release it first")),
        Err(error) => not_now(format!("{path} could not be made ({error}); try again")),
    }
}

/// What the board shows of it, in words.
fn expectation(fault: Fault, strategy: Strategy, path: &str, timeout_s: u64) -> String {
    let after = format!("its session runs out, {timeout_s} s after its client was last heard from");
    match fault {
        Fault::Kill => format!(
            "The lock turns to Expiring when the members are asked next, within 5 s or so, or once more where the session is new: {path} is held by a session without a connection, and the countdown says when it frees itself. When {after}, the znode vanishes (not released), and the next client holds."
        ),
        Fault::Pause => {
            let back = match is_numbered(strategy) {
                true => {
                    " When it comes back with another session it queues again, and as long as the present holder holds the finding old_owner_connected names both fencing tokens."
                }
                false => "",
            };
            format!(
                "The holder of {path} falls silent. When {after}, the znode vanishes (not released) and the next client holds; the finding double_owner_window says that the old one may not know. It does not: its next write is refused by the fence, and broken is counted.{back}"
            )
        }
        Fault::Orphan => format!(
            "Its session stays connected, so nothing looks wrong until {path} is head: then nobody works under it. The lock turns Slow and, after 10 s and 40 times its usual hold, Stuck (5 min where fewer than {USUAL_AFTER} holds were seen). It never frees itself while the run goes on; release {path}."
        ),
        Fault::DropReply => format!(
            "The finding duplicate_session at once: one session stands in the queue twice and knows of one znode only. When the other{} is head, the client waits for itself and nobody goes on; release it.",
            if path.is_empty() { String::new() } else { format!(", {path},") }
        ),
        Fault::Stale => format!(
            "The lock turns to Orphan at once: {path} is persistent, no session owns it, and it never frees itself (finding never_expires). Nobody gets the lock after the present holder until {path} is released."
        ),
    }
}
