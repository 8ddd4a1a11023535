"""Clients of kazoo's recipes, each with a session and a thread of its own.

Argument: the time-out of the sessions in seconds. Orders are lines on standard input, `<client> <order> <words>`;
what a client has to say are lines on standard output, `<client> <word> <rest>`:

    a open host:port lock /path     a ready 0x10…           then the recipe's own orders (its class below):
    a acquire                       a made /path/…          every znode that its create() made
                                    a held <znode name>
    a release                       a released
    a close                         a closed

A blocking order says nothing until it is done. The process ends with its standard input.
"""
import datetime
import logging
import os
import queue
import sys
import threading

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout
from kazoo.recipe.lock import ReadLock, WriteLock

# Servers that go away are what tests are about.
logging.getLogger("kazoo").setLevel(logging.CRITICAL)
mouth = threading.Lock()


def say(*words):
    with mouth:
        try:
            print(*words, flush=True)
        except BrokenPipeError:
            # Nobody listens any more.
            os._exit(0)


class Mutex:
    """Whatever has acquire and release."""

    def __init__(self, lock, **options):
        self.lock, self.options = lock, options

    def name(self):
        path = getattr(self.lock, "node", None) or self.lock.create_path
        return path.rsplit("/", 1)[-1]

    def acquire(self, timeout_ms=None):
        timeout = int(timeout_ms) / 1000 if timeout_ms else None
        try:
            is_held = self.lock.acquire(timeout=timeout, **self.options)
        except LockTimeout:
            is_held = False
        return f"held {self.name()}" if is_held else "gave-up"

    def release(self):
        self.lock.release()
        return "released"


class Election:
    """Leads until the next order, which must be `release`."""

    def __init__(self, client, election, orders):
        self.name, self.election, self.orders = client, election, orders

    def acquire(self):
        self.election.run(self.lead)
        return "released"

    def lead(self):
        say(self.name, "held", self.election.lock.node)
        assert self.orders.get() == ["release"]


class Barrier:
    def __init__(self, barrier):
        self.barrier = barrier

    def create(self):
        self.barrier.create()
        return "created"

    def remove(self):
        self.barrier.remove()
        return "removed"

    def wait(self):
        self.barrier.wait()
        return "passed"


class DoubleBarrier:
    def __init__(self, barrier):
        self.barrier = barrier

    def enter(self):
        self.barrier.enter()
        return f"held {self.barrier.node_name}"

    def leave(self):
        self.barrier.leave()
        return "released"


class Queue:
    def __init__(self, items):
        self.items = items

    def put(self, value):
        self.items.put(value.encode())
        return "put"

    def get(self):
        return f"got {self.items.get().decode()}"

    def consume(self):
        return "consumed" if self.items.consume() else "lost"

    def release(self):
        return "released" if self.items.release() else "lost"


class Party:
    def __init__(self, party):
        self.party = party

    def join(self):
        self.party.join()
        return f"joined {self.party.node}"

    def leave(self):
        self.party.leave()
        return "left"


class Lease:
    """A lease that outlives every test, or not obtained."""

    def __init__(self, name, client, path):
        self.name, self.client, self.path = name, client, path

    def acquire(self):
        lease = self.client.NonBlockingLease(self.path, datetime.timedelta(hours=1), self.name)
        return "held lease_holder" if lease else "gave-up"


def recipe(name, client, orders, kind, path, count=None):
    match kind:
        case "lock":
            return Mutex(client.Lock(path, name))
        case "persistent-lock":
            return Mutex(client.Lock(path, name), ephemeral=False)
        case "read":
            return Mutex(ReadLock(client, path, name))
        case "write":
            return Mutex(WriteLock(client, path, name))
        case "semaphore":
            return Mutex(client.Semaphore(path, name, max_leases=int(count)))
        case "election":
            return Election(name, client.Election(path, name), orders)
        case "barrier":
            return Barrier(client.Barrier(path))
        case "double-barrier":
            return DoubleBarrier(client.DoubleBarrier(path, int(count), name))
        case "queue":
            return Queue(client.Queue(path))
        case "locking-queue":
            return Queue(client.LockingQueue(path))
        case "party":
            return Party(client.Party(path, name))
        case "shallow-party":
            return Party(client.ShallowParty(path, name))
        case "lease":
            return Lease(name, client, path)
    raise ValueError(f"no recipe {kind}")


class Told(KazooClient):
    """A client that reports which znodes it made."""

    def __init__(self, name, *arguments, **options):
        super().__init__(*arguments, **options)
        self.told_as = name

    def create(self, *arguments, **options):
        path = super().create(*arguments, **options)
        say(self.told_as, "made", path)
        return path


def serve(name, orders):
    client, verbs = None, None
    try:
        while True:
            verb, *words = orders.get()
            if verb == "open":
                connect, *words = words
                client = Told(name, hosts=connect, timeout=float(sys.argv[1]))
                client.start(timeout=20)
                verbs = recipe(name, client, orders, *words)
                say(name, "ready", f"{client.client_id[0] % 2**64:#x}")
            elif verb == "close":
                client.stop()
                client.close()
                say(name, "closed")
                return
            else:
                say(name, getattr(verbs, verb)(*words))
    except Exception as error:
        say(name, "failed", repr(error))
        # Nobody reads its commands any more: its session must not outlive it.
        if client:
            client.stop()


clients = {}
for line in sys.stdin:
    name, *order = line.split()
    if name not in clients:
        clients[name] = queue.Queue()
        threading.Thread(target=serve, args=(name, clients[name]), daemon=True).start()
    clients[name].put(order)
