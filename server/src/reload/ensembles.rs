//! The ensembles of a configuration that was read again: those that are the same go on untouched, those that are new or
//! changed are started, the others end.

use std::collections::HashMap;

use crate::config::{BadFile, Config, Ensemble};
use crate::serve::ensembles::{CLOSE_MAX, EnsembleRunner, MakeEnsemble, Observer};

/// Files with a mistake that are named.
const NAMED_MAX: usize = 20;

#[derive(Debug, Default, PartialEq, Eq)]
struct Difference {
    ended: Vec<String>,
    /// Places in the new configuration of those that start.
    started: Vec<usize>,
    /// Places of those that go on with another colour or other labels.
    described: Vec<usize>,
}

fn difference(before: &[Ensemble], now: &[Ensemble]) -> Difference {
    let known: HashMap<&str, &Ensemble> = before.iter().map(|one| (one.name.as_str(), one)).collect();
    let named: HashMap<&str, &Ensemble> = now.iter().map(|one| (one.name.as_str(), one)).collect();
    let mut difference = Difference::default();
    for one in before {
        if named.get(one.name.as_str()).is_none_or(|now| !is_watched_alike(one, now)) {
            difference.ended.push(one.name.clone());
        }
    }
    for (at, one) in now.iter().enumerate() {
        match known.get(one.name.as_str()) {
            Some(before) if is_watched_alike(before, one) => {
                if (before.color, &before.labels) != (one.color, &one.labels) {
                    difference.described.push(at);
                }
            }
            Some(_) | None => difference.started.push(at),
        }
    }
    difference
}

/// Whether two differ in nothing but where they are written, and what is said of them.
fn is_watched_alike(one: &Ensemble, other: &Ensemble) -> bool {
    let bare = |of: &Ensemble| Ensemble { color: None, labels: Default::default(), file: None, ..of.clone() };
    bare(one) == bare(other)
}

/// Brings what runs in line with a configuration. One that can't be started is reported in the log, and the others go on.
pub(super) async fn take<O: Observer>(
    runner: &EnsembleRunner,
    config: &Config,
    before: &Config,
    make: MakeEnsemble<O>,
) {
    let Difference { ended, started, described } = difference(&before.ensembles, &config.ensembles);
    if !ended.is_empty() {
        tracing::info!("ensembles that are watched no more, or anew: {}", ended.join(", "));
        runner.end(&ended, CLOSE_MAX).await;
        runner.end_alerts_elsewhere(config);
    }
    let of = |places: &[usize]| -> Vec<_> {
        let ensembles = places.iter().filter_map(|at| config.ensembles.get(*at));
        let made = ensembles.map(|one| make(config, one));
        made.filter_map(|made| made.inspect_err(|error| tracing::error!("{error}")).ok()).collect()
    };
    for one in of(&described) {
        runner.describe(&one.info);
    }
    if let Err(error) = runner.start(config, of(&started)).await {
        tracing::error!("not every ensemble could be started: {error}; reload again, or restart");
    }
}

/// What is said of files that can't be taken; None when there is none.
pub(super) fn told_of_bad_files(bad: &[BadFile]) -> Option<String> {
    if bad.is_empty() {
        return None;
    }
    let more = bad.len().saturating_sub(NAMED_MAX);
    let named = bad.iter().take(NAMED_MAX).map(|bad| bad.error.clone());
    let more = (more > 0).then(|| format!("and {more} more files; fix these first"));
    let lines: Vec<String> = named.chain(more).collect();
    Some(format!("{}\nthe ensembles of these files stay as they were; the rest was taken in", lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ensemble(name: &str, zk: &str) -> Ensemble {
        Ensemble {
            name: name.to_owned(),
            color: None,
            zk: zk.to_owned(),
            roots: vec!["/".to_owned()],
            exclude: Vec::new(),
            znodes_max: lockscope_zookeeper::ZNODES_MAX,
            labels: Default::default(),
            file: None,
            evidence: true,
            admin_urls: Vec::new(),
            clock_scratch: None,
            identity: Default::default(),
        }
    }

    #[test]
    fn only_what_differs_is_touched() {
        let before = [ensemble("same", "a:1"), ensemble("moved", "a:1"), ensemble("gone", "a:1")];
        let labelled = |of: Ensemble| Ensemble { labels: [("env".into(), "prod".into())].into(), ..of };
        let moved_file = Ensemble { file: Some("b.toml".to_owned()), ..ensemble("same", "a:1") };
        let now = [ensemble("new", "a:1"), moved_file, ensemble("moved", "b:1")];
        let expected = Difference {
            ended: vec!["moved".to_owned(), "gone".to_owned()],
            started: vec![0, 2],
            described: Vec::new(),
        };
        assert_eq!(difference(&before, &now), expected);
        let now = [labelled(ensemble("same", "a:1")), ensemble("moved", "a:1"), ensemble("gone", "a:1")];
        assert_eq!(difference(&before, &now), Difference { described: vec![0], ..Difference::default() });
    }

    #[test]
    fn bad_files_are_named_within_a_bound() {
        assert_eq!(told_of_bad_files(&[]), None);
        let bad = |at: usize| BadFile { file: format!("{at}"), error: format!("{at}.toml:1: wrong") };
        let told = told_of_bad_files(&(0..22).map(bad).collect::<Vec<_>>()).unwrap();
        assert!(
            told.starts_with("0.toml:1: wrong\n") && told.contains("and 2 more files") && told.ends_with("taken in")
        );
    }
}
