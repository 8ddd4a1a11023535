//! The findings, in the order of `core::diagnosis::Code`.

use super::{ActTemplate, Guide, act, say};

/// The table.
pub const FINDINGS: &[Guide] = guides! {
    "orphan_contender" "warning"
        says "The head stays far longer than holds here last (4 times the 99th percentile), and the same client queues again behind it."
        cause "An acquire failed and its clean-up was lost: the znode stays, nobody works under it (kazoo issue 732)."
        steps act("Release the head, once the client says that it does not hold.", ActTemplate::ReleaseHolder);
    "duplicate_session" "warning; critical where one of them holds, at once if they have one protection GUID, else once that is for longer than usual; info where threads share the session"
        says "One session, or one protection GUID, stands in the queue more than once."
        cause "A create succeeded and its reply was lost (CURATOR-79, CURATOR-264); or threads share the session, which is known once it releases one znode while it has another here."
        steps act("If no threads share it: release the znode that the client does not know of, usually the older one.", ActTemplate::ReleaseHolder);
    "lease_leak" "warning"
        says "All leases of a semaphore are out, somebody waits, and one is 10 times as old as the median of the others (at least 30 s)."
        cause "A lease that nobody returned (CURATOR-315, CURATOR-335)."
        steps act("Look at its owner; release that lease if nobody works under it.", ActTemplate::HolderSession);
    "double_owner_window" "info"
        says "The holder before did not release: its session ended, and another took over."
        cause "Its process died, hung or was cut off."
        steps say("Nothing, if work is guarded by fencing tokens. Otherwise see that the old process stopped.");
    "leader_mismatch" "critical"
        says "For 2 s the election has another first than the owner of the leader znode (Solr), or only one of the two is there."
        cause "A restart in the middle of an election (CURATOR-696, CURATOR-644)."
        steps say("Restart the first in the election; it takes office anew.");
    "container_reaped" "info"
        says "The directory was deleted while it was empty and made again, so numbers begin at 0 again."
        cause "A container or TTL parent."
        steps say("Nothing. Don't keep numbers as fencing tokens; czxids only grow.");
    "waiting_for_itself" "info"
        says "A client waits behind a znode of its own, held by another session of the same client."
        cause "A release or an attempt that was given up left its znode (CURATOR-678)."
        steps act("Release the old znode if its session goes on living.", ActTemplate::HolderSession);
    "foreign_child" "info; critical where a contender has children"
        says "A child that no client of this recipe writes. The text says what the recipe makes of it."
        cause "A second application, or a person, wrote there."
        steps say("Move it away. A contender with children can't be released by its client.");
    "expiry_overdue" "warning"
        says "A session should have run out two ticks ago and its znode is still there."
        cause "The leader is overloaded, or cut off from the members it hears of sessions from."
        steps say("Look at the members on the status page.");
    "stale_ephemeral" "critical; warning where nobody waits"
        says "The session of a holder is on no member's list of connections and in no member's table of sessions, the leader's among them, for 20 s or more, and its znode is still there."
        cause "A server kept an ephemeral that was made while its session was ended (ZOOKEEPER-1208); nobody deletes it."
        steps act("Don't wait: it will never go by itself. Release it.", ActTemplate::ReleaseHolder);
    "members_disagree" "critical; warning while a member lags"
        says "A znode is on some members and not on others, after each had applied all that any of them had."
        cause "A member's data is wrong (ZOOKEEPER-5010)."
        steps say("Stop that member, empty its data directory, start it again: it copies the leader's. Before: don't trust who holds.");
    "missing_watch" "warning"
        says "A waiter is connected, and no member's table has its watch on what it waits for."
        cause "A lost wake-up; or a client that polls."
        steps say("Restart the waiter, unless it polls.");
    "mixed_recipes" "critical; info where they see each other"
        says "Clients of different recipes share the directory."
        cause "Two libraries configured with one path."
        steps say("Give each library a path of its own, or teach one the other's names (kazoo: `extra_lock_patterns`).");
    "sequence_overflow" "info where it is foreseen; warning from 80 % on; critical once past"
        says "At the mean rate since it was made (an hour ago or more) the directory's counter reaches 2147483647 within 90 days; or it nears it, sticks there or ran into negative numbers (ZOOKEEPER-2944, kazoo issue 606)."
        cause "A lock taken two billion times."
        steps say("Let everybody go, delete the directory, and let it be made anew.");
    "order_anomaly" "warning"
        says "Contenders stand behind others that were created later."
        cause "The directory was made anew below living clients, or somebody wrote numbers by hand."
        steps say("Look at the raw znodes; the order shown is the one clients go by.");
    "rewritten_node" "warning; info for a revocation request"
        says "A contender's znode was written after its creation."
        cause "A restarted process took over its predecessor's ephemeral, which vanishes with the old session; or Curator's `__REVOKE__`."
        steps say("Restart the process once the old session is gone.");
    "same_client_new_session" "info"
        says "A client lost this lock with its session and is back with another."
        cause "A pause longer than the time-out."
        steps say("Look for long pauses (collection of garbage, swapping) on that host.");
    "old_owner_connected" "warning"
        says "As above, and another holds by now: work begun under the old fencing token may go on."
        cause "The client did not notice that it lost the lock."
        steps say("See that it stopped; compare fencing tokens where the work is done.");
    "never_expires" "warning; critical where it holds"
        says "A contender belongs to no session: it stays when its client dies."
        cause "Made with the wrong create mode, or by hand."
        steps act("Release it, then repair the client.", ActTemplate::ReleaseHolder);
    "empty_locks" "info"
        says "1,000 or more lock directories that nobody uses."
        cause "A lock name a job, never removed."
        steps say("Use container znodes, or remove them. On the status page.");
    "session_hoards" "info"
        says "One session owns 1,000 or more znodes."
        cause "A leak; its end would be a storm of events."
        steps say("Restart that client at a quiet time. On the status page.");
    "many_znodes" "warning"
        says "1,000,000 or more znodes below a root are no locks: each is read, kept and followed."
        cause "A root such as `/` on an ensemble that others keep data in."
        steps say("Name the directories of the locks as roots, or exclude what is no lock. On the status page.");
    "try_lock_churn" "info"
        says "20 or more attempts in a minute came to nothing, at least two for each success."
        cause "Clients that try, give up and try again."
        steps say("Let them wait in the queue; each attempt is two writes and a listing.");
    "herd" "info"
        says "10 or more are woken by one release, and one of them gets the lock."
        cause "A fixed znode that everybody watches, or readers behind one writer."
        steps say("Use a recipe that watches its predecessor. The lab shows what it saves.");
    "deadlock" "critical; warning while it may be none"
        says "Sessions wait for each other in a circle. If these are different threads of one client, it is none."
        cause "Locks taken in different orders."
        steps act("Release the one that the sentence names; then agree on an order.", ActTemplate::Waits);
    "deep_queue" "info"
        says "500 or more contenders. Each that joins or is woken reads the list of them all."
        cause "More work than holders."
        steps say("Spread the work over several locks.");
    "lock_order" "warning"
        says "Two sessions or more took the same locks in opposite orders, or in a circle, and no other lock was held around that each time: a deadlock that may come."
        cause "Each part of the code takes its locks in an order of its own. Where a session serves several threads, what one holds another may ask for: then it may be none."
        steps act("See who takes them in which order, and how near they came.", ActTemplate::Waits),
            say("Take them in one order everywhere, such as that of their paths; or hold one lock around both.");
    "must_be_held" "critical"
        says "A lock or election that `must_be_held` of the configuration names has had no holder for 30 s in which its root was seen. A path without a star is reported as well where nothing is there; a pattern with one only where a lock is known."
        cause "Its service is down, can't reach ZooKeeper, or uses another path."
        steps say("Start what should hold it; if it runs, look why it does not contend."),
            say("If nobody needs to hold it any more, take its path out of `must_be_held`.");
    "watch_inversion" "warning; critical where the two wait for each other"
        says "By the members' tables of watches a client watches a contender that stands behind its own, and not the one that it should wait for; or it is first, and the one that it watches waits for it. Of the first 128 contenders."
        cause "A library that picks the wrong znode: kazoo's ReadLock before 2.9 watches the last writer, also one that came later (issue 649)."
        steps act("Restart the client in front, or release its znode if it can't be.", ActTemplate::ReleaseHolder),
            say("Update its library: kazoo to 2.9 or later.");
    "never_drains" "info"
        says "10 or more wait, and in each 30 s of the last two minutes more waited on average than in the 30 s before. Numbers a minute: how many got it by the last holds, how many gave up, and, with what the queue grew by, how many arrived. It ends once the last 30 s are no longer than the 30 s before."
        cause "More work arrives than holders get done."
        steps say("Make holds shorter, spread the work over several locks, or let fewer arrive.");
    "long_timeout" "info"
        says "A session's time-out is at least twice what its client needs: 10 s, two ticks of the servers, or six times what its longest silence in the last day exceeded a third of the time-out by, whichever is most. Clients ping after a third of the time-out in which they sent nothing, so only what goes beyond is a pause. Silences are known by when members last answered each client, asked for every few seconds: the number is the most it can have been. Only sessions that own znodes here and are known for ten minutes count."
        cause "A time-out that nobody chose, or one chosen for pauses that do not come any more."
        steps say("Ask for a shorter session time-out in that client: locks of a client that dies get free sooner. On the status page.");
    "short_timeout" "info"
        says "A client was silent for three quarters or more of its session's time-out and went on. Silences are known as above; the number is the least it can have been, over the last day."
        cause "Long pauses (collection of garbage, swapping, a busy host), or a time-out that is too short for a slow network."
        steps say("Look for pauses on that host, or ask for a longer time-out in that client. On the status page.");
    "will_be_reaped" "info"
        says "A lock's directory is empty, was used, and was deleted before while it was empty: it is a container or has a time to live, and will be deleted again. One that was never seen deleted is not foretold: no client can tell it from another directory."
        cause "A container or TTL znode as the parent of contenders, as Curator makes them."
        steps say("Usually nothing. Do not use sequence numbers as fencing tokens here: they begin again at 0; use czxids.");
};
