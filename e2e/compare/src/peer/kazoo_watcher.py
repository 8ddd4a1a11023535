"""A kazoo TreeCache over a tree: says `ready` when it has read it, and how many changes it saw when ROOT/end comes."""

import sys

from kazoo.client import KazooClient
from kazoo.recipe.cache import TreeCache, TreeEvent

connect, root = sys.argv[1:]
client = KazooClient(hosts=connect, timeout=20)
client.start()
seen = 0
is_ready = False


def changed(event):
    global seen, is_ready
    if event.event_type == TreeEvent.INITIALIZED:
        is_ready = True
        print("ready", flush=True)
    elif is_ready and event.event_type in (TreeEvent.NODE_ADDED, TreeEvent.NODE_REMOVED):
        seen += 1
        if event.event_data.path == f"{root}/end":
            print(seen, flush=True)


cache = TreeCache(client, root)
cache.listen(changed)
cache.start()
sys.stdin.read()
