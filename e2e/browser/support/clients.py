"""Real kazoo clients for the browser tests.

Reads one command a line from standard input, as JSON with `id` and `do`, and answers each with one line that has
the same `id`. A lock that is acquired later is told by a line with `event`. Ends when its input ends.

    open WHO            a session of its own          queue WHO PATH   stand in the queue; answers with the znode
    release WHO         give it back, or leave        children PATH    who stands there, by sequence number
    die                 end without closing anything  crowd WHO PATH   many ephemeral sequential znodes at once
    create, delete, close                             what they say
    plant WHO           many znodes at once, each with a path and data in base64; answers with their paths
"""

import base64
import json
import os
import sys
import threading

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

HOSTS = sys.argv[1]
NODE_TIMEOUT_S = 60

sessions = {}
locks = {}
say_lock = threading.Lock()


def say(**line):
    with say_lock:
        print(json.dumps(line), flush=True)


def session_id(client):
    return hex(client.client_id[0] & 0xFFFFFFFFFFFFFFFF)


def open_(who, timeout_ms=40_000, hosts=HOSTS):
    # Its own pause between tries doubles without an end, and would outlast the session.
    client = KazooClient(hosts=hosts, timeout=timeout_ms / 1000, connection_retry={"max_tries": -1, "max_delay": 0.5})
    client.start(timeout=60)
    sessions[who] = client
    return {"session": session_id(client)}


def queue(who, path):
    client = sessions[who]
    lock = client.Lock(path, who)
    locks[who] = lock
    created = threading.Event()
    create = client.create

    def create_and_tell(*args, **kwargs):
        made = create(*args, **kwargs)
        if kwargs.get("sequence"):
            created.node = made.rsplit("/", 1)[1]
            created.set()
        return made

    client.create = create_and_tell

    def wait_for_it():
        try:
            if lock.acquire():
                say(event="held", who=who)
        except Exception as error:  # reported, not lost: the test that waits for the lock then says why
            say(event="failed", who=who, why=repr(error))

    threading.Thread(target=wait_for_it, daemon=True).start()
    if not created.wait(NODE_TIMEOUT_S):
        raise TimeoutError(f"{who} made no znode under {path}")
    client.create = create
    return {"node": created.node, "session": session_id(client)}


def release(who):
    lock = locks.pop(who)
    if not lock.release():
        lock.cancel()
    return {}


def close(who):
    client = sessions.pop(who)
    client.stop()
    client.close()
    return {}


def crowd(who, path, count, prefix):
    client = sessions[who]
    client.ensure_path(path)
    made = [client.create_async(f"{path}/{prefix}", f"{who}-{n}".encode(), ephemeral=True, sequence=True) for n in range(count)]
    return {"nodes": [one.get(timeout=60).rsplit("/", 1)[1] for one in made], "session": session_id(client)}


def create(who, path, data="", ephemeral=False, sequence=False):
    made = sessions[who].create(path, data.encode(), ephemeral=ephemeral, sequence=sequence, makepath=True)
    return {"path": made}


def plant(who, nodes):
    client = sessions[who]
    for parent in sorted({node["path"].rsplit("/", 1)[0] for node in nodes}):
        client.ensure_path(parent)
    made = [
        client.create_async(
            node["path"],
            base64.b64decode(node.get("data", "")),
            ephemeral=node.get("ephemeral", False),
            sequence=node.get("sequence", False),
        )
        for node in nodes
    ]
    return {"paths": [one.get(timeout=60) for one in made]}


def delete(who, path):
    try:
        sessions[who].delete(path, recursive=True)
    except NoNodeError:
        pass
    return {}


def children(who, path):
    client = sessions[who]
    found = []
    for name in client.get_children(path):
        stat = client.exists(f"{path}/{name}")
        if stat:
            found.append({"node": name, "session": hex(stat.ephemeralOwner & 0xFFFFFFFFFFFFFFFF)})
    return {"children": sorted(found, key=lambda child: child["node"][-10:])}


def die():
    os._exit(1)


DO = {"open": open_, "queue": queue, "release": release, "close": close, "crowd": crowd}
DO |= {"create": create, "delete": delete, "children": children, "plant": plant, "die": die}


def answer(command):
    number, name = command.pop("id"), command.pop("do")
    try:
        say(id=number, **DO[name](**command))
    except Exception as error:
        say(id=number, error=f"{name} {command}: {error!r}")


say(event="ready")
for line in sys.stdin:
    threading.Thread(target=answer, args=(json.loads(line),), daemon=True).start()
os._exit(0)
