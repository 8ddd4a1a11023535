#!/usr/bin/env python3
"""Keeps Lockscope's board current over the live socket and prints a line for each lock that changes.

    pip install websockets==17.4
    LOCKSCOPE_TOKEN=… python3 live.py http://127.0.0.1:3000
"""

import json
import os
import sys
import time

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

VIEW = {"kind": "board", "sort": "path", "limit": 500}


# What a view becomes by a difference.
def apply(body, delta):
    if delta["kind"] == "whole":
        return delta["body"]
    return {
        **body,
        "head": body["head"] if delta["head"] is None else delta["head"],
        "window": body["window"] if delta["window"] is None else apply_window(body["window"], delta["window"]),
    }


# The same for its rows: `order` says where each was before, `changed` has those that are new or differ.
def apply_window(window, delta):
    old, changed = window["rows"], dict(delta["changed"])
    order = range(len(old)) if delta["order"] is None else delta["order"]
    rows = [changed[at] if at in changed else old[was] for at, was in enumerate(order)]
    return {"total": delta["total"], "offset": delta["offset"], "rows": rows}


def tell(before, after):
    """A line for each lock that differs."""
    old = {row["key"]: row for row in before["window"]["rows"]} if before else {}
    new = {row["key"]: row for row in after["window"]["rows"]}
    for key, row in new.items():
        if row != old.get(key):
            waiters = "?" if row["waiter_count"] is None else row["waiter_count"]
            print(f"{row['path']}\t{row['verdict']}\t{row['holder_count']} hold\t{waiters} wait\t{row['sentence']}", flush=True)
    for key in old.keys() - new.keys():
        print(f"{old[key]['path']}\tgone", flush=True)


def follow(socket, known):
    """Reads frames until the socket ends. `known` is (epoch, seq, body), or None at the first time."""
    ask = {"type": "subscribe", "id": 1, "view": VIEW}
    if known:
        ask.update(type="resume_after", epoch=known[0], seq=known[1])
    socket.send(json.dumps(ask))
    try:
        for text in socket:
            frame = json.loads(text)
            if frame["type"] == "snapshot":
                tell(known and known[2], frame["body"])
                known = (frame["epoch"], frame["seq"], frame["body"])
            elif frame["type"] == "delta":
                epoch, seq, body = known
                if frame["seq"] != seq + 1:
                    raise SystemExit(f"a delta to {frame['seq']} came after {seq}; report this")
                after = apply(body, frame["body"])
                tell(body, after)
                known = (epoch, frame["seq"], after)
            elif frame["type"] == "error":
                raise SystemExit(frame["detail"])
            # `hello` and `heartbeat` say that the server lives; after `resync` a snapshot follows.
    except ConnectionClosed:
        pass
    return known


def main():
    url = (sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:3000").rstrip("/")
    token = os.environ.get("LOCKSCOPE_TOKEN")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    known = None
    while True:
        try:
            address = url.replace("http", "ws", 1) + "/api/v1/live"
            with connect(address, subprotocols=["lockscope.v1.json"], additional_headers=headers, max_size=None) as socket:
                known = follow(socket, known)
        except OSError as error:
            print(f"not connected: {error}", file=sys.stderr)
        time.sleep(1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
