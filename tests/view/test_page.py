"""The page as a whole: the same bytes for the same file, every part in its place, what is left out is said."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hostile import poison
from view_support import Checked, agent, folder, page

from adf_format.view import Options
from adf_format.view.colors import COLORS, identity
from adf_format.view.frame import asset
from adf_format.view.settings import _SECRET

GOLDEN = Path(__file__).parents[1] / "golden" / "view" / "ada.html"


def without_assets(made: str) -> str:
    """Style and script are files of their own; their hashes and texts would hide what changed in the page."""
    made = re.sub(r"<style>.*?</style>", "<style></style>", made, flags=re.DOTALL)
    made = re.sub(r"<script>.*?</script>", "<script></script>", made, flags=re.DOTALL)
    made = re.sub(r"sha256-[A-Za-z0-9+/=]+", "sha256-", made)
    return re.sub(r"(</(?:li|p|div|section|details|dl|h\d)>)(?!\n)", r"\1\n", made)


def test_the_page_of_the_sample_is_the_golden_one(tmp_path: Path) -> None:
    """`python tests/view/test_page.py` writes it anew after a change on purpose."""
    assert without_assets(page(agent(tmp_path / "ada.adf"))) == GOLDEN.read_text("utf-8")


def test_the_same_file_gives_the_same_page(tmp_path: Path) -> None:
    path = agent(tmp_path / "ada.adf")
    assert page(path) == page(path)


@pytest.mark.parametrize("version", [21, 24, 27, 28, 29, 32])
def test_every_version_gives_a_well_formed_page_whose_links_lead_somewhere(tmp_path: Path, version: int) -> None:
    made = Checked(page(agent(tmp_path / "a.adf", version=version)))
    assert len(made.ids) == len(set(made.ids)), "an id is given twice"
    assert [one for one in made.addresses if one.startswith("#") and one[1:] not in made.ids] == []


def test_the_parts_that_tell_the_life_of_an_agent_are_there(tmp_path: Path) -> None:
    made = page(agent(tmp_path / "a.adf"))
    for words in (
        "Compacted once",
        "8 rows are no longer in the transcript",
        "waits for approval",
        "nothing to report",
        "6 archived rows",
        'id="S1"',
        'id="S20"',
        'id="loop-drafter"',
        "arrived as S18",
        "sent in S16",
        "same as before",
        "Grace waters on Mondays",
        "report.csv",
        "Only in the archive",
        "Deleted, kept in the archive",
        "as in a fresh file",
        "every 1 h",
    ):
        assert words in made, words


def test_a_call_and_its_result_are_one_chip_and_the_row_of_the_result_is_found_in_it(tmp_path: Path) -> None:
    made = page(agent(tmp_path / "a.adf"))
    assert '<div class="io" id="S12">' in made
    assert '<li class="row k-results" id="S12"' not in made


def test_errors_are_marked(tmp_path: Path) -> None:
    failed = "replace(content_json, '\"is_error\":false', '\"is_error\":true')"
    change = f"UPDATE adf_loop SET content_json = {failed} WHERE seq = 12"
    made = page(agent(tmp_path / "a.adf", change))
    assert 'class="chip tool failed"' in made
    assert "(1 failed)" in made


def test_rows_that_are_left_out_are_counted(tmp_path: Path) -> None:
    path = agent(tmp_path / "a.adf")
    made = page(path, Options(loops=("main",), limit=3))
    assert "13 earlier entries are not included." in made
    assert Checked(made).tags["main"] == 1
    assert 'id="S10"' not in made
    bounded = page(path, Options(loops=("main",), since=1767225610000, until=1767225613000))
    assert "9 earlier entries are not included." in bounded
    assert "3 later entries are not included." in bounded


def test_a_link_to_a_row_that_is_left_out_is_none(tmp_path: Path) -> None:
    made = Checked(page(agent(tmp_path / "a.adf"), Options(limit=2)))
    assert [one for one in made.addresses if one.startswith("#S") and one[1:] not in made.ids] == []


def test_a_folder_has_every_row_in_one_of_its_pages_and_links_between_them(tmp_path: Path) -> None:
    pages = folder(agent(tmp_path / "a.adf"), tmp_path / "out", 4)
    assert set(pages) >= {"index.html", "loop-main-1.html", "loop-main-4.html", "loop-gardener-1.html"}
    checked = {name: Checked(made) for name, made in pages.items()}
    rows = [one for made in checked.values() for one in made.ids if re.fullmatch(r"S\d+", one)]
    assert sorted(rows, key=lambda one: int(one[1:])) == [f"S{seq}" for seq in range(1, 22)]
    for name, made in checked.items():
        for address in made.addresses:
            if not address.startswith(("data:", "http")):
                target, _, anchor = address.partition("#")
                assert (target or name) in checked, address
                assert not anchor or anchor in checked[target or name].ids, (name, address)


def test_secrets_of_the_configuration_are_not_shown(tmp_path: Path) -> None:
    change = """UPDATE adf_config SET config_json = json_set(config_json, '$.providers[0].api_key', 'sk-verysecret')"""
    made = page(agent(tmp_path / "a.adf", change))
    assert "sk-verysecret" not in made
    assert "not shown" in made
    assert not _SECRET.search("max_tokens_per_turn")


@pytest.mark.parametrize(
    "table", ["adf_loop", "adf_audit", "adf_files", "adf_timers", "adf_tasks", "adf_logs", "adf_inbox", "adf_config"]
)
def test_a_missing_table_hides_nothing_else(tmp_path: Path, table: str) -> None:
    made = page(agent(tmp_path / "a.adf", f"DROP TABLE {table}"))
    Checked(made)
    assert "Ada" in made


def test_a_damaged_snapshot_is_named_where_its_rows_would_be(tmp_path: Path) -> None:
    made = page(agent(tmp_path / "a.adf", "UPDATE adf_audit SET data = x'ffff' WHERE id = 1"))
    assert "1 snapshot damaged" in made
    assert 'id="fold-1"' in made


def test_a_hostile_file_gives_a_well_formed_page_in_which_nothing_is_loaded_or_run(tmp_path: Path) -> None:
    made = page(agent(tmp_path / "a.adf", poison))
    checked = Checked(made)
    assert checked.tags["script"] == 2
    assert checked.tags["style"] == 1
    assert not {"iframe", "form action", "base", "object", "embed", "link"} & set(checked.tags)
    assert not {one for one in checked.attributes if one.startswith("on") or one in ("style", "action", "srcdoc")}
    assert all(
        one.startswith(("#", "http://", "data:application/octet-stream;", "data:image/png;"))
        for one in checked.addresses
    )
    made.encode("utf-8")
    assert not any(char in made for char in "\u202e\x00\x1b")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_of_loops_have_contrast_and_differ_for_everybody(theme: str) -> None:
    """WCAG AA on every background a name stands on, and far apart for people with each kind of colour blindness."""
    from contrast import apart, ratio

    block = re.search(
        r":root\{color-scheme:light;(.*?)\}" if theme == "light" else r":root\[data-theme=dark\]\{(.*?)\}",
        asset("view.css"),
    )
    assert block
    values = dict(re.findall(r"--([a-z0-9-]+):(#[0-9a-f]{3,6})", block[1]))
    colors = [values[f"c{number}"] for number in range(COLORS)]
    for background in ("bg", "surface", "raised"):
        assert all(
            ratio(one, values[background]) >= 4.5 for one in (*colors, values["accent"], values["ink"], values["soft"])
        ), background
    for name in ("amber", "teal", "bad", "good"):
        assert ratio(values[name], values[f"{name}-tint"]) >= 4.5
    assert min(apart(one, other) for at, one in enumerate(colors) for other in colors[:at]) >= 20


def test_the_look_of_a_loop_follows_from_its_name_alone() -> None:
    assert identity("gardener") == identity("gardener")
    assert identity("main").css == "cm"
    assert len({identity(f"loop-{number}") for number in range(200)}) > 40


if __name__ == "__main__":
    import tempfile

    GOLDEN.parent.mkdir(parents=True, exist_ok=True)
    GOLDEN.write_text(without_assets(page(agent(Path(tempfile.mkdtemp()) / "ada.adf"))), "utf-8")
