//! What the numbers of pages of causes, of the past and of alerts are. Each has a mark where it is shown.

use super::terms::{Term, TermArea, terms};

/// The table.
pub(super) const NUMBERS: &[Term] = terms! {
    Numbers {
        "acquired": "How often somebody began to hold within the piece of time; in the picture, divided by its minutes.";
        "alike": "Incidents of the 30 days before, on any lock, with the same recipe at the root's lock, worst verdict, findings by which somebody was hurt, shape (nobody waited for long, a line, a chain over several locks, or a circle), number of locks (1, 2, or more) and application at the root; how each ended is said beside it. Of more than 500 runs of trouble the newest are looked at. See [Incidents](history.md#incidents).";
        "all waiting": "Every wait of the contenders that left in the range, with all of its length. All charges, hand-off and what is not known together are this, to the millisecond.";
        "because of": "Who is charged most of the waiting within an incident; without any wait, who held when it began. By what it says of itself, else its host, else its session.";
        "charged as holder": "Waiting for whoever held meanwhile: each millisecond of a wait goes to who held then, in equal parts where several did. All charges, hand-off and what is not known together are all waiting.";
        "charged in the end": "Waiting for whom everybody waited for in the end: where a holder itself waited for another lock, its part is passed on to who held that one. The sum is the same.";
        "closest approach": "How near two sessions came to a deadlock: the shortest time between a stretch in which one held the first lock and asked for the second, and a stretch in which another did the opposite with the same two. None while that was not seen, and for longer circles.";
        "confidence": "How sure a warning is. Sure: by sessions that do one thing at a time, and of the very same locks. Fairly sure: by sessions that may serve several threads, or of locks that only look alike (a class with `*`) and were not seen taken both ways. Not sure: both.";
        "dead time saved": "How much sooner others would get its locks if this client died: its time-out less a time-out that would be enough.";
        "difference": "Of a dimension: half the sum of the absolute differences of the shares of its values. The part of one side that would have to have other values for both to be alike, from 0 to 100 %.";
        "ended by": "What happened within a second of its end: a release through Lockscope before anything else, then what the root did, then any other holder, then whoever gave up. Not known where a gap lies over its end.";
        "enough time-out": "A time-out that this client's silences would have left room for: 10 s, two ticks of the servers, or six times what its longest silence exceeded a third of the time-out by, whichever is most. Clients ping after a third of the time-out. Where the client was silent for nearly all of its time-out, at least twice that silence.";
        "fires at": "What has to be so of a lock: a verdict, a finding, or a number (`waiting`, `held`, `depth`, `not_held`) and its limit. One of several is enough. See [Alerts](alerts.md).";
        "fires for": "How long what a rule says has to be so without a break before the alert fires. Before that it is pending.";
        "firing": "Alerts whose rule is met, and has been for as long as the rule says. The time in brackets counts from when it began to be so, not from when it fired. `≥` while ZooKeeper is not seen: it may be over.";
        "gave up": "How many left within the piece of time without ever having held.";
        "hand-off": "Waiting while nobody held: from one holder's end until the next one holds. Nobody is charged for it.";
        "held": "From when it was seen to hold first until its znode was gone; of who holds still, up to now.";
        "held by, share": "For how long each held within the range, and which part of the range that is. Where several held at once, the parts make more than the whole.";
        "held longest by": "Who held for most of the piece of time, by what it says of itself, else its host, else its session.";
        "hold percentiles": "Half of the holds that ended in the range lasted no longer than p50, 99 of 100 no longer than p99; from a histogram: at most an eighth above the truth, and never below it.";
        "hold percentiles over time": "Of the holds that ended within the piece of time, half lasted no longer than p50, 95 of 100 no longer than p95, 99 no longer than p99; from a histogram: at most an eighth above the truth, and never below it.";
        "holds": "Holds that ended in the range, however they ended.";
        "incident began": "The first instant at which a lock of it was in trouble: a bad verdict, or a finding by which somebody is hurt.";
        "incident ended": "When no lock of it was in trouble any more, and none was again within a minute.";
        "incident lasted": "From the first instant at which a lock of it was in trouble to when none was any more. Trouble that comes back within a minute was not over. Of what goes on: up to now.";
        "last taken": "When a receiver took a message of this route the last time.";
        "left before its end": "Its time-out less the longest silence: for how much longer the client could have been silent before it would have lost its session. At most so much, since the silence was at least so long.";
        "longest silence": "The longest time in which the session's client sent nothing, within half a day to a day: from at least to at most, since members are asked only every few seconds when they last answered it.";
        "median wait": "The time within which it gets the lock in one case of two.";
        "messages waiting": "Messages that a route has not taken yet. They are tried again until they are taken, also after a restart.";
        "most waiting": "The longest queue within the piece of time.";
        "not known": "Waiting while nobody looked, or written by a version that did not keep charges. Nobody is charged for it.";
        "of all waiting": "What is charged in the end, or as holder where not all of the ensemble may be seen, divided by all waiting of contenders that left in the range.";
        "order seen last": "When that was seen the last time.";
        "order sessions": "Distinct sessions that asked for one of the second class while they held one of the first.";
        "orders seen": "How often a session that held a lock of the first class asked for one of the second, since Lockscope looks or in the recording, and by how many sessions.";
        "other locks": "Further locks that belong to it: whoever holds one of them holds or waits for another.";
        "others": "Waiting charged to those that are not listed, all together.";
        "pending": "Alerts whose rule is met, but not yet for as long as the rule says. Nobody is notified of them.";
        "place in line": "Its place among those that wait: the first gets it next.";
        "resolved": "Alerts that fired and whose rule is not met any more, the newest first. The time in brackets is from when it began to be met until it was not.";
        "right": "Of the last 500 waits of a day, how many ended within what was told when they began. 80 % is aimed at, neither more nor less.";
        "seen before": "How often the same root lock had the same worst verdict in the 30 days before the incident began.";
        "session time-out": "The time-out that client and server agreed on when the session began. A client that is not heard for so long loses its session, and with it its locks; until then nobody else gets them.";
        "sessions that waited": "Distinct sessions of which a wait is charged to this one. `≥` where there were more than are counted.";
        "severity": "What the rule's author called it: info, warning or critical. Receivers sort and page by it; it changes nothing here.";
        "share": "Of all waits of a side, selected or the rest, the part that has this value, and how many these are.";
        "silenced until": "When notifications begin again; the alert stays in the list all the while.";
        "silences known for": "Over how long the longest silence is the longest: since the members say when they last answered this client, a day at most. Under 10 min nothing is judged.";
        "snoozed until": "When the warning comes back. Until then its locks have no finding of it; whoever silenced it, and why, stands in the audit log.";
        "still to wait": "Within which time from now it gets the lock, in eight cases of ten: in one it is sooner, in one later. It is played 256 times with this lock's own holds. See [Time to lock](history.md#time-to-lock).";
        "victims": "Sessions that waited 1 s or longer within the incident, all their waits in it together; and the most that waited at once. Who stands by for a leader, or is an item, a member or at a barrier, waits for nothing.";
        "wait percentiles": "Of the waits that ended within the piece of time, half took no longer than p50, 95 of 100 no longer than p95, 99 no longer than p99; from a histogram: at most an eighth above the truth, and never below it.";
        "waited": "From when its znode was made, on our clock, until it held, or until it left without.";
        "waited in all": "All waits within the incident together: of each wait the part in which its lock was part of it. `≥` where not all who waited were looked at.";
        "waiting at once": "How many waited at each instant of it; `at most` is the largest of these. Who stands by for a leader does not wait.";
        "waits in a cell": "How many waits began within that time and took that long. The darker, the more, on a logarithmic scale; an empty cell has none.";
        "waits selected": "How many of the waits that began in the range are selected, by when they began and how long they took. Waits that still go on are not among them.";
        "week before": "What the same one was charged in the same range a week before. `≥` where not all of that range is recorded; no column where nothing of it is.";
        "worst verdict": "The worst verdict that the lock had within the piece of time.";
        "worst wait": "When the wait ended of which this one is charged most, and its lock.";
        "would have fired": "When the rule would have fired: what it looks for had been so for as long as it says. Found by the same code that fires alerts, over the recording.";
        "would have lasted": "From when the rule would have fired to when what it looks for was not so any more. Of what goes on at the end of the range: up to then.";
    }
};
