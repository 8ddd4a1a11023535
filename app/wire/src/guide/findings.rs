//! The findings, in the order of `core::diagnosis::Code`.

use super::{ActTemplate, Guide, StepTemplate, act, say};

const fn finding(
    name: &'static str,
    severity: &'static str,
    says: &'static str,
    cause: &'static str,
    steps: &'static [StepTemplate],
) -> Guide {
    Guide { name, severity, says, cause, steps }
}

/// The table.
pub const FINDINGS: &[Guide] = &[
    finding(
        "orphan_contender",
        "warning",
        "The head stays far longer than holds here last (4 times the 99th percentile), and the same client queues again behind it.",
        "An acquire failed and its clean-up was lost: the znode stays, nobody works under it (kazoo issue 732).",
        &[act("Release the head, once the client says that it does not hold.", ActTemplate::ReleaseHolder)],
    ),
    finding(
        "duplicate_session",
        "warning; critical where one of them holds, at once if they have one protection GUID, else once that is for longer than usual; info where threads share the session",
        "One session, or one protection GUID, stands in the queue more than once.",
        "A create succeeded and its reply was lost (CURATOR-79, CURATOR-264); or threads share the session, which is known once it releases one znode while it has another here.",
        &[act(
            "If no threads share it: release the znode that the client does not know of, usually the older one.",
            ActTemplate::ReleaseHolder,
        )],
    ),
    finding(
        "lease_leak",
        "warning",
        "All leases of a semaphore are out, somebody waits, and one is 10 times as old as the median of the others (at least 30 s).",
        "A lease that nobody returned (CURATOR-315, CURATOR-335).",
        &[act("Look at its owner; release that lease if nobody works under it.", ActTemplate::HolderSession)],
    ),
    finding(
        "double_owner_window",
        "info",
        "The holder before did not release: its session ended, and another took over.",
        "Its process died, hung or was cut off.",
        &[say("Nothing, if work is guarded by fencing tokens. Otherwise see that the old process stopped.")],
    ),
    finding(
        "leader_mismatch",
        "critical",
        "For 2 s the election has another first than the owner of the leader znode (Solr), or only one of the two is there.",
        "A restart in the middle of an election (CURATOR-696, CURATOR-644).",
        &[say("Restart the first in the election; it takes office anew.")],
    ),
    finding(
        "container_reaped",
        "info",
        "The directory was deleted while it was empty and made again, so numbers begin at 0 again.",
        "A container or TTL parent.",
        &[say("Nothing. Don't keep numbers as fencing tokens; czxids only grow.")],
    ),
    finding(
        "waiting_for_itself",
        "info",
        "A client waits behind a znode of its own, held by another session of the same client.",
        "A release or an attempt that was given up left its znode (CURATOR-678).",
        &[act("Release the old znode if its session goes on living.", ActTemplate::HolderSession)],
    ),
    finding(
        "foreign_child",
        "info; critical where a contender has children",
        "A child that no client of this recipe writes. The text says what the recipe makes of it.",
        "A second application, or a person, wrote there.",
        &[say("Move it away. A contender with children can't be released by its client.")],
    ),
    finding(
        "expiry_overdue",
        "warning",
        "A session should have run out two ticks ago and its znode is still there.",
        "The leader is overloaded, or cut off from the members it hears of sessions from.",
        &[say("Look at the members on the status page.")],
    ),
    finding(
        "members_disagree",
        "critical; warning while a member lags",
        "A znode is on some members and not on others, after each had applied all that any of them had.",
        "A member's data is wrong (ZOOKEEPER-5010).",
        &[say(
            "Stop that member, empty its data directory, start it again: it copies the leader's. Before: don't trust who holds.",
        )],
    ),
    finding(
        "missing_watch",
        "warning",
        "A waiter is connected, and no member's table has its watch on what it waits for.",
        "A lost wake-up; or a client that polls.",
        &[say("Restart the waiter, unless it polls.")],
    ),
    finding(
        "mixed_recipes",
        "critical; info where they see each other",
        "Clients of different recipes share the directory.",
        "Two libraries configured with one path.",
        &[say("Give each library a path of its own, or teach one the other's names (kazoo: `extra_lock_patterns`).")],
    ),
    finding(
        "sequence_overflow",
        "info where it is foreseen; warning from 80 % on; critical once past",
        "At the mean rate since it was made (an hour ago or more) the directory's counter reaches 2147483647 within 90 days; or it nears it, sticks there or ran into negative numbers (ZOOKEEPER-2944, kazoo issue 606).",
        "A lock taken two billion times.",
        &[say("Let everybody go, delete the directory, and let it be made anew.")],
    ),
    finding(
        "order_anomaly",
        "warning",
        "Contenders stand behind others that were created later.",
        "The directory was made anew below living clients, or somebody wrote numbers by hand.",
        &[say("Look at the raw znodes; the order shown is the one clients go by.")],
    ),
    finding(
        "rewritten_node",
        "warning; info for a revocation request",
        "A contender's znode was written after its creation.",
        "A restarted process took over its predecessor's ephemeral, which vanishes with the old session; or Curator's `__REVOKE__`.",
        &[say("Restart the process once the old session is gone.")],
    ),
    finding(
        "same_client_new_session",
        "info",
        "A client lost this lock with its session and is back with another.",
        "A pause longer than the time-out.",
        &[say("Look for long pauses (collection of garbage, swapping) on that host.")],
    ),
    finding(
        "old_owner_connected",
        "warning",
        "As above, and another holds by now: work begun under the old fencing token may go on.",
        "The client did not notice that it lost the lock.",
        &[say("See that it stopped; compare fencing tokens where the work is done.")],
    ),
    finding(
        "never_expires",
        "warning; critical where it holds",
        "A contender belongs to no session: it stays when its client dies.",
        "Made with the wrong create mode, or by hand.",
        &[act("Release it, then repair the client.", ActTemplate::ReleaseHolder)],
    ),
    finding(
        "empty_locks",
        "info",
        "1,000 or more lock directories that nobody uses.",
        "A lock name a job, never removed.",
        &[say("Use container znodes, or remove them. On the status page.")],
    ),
    finding(
        "session_hoards",
        "info",
        "One session owns 1,000 or more znodes.",
        "A leak; its end would be a storm of events.",
        &[say("Restart that client at a quiet time. On the status page.")],
    ),
    finding(
        "many_znodes",
        "warning",
        "1,000,000 or more znodes below a root are no locks: each is read, kept and followed.",
        "A root such as `/` on an ensemble that others keep data in.",
        &[say("Name the directories of the locks as roots, or exclude what is no lock. On the status page.")],
    ),
    finding(
        "try_lock_churn",
        "info",
        "20 or more attempts in a minute came to nothing, at least two for each success.",
        "Clients that try, give up and try again.",
        &[say("Let them wait in the queue; each attempt is two writes and a listing.")],
    ),
    finding(
        "herd",
        "info",
        "10 or more are woken by one release, and one of them gets the lock.",
        "A fixed znode that everybody watches, or readers behind one writer.",
        &[say("Use a recipe that watches its predecessor. The lab shows what it saves.")],
    ),
    finding(
        "deadlock",
        "critical; warning while it may be none",
        "Sessions wait for each other in a circle. If these are different threads of one client, it is none.",
        "Locks taken in different orders.",
        &[act("Release the one that the sentence names; then agree on an order.", ActTemplate::Waits)],
    ),
    finding(
        "deep_queue",
        "info",
        "500 or more contenders. Each that joins or is woken reads the list of them all.",
        "More work than holders.",
        &[say("Spread the work over several locks.")],
    ),
    finding(
        "lock_order",
        "warning",
        "Two sessions or more took the same locks in opposite orders, or in a circle, and no other lock was held around that each time: a deadlock that may come.",
        "Each part of the code takes its locks in an order of its own. Where a session serves several threads, what one holds another may ask for: then it may be none.",
        &[
            act("See who takes them in which order, and how near they came.", ActTemplate::Waits),
            say("Take them in one order everywhere, such as that of their paths; or hold one lock around both."),
        ],
    ),
    finding(
        "must_be_held",
        "critical",
        "A lock or election that `must_be_held` of the configuration names has had no holder for 30 s in which its root was seen. A path without a star is reported as well where nothing is there; a pattern with one only where a lock is known.",
        "Its service is down, can't reach ZooKeeper, or uses another path.",
        &[
            say("Start what should hold it; if it runs, look why it does not contend."),
            say("If nobody needs to hold it any more, take its path out of `must_be_held`."),
        ],
    ),
    finding(
        "watch_inversion",
        "warning; critical where the two wait for each other",
        "By the members' tables of watches a client watches a contender that stands behind its own, and not the one that it should wait for; or it is first, and the one that it watches waits for it. Of the first 128 contenders.",
        "A library that picks the wrong znode: kazoo's ReadLock before 2.9 watches the last writer, also one that came later (issue 649).",
        &[
            act("Restart the client in front, or release its znode if it can't be.", ActTemplate::ReleaseHolder),
            say("Update its library: kazoo to 2.9 or later."),
        ],
    ),
    finding(
        "never_drains",
        "info",
        "10 or more wait, and in each 30 s of the last two minutes more waited on average than in the 30 s before. Numbers a minute: how many got it by the last holds, how many gave up, and, with what the queue grew by, how many arrived. It ends once the last 30 s are no longer than the 30 s before.",
        "More work arrives than holders get done.",
        &[say("Make holds shorter, spread the work over several locks, or let fewer arrive.")],
    ),
    finding(
        "long_timeout",
        "info",
        "A session's time-out is at least twice what its client needs: 10 s, two ticks of the servers, or six times what its longest silence in the last day exceeded a third of the time-out by, whichever is most. Clients ping after a third of the time-out in which they sent nothing, so only what goes beyond is a pause. Silences are known by when members last answered each client, asked for every few seconds: the number is the most it can have been. Only sessions that own znodes here and are known for ten minutes count.",
        "A time-out that nobody chose, or one chosen for pauses that do not come any more.",
        &[say(
            "Ask for a shorter session time-out in that client: locks of a client that dies get free sooner. On the status page.",
        )],
    ),
    finding(
        "short_timeout",
        "info",
        "A client was silent for three quarters or more of its session's time-out and went on. Silences are known as above; the number is the least it can have been, over the last day.",
        "Long pauses (collection of garbage, swapping, a busy host), or a time-out that is too short for a slow network.",
        &[say("Look for pauses on that host, or ask for a longer time-out in that client. On the status page.")],
    ),
    finding(
        "will_be_reaped",
        "info",
        "A lock's directory is empty, was used, and was deleted before while it was empty: it is a container or has a time to live, and will be deleted again. One that was never seen deleted is not foretold: no client can tell it from another directory.",
        "A container or TTL znode as the parent of contenders, as Curator makes them.",
        &[say(
            "Usually nothing. Do not use sequence numbers as fencing tokens here: they begin again at 0; use czxids.",
        )],
    ),
];
