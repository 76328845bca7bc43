"""How the suite talks to a driver: JSON-RPC 2.0 in both directions over the pipes of a process."""

from adf_conformance.protocol.driver import Call, Driver, Hello
from adf_conformance.protocol.errors import (
    CannotStart,
    DriverDied,
    DriverFault,
    HarnessError,
    NoAnswer,
    ProtocolError,
    Refused,
)
from adf_conformance.protocol.model import ModelCall

__all__ = [
    "Call",
    "CannotStart",
    "Driver",
    "DriverDied",
    "DriverFault",
    "HarnessError",
    "Hello",
    "ModelCall",
    "NoAnswer",
    "ProtocolError",
    "Refused",
]
