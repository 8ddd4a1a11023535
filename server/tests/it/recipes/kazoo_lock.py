"""One kazoo Lock contender: see recipes.rs for what it says and hears."""
import sys

from kazoo.client import KazooClient

client = KazooClient(hosts=sys.argv[1], timeout=8)
client.start(timeout=20)
lock = client.Lock(sys.argv[2], "contender")
print("ready", client.client_id[0], flush=True)
lock.acquire()
print("held", lock.node, flush=True)
sys.stdin.readline()
lock.release()
print("released", flush=True)
client.stop()
client.close()
