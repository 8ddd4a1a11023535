"""Writes a transaction log of 200 locks on which something goes wrong now and then, as large as it is asked for:
`python3 incident_log.py DIR/version-2/log.1 1000000000`, and then `lockscope autopsy DIR --json`.

Each session makes one znode in a lock's queue and ends when it is gone. Some holders hang for 20 to 90 seconds while others queue up
behind them and some of those give up; half of them release in the end, and of half the session ends. Now and then two sessions wait for
each other. One transaction a millisecond; the same bytes each time.
"""

import random
import struct
import sys
import zlib
from collections import deque

LOCKS = 200
BEGIN_MS = 1_790_000_000_000
FIRST_SESSION = 0x100000000000000
CREATE_2, DELETE, SET_DATA, CREATE_SESSION, CLOSE_SESSION = 15, 2, 5, -10, -11


def text(value):
    return struct.pack(">i", len(value)) + value


class Log:
    """Records as ZooKeeper writes them."""

    ACL = struct.pack(">ii", 1, 31) + text(b"world") + text(b"anyone")

    def __init__(self, path):
        self.out = open(path, "wb", 1 << 20)
        self.out.write(b"ZKLG" + struct.pack(">iq", 2, 0))
        self.zxid, self.written = 0, 16

    def record(self, session, kind, body):
        self.zxid += 1
        head = struct.pack(">qiqqi", session, 1, self.zxid, BEGIN_MS + self.zxid, kind)
        payload = head + body + struct.pack(">iq", 2, 0x123456789ABC)
        record = struct.pack(">qi", zlib.adler32(payload), len(payload)) + payload + b"B"
        self.written += len(record)
        self.out.write(record)

    def create(self, session, path, data, is_ephemeral):
        end = (b"\1" if is_ephemeral else b"\0") + struct.pack(">i", -1)
        self.record(session, CREATE_2, text(path) + text(data) + self.ACL + end)

    def delete(self, session, path):
        self.record(session, DELETE, text(path))

    def close_session(self, session, paths):
        self.record(session, CLOSE_SESSION, struct.pack(">i", len(paths)) + b"".join(map(text, paths)))

    def finish(self):
        self.out.write(b"\0" * 4096)
        self.out.close()


class Locks:
    """Who queues where."""

    def __init__(self, log):
        self.log = log
        self.numbers = [0] * LOCKS
        self.queues = [deque() for _ in range(LOCKS)]
        self.owned = {}
        self.sessions = 0

    def session(self):
        self.sessions += 1
        session = FIRST_SESSION + self.sessions
        self.log.record(session, CREATE_SESSION, struct.pack(">i", 30000))
        return session

    def join(self, lock, session):
        path = b"/locks/%d/lock-%010d" % (lock, self.numbers[lock])
        self.numbers[lock] += 1
        self.log.create(session, path, b"host-%d" % (session % 40), True)
        self.queues[lock].append((session, path))
        self.owned.setdefault(session, []).append((lock, path))

    def leave(self, lock, at=0):
        session, path = self.queues[lock][at]
        del self.queues[lock][at]
        self.owned[session].remove((lock, path))
        self.log.delete(session, path)
        if not self.owned[session]:
            del self.owned[session]
            self.log.close_session(session, [])

    def die(self, session):
        paths = []
        for lock, path in self.owned.pop(session):
            self.queues[lock].remove((session, path))
            paths.append(path)
        self.log.close_session(session, paths)


def generate(path, size):
    random.seed(7)
    log = Log(path)
    log.create(1, b"/locks", b"", False)
    log.create(1, b"/config", b"", False)
    for lock in range(LOCKS):
        log.create(1, b"/locks/%d" % lock, b"", False)
        log.create(1, b"/config/%d" % lock, b"", False)
    locks, hung = Locks(log), [0] * LOCKS
    turn, hangs, deadlocks = 0, 0, 0
    while log.written < size:
        lock, turn = turn % LOCKS, turn + 1
        queue = locks.queues[lock]
        if hung[lock]:
            if log.zxid >= hung[lock]:
                hung[lock] = 0
                if queue:
                    locks.die(queue[0][0]) if random.random() < 0.5 else locks.leave(lock)
            elif len(queue) < 12 and random.random() < 0.1:
                locks.join(lock, locks.session())
            elif len(queue) > 6 and random.random() < 0.05:
                locks.leave(lock, random.randrange(2, len(queue)))
        else:
            while len(queue) > 3:
                locks.leave(lock)
            locks.join(lock, locks.session())
            if len(queue) > 2:
                locks.leave(lock)
            if random.random() < 0.0012 and len(queue) > 1:
                hung[lock] = log.zxid + random.randrange(20_000, 90_000)
                hangs += 1
            elif random.random() < 0.0001:
                other = (lock + 1) % LOCKS
                if not hung[other] and locks.queues[other]:
                    one, two = queue[0][0], locks.queues[other][0][0]
                    if one != two:
                        locks.join(other, one)
                        locks.join(lock, two)
                        hung[lock] = hung[other] = log.zxid + random.randrange(20_000, 60_000)
                        deadlocks += 1
        log.record(1, SET_DATA, text(b"/config/%d" % lock) + text(b"x" * 200) + struct.pack(">i", 1))
    log.finish()
    print(f"{log.zxid} transactions, {locks.sessions} sessions, {hangs} hang, {deadlocks} deadlocks")


if __name__ == "__main__":
    generate(sys.argv[1], int(sys.argv[2]))
