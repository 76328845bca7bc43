"""A driver that claims to be a validator and misbehaves as its argument says; the standard library only."""

import json
import os
import subprocess
import sys
import time

MODE = sys.argv[1] if len(sys.argv) > 1 else "good"
RESULT = {"protocol": 1, "name": "fake", "version": "1", "language": "python", "storage": {"min": 21, "max": 32}}
RESULT["capabilities"] = ["validator"]


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def misbehave(method):  # noqa: C901, PLR0912 - a list of misdeeds
    """Do what the mode says before a request is answered; return whether it is to be answered."""
    working = method == "file/validate"
    if MODE == "hang" and working:
        time.sleep(600)
    if MODE == "hang-at-start":
        time.sleep(600)
    if MODE == "die" and working:
        os._exit(3)
    if MODE == "deaf" and working:
        return False
    if MODE == "garbage":
        sys.stdout.write('hello\n{"half": \n\xff\n[1]\n{"jsonrpc": "2.0", "id": "nobody", "result": 1}\n')
    if MODE == "flood" and working:
        for _ in range(2000):
            sys.stdout.write("x" * 1000 + "\n")
    if MODE == "long-line" and working:
        sys.stdout.write("x" * 300_000 + "\n")
    if MODE == "chatty":
        sys.stderr.write("y" * 300_000)
        sys.stderr.flush()
    if MODE == "slow":
        time.sleep(0.05)
    if MODE == "ask-nonsense" and working:
        send({"id": "q", "method": "model/complete", "params": {"purpose": "fun"}})
    if MODE == "ask-unknown" and working:
        send({"id": "q", "method": "coffee/make", "params": {}})
    if MODE in {"grandchild", "escaped-grandchild"} and method == "initialize":
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], start_new_session="escaped" in MODE)
    return True


def answer(method, params):  # noqa: PLR0911
    if method == "initialize":
        if MODE == "other-protocol":
            return {"result": {**RESULT, "protocol": 2}}
        if not params["protocol"]["min"] <= 1 <= params["protocol"]["max"]:
            return {"error": {"code": -32001, "message": "no common protocol"}}
        return {"result": RESULT}
    if method == "file/validate":
        if MODE == "wrong-shape":
            return {"result": {"valid": "yes"}}
        if MODE == "claims-only":
            return {"error": {"code": -32601, "message": "not there"}}
        return {"result": {"valid": True, "findings": []}}
    return {"result": {}} if method == "shutdown" else {"error": {"code": -32601, "message": "no such method"}}


for line in sys.stdin:
    message = json.loads(line)
    if "method" in message and misbehave(message["method"]) and "id" in message:
        send({"id": message["id"], **answer(message["method"], message.get("params", {}))})
    if message.get("method") == "shutdown":
        break
if MODE == "unfinished":
    sys.stdout.write('{"jsonrpc"')
