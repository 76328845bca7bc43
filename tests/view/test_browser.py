"""The page in a real browser: nothing runs, nothing is fetched, nothing breaks the layout, everybody can use it.

Needs Debian's Chromium, Playwright's Python package and, for the check of accessibility, axe-core from npm. Where
one of them is missing the tests are skipped, and say which. `ADF_FORMAT_AXE` names axe.min.js elsewhere.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hostile import poison
from view_support import agent, folder, page

from adf_format.view import Options

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
AXE = [
    os.environ.get("ADF_FORMAT_AXE", ""),
    "node_modules/axe-core/axe.min.js",
    "/tmp/axe/node_modules/axe-core/axe.min.js",  # noqa: S108
]
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1200, "height": 900}

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A browser with a new profile and no network."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (apt-get install chromium)")
    with playwright.sync_playwright() as started:
        profile = tmp_path_factory.mktemp("profile")
        context = started.chromium.launch_persistent_context(
            str(profile), executable_path=CHROMIUM, headless=True, args=ARGUMENTS, offline=True
        )
        yield context
        context.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The page of the sample, and that of a hostile file."""
    place = tmp_path_factory.mktemp("pages")
    made = {}
    for name, change in (("ada", None), ("hostile", poison)):
        made[name] = place / f"{name}.html"
        made[name].write_text(page(agent(place / f"{name}.adf", change), Options(title="ada.adf")), "utf-8")
    return made


class Watched:
    """A tab, and everything that happened in it that must not."""

    def __init__(self, browser: Any, script: bool = True) -> None:
        self.tab = browser.new_page()
        self.seen: list[str] = []
        self.tab.on("dialog", lambda dialog: (self.seen.append(f"dialog {dialog.message}"), dialog.dismiss()))
        self.tab.on("pageerror", lambda error: self.seen.append(f"error {error}"))
        self.tab.on("request", lambda request: self._request(request.url))
        self.tab.on("popup", lambda _: self.seen.append("popup"))
        self.tab.on("console", lambda said: self.seen.append(said.text) if said.type in ("error", "warning") else None)
        if not script:
            self.tab.route("**/*", lambda route: route.continue_())

    def _request(self, url: str) -> None:
        if not url.startswith(("file://", "data:image/")):
            self.seen.append(f"request {url}")

    def open(self, path: Path, anchor: str = "") -> Any:
        self.tab.goto(f"{path.as_uri()}{anchor}")
        self.tab.wait_for_timeout(50)
        return self.tab


@pytest.fixture
def watched(browser: Any) -> Iterator[Watched]:
    found = Watched(browser)
    yield found
    found.tab.close()


SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
UNFOLD = "document.querySelectorAll('details').forEach(one => one.open = true)"
SHOW_ALL = "document.querySelectorAll('[hidden]').forEach(one => one.hidden = false)"


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("name", ["ada", "hostile"])
def test_nothing_runs_nothing_is_fetched_and_nothing_scrolls_sideways(
    watched: Watched, pages: dict[str, Path], name: str, size: dict[str, int]
) -> None:
    watched.tab.set_viewport_size(size)
    tab = watched.open(pages[name])
    tab.evaluate(UNFOLD)
    tab.evaluate(SHOW_ALL)
    tab.add_style_tag  # noqa: B018  # the policy forbids even the test to add one
    tab.mouse.wheel(0, 200_000)
    tab.wait_for_timeout(300)
    assert tab.evaluate("window.hacked") is None
    assert watched.seen == []
    assert tab.evaluate(SIDEWAYS) <= 0
    assert tab.evaluate("document.querySelectorAll('main').length") == 1
    assert tab.evaluate("document.querySelector('h1').closest('main') !== null")


def test_links_of_a_hostile_file_do_not_run_when_they_are_clicked(watched: Watched, pages: dict[str, Path]) -> None:
    tab = watched.open(pages["hostile"])
    schemes = tab.evaluate("[...new Set([...document.querySelectorAll('a')].map(one => one.protocol))]")
    assert set(schemes) <= {"file:", "http:", "https:", "mailto:", "data:"}
    assert tab.evaluate(
        "[...document.querySelectorAll('a[href^=\"data:\"]')].every(one => one.hasAttribute('download'))"
    )


def test_a_hash_shows_its_row_in_its_loop_and_unfolds_what_is_around_it(
    watched: Watched, pages: dict[str, Path]
) -> None:
    tab = watched.open(pages["ada"], "#S3")
    assert tab.locator("#S3").is_visible()
    assert not tab.locator("#overview").is_visible()
    tab.locator("#S18 .jump").click()
    tab.wait_for_timeout(50)
    assert tab.locator("#S16").is_visible()
    assert not tab.locator("#S3").is_visible()
    tab.evaluate("location.hash = 'S20'")
    tab.wait_for_timeout(50)
    assert tab.locator("#S20").is_visible()


def test_search_finds_rows_in_folds_and_other_loops(watched: Watched, pages: dict[str, Path]) -> None:
    tab = watched.open(pages["ada"], "#transcripts")
    tab.keyboard.press("/")
    tab.keyboard.type("beans ripe")
    tab.wait_for_timeout(400)
    assert tab.locator("#found").text_content() == "1 row in all loops"
    assert tab.locator("#S2").is_visible()
    tab.fill("#q", "")
    tab.select_option("#f-tool", "loop_send")
    tab.wait_for_timeout(400)
    assert tab.locator("#tab-loop-gardener .count").text_content() == "1"
    tab.select_option("#f-tool", "")
    tab.fill("#jump", "S21")
    tab.keyboard.press("Enter")
    tab.wait_for_timeout(100)
    assert tab.locator("#S21").is_visible()


def test_the_theme_can_be_changed_and_stays(watched: Watched, pages: dict[str, Path]) -> None:
    watched.tab.emulate_media(color_scheme="light")
    tab = watched.open(pages["ada"])
    background = "getComputedStyle(document.body).backgroundColor"
    before = tab.evaluate(background)
    tab.click("#theme")
    assert tab.evaluate(background) != before
    changed = tab.evaluate(background)
    tab.reload()
    assert tab.evaluate(background) == changed
    tab.click("#theme")


def test_tabs_are_reached_with_the_keyboard(watched: Watched, pages: dict[str, Path]) -> None:
    tab = watched.open(pages["ada"], "#transcripts")
    tab.focus("#tab-loop-main")
    tab.keyboard.press("ArrowRight")
    tab.wait_for_timeout(50)
    assert tab.locator("#loop-gardener").is_visible()
    assert not tab.locator("#loop-main").is_visible()


def test_everything_can_be_read_without_script(browser: Any, pages: dict[str, Path]) -> None:
    offline = browser.browser.new_context(java_script_enabled=False) if browser.browser else None
    if offline is None:
        import playwright.sync_api as api

        assert api  # a persistent context has no browser of its own: a second one without script is started
        pytest.skip("this version of Playwright gives no browser for a persistent context")
    tab = offline.new_page()
    tab.goto(pages["ada"].as_uri())
    for anchor in (
        "overview",
        "loop-main",
        "loop-gardener",
        "loop-drafter",
        "memory",
        "files",
        "messages",
        "config",
        "log",
    ):
        assert tab.locator(f"#{anchor}").is_visible(), anchor
    assert not tab.locator("#q").is_visible()
    tab.locator("#fold-1 > details > summary").click()
    assert tab.locator("#S2").is_visible()
    offline.close()


def test_pages_of_a_folder_lead_to_each_other(watched: Watched, tmp_path: Path) -> None:
    folder(agent(tmp_path / "a.adf"), tmp_path / "out", 4)
    tab = watched.open(tmp_path / "out" / "loop-main-2.html")
    tab.click("text=← Earlier >> nth=0")
    tab.wait_for_timeout(100)
    assert tab.url.endswith("loop-main-1.html")
    assert watched.seen == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_check_of_accessibility_has_no_serious_finding(browser: Any, pages: dict[str, Path], scheme: str) -> None:
    """The sample, all views shown and everything unfolded; axe-core is read by the test, not by the page."""
    axe = next((Path(one) for one in AXE if one and Path(one).is_file()), None)
    if axe is None:
        pytest.skip("axe-core is not installed (npm install axe-core; ADF_FORMAT_AXE names axe.min.js)")
    watched = Watched(browser)
    watched.tab.emulate_media(color_scheme=scheme)
    watched.tab.set_viewport_size(DESK)
    tab = watched.open(pages["ada"])
    tab.evaluate(axe.read_text("utf-8") + ";0")
    serious = []
    for anchor in ("overview", "transcripts", "loop-gardener", "memory", "files", "messages", "config", "log"):
        tab.evaluate(f"location.hash = '{anchor}'")
        tab.evaluate(UNFOLD)
        tab.wait_for_timeout(60)
        found = tab.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        serious += [
            (anchor, one["id"], one["nodes"][0]["html"][:200], one["nodes"][0].get("failureSummary", "")[:300])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
    tab.close()
    assert serious == []
