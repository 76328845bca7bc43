"""`adf-format run`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adf_format.cli.options import Output, common
from adf_format.errors import EXIT_OK, UsageError
from adf_format.terminal import visible

if TYPE_CHECKING:
    from adf_format.models.endpoint import Endpoint

HELP = """Run the agent in FILE and talk to it.

Its loops start, timers fire, and whatever happens is written to the file as it happens: stop it at any time, nothing
that was shown is lost. The model is one of

\b
  scripted:FILE     answers from a JSON file, without a network; what it looks like is told by
                    `adf-format schema show urn:adf-format:runtime:model-script:1`
  openai:MODEL      any OpenAI-compatible endpoint (needs `pip install adf-format[models]`);
                    `openai:` alone asks for the model that the agent names

\b
  adf-format run agent.adf --model openai:gpt-4.1
  adf-format run agent.adf --model openai:qwen3 --base-url http://localhost:11434/v1
  adf-format run agent.adf --model scripted:answers.json --message "What is new?"

The key comes from ADF_FORMAT_API_KEY; OPENAI_API_KEY counts too, but is sent to OpenAI alone. Nothing in the file
decides where a key goes. Code of the agent is not run, and messages to others stay in its outbox.

Lines that you type go to `main`, `@NAME text` to another loop, and `/help` lists what else there is. With --message
it answers once: its text on stdout, everything else on stderr.

Exit codes: 0 done; 2 wrong usage; 3 the file could not be run, or the one answer failed; 130 interrupted.
"""


@click.command(help=HELP)
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--model", "spec", metavar="MODEL", required=True, help="What answers: see above.")
@click.option("-m", "--message", metavar="TEXT", help="Say this, wait until all is quiet, and stop.")
@click.option("--loop", "loop", metavar="NAME", default="main", show_default=True, help="With --message: to whom.")
@click.option("--base-url", metavar="URL", envvar="ADF_FORMAT_BASE_URL", help="Where `openai:` asks.")
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0.1),
    default=300.0,
    show_default="300",
    help="Longest time of one call of `openai:`.",
)
@click.option("-y", "--yes", is_flag=True, help="Approve whatever needs an approval.")
@common("human", "json")
def run(
    path: Path,
    spec: str,
    message: str | None,
    loop: str,
    base_url: str | None,
    timeout: float,
    yes: bool,
    out: Output,
) -> int:
    """Start the agent, talk, stop it."""
    from adf_format.cli.run_once import once
    from adf_format.cli.run_session import Session
    from adf_format.models.spec import build

    model = build(spec, _endpoint(base_url, timeout))
    if message is not None:
        return asyncio.run(once(path, model, message, loop, approves=yes, out=out))
    if out.format != "human" or out.path is not None:
        raise UsageError("a conversation is not a result", hint="--format and --output go with --message")
    asyncio.run(Session(path, model, out, sys.stdin, approves=yes).run())
    return EXIT_OK


def _endpoint(base_url: str | None, timeout: float) -> Endpoint:
    """Return where a model is; a key for OpenAI goes nowhere else."""
    from adf_format.models.endpoint import OPENAI_URL, Endpoint

    key = os.environ.get("ADF_FORMAT_API_KEY")
    if base_url is None:
        return Endpoint(OPENAI_URL, key or os.environ.get("OPENAI_API_KEY"), timeout)
    if not base_url.startswith(("http://", "https://")):
        raise UsageError(f"{visible(base_url)!r} is not an address of an endpoint", hint="it begins with https://")
    return Endpoint(base_url, key, timeout)
