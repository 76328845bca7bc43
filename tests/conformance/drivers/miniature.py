"""A miniature runtime: one loop, no tools, rows in a file, the model in the hands of the suite. It tests the suite.

Its argument is a defect: `loses-rows` (a chat is not stored), `leaves-log` (sidecars stay after a stop), `dies` (at the
second chat), `late` (answers out of order are confused); none means that it is right.
"""

import itertools
import json
import os
import queue
import sqlite3
import sys
import threading
from pathlib import Path

from adf_conformance import files

DEFECT = sys.argv[1] if len(sys.argv) > 1 else ""
TOLD = {"protocol": 1, "name": "miniature", "version": "1", "language": "python", "storage": {"min": 32, "max": 32}}
TOLD["capabilities"] = ["core"]
LOCK = threading.Lock()


class Runtime:
    def __init__(self) -> None:
        self.path = None
        self.chats = queue.Queue()
        self.answers = {}
        self.numbers = itertools.count(1)
        self.busy = 0
        self.quiet = threading.Condition()
        threading.Thread(target=self.work, daemon=True).start()

    def rows(self, sql, *parameters):
        with sqlite3.connect(self.path, isolation_level=None) as connection:
            if DEFECT == "leaves-log":
                connection.execute("PRAGMA journal_mode = WAL")
            found = connection.execute(sql, parameters).fetchall()
        connection.close()
        return found

    def add(self, role, blocks):
        sql = "INSERT INTO adf_loop (role, content_json, created_at) VALUES (?, ?, 1767225600000)"
        self.rows(sql, role, json.dumps(blocks))

    def work(self) -> None:
        while True:
            self.chats.get()
            stored = self.rows("SELECT role, content_json FROM adf_loop ORDER BY coalesce(ord, seq), seq")
            messages = [{"role": role, "content": json.loads(text)} for role, text in stored]
            number = f"m{next(self.numbers)}"
            self.answers[number] = queue.Queue()
            params = {"purpose": "turn", "loop": "main", "system": "Be kind.", "messages": messages, "tools": []}
            send({"id": number, "method": "model/complete", "params": {**params, "model": "suite-1"}})
            answer = self.answers[number].get()
            if "result" in answer:
                self.add("assistant", answer["result"]["content"])
            with self.quiet:
                self.busy -= 1
                self.quiet.notify_all()

    def chat(self, params):
        if params.get("loop", "main") != "main":
            raise LookupError(-32010)
        if DEFECT == "dies" and len(self.rows("SELECT 1 FROM adf_loop WHERE role = 'user'")) == 1:
            os._exit(9)
        if DEFECT != "loses-rows":
            self.add("user", [{"type": "text", "text": params["text"]}])
        with self.quiet:
            self.busy += 1
        self.chats.put(params["text"])
        return {}

    def create(self, params):
        files.write({"version": 32, "journal": "delete"}, Path(params["path"]))
        return {}

    def start(self, params):
        self.path = params["path"]
        return {"state": "idle"}

    def idle(self, params):
        with self.quiet:
            return {"idle": self.quiet.wait_for(lambda: not self.busy, params["timeout_ms"] / 1000)}


RUNTIME = Runtime()


def initialize(params):
    if params["protocol"]["min"] > 1:
        raise LookupError(-32001)
    return TOLD


METHODS = {
    "initialize": initialize,
    "agent/create": RUNTIME.create,
    "agent/start": RUNTIME.start,
    "agent/stop": lambda _: {},
    "chat/send": RUNTIME.chat,
    "agent/idle": RUNTIME.idle,
    "shutdown": lambda _: {},
}


def send(message):
    with LOCK:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def serve(message):
    try:
        if message["method"] not in METHODS:
            raise LookupError(-32601)
        send({"id": message["id"], "result": METHODS[message["method"]](message["params"])})
    except LookupError as error:
        send({"id": message["id"], "error": {"code": error.args[0], "message": "refused"}})


for line in sys.stdin:
    received = json.loads(line)
    if "method" not in received:
        RUNTIME.answers[received["id"]].put(received)
    elif "id" not in received:
        continue
    elif received["method"] == "agent/idle":
        threading.Thread(target=serve, args=(received,), daemon=True).start()
    else:
        serve(received)
    if received.get("method") == "shutdown":
        break
