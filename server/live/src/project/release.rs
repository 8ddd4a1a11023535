//! A planned release in the wire's words, with what the model knows around it: what else the session owns, and how an
//! administrator would end the whole session.

use std::fmt::Write as _;

use lockscope_core::evidence::MemberRole;
use lockscope_core::label::is_identity;
use lockscope_core::lock::ContenderRef;
use lockscope_core::release::{self, Naming, Refusal, Target};
use lockscope_core::znode::{SessionId, Zxid};
use lockscope_view::{self as view, FALLS_MAX, NEXT_MAX, Scope};

use super::words::view_recipe;
use super::{ProjectionContext, count32};

/// Znodes of one session that are looked at.
const OWNED_LOOK: usize = 10_000;

/// Who holds a lock, as far as that is believed.
#[derive(Clone, Debug, Default)]
pub struct Holding {
    /// Those kept one by one.
    pub holders: Vec<view::Contender>,
    pub is_live: bool,
    /// The deleted incarnation is not believed to be there any more.
    pub is_gone: bool,
}

/// A plan as somebody may see it, whoever planned it: without payloads, and without the names of znodes outside. How
/// many fall is listed all the same: whoever ends a session must know it.
pub fn shown(mut plan: view::ReleasePlan, scope: &Scope) -> view::ReleasePlan {
    if !scope.payloads() {
        for contender in std::iter::once(&mut plan.holder).chain(&mut plan.next) {
            contender.data = None;
            contender.label = contender.label.take().filter(|label| is_identity(label));
        }
    }
    plan.falls.retain(|path| scope.covers_path(path));
    plan
}

impl ProjectionContext<'_> {
    /// What releasing the znode at a path would do, and the incarnation that the plan is bound to. The release service
    /// fills in number, expiry, right and whether it needs a second person.
    ///
    /// # Errors
    /// When nothing there can be released.
    pub fn release_plan(&self, path: &str) -> Result<(view::ReleasePlan, Target), Refusal> {
        let found = release::plan(self.observatory, path, self.now)?;
        let mirror = self.observatory.mirror_of(found.lock).ok_or(Refusal::NotWatched)?;
        let (falls, falls_count) = found.target.owner.map_or_else(Default::default, |owner| self.falls(owner, path));
        let row = |contender: &ContenderRef<'_>| {
            let is_it = |other: &ContenderRef<'_>| other.key == contender.key && other.directory == contender.directory;
            let at = found.lock.contenders(mirror).position(|other| is_it(&other)).unwrap_or_default();
            self.contender_with_edges(found.lock, mirror, at, contender)
        };
        let plan = view::ReleasePlan {
            plan_id: String::new(),
            expires_at_ms: 0,
            ensemble: self.ensemble.name.clone(),
            tag: self.ensemble.tag(),
            path: path.to_owned(),
            lock: found.lock.path.to_string(),
            recipe: view_recipe(found.lock.recognition.recipe),
            recipe_label: found.lock.recognition.label.to_string(),
            czxid: view::Zxid(found.target.czxid.0),
            session_id: found.target.owner.map(|owner| view::SessionId(owner.0)),
            version: found.target.version,
            naming: match found.target.naming {
                Naming::Sequential => view::Naming::Sequential,
                Naming::Fixed => view::Naming::Fixed,
            },
            holder: row(&found.contender),
            next: found.next.iter().take(NEXT_MAX).map(row).collect(),
            next_sentence: found.next_sentence,
            waiters_moving: found.waiters_moving,
            warnings: found.warnings.iter().map(|warning| warning.sentence().to_owned()).collect(),
            frees_itself_at_ms: found.frees_itself.map(|frees| frees.at.0),
            frees_itself_is_upper_bound: found.frees_itself.is_some_and(|frees| frees.is_upper_bound),
            right: view::DeleteRight::Unread,
            right_sentence: String::new(),
            can_revoke: found.can_revoke,
            needs_second: false,
            falls,
            falls_count,
            runbook: found.target.owner.map(|owner| self.runbook(owner, falls_count)),
        };
        Ok((plan, found.target))
    }

    /// Who holds a lock now, and whether an incarnation of a znode is still believed to be there.
    pub fn holding(&self, lock: &str, path: &str, czxid: Zxid) -> Holding {
        let is_live = self.observatory.root_of(path).is_some_and(|root| {
            use lockscope_core::root::RootState::{Live, Partial};
            matches!(self.observatory.root_state(root, self.now).0, Live | Partial)
        });
        let node = self.observatory.roots().iter().find_map(|view| view.mirror.node(path));
        let is_gone = node.is_none_or(|child| child.read.as_ref().is_some_and(|read| read.czxid > czxid));
        let lock = self.observatory.lock(lock).filter(|found| *found.path == *lock);
        let holders =
            lock.and_then(|lock| Some(self.holders(lock, self.observatory.mirror_of(lock)?).take(NEXT_MAX).collect()));
        Holding { holders: holders.unwrap_or_default(), is_live, is_gone }
    }

    /// Other znodes under our roots that the end of a session would take along.
    fn falls(&self, session: SessionId, path: &str) -> (Vec<String>, u32) {
        let owned = self.observatory.roots().iter().flat_map(|view| view.mirror.owned_by(session));
        let others =
            owned.take(OWNED_LOOK).map(|(directory, key, _)| lockscope_core::znode::join_path(directory, key.name()));
        let mut others: Vec<String> = others.filter(|other| other != path).collect();
        let count = count32(others.len());
        others.sort_unstable();
        others.truncate(FALLS_MAX);
        (others, count)
    }

    /// How an administrator of the ensemble ends the whole session: ZooKeeper's own operation for it, on the member
    /// that the session is connected to. Ending it by its password would work from here, but that is no supported way.
    fn runbook(&self, session: SessionId, falls: u32) -> String {
        let evidence = self.observatory.member_evidence();
        let known = evidence.session(session);
        let member = known.and_then(|known| known.member.as_deref());
        let role = member
            .and_then(|name| evidence.members().find(|(other, _)| &***other == name))
            .and_then(|(_, member)| member.health.as_ref()?.1.role);
        let place = match role {
            Some(MemberRole::Standalone) => "name0=StandaloneServer_port*,name1=Connections",
            Some(MemberRole::Leader) => "name0=ReplicatedServer_id*,name1=replica.*,name2=Leader,name3=Connections",
            Some(MemberRole::Follower) => "name0=ReplicatedServer_id*,name1=replica.*,name2=Follower,name3=Connections",
            Some(MemberRole::Observer) => "name0=ReplicatedServer_id*,name1=replica.*,name2=Observer,name3=Connections",
            _ => "name0=*,*",
        };
        let mut text = format!(
            "# Ends session {session} as a whole: its client is notified that it expired, and everything it owns goes{}.\n",
            match falls {
                0 => String::new(),
                1 => ", 1 more znode under the watched roots among it".to_owned(),
                count => format!(", {count} more znodes under the watched roots among it"),
            }
        );
        match member {
            Some(member) => _ = writeln!(text, "# On {member}, the member it is connected to:"),
            None => {
                text.push_str("# On the member it is connected to (no member reported which; ask each for `cons`):\n")
            }
        }
        let _ = write!(
            text,
            "java -jar jmxterm.jar -l HOST:JMX_PORT\n\
             > domain org.apache.ZooKeeperService\n\
             > beans\n\
             # the one whose name ends in {session}, like\n\
             # org.apache.ZooKeeperService:{place},…,name…={session}\n\
             > bean NAME\n\
             > run terminateSession\n"
        );
        text
    }
}
