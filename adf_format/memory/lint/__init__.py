"""Family 9xx: rules on memory, for workspaces and for the mind inside an `.adf` (MEM section 4).

The registry of rules knows this room by name alone: it lies above validation. The pass below is part of
`validate --deep`; `adf-format memory check` runs it for agents, and `workspace.check_workspace` for folders.
"""

from adf_format.memory.lint import citations, daily, index, injected, log, longterm, mind, pages, secrecy, tracker
from adf_format.validation.context import Depth, Pass

ON_MINDS = (*secrecy.RULES, *index.RULES, *pages.RULES, *log.RULES, *citations.RULES, *injected.RULES)
ON_WORKSPACES = (*secrecy.RULES, *daily.RULES, *longterm.RULES, *tracker.RULES)

PASSES: tuple[Pass, ...] = (Pass("files of memory", ON_MINDS, mind.check, ("adf_files",), Depth.DEEP),)
