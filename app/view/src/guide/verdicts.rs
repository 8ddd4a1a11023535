//! The verdicts, worst last, as in [`crate::Verdict`].

use super::{ActTemplate, Guide, act, say};

/// The table.
pub const VERDICTS: &[Guide] = guides! {
    "free"
        says "Nobody holds it, nobody waits for it, and nothing is missing from what was seen."
        steps say("Nothing.");
    "healthy"
        says "It is held, and not for longer than usual, or how long is usual is not known yet. A leader, a member or a barrier is healthy however long it stays."
        steps say("Nothing.");
    "unknown"
        says "The directory is not recognised as a recipe, or nobody is seen to hold it and not all of it could be read."
        steps say("Name it in the configuration: a `[[lock]]` entry with `path` and `recipe`.");
    "slow"
        says "Somebody waits, and the holder has held it for more than 8 times the median of the holds seen here (at least 1 s). Or it was held when Lockscope first looked, and the first in line has waited for more than 5 min for each of those who wait: that is known, and since when it is held is not."
        steps act("Look at {holder}: when was it last heard from, and what else does it hold?", ActTemplate::HolderSession),
            say("Wait. The verdict turns stuck at 40 times the median.");
    "expiring"
        says "Nobody who holds it is connected to any member, and the leader's table has the session, which runs out by itself; the countdown says when."
        steps say("Wait. The session of {holder} runs out by itself, and that frees the lock."),
            act("Release it earlier only if these seconds count: its client may come back within them.", ActTemplate::ReleaseHolder);
    "nobody_home"
        says "The lock's directory is gone and nobody made it again. An election without its directory has no leader (CURATOR-724)."
        steps say("Restart a client that takes part in {lock}: it makes the directory again."),
            say("Find out who deleted the directory: ZooKeeper's audit log and transaction log name the session.");
    "orphan"
        says "A persistent znode is at the head: no session owns it, so it never frees itself."
        steps act("Find out who made {znode}: its data may say.", ActTemplate::PrintZnode),
            act("If nobody works under it, release it.", ActTemplate::ReleaseHolder);
    "stuck"
        says "Somebody waits, and the holder has held it for more than 40 times the median of the holds seen here (at least 10 s), or for more than 5 min while fewer than 8 holds were seen, which the directory's counters may show of the time before Lockscope looked."
        steps act("Find the process of {holder} on {host} and take a stack dump.", ActTemplate::FindProcess),
            say("If it hangs, restart it: that ends its session, and the lock is free."),
            act("If it can't be restarted, release its hold on {lock}. It is not told, and may go on working.", ActTemplate::ReleaseHolder);
    "maybe_deadlocked"
        says "Sessions wait for each other in a circle, but one of them contends for more than the circle explains: clients that share one session among threads look like this without a deadlock. It turns `deadlocked` when that session has nothing else any more, or once the circle stood still for longer than it takes to call each of its locks `stuck`."
        steps act("Take a stack dump of {victim}: does the thread that holds wait as well?", ActTemplate::Waits),
            act("If it does, release its hold on {victim_lock}.", ActTemplate::ReleaseVictim),
            say("If these are different threads of one client, this is no deadlock: wait.");
    "double_owner"
        says "Two clients hold it at once that exclude each other. The finding beside it says why."
        steps act("Stop all but one of {holders} at once: they work on the same data.", ActTemplate::FindProcess);
    "deadlocked"
        says "Sessions wait for each other in a circle, over one lock or several, and have nothing else in hand (or the circle stands still for longer than these locks are ever held)."
        steps act("Release the hold of {victim} on {victim_lock}: that costs least.", ActTemplate::ReleaseVictim),
            act("See that {victim} noticed: restart it if it goes on as if it held the lock.", ActTemplate::Waits),
            say("Let every client take {locks} in the same order, so that it does not happen again.");
};
