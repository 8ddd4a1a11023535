//! Which owner each ensemble that others watch is asked of: the first of its owners that answers. Made anew when the
//! directory changes, or when an owner is lost or found.

use std::collections::HashMap;
use std::sync::Arc;

use feed::VisibilityScope;

use crate::directory::{Directory, Foreign, OwnerAddress};
use crate::link::Link;
use crate::words;

/// Ensembles that are asked of the same owner.
#[derive(Debug)]
pub(crate) struct Group {
    /// None: nobody watches them.
    pub(crate) link: Option<Arc<Link>>,
    /// Places in the directory.
    pub(crate) members: Vec<usize>,
}

/// The whole plan.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) revision: u64,
    pub(crate) directory: Arc<Directory>,
    groups: Vec<Arc<Group>>,
    /// Of each name its place in the directory, and the group it is in.
    by_name: HashMap<String, (usize, usize)>,
}

impl Plan {
    /// Of a directory and those links that there are.
    pub(crate) fn new(revision: u64, directory: Arc<Directory>, links: &HashMap<OwnerAddress, Arc<Link>>) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        let mut by_name = HashMap::new();
        for (place, foreign) in directory.foreign.iter().enumerate() {
            let owners = || foreign.owners.iter().filter_map(|owner| links.get(owner));
            let link =
                owners().find(|link| link.is_up()).or_else(|| owners().max_by_key(|link| link.last_up())).cloned();
            let of =
                |group: &Group| group.link.as_ref().map(|link| &link.owner) == link.as_ref().map(|link| &link.owner);
            let at = groups.iter().position(of).unwrap_or_else(|| {
                groups.push(Group { link: link.clone(), members: Vec::new() });
                groups.len() - 1
            });
            if let Some(group) = groups.get_mut(at) {
                group.members.push(place);
            }
            by_name.insert(foreign.name.clone(), (place, at));
        }
        Self { revision, directory, groups: groups.into_iter().map(Arc::new).collect(), by_name }
    }

    /// One ensemble, if another replica watches it.
    pub(crate) fn foreign(&self, name: &str) -> Option<&Foreign> {
        self.directory.foreign.get(self.by_name.get(name)?.0)
    }

    /// Whether a view of one ensemble, or of all (an empty name), shows something that others watch. Asked for every look.
    pub(crate) fn concerns(&self, name: &str, scope: &VisibilityScope) -> bool {
        if name.is_empty() {
            return self.directory.foreign.iter().any(|foreign| scope.covers_ensemble(&foreign.name));
        }
        scope.covers_ensemble(name) && self.by_name.contains_key(name)
    }

    /// Of whom a view of one ensemble, or of all (an empty name), is asked: links, and names of ensembles.
    pub(crate) fn asked_of(&self, name: &str) -> Vec<(Option<Arc<Link>>, Vec<String>)> {
        let named = |place: usize| self.directory.foreign.get(place).map(|foreign| foreign.name.clone());
        match self.by_name.get(name) {
            Some((_, group)) => {
                let link = self.groups.get(*group).and_then(|group| group.link.clone());
                vec![(link, vec![name.to_owned()])]
            }
            None if name.is_empty() => {
                let of = |group: &Arc<Group>| {
                    (group.link.clone(), group.members.iter().filter_map(|place| named(*place)).collect())
                };
                self.groups.iter().map(of).collect()
            }
            None => Vec::new(),
        }
    }

    /// Why nobody is asked for some ensembles.
    pub(crate) fn why_nobody(&self, names: &[String]) -> String {
        words::nobody(&self.directory, names.first().and_then(|name| self.foreign(name)))
    }
}
