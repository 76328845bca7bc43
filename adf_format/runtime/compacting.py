"""Compaction carried out: the plan, the summarizer, and one transaction that does everything or nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from adf_format.errors import AdfError
from adf_format.models import Completion, ModelError
from adf_format.runtime.asking import Asking
from adf_format.runtime.context import Context
from adf_format.runtime.core import compaction
from adf_format.runtime.core.compaction import Plan
from adf_format.runtime.core.turn import Trigger
from adf_format.runtime.ports import Happening
from adf_format.runtime.store.transcript import Summary

if TYPE_CHECKING:
    from adf_format.runtime.agent import Agent

TEMPERATURE = 0.3
MAX_TOKENS = 8192


async def compact(agent: Agent, context: Context, asking: Asking, trigger: Trigger, instructions: str = "") -> bool:
    """Compact the history of a loop. Gives whether a summary is in place, by us or by somebody who was faster.

    A failure leaves everything as it was and is told to the operator and, once per reason, to the agent (CMP-041).
    """
    stream = agent.store.transcript.seqs(context.loop)
    planned = compaction.plan(context.session(), stream, voluntary=trigger == "voluntary")
    if planned is None:
        return False
    try:
        completion = await _summarize(agent, asking, planned, len(stream), instructions)
        summary = _summary(completion, asking)
        done = await agent.store.transcript.replace(context.loop, planned.removed, planned.kept, summary)
    except (ModelError, AdfError) as error:
        _failed(agent, context, trigger, error)
        return False
    if done is None:
        _superseded(agent, context)
        return True
    row, audited = done
    context.summarized(row, planned.removed)
    agent.pool.cleared(context.loop, planned.removed)
    context.size = asking.estimated()
    agent.store.checkpoints.measure(context.loop, context.size, estimated=True)
    told = {"trigger": trigger, "removed": len(planned.removed), "archived": audited, "seq": row.seq}
    agent.show(Happening("compacted", context.loop, told))
    return True


async def _summarize(agent: Agent, asking: Asking, planned: Plan, count: int, instructions: str) -> Completion:
    text = compaction.prompt(planned.summarized, count, instructions)
    choice = replace(asking.choice(), temperature=TEMPERATURE, max_tokens=MAX_TOKENS)
    return await agent.model.complete(
        purpose="compaction",
        loop=asking.loop,
        system=compaction.SYSTEM,
        messages=[{"role": "user", "content": [{"type": "text", "text": text}]}],
        tools=[],
        model=choice,
    )


def _summary(completion: Completion, asking: Asking) -> Summary:
    texts = [block.get("text") for block in completion.content if block.get("type") == "text"]
    body = "\n".join(text for text in texts if isinstance(text, str)).strip()
    if not body:
        raise ModelError("the summary is empty", transient=False)
    return Summary(body, compaction.FOOTER, asking.choice().model_id or None, completion.usage.as_tokens())


def _failed(agent: Agent, context: Context, trigger: Trigger, error: ModelError | AdfError) -> None:
    message = error.message
    facts = {"trigger": trigger, "size": context.size, "error": message}
    agent.log("error", "compaction_failed", f"{context.loop}: {message}", data=facts, loop=context.loop)
    session = context.session()
    if message not in session.failures:
        session.failures.add(message)
        context.record(f"[Context: System] Compaction failed: {message}. The history stays as it is.")
    agent.show(Happening("compaction_failed", context.loop, facts))


def _superseded(agent: Agent, context: Context) -> None:
    """Somebody changed the rows while the summary was made: theirs counts, ours is thrown away (CMP-023)."""
    message = f"{context.loop}: the history changed while it was being condensed; the summary was discarded"
    agent.log("warn", "compaction_superseded", message, loop=context.loop)
    context.size = None
