//! The verdicts, worst last, as in [`crate::Verdict`].

use super::{ActTemplate, Guide, StepTemplate, act, say};

const fn verdict(name: &'static str, says: &'static str, steps: &'static [StepTemplate]) -> Guide {
    Guide { name, severity: "", says, cause: "", steps }
}

/// The table.
pub const VERDICTS: &[Guide] = &[
    verdict(
        "free",
        "Nobody holds it, nobody waits for it, and nothing is missing from what was seen.",
        &[say("Nothing.")],
    ),
    verdict(
        "healthy",
        "It is held, and not for longer than usual, or how long is usual is not known yet. A leader, a member or a barrier is healthy \
         however long it stays.",
        &[say("Nothing.")],
    ),
    verdict(
        "unknown",
        "The directory is not recognised as a recipe, or nobody is seen to hold it and not all of it could be read.",
        &[say("Name it in the configuration: a `[[lock]]` entry with `path` and `recipe`.")],
    ),
    verdict(
        "slow",
        "Somebody waits, and the holder has held it for more than 8 times the median of the holds seen here (at least 1 s). Or it was held when \
         Lockscope first looked, and the first in line has waited for more than 5 min for each of those who wait: that is known, and since \
         when it is held is not.",
        &[
            act(
                "Look at {holder}: when was it last heard from, and what else does it hold?",
                ActTemplate::HolderSession,
            ),
            say("Wait. The verdict turns stuck at 40 times the median."),
        ],
    ),
    verdict(
        "expiring",
        "Nobody who holds it is connected to any member, and the leader's table has the session, which runs out by itself; the countdown says when.",
        &[
            say("Wait. The session of {holder} runs out by itself, and that frees the lock."),
            act(
                "Release it earlier only if these seconds count: its client may come back within them.",
                ActTemplate::ReleaseHolder,
            ),
        ],
    ),
    verdict(
        "nobody_home",
        "The lock's directory is gone and nobody made it again. An election without its directory has no leader (CURATOR-724).",
        &[
            say("Restart a client that takes part in {lock}: it makes the directory again."),
            say("Find out who deleted the directory: ZooKeeper's audit log and transaction log name the session."),
        ],
    ),
    verdict(
        "orphan",
        "A persistent znode is at the head: no session owns it, so it never frees itself.",
        &[
            act("Find out who made {znode}: its data may say.", ActTemplate::PrintZnode),
            act("If nobody works under it, release it.", ActTemplate::ReleaseHolder),
        ],
    ),
    verdict(
        "stuck",
        "Somebody waits, and the holder has held it for more than 40 times the median of the holds seen here (at least 10 s), or for more \
         than 5 min while fewer than 8 holds were seen, which the directory's counters may show of the time before Lockscope looked.",
        &[
            act("Find the process of {holder} on {host} and take a stack dump.", ActTemplate::FindProcess),
            say("If it hangs, restart it: that ends its session, and the lock is free."),
            act(
                "If it can't be restarted, release its hold on {lock}. It is not told, and may go on working.",
                ActTemplate::ReleaseHolder,
            ),
        ],
    ),
    verdict(
        "maybe_deadlocked",
        "Sessions wait for each other in a circle, but one of them contends for more than the circle explains: clients that share one session \
         among threads look like this without a deadlock. It turns `deadlocked` when that session has nothing else any more, or once the \
         circle stood still for longer than it takes to call each of its locks `stuck`.",
        &[
            act("Take a stack dump of {victim}: does the thread that holds wait as well?", ActTemplate::Waits),
            act("If it does, release its hold on {victim_lock}.", ActTemplate::ReleaseVictim),
            say("If these are different threads of one client, this is no deadlock: wait."),
        ],
    ),
    verdict(
        "double_owner",
        "Two clients hold it at once that exclude each other. The finding beside it says why.",
        &[act("Stop all but one of {holders} at once: they work on the same data.", ActTemplate::FindProcess)],
    ),
    verdict(
        "deadlocked",
        "Sessions wait for each other in a circle, over one lock or several, and have nothing else in hand (or the circle stands still for \
         longer than these locks are ever held).",
        &[
            act("Release the hold of {victim} on {victim_lock}: that costs least.", ActTemplate::ReleaseVictim),
            act("See that {victim} noticed: restart it if it goes on as if it held the lock.", ActTemplate::Waits),
            say("Let every client take {locks} in the same order, so that it does not happen again."),
        ],
    ),
];
