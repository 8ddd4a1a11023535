//! The first line of the status page: whether all is well, or what is not. Pure.

use crate::format::{count, middle, plural, visible};
use lockscope_view::{EnsembleStatus, Link, MemberStatus, RootState, SourceState, Status};

/// Of what is not well, so many are named; all others are a number.
const NAMED_MAX: usize = 4;
const PATH_CHARS: usize = 40;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) is_well: bool,
    pub(super) words: String,
}

impl Summary {
    /// What was well a while ago is not called well now.
    pub(super) fn dated(self, is_fresh: bool) -> Self {
        if is_fresh { self } else { Self { is_well: false, words: format!("Not live. Last known: {}", self.words) } }
    }
}

pub(super) fn summary(status: &Status) -> Summary {
    let mut wrong = Vec::new();
    if status.config.error.is_some() {
        wrong.push("the settings can't be read".to_owned());
    }
    for ensemble in &status.ensembles {
        wrong.extend(wrong_with(ensemble, status.ensembles.len() > 1));
    }
    let roots: usize = status.ensembles.iter().map(|ensemble| ensemble.roots.len()).sum();
    let live = plural(roots as u64, "root live", "roots live");
    let members = || status.ensembles.iter().flat_map(|ensemble| &ensemble.evidence);
    let (asked, telling) = (members().count(), members().filter(|member| tells_everything(member)).count());
    let evidence = evidence_words(telling as u64, asked as u64);
    if wrong.is_empty() && telling == asked {
        return Summary { is_well: true, words: format!("All well: {live}, {evidence}") };
    }
    if wrong.is_empty() {
        return Summary { is_well: false, words: format!("{live}, but only {evidence}: see below what would help") };
    }
    let more = wrong.len().saturating_sub(NAMED_MAX) as u64;
    wrong.truncate(NAMED_MAX);
    let more = if more > 0 { format!("; {} more", count(more)) } else { String::new() };
    Summary { is_well: false, words: format!("Not well: {}{more}", wrong.join("; ")) }
}

/// What of an ensemble is not as it should be; with its name where there are several.
fn wrong_with(ensemble: &EnsembleStatus, has_others: bool) -> Vec<String> {
    let of = if has_others { format!("{}: ", visible(&ensemble.name)) } else { String::new() };
    let link = link_trouble(ensemble.link).map(str::to_owned);
    // Without a link no root is live, which says nothing more.
    let roots = ensemble.roots.iter().filter(|root| link.is_none() && root.state != RootState::Live);
    let roots = roots
        .map(|root| format!("root {} is {}", middle(&visible(&root.path), PATH_CHARS), root.state.name()))
        .collect::<Vec<_>>();
    let down = ensemble.evidence.iter().filter(|member| member.is_down);
    let down = down.map(|member| format!("member {} is down", middle(&visible(&member.member), PATH_CHARS)));
    let history = ensemble.history.as_ref().filter(|history| history.failing_since_ms.is_some());
    let history = history.map(|_| "history is not kept".to_owned());
    link.into_iter().chain(roots).chain(down).chain(history).map(|what| format!("{of}{what}")).collect()
}

/// How many of those who are asked keep nothing back.
fn evidence_words(telling: u64, asked: u64) -> String {
    if asked == 0 {
        return "no member is asked".to_owned();
    }
    let tell = if telling == 1 { "tells" } else { "tell" };
    format!("{} of {} members {tell} everything", count(telling), count(asked))
}

/// What is wrong with a link; nothing of one that is live.
fn link_trouble(link: Link) -> Option<&'static str> {
    match link {
        Link::Live => None,
        Link::Syncing => Some("everything is being read again"),
        Link::Stale => Some("ZooKeeper does not answer"),
        Link::Lost => Some("no session with ZooKeeper"),
    }
}

/// Whether nothing was kept back of what a member was asked for.
fn tells_everything(member: &MemberStatus) -> bool {
    let sources = [member.connections, member.watches, member.sessions, member.health];
    !member.is_down && sources.iter().all(|source| matches!(source, SourceState::Ok | SourceState::NotAsked))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_view::{ConfigStatus, HistoryStatus, RootStatus, Zxid};

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
