"""Inbox and outbox by thread, with attachments; messages whose rows are gone, from the archive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adf_format.history import SnapshotRow
from adf_format.history.reading import Reading
from adf_format.view.context import View
from adf_format.view.html import Safe, el, html
from adf_format.view.pieces import details, first_line, icon, notice, plain, written
from adf_format.view.tables import Row, newest, number, parsed, shown
from adf_format.view.words import counted, size, time

MESSAGES = 300  # of each box
ARCHIVED = 100
TEXT = 20_000
_COLUMNS: tuple[str, ...] = (
    "id",
    "message_id",
    "from",
    "to",
    "thread_id",
    "subject",
    "content",
    "content_type",
    "attachments",
    "status",
)
_COLUMNS += (
    "sender_alias",
    "recipient_alias",
    "source",
    "sent_at",
    "received_at",
    "created_at",
    "delivered_at",
    "status_code",
)


def section(view: View) -> Safe:
    """Return the threads, the one with the newest message first."""
    threads: dict[str, list[tuple[int, str, Row]]] = {}
    notes, known = [], set[str]()
    for box, when in (("inbox", "received_at"), ("outbox", "created_at")):
        if not view.file.has(f"adf_{box}"):
            continue
        rows, total = newest(view.file, f"adf_{box}", _COLUMNS, by=when, limit=MESSAGES)
        notes += (
            [notice(f"{counted(total - len(rows), 'older message')} in the {box} not shown.")]
            if total > len(rows)
            else []
        )
        for row in rows:
            known.add(shown(row.get("message_id")))
            threads.setdefault(_thread(row, box), []).append((number(row.get(when)) or 0, box, row))
    order = sorted(threads.values(), key=lambda found: -max(when for when, _, _ in found))
    made = [_thread_card(view, sorted(found, key=lambda one: one[0])) for found in order]
    deleted = _deleted(view, known)
    return html(made or notice("No messages."), notes, [el("h4", "Only in the archive"), deleted] if deleted else None)


def _thread(row: Row, box: str) -> str:
    return shown(row.get("thread_id")) or f"{box} {shown(row.get('id'))}"


def _thread_card(view: View, found: list[tuple[int, str, Row]]) -> Safe:
    subject = next((shown(row["subject"]) for _, _, row in found if row.get("subject")), "")
    many = el("span", counted(len(found), "message"), class_="arg") if len(found) > 1 else None
    head = el("h4", first_line(subject, 120) or "Without a subject", " ", many) if subject or many else None
    shown_messages = [_message(view, when, box, row) for when, box, row in found]
    return el("section", head, el("ol", shown_messages, class_="mails"), class_="thread")


def _message(view: View, when: int, box: str, row: Row) -> Safe:
    inward = box == "inbox"
    who = shown(row.get("sender_alias" if inward else "recipient_alias")) or shown(row.get("from" if inward else "to"))
    status = shown(row.get("status"))[:30]
    code = number(row.get("status_code"))
    marks = [el("span", status, class_=f"tag {'unread' if status in ('unread', 'pending') else ''}")] if status else []
    marks += [el("span", f"HTTP {code}", class_="tag")] if code is not None and code >= 300 else []
    head = el(
        "div",
        icon("in" if inward else "out"),
        el("span", "from " if inward else "to "),
        el("b", _short(who) or "?"),
        time(when),
        marks,
        class_="from",
    )
    files = _attachments(view, parsed(row.get("attachments")))
    content = shown(row.get("content"))
    body = plain(content, view.targets, TEXT) if content else notice("no text")
    return el("li", head, body, files, class_=f"mail {box}")


def _short(who: str) -> str:
    """Return a name; of a DID its two ends, which is what people compare."""
    return f"{who[:16]}…{who[-6:]}" if who.startswith("did:") and len(who) > 30 else first_line(who, 80)


def _attachments(view: View, value: Any) -> Safe | None:
    entries = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    if not entries:
        return None
    return el("ul", [el("li", _attachment(view, one)) for one in entries[:40]], class_="attached")


def _attachment(view: View, one: dict[str, Any]) -> Safe:
    path = one.get("path") if isinstance(one.get("path"), str) else ""
    name = one.get("filename") if isinstance(one.get("filename"), str) else path
    address = view.targets.file(path or "")
    label = first_line(name or "an attachment", 100)
    facts = [written(one.get("content_type"))[:60]] if isinstance(one.get("content_type"), str) else []
    facts += [size(one["size_bytes"])] if type(one.get("size_bytes")) is int else []
    shown_name = el("a", label, href=address) if address else el("span", label)
    return html(icon("file"), shown_name, el("span", " · ".join(facts), class_="arg"))


def _deleted(view: View, known: set[str]) -> Safe | None:
    kinds = ("inbox_message", "outbox_message", "inbox", "outbox")
    rows = [
        one.row
        for one in view.known.survey.checked.values()
        if one.row.kind in kinds and (one.row.ref is None or one.row.ref not in known)
    ]
    found = [made for row in rows[-ARCHIVED:] for made in _archived(view, row, known)]
    if not found:
        return None
    rest = (
        notice(f"{counted(len(rows) - ARCHIVED, 'older snapshot')} of messages not shown.")
        if len(rows) > ARCHIVED
        else None
    )
    return html(el("ul", found, class_="mails"), rest)


def _archived(view: View, row: SnapshotRow, known: set[str]) -> Iterator[Safe]:
    box = "inbox" if row.kind.startswith("inbox") else "outbox"
    for count, (_, value) in enumerate(Reading(view.container, row)):
        if count >= ARCHIVED:
            yield el("li", notice(f"More of snapshot {row.id} is not shown."))
            return
        if not isinstance(value, dict) or (value.get("id") in known and row.kind.endswith("_message")):
            continue
        yield el("li", _archived_message(value, row, box), class_=f"mail {box} gone")


def _archived_message(value: dict[str, Any], row: SnapshotRow, box: str) -> Safe:
    inner = value.get("payload") if isinstance(value.get("payload"), dict) else value
    payload: dict[str, Any] = inner if isinstance(inner, dict) else {}
    who = value.get("from" if box == "inbox" else "to")
    content = written(payload.get("content", ""))
    where = el("span", f"snapshot {row.id}", class_="tag")
    head = html(
        icon("in" if box == "inbox" else "out"),
        el("b", _short(written(who or "?"))),
        where,
        el("span", first_line(content, 90), class_="arg"),
    )
    return details(head, plain(content, limit=TEXT), class_="chip")
