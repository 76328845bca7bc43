"""What has to be archived before it is deleted; without a readable answer nothing is deleted (AUD-001, AMB-4)."""

from __future__ import annotations

from typing import Any

import apsw

from adf_format.config.policy import audit_policy
from adf_format.errors import AdfError, UnreadableError
from adf_format.jsontext import decode

_HINT = "without it nobody knows what must be archived, so nothing was cleared"


class PolicyError(UnreadableError):
    """The configuration does not tell what must be archived."""


def read_config(connection: apsw.Connection) -> dict[str, Any]:
    """Read the configuration of the agent.

    :raises PolicyError: there is none, or it is not a JSON object
    """
    try:
        text = connection.execute("SELECT config_json FROM adf_config WHERE id = 1").get
        value = decode(text).value if isinstance(text, str) else None
    except (apsw.SQLError, UnicodeDecodeError) as exc:
        raise PolicyError("the configuration cannot be read", place="adf_config", hint=_HINT) from exc
    except AdfError as error:
        raise PolicyError(f"the configuration is not JSON: {error}", place="adf_config", hint=_HINT) from error
    if not isinstance(value, dict):
        found = "there is no configuration" if text is None else "the configuration is not a JSON object"
        raise PolicyError(found, place="adf_config", hint=_HINT)
    return value


def archived_sources(connection: apsw.Connection) -> dict[str, bool]:
    """Return which sources are archived before something is deleted.

    :raises PolicyError: the configuration cannot be read, or what it says is no set of flags
    """
    config = read_config(connection)
    context = config.get("context")
    for place, holder in (("/context/audit", context if isinstance(context, dict) else {}), ("/audit", config)):
        flags = holder.get("audit")
        if flags is not None:
            if not isinstance(flags, dict):
                raise PolicyError("the audit settings are not an object", place=f"adf_config {place}", hint=_HINT)
            break
    return audit_policy(config)
