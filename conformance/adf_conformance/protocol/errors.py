"""What can go wrong between suite and driver, by who is to blame."""

from __future__ import annotations

NOT_SUPPORTED = -32601
UNKNOWN_LOOP = -32010
NO_COMMON_PROTOCOL = -32001


class HarnessError(Exception):
    """The suite itself is wrong: it sent, or was about to send, a message that breaks its own schemas."""


class DriverFault(Exception):  # noqa: N818 - the base of several names that are no errors of Python
    """The driver did not keep the protocol, or is gone."""


class CannotStart(DriverFault):
    """The command of the driver cannot be run at all."""


class ProtocolError(DriverFault):
    """The driver sent a message that its schema does not allow."""


class DriverDied(DriverFault):
    """The process of the driver ended although it was needed.

    :ivar status: exit code, or minus the number of a signal
    """

    def __init__(self, status: int, waiting_for: str) -> None:
        how = f"signal {-status}" if status < 0 else f"exit code {status}"
        super().__init__(f"the driver ended ({how}) while it was to answer {waiting_for}")
        self.status = status


class NoAnswer(DriverFault):
    """The driver did not answer in time."""

    def __init__(self, waiting_for: str, seconds: float) -> None:
        super().__init__(f"no answer to {waiting_for} within {seconds:g} s")
        self.waiting_for = waiting_for


class Refused(Exception):  # noqa: N818 - an answer, not an error
    """The driver answered a request with an error, which may be the right answer.

    :ivar code: number of the error
    """

    def __init__(self, method: str, code: int, message: str) -> None:
        super().__init__(f"{method}: error {code}: {message}")
        self.method, self.code, self.message = method, code, message

    @property
    def unsupported(self) -> bool:
        """Whether the implementation does not have this method at all."""
        return self.code == NOT_SUPPORTED
