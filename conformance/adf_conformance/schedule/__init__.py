"""Schedules: a scenario as a plain list of steps, and the one executor of generated cases and of case files.

A *step* is a JSON object with the key `do`; `steps.KINDS` lists the kinds with their keys. A *scene* is a driver, a
folder of files and what happened so far; `Scene.run(step)` does one step. A *judge* watches a scene and demands what a
model of the runtime says must be so. A *case* is a list of steps with the names of its judges, saved as one small file.

    with Scene(command, folder, Ledger(), judges=["core"]) as scene:
        scene.run({"do": "create", "config": {}})
        scene.run({"do": "start"})
        scene.run({"do": "chat", "text": "Hello"})
        scene.run({"do": "await", "loop": "main", "as": "c1"})
        scene.run({"do": "answer", "call": "c1", "text": "Hi."})
        scene.run({"do": "idle"})
        scene.look().transcript("main")

Hypothesis chooses steps and passes each to `run`; a named case is a list of steps written by hand; `replay` reads the
same list from a file. Only data lies between them.
"""

from adf_conformance.schedule.case import Case
from adf_conformance.schedule.judges import Judge, judge, judge_names
from adf_conformance.schedule.outcome import Impossible, Moment, Outcome, Step, Struck
from adf_conformance.schedule.scene import Scene

__all__ = ["Case", "Impossible", "Judge", "Moment", "Outcome", "Scene", "Step", "Struck", "judge", "judge_names"]
