"""The documentation says what the code does: pages are up to date, commands run, links lead somewhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))

from tools import build_docs  # noqa: E402
from tools.docpages import keys, markdown, outputs, rules, schema  # noqa: E402

PAGES = [*outputs.pages(REPOSITORY)]
CODE = re.compile(r"^(```+).*?^\1$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def prose(page: Path) -> str:
    """A page without its code blocks and code spans."""
    return re.sub(r"(`+).+?\1", "", CODE.sub("", page.read_text(encoding="utf-8")))


def anchors(page: Path) -> set[str]:
    """The anchors of a page."""
    headings = re.findall(r"^#+ (.+)$", CODE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {markdown.anchor(heading) for heading in headings}


def name(page: Path) -> str:
    return page.relative_to(REPOSITORY).as_posix()


# --- the pages


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_is_what_the_tool_would_write(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    made = build_docs.GENERATED.get(name(page))
    assert text == (made() if made else outputs.filled(text)), "run tools/build_docs.py"


def test_every_generated_page_is_there() -> None:
    assert set(build_docs.GENERATED) <= {name(page) for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_that_a_page_says_to_run_do_run(page: Path) -> None:
    for commands in outputs.scripts(page.read_text(encoding="utf-8")):
        assert outputs.printed(commands)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, fragment = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{target} leads nowhere"
        if fragment:
            assert fragment in anchors(file), f"{target} has no such heading"


def test_every_page_of_docs_can_be_reached_from_the_readme() -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    for page in (REPOSITORY / "docs").glob("*.md"):
        assert f"({name(page)})" in readme


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_headings_of_a_page_have_anchors_of_their_own(page: Path) -> None:
    headings = re.findall(r"^#+ (.+)$", CODE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    if page.name != "CHANGELOG.md":
        assert len({markdown.anchor(heading) for heading in headings}) == len(headings)


def test_the_check_of_the_tool_notices_a_stale_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "docs" / "rules.md"
    monkeypatch.setattr(build_docs, "REPOSITORY", tmp_path)
    monkeypatch.setattr(build_docs, "GENERATED", {"docs/rules.md": lambda: "new\n"})
    monkeypatch.setattr(sys, "argv", ["build_docs.py", "--check"])
    page.parent.mkdir()
    page.write_text("old\n", encoding="utf-8")
    assert build_docs.main() == 1
    assert "docs/rules.md is out of date" in capsys.readouterr().err
    assert page.read_text(encoding="utf-8") == "old\n"
    monkeypatch.setattr(sys, "argv", ["build_docs.py"])
    assert build_docs.main() == 0
    assert page.read_text(encoding="utf-8") == "new\n"


# --- output of commands


def test_a_marked_block_is_replaced_and_the_text_around_it_is_not() -> None:
    text = "a\n<!-- output: adf-format --version -->\n```console\nold\n```\nb\n"
    made = outputs.filled(text)
    assert made.startswith("a\n<!-- output: adf-format --version -->\n```console\n$ adf-format --version\n")
    assert made.endswith("\n```\nb\n")
    assert "old" not in made
    assert outputs.filled(made) == made


@pytest.mark.parametrize("command", ["ls", "adf-format nothing-of-the-kind", "adf-format new a.adf --format json"])
def test_a_command_that_is_not_ours_fails_or_varies_is_refused(command: str) -> None:
    with pytest.raises(RuntimeError):
        outputs.output(command)


def test_the_number_of_rules_is_kept_up_to_date() -> None:
    assert re.fullmatch(r"\d{3} rules over x", outputs.filled("7 rules over x"))


# --- the catalogue of rules


def test_every_rule_stands_in_the_catalogue_with_both_examples() -> None:
    from adf_format.validation.rule import all_rules

    page = (REPOSITORY / "docs" / "rules.md").read_text(encoding="utf-8")
    entries = re.split(r"^### ", page, flags=re.MULTILINE)[1:]
    assert [entry.split(" ")[0] for entry in entries] == list(all_rules())
    for entry, rule in zip(entries, all_rules().values(), strict=True):
        assert rule.what in entry
        assert rule.why in entry
        assert "Reports on:" in entry
        assert "Is silent on:" in entry


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("A; B", "A;\nB"),
        ("A 'x; y'; B;", "A 'x; y';\nB;"),
        ("A -- no; end\n; B", "A -- no; end\n;\nB"),
        ("CREATE TRIGGER t BEGIN A; B; END; C", "CREATE TRIGGER t BEGIN A; B; END;\nC"),
        ("A '" + "x" * 200 + "'", "A '" + "x" * 47 + "…" + "x" * 7 + "'"),
    ],
)
def test_examples_are_shown_one_statement_a_line(sql: str, shown: str) -> None:
    assert rules.readable(sql) == shown


# --- the reference of the format


def test_every_column_of_every_table_stands_in_the_reference() -> None:
    from adf_format.schemas import LATEST, storage_version

    page = schema.page()
    for table, one in storage_version(LATEST).tables.items():
        section = page.split(f"### {table}\n")[1].split("\n### ")[0]
        for column in one.columns:
            assert f"| `{column.name}` | `{column.type}" in section
        for index in one.indexes:
            assert f"`{index.name}`" in section


@pytest.mark.parametrize(
    "told",
    [
        "| `loop` | `TEXT NOT NULL DEFAULT 'main'` | form `^[a-z0-9][a-z0-9_-]{0,31}$` | 29 |",
        "- Until 27: index `idx_adf_audit_source` on `source`",
        "- 28: new: `start_seq`, `end_seq`, `ref`; gone: `start_at`, `end_at`",
        "| `bare_prompt` | boolean | `false` |  | >28 |",
        "| `max_loop_rows` |  |  |  | 21, removed at 23 |",
        "| `thinking_budget` | integer or null; at least 1 (warning) |  |  | 21, deprecated |",
        "| `[].text` | string; **required** | 21 | When `type` is `text`: The text. |",
    ],
)
def test_the_reference_tells_history_severity_and_condition(told: str) -> None:
    assert told in schema.page()


def test_what_markdown_would_swallow_is_escaped() -> None:
    assert markdown.prose("loop:<name> and *, but `<x>*` stays") == "loop:\\<name> and \\*, but `<x>*` stays"
    assert markdown.table(("a",), [("x|y",)])[2] == "| x\\|y |"
    assert markdown.table(("a",), []) == []
    assert markdown.code("a`b") == "``a`b``"
    assert markdown.code("`") == "`` ` ``"
    assert markdown.block("```", "sql")[0] == "````sql"
    assert markdown.value(list(range(50))) == "50 entries"
    assert markdown.value({str(number): number for number in range(50)}) == "50 keys"


def test_a_schema_that_refers_to_itself_is_told_once() -> None:
    urn = "urn:adf-format:tables:adf_meta:21"
    looped: dict[str, object] = {"properties": {"a": {"description": "x"}}}
    looped["properties"]["b"] = looped  # type: ignore[index]
    assert [key.path for key in keys.keys(looped, urn)] == ["a", "b"]
