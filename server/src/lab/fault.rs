//! Faults, thrown into a run.

use app::wire::{Fault, FaultOrder, LabState, ThrownFault};

use super::LabRefusal;
use super::client::Command;
use super::run::Run;
use super::tally::Seat;

/// Faults that one run takes.
const FAULTS_MAX: usize = 50;

fn not_now<T>(why: String) -> Result<T, LabRefusal> {
    Err(LabRefusal::NotNow(why))
}

/// Throws one.
pub(super) fn throw(run: &Run, order: &FaultOrder) -> Result<ThrownFault, LabRefusal> {
    if run.faults() >= FAULTS_MAX {
        return not_now(format!("run {} has had {FAULTS_MAX} faults, which is the limit; begin another", run.id));
    }
    let is_asked = |state: LabState, strategy| state == LabState::Running && order.strategy.is_none_or(|asked| asked == strategy);
    let lane = run.lanes.iter().find(|lane| is_asked(lane.measured().state, lane.strategy));
    let Some(lane) = lane else { return not_now(format!("run {} counts no such lane now; throw faults while it runs", run.id)) };
    let (seat, command) = match order.fault {
        Fault::Kill => (Seat::Holding, Command::Kill),
        Fault::Pause => (Seat::Holding, Command::Pause),
        Fault::Orphan => (Seat::Waiting, Command::GiveUp),
        Fault::DropReply => (Seat::Waiting, Command::CreateTwice),
        Fault::Stale => return not_now("a stale znode can't be left yet".to_owned()),
    };
    let client = lane.find(seat).filter(|client| lane.command(*client, command));
    let Some(client) = client else { return not_now(format!("nobody in {} is in a state for it now; try again", lane.strategy.name())) };
    let thrown = ThrownFault {
        fault: order.fault,
        strategy: lane.strategy,
        client: Some(client),
        path: String::new(),
        at_ms: run.clock.now_ms(),
        expect: String::new(),
    };
    run.thrown(thrown.clone());
    Ok(thrown)
}
