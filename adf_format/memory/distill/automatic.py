"""All steps of a distillation in one, with a model in the middle."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from adf_format.memory.distill import commit as committing
from adf_format.memory.distill import plan as planning
from adf_format.memory.distill import state
from adf_format.memory.distill.auto import distil
from adf_format.memory.distill.commit import Committed
from adf_format.memory.distill.due import due
from adf_format.memory.folder import Folder
from adf_format.models.port import Model, ModelChoice


async def run(
    root: Path,
    now: Callable[[], datetime],
    model: Model,
    *,
    choice: ModelChoice | None = None,
    if_due: bool = False,
    dry_run: bool = False,
) -> Committed | bytes | str:
    """Distil a workspace.

    :returns: what was committed; the new text in a dry run; or in words why nothing was done
    :raises RefusedError, UnreadableError: see `distil` and `commit`
    """
    files = state.workspace(Folder(root))
    moment = now()
    if if_due:
        last, _ = state.last(files, moment.tzinfo or UTC)
        found = due(state.candidates(files, last, moment), last, moment)
        if not found.due:
            return f"not due: {found.reason}"
    plan, document = planning.gather(root, moment)
    if not plan.notes:
        return "there is nothing to distil"
    if not dry_run:
        planning.save(root, plan)
    new = await distil(files, plan, document, model, choice or ModelChoice())
    if dry_run:
        return new if new is not None else "the model finds nothing to keep"
    return committing.commit(root, plan, now(), memory=new, nothing_to_keep=new is None)
