//! The words of ZooKeeper, of locks and of Lockscope.

/// Where a word comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermArea {
    /// ZooKeeper.
    ZooKeeper,
    /// Locks.
    Locks,
    /// Lockscope.
    Lockscope,
    /// Whether a contender's client is there.
    Liveness,
    /// How sure it is who waits for whom.
    Edges,
    /// What may be missing from a lock.
    Missing,
    /// How a root stands.
    Roots,
    /// Figures of pages of the past and of alerts.
    Numbers,
}

impl TermArea {
    /// What its anchors begin with.
    pub fn kind(self) -> &'static str {
        match self {
            Self::ZooKeeper | Self::Locks | Self::Lockscope => "term",
            Self::Liveness => "liveness",
            Self::Edges => "edge",
            Self::Missing => "missing",
            Self::Roots => "root",
            Self::Numbers => "number",
        }
    }
}

/// A word and its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// Where it comes from.
    pub area: TermArea,
    /// The word.
    pub word: &'static str,
    /// What it means; links are to other pages of the documentation.
    pub meaning: &'static str,
}

/// Terms by area, a line each.
macro_rules! terms {
    ($($area:ident { $($word:literal: $meaning:literal;)+ })+) => {
        &[$($(Term { area: TermArea::$area, word: $word, meaning: $meaning },)+)+]
    };
}
pub(super) use terms;

/// The table.
pub(super) const TERMS: &[Term] = terms! {
    ZooKeeper {
        "ACL": "Access control list of a znode: who may READ, WRITE, CREATE, DELETE and ADMIN it. A child does not inherit it. The right to delete a znode is DELETE on its parent.";
        "AdminServer": "HTTP interface of a member (port 8080 as a rule), which lists its connections, sessions and watches.";
        "czxid": "Transaction id of a znode's creation. Path and czxid together name one incarnation of a znode: a path alone may be another one by now.";
        "ensemble": "The ZooKeeper servers that agree on one tree. Each of them is a member: leader, follower or observer.";
        "ephemeral": "A znode that belongs to a session and is deleted when the session ends. Locks are made of these.";
        "four-letter words": "The older, plain-text administration interface on the client port: `srvr`, `cons`, `dump`, `wchp`, `mntr`. A member answers those in its whitelist.";
        "persistent": "A znode that no session owns. It stays until somebody deletes it.";
        "member": "One server of an ensemble. Each client is connected to one of them, and only that one hears it; its session belongs to all, so it may go on at another member.";
        "sequence number": "The ten digits that ZooKeeper appends to the name of a sequential znode. They come from a counter of the parent and only grow.";
        "session": "What a client has with the ensemble, whichever member it is connected to. It ends when it is closed, or when nothing is heard of it for its time-out.";
        "Stat": "What ZooKeeper keeps of a znode beside its data: czxid, mzxid, times, versions, number of children, owner.";
        "tick": "Unit of an ensemble's clock (`tickTime`). Sessions run out on a whole one.";
        "watch": "A request to be notified of one change of a znode, of its data or of its list of children. A persistent watch stays after it fired; a recursive one covers everything below.";
        "znode": "A node of ZooKeeper's tree: a path, some data, a Stat, children.";
        "zxid": "Transaction id, from one counter for the whole ensemble. A larger one is later.";
    }
    Locks {
        "blocks": "A session blocks those that wait for what it holds. Those behind it are these, those that wait for them, and so on.";
        "contender": "A client that holds or wants a lock, seen by its znode in the lock's directory.";
        "fencing token": "A number that grows with every hold, given to whatever the lock protects, so that a late request of an earlier holder can be refused. In ZooKeeper the czxid of the holder's znode serves.";
        "hand-off": "One holder goes and the next one holds.";
        "herd": "Many waiters that watch the same znode, or the same list of children, and are all woken by one hand-off, of whom one gets the lock.";
        "holder": "The contender that has the lock: the first of a queue, or several where a lock may be shared.";
        "lease": "A znode that stands for one permit of a semaphore.";
        "lock directory": "The znode whose children are a lock's queue. Some locks are a single znode instead.";
        "lock order": "A lock that sessions ask for while they hold another one. Where different sessions take the same locks in opposite orders, they will wait for each other for ever one day.";
        "predecessor": "The contender directly ahead of a waiter. Clients that watch only it are woken one at a time.";
        "recipe": "A way to build a lock, an election, a semaphore, a barrier or a queue of znodes. Curator, kazoo and others have their own; see [Recipes](recipes.md).";
        "time to lock": "How long a waiter still has to wait: the central 80 % of what may come, so in one case of ten it is sooner and in one later. It follows from its place, from how long the holder holds, and from this lock's last 256 holds. What is called right is how many of the last 500 waits of a day ended within what was told when they began; what is told is widened or narrowed by that.";
        "waiter": "A contender that does not hold. Some have no znode and only watch the one that is held.";
    }
    Lockscope {
        "audit log": "The record of every request that changes something: who, what, why, and how it ended. See [The audit log](audit-log.md).";
        "evidence": "What the members of an ensemble report when they are asked: who is connected, when they last heard of it, who watches what, when sessions run out. Locks are read without it; whatever rests on it says so, and is unknown while a member does not answer.";
        "finding": "Something odd about a lock that may explain its verdict.";
        "liveness": "Whether the client of a contender is there, by the members' last answers: connected, silent, disconnected, persistent (no session owns the znode), or unknown.";
        "live, stale": "What is shown is live while it is known to be true up to 2 s ago. Otherwise it is stale, and says since when.";
        "release": "Deletion of exactly one contender's znode, by path and czxid, ordered by an operator. See [Releasing a stuck lock](releasing.md).";
        "resync": "Reading a root anew after its watch was lost. Until it is complete the old view stays and says that it is old.";
        "root": "A path below which Lockscope looks for locks.";
        "verdict": "The one word on a lock.";
        "visibility scope": "The ensembles and paths that a person may see.";
    }
    Liveness {
        "connected": "On some member's list and heard from within a third of its time-out.";
        "silent": "Not heard from for more than a third of its time-out: paused, swapping, or cut off. Reported by the member that lists it; while a member does not answer also by the leader, whose end of the session stands still.";
        "disconnected": "Every member that may have clients was asked after the session was last seen, and none has it. It runs out at the time shown, give or take a tick: the leader's own expiry bucket where it is reported, else at most the time-out.";
        "persistent": "No session owns the znode.";
        "unknown": "Nothing is known of it yet, or some member could not be asked.";
    }
    Edges {
        "inferred": "By the recipe's rule; nothing was asked, or nothing was told.";
        "confirmed": "The member that the waiter is connected to has its watch on that znode.";
        "missing": "The tables were read long enough after the watch should have been set, and it is in none.";
        "shared": "Several wait for that same znode.";
    }
    Missing {
        "unreadable_children": "Some znodes of its directory may not be read; others may come and go unseen.";
        "unswept": "Its directory is still to be looked through.";
        "watches_not_read": "Who waits has no znode, and no table of watches was read since the lock changed hands.";
        "waiters_without_znodes": "Who waits has no znode and may be in no table either: it polls, or watches a list of children.";
    }
    Roots {
        "live": "Complete and current.";
        "syncing": "It is being read; until it is done the old picture stays and says that it is old.";
        "stale": "What is shown is not known to be true up to 2 s ago: it may be over.";
        "partial": "Not all of it is read: there are more znodes than there is room for, which the text says with what to do, or some children may not be read. Where they stand still shows, and who owns them unless the server is ZooKeeper 3.8.4, 3.9.2 or newer, which keeps that back as well: no event tells of them, but a child watch on their directory does, and what the directory counts. A lock whose directory is being looked through, or whose child watch is not heard, says `unswept`.";
        "denied": "The root itself may not be read; the text names the right that is missing.";
        "gone": "The root does not exist.";
        "reduced": "No watch is followed: the server takes no persistent ones, or its events name the wrong znode, as ClickHouse Keeper's do; the text says which. Everything is read again every few seconds instead and, where events still say that something happened, soon after that.";
        "past": "It is shown as it was at the moment that the band names, whatever it is by now.";
    }
};
