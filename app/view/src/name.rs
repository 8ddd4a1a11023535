//! Closed sets of names: the same words in JSON, in URLs and in CSS classes.

/// A closed set of names.
macro_rules! named_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name {
            $($(#[$vdoc])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// Every value.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// The name in JSON, URLs and CSS classes.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// The value of a name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.name() == name)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

pub(super) use named_enum;

named_enum! {
    /// Recipe family.
    Recipe {
        /// Ephemeral sequential children; the first holds, each other waits for the one before.
        SequentialMutex = "sequential_mutex",
        /// Readers share, writers exclude.
        ReadWrite = "read_write",
        /// Up to a maximum of leases.
        Semaphore = "semaphore",
        /// One fixed znode; whoever created it holds.
        SingleNodeMutex = "single_node_mutex",
        /// Leader election.
        Election = "election",
        /// Barrier.
        Barrier = "barrier",
        /// Double barrier.
        DoubleBarrier = "double_barrier",
        /// Queue of items.
        Queue = "queue",
        /// Group membership: never waiting.
        Membership = "membership",
        /// Not recognised, or recognised as something this version does not yet read.
        Unknown = "unknown",
    }
}

named_enum! {
    /// How a hold ended.
    HoldEnd {
        /// Its znode was deleted, by its client as far as is known.
        Released = "released",
        /// Its session ended.
        SessionEnded = "session_ended",
        /// Somebody deleted its znode through Lockscope, which is proven.
        Forced = "forced",
        /// It was gone after a gap in what Lockscope saw.
        Unknown = "unknown",
    }
}

named_enum! {
    /// The one-word verdict on a lock; worst last.
    #[derive(Default)]
    Verdict {
        /// Nobody holds, nobody waits.
        Free = "free",
        /// Held, and nothing unusual.
        Healthy = "healthy",
        /// Not enough is known.
        #[default]
        Unknown = "unknown",
        /// Held well beyond this lock's usual time.
        Slow = "slow",
        /// The holder is dead; its session has yet to run out.
        Expiring = "expiring",
        /// The lock's directory went while contenders were known.
        NobodyHome = "nobody_home",
        /// Held by a znode that no session owns: it never frees itself.
        Orphan = "orphan",
        /// Held far beyond this lock's usual time while others wait.
        Stuck = "stuck",
        /// Part of a cycle of sessions waiting for each other, if one thread does both in each of them.
        MaybeDeadlocked = "maybe_deadlocked",
        /// Two hold what one should.
        DoubleOwner = "double_owner",
        /// Part of a cycle of sessions waiting for each other.
        Deadlocked = "deadlocked",
    }
}

named_enum! {
    /// Something that may be there and is not seen.
    Missing {
        /// Children that may not be read.
        UnreadableChildren = "unreadable_children",
        /// A directory that was not looked through since something may have happened there unseen.
        Unswept = "unswept",
        /// Waiters that only the members' tables of watches show, which were not read since the lock changed hands.
        WatchesNotRead = "watches_not_read",
        /// Waiters that have no znode and may be in no table either.
        WaitersWithoutZnodes = "waiters_without_znodes",
    }
}

named_enum! {
    /// State of a root's view.
    RootState {
        /// Complete and current.
        Live = "live",
        /// Being read.
        Syncing = "syncing",
        /// Possibly old.
        Stale = "stale",
        /// Not all of it is read: some children may not be, or there are more znodes than there is room for.
        Partial = "partial",
        /// The root itself may not be read.
        Denied = "denied",
        /// The root does not exist (yet, or any more).
        Gone = "gone",
        /// No watch is followed: the server takes no persistent ones, or its events name the wrong znode.
        Reduced = "reduced",
        /// As it was at a moment that was asked for.
        Past = "past",
    }
}

impl RootState {
    /// Whether it is said of now, and so must be known to be true as of a moment ago; else it is said of something old.
    pub fn is_current(self) -> bool {
        match self {
            Self::Live | Self::Partial | Self::Denied | Self::Gone | Self::Reduced => true,
            Self::Stale | Self::Syncing | Self::Past => false,
        }
    }
}

named_enum! {
    /// Whether a part of the proof holds that a view is live.
    ProofPart {
        /// It does.
        Proved = "proved",
        /// Nobody can be asked, or was yet.
        Missing = "missing",
        /// It does not.
        Failed = "failed",
    }
}

named_enum! {
    /// State of our own link to an ensemble.
    Link {
        /// Connected and answering.
        Live = "live",
        /// Connected, reading everything anew.
        Syncing = "syncing",
        /// No answer for longer than the canary allows, or disconnected with the session still hoped for.
        Stale = "stale",
        /// No session; trying to make one.
        Lost = "lost",
    }
}

named_enum! {
    /// Holder or waiter.
    ContenderRole {
        /// Holds.
        Holder = "holder",
        /// Waits.
        Waiter = "waiter",
    }
}

named_enum! {
    /// What a contender wants.
    Access {
        /// The whole lock.
        Exclusive = "exclusive",
        /// To share it with other readers.
        Read = "read",
        /// To exclude everybody.
        Write = "write",
        /// One lease of a semaphore.
        Lease = "lease",
        /// To lead.
        Leader = "leader",
        /// To be a member.
        Member = "member",
        /// An item of a queue.
        Item = "item",
    }
}

named_enum! {
    /// Whether a contender's session is alive, as far as evidence goes.
    Liveness {
        /// On some member's connection list and heard from.
        Connected = "connected",
        /// Connected, but not heard from for more than a third of its time-out.
        Silent = "silent",
        /// On nobody's connection list; the session runs out by itself.
        Disconnected = "disconnected",
        /// No session owns the znode.
        Persistent = "persistent",
        /// No evidence.
        Unknown = "unknown",
    }
}

named_enum! {
    /// How an edge from a waiter to what it waits for is known.
    EdgeEvidence {
        /// From the recipe's rule.
        Inferred = "inferred",
        /// The servers' watch table has it.
        Confirmed = "confirmed",
        /// The watch table was read and lacks it.
        Missing = "missing",
        /// One of many waiters on the same znode.
        Shared = "shared",
    }
}

named_enum! {
    /// The colour that identifies an ensemble at a glance.
    EnsembleColor {
        /// Blue.
        Blue = "blue",
        /// Teal.
        Teal = "teal",
        /// Violet.
        Violet = "violet",
        /// Amber.
        Amber = "amber",
        /// Pink.
        Pink = "pink",
        /// Red.
        Red = "red",
    }
}

named_enum! {
    /// How sure the recognition is.
    Confidence {
        /// The names fit no other known recipe.
        High = "high",
        /// The names fit, others might write the same.
        Medium = "medium",
        /// A guess.
        Low = "low",
    }
}

named_enum! {
    /// Weight of a finding.
    Severity {
        /// Worth knowing.
        Info = "info",
        /// Worth a look.
        Warning = "warning",
        /// Act.
        Critical = "critical",
    }
}

named_enum! {
    /// What became of an alert.
    AlertState {
        /// What its rule asks for is so, but not yet for as long as the rule wants.
        Pending = "pending",
        /// It is so for long enough.
        Firing = "firing",
        /// It was, and is no longer.
        Resolved = "resolved",
    }
}
