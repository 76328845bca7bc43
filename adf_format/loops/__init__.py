"""Inner loops as pure functions over a decoded configuration: what a loop may be, what it gets, how it is edited.

Nothing here knows a file, a clock or a model. `config.loops` says what is declared; this room says what follows.
"""

from adf_format.loops.derive import derive, effective_tools, targets
from adf_format.loops.edits import Edit, Refused, create, delete, loaded, update
from adf_format.loops.grants import Grant, classify, grantable, may_use
from adf_format.loops.locks import LOCKED, is_locked
from adf_format.loops.rules import (
    DEFAULT_NEW_LOOP_TOOLS,
    DEFAULT_ON,
    GOAL_MAX,
    MAIN,
    TOOLS_MAX,
    is_name,
    problems,
)

__all__ = [
    "DEFAULT_NEW_LOOP_TOOLS",
    "DEFAULT_ON",
    "GOAL_MAX",
    "LOCKED",
    "MAIN",
    "TOOLS_MAX",
    "Edit",
    "Grant",
    "Refused",
    "classify",
    "create",
    "delete",
    "derive",
    "effective_tools",
    "grantable",
    "is_locked",
    "is_name",
    "loaded",
    "may_use",
    "problems",
    "targets",
    "update",
]
