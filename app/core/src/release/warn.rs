//! What can't be promised of a release. A closed enum; each has one sentence.

/// What can't be promised, most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Warning {
    /// The session runs out by itself.
    FreesItself,
    /// The client is alive.
    OwnerConnected,
    /// The client is connected and silent.
    OwnerSilent,
    /// Nothing shows whether the client is alive.
    OwnerUnknown,
    /// Solr: taking office is another znode.
    OfficeStays,
    /// The old leader is not notified.
    TwoLeaders,
    /// The old holder is not notified.
    OldHolderBelieves,
    /// The old lease is used on.
    LeaseUsedOn,
    /// Several hold already.
    OthersHold,
    /// A waiter is not notified either.
    WaiterNotTold,
    /// The name may be another's within the last round trip.
    FixedName,
    /// Whoever is first.
    AnyWatcher,
    /// The active one watches its own znode.
    ActiveStepsDown,
    /// A barrier opens.
    OpensBarrier,
    /// A member of a double barrier goes.
    MemberGone,
    /// The claim on an item goes.
    ClaimGone,
    /// A lease by the clock.
    EndsByClock,
    /// No session owns it.
    Persistent,
    /// Parts of the root can't be read.
    PartlyRead,
}

impl Warning {
    /// One sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::FreesItself => {
                "Its client is connected to no member: the session runs out and frees it, so waiting is the safer way."
            }
            Self::OwnerConnected => {
                "Its process is connected and answers: the znode is taken from somebody who may be working right now."
            }
            Self::OwnerSilent => {
                "Its process is connected but its client is silent: it may be paused, and go on working when it wakes."
            }
            Self::OwnerUnknown => "No member reports whether its process is alive.",
            Self::OfficeStays => {
                "The leader znode of this election is another one and stays: deleting the candidate alone changes nothing until its session ends."
            }
            Self::TwoLeaders => {
                "The old leader is not notified and goes on leading: there are two leaders until it stops or its session ends."
            }
            Self::OldHolderBelieves => {
                "The old holder is not notified: it goes on believing that it holds and may go on working beside the next one; only systems that check fencing tokens will refuse it."
            }
            Self::LeaseUsedOn => {
                "The owner of the lease is not notified and may go on using it: one more than the maximum may be at work."
            }
            Self::OthersHold => "Several hold what one should: deleting one of the znodes leaves the others.",
            Self::WaiterNotTold => {
                "A waiter's client is not notified that its place is gone: it notices when its turn would come, and then fails or queues again at the end."
            }
            Self::FixedName => {
                "The name is not numbered: a client that takes it within the last round trip before the deletion is hit instead; the result says what could be shown."
            }
            Self::AnyWatcher => {
                "Who is next is not decided by an order: whoever of the waiting creates the znode first."
            }
            Self::ActiveStepsDown => {
                "The active one watches its own znode and steps down by itself; any of the others becomes active."
            }
            Self::OpensBarrier => "The barrier opens: everybody who waits at it goes on.",
            Self::MemberGone => {
                "The others at the barrier go on as if this one had left or never come; it is not notified."
            }
            Self::ClaimGone => {
                "Only the claim on the item goes: another consumer takes the item while the first may still be working on it."
            }
            Self::EndsByClock => {
                "Its owner believes in the lease until its end by the clock, whatever becomes of the znode."
            }
            Self::Persistent => {
                "No session owns it: its end would never have come by itself, and nobody's session ends with it."
            }
            Self::PartlyRead => "Some znodes under this root may not be read by us: somebody else may be next.",
        }
    }
}
