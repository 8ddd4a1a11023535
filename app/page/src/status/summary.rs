//! The first line of the status page: whether all is well, or what is not. Pure.

use super::words;
use lockscope_view::{EnsembleStatus, MemberStatus, RootState, SourceState, Status};

/// Of what is not well, so many are named; all others are a number.
const NAMED_MAX: usize = 4;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) is_well: bool,
    pub(super) words: String,
}

impl Summary {
    /// What was well a while ago is not called well now.
    pub(super) fn dated(self, is_fresh: bool) -> Self {
        if is_fresh { self } else { Self { is_well: false, words: words::last_known(&self.words) } }
    }
}

pub(super) fn summary(status: &Status) -> Summary {
    let mut wrong = Vec::new();
    if status.config.error.is_some() {
        wrong.push(words::NO_SETTINGS.to_owned());
    }
    for ensemble in &status.ensembles {
        wrong.extend(wrong_with(ensemble, status.ensembles.len() > 1));
    }
    let roots: usize = status.ensembles.iter().map(|ensemble| ensemble.roots.len()).sum();
    let live = words::roots_live(roots as u64);
    let members = || status.ensembles.iter().flat_map(|ensemble| &ensemble.evidence);
    let (asked, telling) = (members().count(), members().filter(|member| tells_everything(member)).count());
    let evidence = words::evidence(telling as u64, asked as u64);
    if wrong.is_empty() && telling == asked {
        return Summary { is_well: true, words: words::all_well(&live, &evidence) };
    }
    if wrong.is_empty() {
        return Summary { is_well: false, words: words::not_all_told(&live, &evidence) };
    }
    let more = wrong.len().saturating_sub(NAMED_MAX);
    wrong.truncate(NAMED_MAX);
    Summary { is_well: false, words: words::not_well(&wrong, more as u64) }
}

/// What of an ensemble is not as it should be; with its name where there are several.
fn wrong_with(ensemble: &EnsembleStatus, has_others: bool) -> Vec<String> {
    let of = if has_others { words::of_ensemble(&ensemble.name) } else { String::new() };
    let link = words::link_trouble(ensemble.link).map(str::to_owned);
    // Without a link no root is live, which says nothing more.
    let roots = ensemble.roots.iter().filter(|root| link.is_none() && root.state != RootState::Live);
    let roots = roots.map(|root| words::root_is(&root.path, root.state)).collect::<Vec<_>>();
    let down = ensemble.evidence.iter().filter(|member| member.is_down);
    let down = down.map(|member| words::is_down(&member.member));
    let history = ensemble.history.as_ref().filter(|history| history.failing_since_ms.is_some());
    let history = history.map(|_| words::HISTORY_FAILS.to_owned());
    link.into_iter().chain(roots).chain(down).chain(history).map(|what| format!("{of}{what}")).collect()
}

/// Whether nothing was kept back of what a member was asked for.
fn tells_everything(member: &MemberStatus) -> bool {
    let sources = [member.connections, member.watches, member.sessions, member.health];
    !member.is_down && sources.iter().all(|source| matches!(source, SourceState::Ok | SourceState::NotAsked))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_view::{ConfigStatus, HistoryStatus, Link, RootStatus, Zxid};

    fn root(path: &str, state: RootState) -> RootStatus {
        RootStatus { path: path.to_owned(), state, since_ms: 1, why: String::new(), locks: 1, znodes: 3 }
    }

    fn status(roots: Vec<RootStatus>, link: Link) -> Status {
        let ensemble = EnsembleStatus {
            color: None,
            name: "default".to_owned(),
            connect: "zk:2181".to_owned(),
            link,
            since_ms: 0,
            why: String::new(),
            session_id: None,
            zxid: Zxid(1),
            clock_offset_ms: None,
            roots,
            clock_error_ms: None,
            evidence: Vec::new(),
            findings: Vec::new(),
            resyncs: Some(0),
            events: Some(3),
            owner_unknown: Some(0),
            missed: Some(0),
            history: None,
            excluded: None,
            proof: Default::default(),
        };
        Status {
            version: "0".to_owned(),
            protocol: 1,
            seq: 1,
            read_only: true,
            started_at_ms: 0,
            config: ConfigStatus::default(),
            ensembles: vec![ensemble],
        }
    }

    fn said(status: &Status) -> String {
        summary(status).words
    }

    #[test]
    fn all_is_well_in_one_line() {
        let well = status(vec![root("/a", RootState::Live), root("/b", RootState::Live)], Link::Live);
        assert_eq!(said(&well), "All well: 2 roots live, no member is asked");
        assert!(summary(&well).is_well);
        let old = summary(&well).dated(false);
        assert!(!old.is_well && old.words.starts_with("Not live. Last known: All well"));
    }

    #[test]
    fn what_is_not_well_is_named() {
        let roots = vec![root("/a", RootState::Live), root("/b\u{202e}", RootState::Denied)];
        let denied = status(roots.clone(), Link::Live);
        assert!(said(&denied).starts_with("Not well: root /b") && !said(&denied).contains('\u{202e}'));
        assert_eq!(said(&status(roots, Link::Lost)), "Not well: no session with ZooKeeper");
        let mut several = status(vec![root("/a", RootState::Partial); 6], Link::Live);
        assert!(said(&several).ends_with("; 2 more"), "{}", said(&several));
        let mut unwritten = status(vec![root("/a", RootState::Live)], Link::Live);
        let history =
            HistoryStatus { failing_since_ms: Some(1), why: "no room".to_owned(), ..HistoryStatus::default() };
        unwritten.ensembles.iter_mut().for_each(|ensemble| ensemble.history = Some(history.clone()));
        assert_eq!(said(&unwritten), "Not well: history is not kept");
        several.config.error = Some("line 3".to_owned());
        assert!(said(&several).starts_with("Not well: the settings can't be read; root /a is partial"));
    }
}
