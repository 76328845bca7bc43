"""7xx: what one part of a file says about another part of it."""

from adf_format.validation.context import Pass, Visit
from adf_format.validation.rules.references import attestations, files, identity, messages, timers

PASSES: tuple[Pass, ...] = (*files.PASSES, *timers.PASSES)
VISITS: tuple[Visit, ...] = (*identity.VISITS, *timers.VISITS, *messages.VISITS, *attestations.VISITS)
