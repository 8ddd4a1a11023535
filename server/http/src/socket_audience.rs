//! For whom a live socket is: somebody who looks, or another replica, which asks for all of its own viewers. Pure.

use feed::{ClientMessage, Encoding, FrameError, VisibilityScope, parse_client, parse_replica};

/// Subscriptions of one socket of somebody.
const SUBSCRIPTIONS_MAX: usize = 16;
/// Subscriptions of another replica: as many views as it keeps.
const REPLICA_SUBSCRIPTIONS_MAX: usize = 2_048;
/// A heartbeat comes early when what it reported would otherwise be older than this before the next: half of the time
/// in which a view may be called live is left for the way, and for a browser that draws once a second. ZooKeeper is asked
/// each 500 ms, so a heartbeat comes each 500 to 1,000 ms.
const TOLD_AGE_MS_MAX: i64 = 1_000;
/// The same towards a replica, which has to report on it as well.
const REPLICA_TOLD_AGE_MS_MAX: i64 = 600;

/// For whom a socket is.
#[derive(Clone, Debug)]
pub(super) enum Audience {
    /// Somebody, who may see so much.
    Viewer(VisibilityScope),
    /// Another replica. Whether it is given what znodes carry at all.
    Replica {
        /// By the settings of this server.
        payloads: bool,
    },
}

impl Audience {
    pub(super) fn subscriptions_max(&self) -> usize {
        match self {
            Self::Viewer(_) => SUBSCRIPTIONS_MAX,
            Self::Replica { .. } => REPLICA_SUBSCRIPTIONS_MAX,
        }
    }

    pub(super) fn told_age_ms_max(&self) -> i64 {
        match self {
            Self::Viewer(_) => TOLD_AGE_MS_MAX,
            Self::Replica { .. } => REPLICA_TOLD_AGE_MS_MAX,
        }
    }

    /// Views that it may have on all its sockets, where somebody may have so many.
    pub(super) fn views_max(&self, viewers: usize) -> usize {
        match self {
            Self::Viewer(_) => viewers,
            Self::Replica { .. } => REPLICA_SUBSCRIPTIONS_MAX,
        }
    }

    /// Reads what came.
    pub(super) fn parse(&self, bytes: &[u8], encoding: Encoding) -> Result<ClientMessage, FrameError> {
        match self {
            Self::Viewer(_) => parse_client(bytes, encoding),
            Self::Replica { .. } => parse_replica(bytes),
        }
    }

    /// What one subscription may show, which `asked` for so much. `watches`: whether this server itself watches an
    /// ensemble; nothing is handed on that comes from elsewhere.
    pub(super) fn scope(
        &self,
        asked: Option<VisibilityScope>,
        watches: impl Fn(&str) -> bool,
    ) -> Result<VisibilityScope, String> {
        match (self, asked) {
            (Self::Viewer(scope), _) => Ok(scope.clone()),
            (Self::Replica { payloads }, Some(asked)) => {
                let not_here = asked.ensembles().iter().find(|name| !watches(name));
                match not_here {
                    None if asked.ensembles().is_empty() => Err("name the ensembles that it is about".to_owned()),
                    None => Ok(asked.with_payloads_if(*payloads)),
                    Some(name) => Err(format!("this replica does not watch {name}")),
                }
            }
            (Self::Replica { .. }, None) => Err("say what it may show".to_owned()),
        }
    }

    /// What is shown of the past, where it may look there.
    pub(super) fn past_scope(&self) -> VisibilityScope {
        match self {
            Self::Viewer(scope) => scope.clone(),
            Self::Replica { .. } => VisibilityScope::nothing(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replica_is_given_what_it_asks_for_of_what_is_watched_here() {
        let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let scope = |list: &[&str]| VisibilityScope::new(&names(list), &names(&["/a"]), true);
        let watches = |name: &str| name == "here";
        let replica = Audience::Replica { payloads: true };
        assert_eq!(replica.scope(Some(scope(&["here"])), watches), Ok(scope(&["here"])));
        assert!(replica.scope(Some(scope(&["here", "there"])), watches).is_err(), "all or nothing");
        assert!(replica.scope(Some(scope(&[])), watches).is_err(), "everything is no answer to nothing");
        assert!(replica.scope(None, watches).is_err());
        let careful = Audience::Replica { payloads: false };
        assert!(!careful.scope(Some(scope(&["here"])), watches).unwrap().payloads());
        let viewer = Audience::Viewer(scope(&["there"]));
        assert_eq!(viewer.scope(Some(VisibilityScope::ALL), watches), Ok(scope(&["there"])), "nobody asks for more");
    }
}
