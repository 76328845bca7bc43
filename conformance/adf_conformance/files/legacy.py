"""Plans of files of older versions, with what each migration step acts upon."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

from adf_conformance.files import layout
from adf_conformance.files.strategies import MESSAGE, transcripts

Draw = Any
SPACES = ("", "\n", " \t\r\n", "\ufeff", "\u00a0\u2003\u3000", "\u2028\ufeff\n")
LIVED_IN = ("# Mind\n\nI like moss.\n", "x", "\x1c", "\x85", "0")
_ATTESTATION = {"issuer": "did:key:a", "subject": "did:key:b", "signature": "ed25519:eA=="}
_ROLE = {"role": "owner", "issued_at": "2026-01-01T00:00:00.000Z"}
ATTESTATIONS: tuple[list[dict[str, str]], ...] = (
    [],
    [_ATTESTATION],
    [{**_ATTESTATION, **_ROLE, "scope": "all"}, {**_ATTESTATION, "signature": ""}, {"issuer": "did:key:a"}],
)
_PARTS = [{"seq": 3, "role": "user", "content_json": []}, {"seq": 5, "role": "user", "content_json": []}]
SNAPSHOTS: tuple[dict[str, Any], ...] = (
    {"source": "loop", "value": _PARTS},
    {"source": "loop", "value": _PARTS[::-1]},
    {"source": "loop", "value": []},
    {"source": "loop", "value": {"seq": 3}},
    {"source": "loop", "value": [{"role": "user"}, {"seq": 5}]},
    {"source": "loop", "value": _PARTS, "damage": "cut"},
    {"source": "loop", "value": _PARTS, "damage": "noise"},
    {"source": "inbox_message", "value": MESSAGE},
    {"source": "inbox_message", "value": {"payload": {"content": "no id"}}},
    {"source": "outbox_message", "value": {**MESSAGE, "id": "msg-out-0001"}},
    {"source": "outbox_message", "value": {**MESSAGE, "id": 7}},
    {"source": "file", "value": {"path": "notes/x.md", "content_base64": "IyB4Cg==", "size": 4}},
    {"source": "file", "value": {"content_base64": "", "size": 0}},
    {"source": "inbox", "value": [{"id": "a", "content": "one"}]},
    {"source": "outbox", "value": [{"id": "b", "content": "two"}]},
    {"source": "hologram", "value": {"id": "c", "path": "d"}},
)
ODD = ("unknown-table", "local-table", "unknown-column", "unknown-meta", "unknown-config-key")


@st.composite
def legacy_plans(draw: Draw, versions: tuple[int, int]) -> dict[str, Any]:
    """Draw the plan of a file of an older version.

    :param versions: oldest and newest storage version
    """
    version = draw(st.integers(*versions))
    plan: dict[str, Any] = draw(transcripts(version))
    plan["snapshots"] += draw(st.lists(st.sampled_from(SNAPSHOTS), max_size=5)) if version < 28 else []
    plan |= {"config": draw(_configs(version)), "files": draw(_files(version)), "meta": draw(_meta(version))}
    plan |= {"worked": draw(st.booleans()), "journal": draw(st.sampled_from(["wal", "delete"]))}
    return plan | {"odd": draw(st.lists(st.sampled_from(ODD), max_size=2, unique=True))}


@st.composite
def _configs(draw: Draw, version: int) -> dict[str, Any]:
    default = copy.deepcopy(layout.default_config(version))
    config: dict[str, Any] = {key: default.get(key, {}) for key in ("model", "context", "limits", "triggers")}
    if version < 23 and draw(st.booleans()):
        config["model"]["max_loop_messages"] = config["context"]["max_loop_messages"] = 40
        config["limits"] |= {"max_loop_rows": 500, "max_daily_budget_usd": 3}
    if version < 23 and draw(st.booleans()):
        config["model"]["thinking_budget"] = draw(st.sampled_from([0, 1024]))
        config["model"] |= draw(st.sampled_from([{}, {"reasoning": {"enabled": False}}]))
    if version < 22 and draw(st.booleans()):
        watch = draw(st.sampled_from(["document.*", "notes/*"]))
        target = {"scope": "agent", "filter": {"watch": watch}, "debounce_ms": 2000}
        config["triggers"]["on_file_change"] = {"enabled": True, "targets": [target]}
    if draw(st.booleans()):
        config["bare_prompt"] = draw(st.booleans())
    if version < 31:
        config |= draw(st.sampled_from([{}, {"icon": ""}, {"icon": "🐉"}]))
        config["id"] = draw(st.sampled_from(["V1StGXR8_Z5j", "agent-legacy", "a1b2c3d4e5f6"]))
    return config


@st.composite
def _files(draw: Draw, version: int) -> list[dict[str, Any]]:
    def file(path: str, text: str, protection: str = "no_delete") -> dict[str, Any]:
        return {"path": path, "text": text, "protection": protection}

    main = [["document.md"], ["README.md"], ["document.md", "README.md"], ["document.md", "document.css"]]
    found = [file(path, f"# {path}\n") for path in (draw(st.sampled_from(main)) if version < 22 else ["README.md"])]
    mind = draw(st.sampled_from([None, *SPACES, *LIVED_IN])) if version < 28 else LIVED_IN[0]
    found += [] if mind is None else [file("mind.md", mind, draw(st.sampled_from(["no_delete", "none"])))]
    if version >= 25 or draw(st.booleans()):
        found.append(file("soul.md", "# Soul\n\nI am mine.\n"))
    if version >= 28 or draw(st.booleans()):
        found.append(file("mind/log.md", "# Mind Log\n\n## [2026-01-01] update | moss\n"))
    return [*found, file("notes/a.md", "a", "none")]


@st.composite
def _meta(draw: Draw, version: int) -> dict[str, Any]:
    meta: dict[str, Any] = {"progress": ["half", "none"], "counter": ["8", "increment"]}
    if version < 24 and draw(st.booleans()):
        from adf_conformance.files.encoding import json_text

        texts = [json_text(value) for value in ATTESTATIONS]
        meta["adf_attestations"] = [draw(st.sampled_from([*texts, "[{", '{"no": "list"}'])), "readonly"]
    return meta
