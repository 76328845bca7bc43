"""The report as JUnit XML: one suite per profile, one case per requirement."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from adf_conformance.report import words
from adf_conformance.report.words import Told

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: object) -> str:
    """Return text without the characters that XML does not have."""
    return _FORBIDDEN.sub("\ufffd", str(text))


def junit(report: Told) -> str:
    """Return the XML."""
    root = ET.Element("testsuites", name=clean(report["suite"]), time=str(report["seconds"]))
    for profile in report["summary"]["profiles"]:
        rows = [row for row in report["requirements"] if row["profile"] == profile]
        _suite(root, profile, rows, report)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(root: ET.Element, profile: str, rows: list[Told], report: Told) -> None:
    kinds = [_kind(row) for row in rows]
    counts = {name: str(kinds.count(kind)) for name, kind in (("failures", "failure"), ("errors", "error"))}
    skipped = str(kinds.count("skipped"))
    suite = ET.SubElement(
        root, "testsuite", attrib={"name": profile, "tests": str(len(rows)), "skipped": skipped, **counts}
    )
    for row, kind in zip(rows, kinds, strict=True):
        case = ET.SubElement(suite, "testcase", classname=f"adf.{profile}", name=row["id"])
        properties = ET.SubElement(case, "properties")
        told = {"requirement": row["text"], "level": row["level"], "source": ", ".join(row["source"])}
        told |= {"verdict": row["verdict"], "exercised": row["exercised"]}
        for name, value in told.items():
            ET.SubElement(properties, "property", name=name, value=clean(value))
        if kind:
            ET.SubElement(case, kind, message=clean(f"{row['verdict']}: {row['note']}")).text = _text(report, row)


def _kind(row: Told) -> str:
    if row["verdict"] in words.BAD:
        return "failure" if row["counts"] else "skipped"
    if row["verdict"] in words.UNKNOWN and not row["by_design"]:
        return "error" if row["counts"] else "skipped"
    return "" if row["verdict"] == "pass" else "skipped"


def _text(report: Told, row: Told) -> str:
    told = [row["text"]]
    if "failure" in row:
        told += [f"{step['step']} {step['do']} {step['says']}" for step in row["failure"]["timeline"]]
    return clean("\n".join([*told, words.replay_command(report, row)]).strip())
