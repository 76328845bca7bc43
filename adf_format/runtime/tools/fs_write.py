"""`fs_write`: write a file of the agent."""

from __future__ import annotations

import base64
import binascii
import mimetypes
import re
from typing import TYPE_CHECKING

from adf_format.config.access import section
from adf_format.loops import Refused
from adf_format.runtime.ports import Event
from adf_format.runtime.tools import protections
from adf_format.runtime.tools.inputs import choice, inputs, text
from adf_format.runtime.tools.protocol import Call, Tool, ToolResult

if TYPE_CHECKING:
    from adf_format.runtime.host import Host

DEFAULT_BYTES = 5_000_000
MOST_PATH = 512
_ODD = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff\\]")


async def run(call: Call, host: Host) -> ToolResult:
    """Write the whole file, or append to it."""
    path = sound(call.input["path"])
    await protections.demand_file(call, host, path, "write")
    before, info = host.store.files.read(path), host.store.files.info(path)
    content = _content(call)
    if call.input.get("mode") == "append":
        content = (before or b"") + content
    limit = section(host.config, "limits").get("max_file_write_bytes")
    most = limit if isinstance(limit, int) and limit > 0 else DEFAULT_BYTES
    if len(content) > most:
        raise Refused(f"{path} would hold {len(content)} bytes; {most} are allowed")
    mime = call.input.get("mime_type") or (info.mime_type if info else None) or mimetypes.guess_type(path)[0]
    host.store.files.write(path, content, mime or "text/plain")
    if info is not None and info.authorized:
        host.log("warn", "authorization_lost", f"{path} was rewritten by the agent", target=path, loop=call.loop)
    host.emit(Event("file_change", {"path": path, "change": "written", "by_agent": True}, call.loop))
    return ToolResult(f"{path}: {len(content)} bytes {'written' if before is None else 'rewritten'}")


def sound(path: str) -> str:
    """Return a path as it may be stored.

    :raises Refused: it leads out of the agent, or could be mistaken for another one
    """
    parts = path.split("/")
    if len(path) > MOST_PATH or _ODD.search(path) or any(part in {"", ".", ".."} for part in parts):
        raise Refused("a path is relative, without empty parts, `.`, `..`, backslashes or control characters")
    return path


def _content(call: Call) -> bytes:
    content: str = call.input["content"]
    if call.input.get("encoding") != "base64":
        try:
            return content.encode("utf-8")
        except UnicodeEncodeError as error:
            raise Refused("the content holds half of a character (a lone surrogate)") from error
    try:
        return base64.b64decode(content.removeprefix("base64:"), validate=True)
    except (binascii.Error, ValueError) as error:
        raise Refused("the content is not base64") from error


TOOL = Tool(
    "fs_write",
    "Write a file of the agent. What was in it is replaced, unless `mode` is `append`.",
    inputs(
        "path",
        "content",
        path=text("Path of the file, such as `mind/page.md`.", least=1),
        content=text("What it shall hold."),
        mode=choice("`overwrite` (the default) or `append`.", "overwrite", "append"),
        encoding=choice("How `content` is written: `utf-8` (the default) or `base64`.", "utf-8", "base64"),
        mime_type=text("Media type; guessed from the path when left out.", least=1, most=200),
    ),
    run,
)
