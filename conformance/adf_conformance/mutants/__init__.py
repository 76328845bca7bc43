"""Saboteurs: deliberately broken implementations, which the suite must catch.

Those of readers, validators and migrators stand between the suite and any driver, in any language, and spoil what goes
through: `python -m adf_conformance.mutants NAME -- DRIVER…`. A suite that lets one of them pass tests nothing there.
"""

from adf_conformance.mutants.mutant import Mutant, all_mutants

__all__ = ["Mutant", "all_mutants"]
