"""What keeps a worker process in its bounds: memory, signals, output, and the life of its parent."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1


def confine(parent: int, megabytes: int | None) -> bool:
    """Confine this process: it dies with its parent, prints nothing, leaves no core dump, and has a memory limit.

    :param parent: process id of the parent
    :param megabytes: limit of private memory; only Linux keeps it
    :returns: False if the parent is gone already
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(os, "setpgid"):
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
    _silence()
    if sys.platform == "linux":
        _die_with_parent()
        _limit(megabytes)
    return not hasattr(os, "getppid") or os.getppid() == parent


def kill(pid: int | None) -> None:
    """End a confined process and everything it started."""
    if pid is None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))


def _silence() -> None:
    """Native code may print on its way out; stdout belongs to the report."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    os.close(null)


def _die_with_parent() -> None:
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _inherited() -> int:
    """Return how many bytes of data came with the fork: what the parent holds is not the file's doing."""
    try:
        status = Path("/proc/self/status").read_text("ascii")
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmData:")), 0)


def _limit(megabytes: int | None) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if megabytes is not None:
        size = (megabytes << 20) + _inherited()
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))
