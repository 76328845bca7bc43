"""Put a saboteur between the suite and a driver: `python -m adf_conformance.mutants NAME -- DRIVER…`.

Only for drivers that answer one request at a time and call nobody: readers, validators and migrators.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import IO, Any

from adf_conformance.mutants.mutant import Mutant, all_mutants
from adf_conformance.mutants.tampering import clean_up


def main(arguments: list[str]) -> int:
    """Serve until the driver has ended; return its exit code."""
    name, _, *command = arguments
    mutant = all_mutants()[name]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as driver:  # noqa: S603 - the driver that was named
        assert driver.stdin is not None  # noqa: S101 - PIPE was asked for
        assert driver.stdout is not None  # noqa: S101
        for line in sys.stdin.buffer:
            message = json.loads(line)
            _serve(mutant, message, driver.stdin, driver.stdout)
            if message.get("method") == "shutdown":
                break
        driver.stdin.close()
    clean_up()
    return driver.returncode


def _serve(mutant: Mutant, message: dict[str, Any], to_driver: IO[bytes], from_driver: IO[bytes]) -> None:
    concerned = message.get("method") == mutant.method
    params = message.get("params", {})
    sent = (mutant.before(dict(params)) if concerned and mutant.before else None) or params
    _write(to_driver, message | {"params": sent})
    if "id" not in message:
        return
    answer = json.loads(from_driver.readline())
    if concerned and mutant.after:
        kept = {key: answer[key] for key in ("result", "error") if key in answer}
        answer = {"jsonrpc": "2.0", "id": message["id"], **mutant.after(params, kept)}
    _write(sys.stdout.buffer, answer)


def _write(stream: IO[bytes], message: dict[str, Any]) -> None:
    stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
