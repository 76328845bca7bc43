"""Benchmark of the viewer: pages of a long life against reading its rows and rendering their Markdown once.

    python tools/bench/view.py                    # 20,000 rows; exit 1 if a limit is missed
    python tools/bench/view.py --rows 100000
    python tools/bench/view.py --browser          # also: no long task over 200 ms after load, page of 2,000 rows

Each figure is taken in a fresh process.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT = 3.0
TASK_MS = 200
LONG = """() => new Promise(done => { const found = []; new PerformanceObserver(list => {
  for (const one of list.getEntries()) found.push(one.duration) }).observe({type: 'longtask'});
  let y = 0; const step = () => { y += 700; scrollTo(0, y);
    if (y < document.documentElement.scrollHeight && y < 200000) requestAnimationFrame(step);
    else setTimeout(() => done(found), 300) }; step() })"""


def bare(path: Path) -> None:
    """Read every row and render its texts with mistune alone: the limit is not measured with our shortcuts."""
    import mistune

    from adf_format.container import open_readonly
    from adf_format.history import Item, transcript
    from adf_format.history.loops import names
    from adf_format.view.kinds import blocks_of

    render = mistune.create_markdown()
    with open_readonly(path) as container:
        for name in names(container):
            for item in transcript(container, name):
                if isinstance(item, Item):
                    for block in blocks_of(item.place.entry.content):
                        if block.get("type") == "text":
                            render(block["text"])


def viewed(path: Path) -> None:
    """Write the page."""
    from adf_format.cli.main import run

    with tempfile.TemporaryDirectory() as folder:
        if run(["view", str(path), "-o", f"{folder}/a.html", "--limit", "0", "-q"]):
            raise SystemExit("the page could not be written")


def measure(task: str, path: Path) -> dict[str, float]:
    """Run one task in a fresh process."""
    done = subprocess.run([sys.executable, __file__, "--task", task, path], capture_output=True, text=True, check=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def long_tasks(path: Path) -> list[float]:
    """Return the long tasks, in ms, while a page of 2,000 rows is scrolled to its end, after load."""
    from playwright.sync_api import sync_playwright

    from adf_format.cli.main import run

    page = path.with_suffix(".html")
    run(["view", str(path), "-o", str(page), "--loop", "main", "-q"])
    with sync_playwright() as started:
        chromium = shutil.which("chromium") or "chromium"
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page()
        tab.goto(f"{page.as_uri()}#transcripts")
        found: list[float] = tab.evaluate(LONG)
        browser.close()
    return found


def main() -> None:
    """Measure, print, and fail if a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("--task", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.task:
        start = time.perf_counter()
        {"bare": bare, "viewed": viewed}[chosen.task[0]](Path(chosen.task[1]))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"seconds": time.perf_counter() - start, "peak_mb": peak}))
        return
    import files

    with tempfile.TemporaryDirectory() as scratch:
        path = files.transcript(Path(scratch), chosen.rows)
        one, two = measure("bare", path), measure("viewed", path)
        missed = two["seconds"] / one["seconds"] > LIMIT
        print(f"read and rendered once  {one['seconds']:.2f} s, {one['peak_mb']:.0f} MB")
        print(f"page                    {two['seconds']:.2f} s, {two['peak_mb']:.0f} MB")
        print(f"ratio {two['seconds'] / one['seconds']:.2f} x  limit {LIMIT}  {'MISSED' if missed else 'ok'}")
        if chosen.browser:
            tasks = long_tasks(path)
            longest = max(tasks, default=0)
            late = longest > TASK_MS
            print(f"longest task {longest:.0f} ms of {len(tasks)}  limit {TASK_MS}  {'MISSED' if late else 'ok'}")
            missed = missed or late
    sys.exit(missed)


if __name__ == "__main__":
    main()
