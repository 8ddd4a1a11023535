//! What to do about a lock: the steps of the guide of its verdict, then those of its critical findings, with names filled
//! in. Commands are made of what ZooKeeper reports, never of what clients say of themselves.

use std::net::SocketAddr;

use lockscope_core::assessment::AssessedLock;
use lockscope_core::deadlock::Cycle;
use lockscope_core::finding::{Finding, Severity};
use lockscope_core::lock::Hold;
use lockscope_core::verdict::{name_of, usual_hold_ms};
use lockscope_core::znode::join_path;
use lockscope_view as view;
use lockscope_view::guide::{self, ActTemplate, Guide, Names, StepTemplate};

use super::words::view_verdict;
use super::{ProjectionContext, english};

const STEPS_MAX: usize = 3;
/// Locks named in a sentence; more are a number.
const LOCKS_NAMED_MAX: usize = 3;

/// What the templates are filled with.
pub(super) struct Case<'a> {
    pub(super) lock: &'a AssessedLock,
    /// The circle that the lock is part of, where all of it may be seen.
    pub(super) cycle: Option<&'a Cycle>,
    names: Names,
}

impl<'a> ProjectionContext<'a> {
    /// What to do about a lock; None where nothing is to be done.
    pub(super) fn advice(&self, lock: &'a AssessedLock) -> Option<view::Advice> {
        let verdict = view_verdict(lock.assessment.verdict);
        let is_calm = matches!(verdict, view::Verdict::Free | view::Verdict::Healthy);
        if is_calm && critical(lock).next().is_none() {
            return None;
        }
        let case = self.case(lock);
        let steps = guides(lock).flat_map(|guide| guide.steps).take(STEPS_MAX);
        Some(view::Advice {
            headline: self.headline(&case),
            steps: steps.map(|step| case.step(step)).collect(),
            why: self.why(lock),
        })
    }

    pub(super) fn case(&self, lock: &'a AssessedLock) -> Case<'a> {
        let cycle = self.observatory.cycles_of(&lock.path).find(|cycle| self.sees_all_of(cycle));
        Case { lock, cycle, names: self.names(lock, cycle) }
    }

    fn names(&self, lock: &AssessedLock, cycle: Option<&Cycle>) -> Names {
        let mut names = Names { lock: lock.path.to_string(), ..Names::generic() };
        if let Some(first) = lock.holders.first() {
            names.holder = name_of(first);
            names.znode = first.name.to_string();
            names.holders = listed(lock.holders.iter().map(name_of), lock.standing.holders as usize);
            names.host = address_of(first).map_or(names.host, |address| address.ip().to_string());
        }
        if let Some((cycle, step)) = cycle.and_then(|cycle| Some((cycle, cycle.victim_step()?))) {
            let hold = self
                .observatory
                .lock(&step.lock)
                .and_then(|lock| lock.holders.iter().find(|hold| hold.owner == Some(step.to)).map(name_of));
            names.victim = hold.unwrap_or_else(|| english::session(step.to));
            names.victim_lock = step.lock.to_string();
            names.locks = listed(cycle.locks().map(ToString::to_string), cycle.steps.len());
        }
        names
    }

    fn why(&self, lock: &AssessedLock) -> String {
        let says = guides(lock).next().map_or("", |guide| guide.says);
        english::why(says, lock.tally.holds.count(), usual_hold_ms(lock, &self.observatory.settings().thresholds))
    }
}

impl Case<'_> {
    pub(super) fn first_step(&self) -> view::Step {
        guides(self.lock).flat_map(|guide| guide.steps).next().map(|step| self.step(step)).unwrap_or_default()
    }

    fn step(&self, template: &StepTemplate) -> view::Step {
        view::Step { text: self.names.fill(&guide::plain(template.text)), act: self.act(template.act) }
    }

    fn act(&self, act: ActTemplate) -> Option<view::StepAct> {
        let holders = &self.lock.holders;
        match act {
            ActTemplate::None => None,
            // Of several that hold at once the last one to come is the one too many.
            ActTemplate::FindProcess => address_of(holders.iter().max_by_key(|hold| hold.since)?).map(find_process),
            ActTemplate::HolderSession => {
                Some(view::StepAct::Session { id: view::SessionId(holders.first()?.owner?.0) })
            }
            ActTemplate::Waits => Some(view::StepAct::Waits),
            ActTemplate::ReleaseHolder => {
                let first = holders.first()?;
                Some(view::StepAct::Release { lock: self.lock.path.to_string(), znode: znode_of(first) })
            }
            ActTemplate::ReleaseVictim => {
                let step = self.cycle?.victim_step()?;
                Some(view::StepAct::Release { lock: step.lock.to_string(), znode: step.holder.to_string() })
            }
            ActTemplate::PrintZnode => {
                let path = znode_of(holders.first()?);
                // The shell of ZooKeeper knows no way to write these.
                let is_plain = !path.contains(['"', '\\']) && !path.chars().any(char::is_control);
                is_plain.then(|| view::StepAct::Copy { command: format!("get -s \"{path}\"") })
            }
        }
    }
}

/// The guides that apply: of the verdict, unless it is a calm one, then of each critical finding.
fn guides(lock: &AssessedLock) -> impl Iterator<Item = &'static Guide> {
    let verdict = view_verdict(lock.assessment.verdict);
    let is_calm = matches!(verdict, view::Verdict::Free | view::Verdict::Healthy);
    let of_verdict = (!is_calm).then(|| guide::of_verdict(verdict)).flatten();
    of_verdict.into_iter().chain(critical(lock).filter_map(|finding| guide::of_finding(finding.code.name())))
}

pub(super) fn critical(lock: &AssessedLock) -> impl Iterator<Item = &Finding> {
    lock.assessment.findings.iter().filter(|finding| finding.severity == Severity::Critical)
}

fn znode_of(hold: &Hold) -> String {
    join_path(&hold.directory, &hold.name)
}

/// The client's address as members report it.
fn address_of(hold: &Hold) -> Option<SocketAddr> {
    hold.peer.as_ref()?.address.as_deref()?.parse().ok()
}

/// A command that prints which process has the client's end of the connection. Made of numbers alone: no text of a client's
/// gets into a shell.
fn find_process(address: SocketAddr) -> view::StepAct {
    let list = format!("ss -Htnp 'sport = :{}'", address.port());
    let command = if address.ip().is_loopback() { list } else { format!("ssh {} \"{list}\"", address.ip()) };
    view::StepAct::Copy { command }
}

/// Names in a sentence: `a`, `a and b`, `a, b, c and 4 more`.
pub(super) fn listed(names: impl Iterator<Item = String>, all: usize) -> String {
    let names: Vec<String> = names.take(LOCKS_NAMED_MAX).collect();
    let more = all.saturating_sub(names.len());
    english::listed(names, more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_as_in_a_sentence() {
        let list = |names: &[&str], all| listed(names.iter().map(|name| (*name).to_owned()), all);
        assert_eq!(list(&[], 0), "");
        assert_eq!(list(&["a"], 1), "a");
        assert_eq!(list(&["a", "b"], 2), "a and b");
        assert_eq!(list(&["a", "b", "c", "d"], 1_003), "a, b, c and 1\u{202f}000 more");
    }

    #[test]
    fn a_process_is_found_by_the_address_that_members_report() {
        let command = |address: &str| find_process(address.parse().expect("an address"));
        let copy = |command: &str| view::StepAct::Copy { command: command.to_owned() };
        assert_eq!(command("127.0.0.1:4000"), copy("ss -Htnp 'sport = :4000'"));
        assert_eq!(command("10.0.0.7:4000"), copy("ssh 10.0.0.7 \"ss -Htnp 'sport = :4000'\""));
        assert_eq!(command("[fd00::1]:4000"), copy("ssh fd00::1 \"ss -Htnp 'sport = :4000'\""));
    }
}
