"""What a migration must do to a file: it is compared, value by value, with what it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adf_conformance.files import layout
from adf_conformance.format_data import latest
from adf_conformance.laws import migrated_audit, migrated_parts
from adf_conformance.laws.untouched import plan_of
from adf_conformance.observe import AgentFile, Family, Unreadable
from adf_conformance.schedule import Judge, Outcome, Scene, Step, judge


@judge("migrator")
class MigratorJudge(Judge):
    """Reads a file before and after `file/migrate`."""

    def __init__(self) -> None:
        self._before: AgentFile | None = None
        self._family: Family | None = None

    def before(self, scene: Scene, step: Step) -> None:
        """Read the file as it was."""
        self._before = None
        if self._concerns(step):
            path = scene.path(step["params"]["path"])
            self._family = Family.of(path)
            try:
                self._before = AgentFile(path)
                _ = (self._before.entries, self._before.snapshots)
            except Unreadable:
                self._before = None

    @staticmethod
    def _concerns(step: Step) -> bool:
        return bool(step["do"] == "call" and step["method"] == "file/migrate" and step.get("expect", "any") == "any")

    def after(self, scene: Scene, step: Step, outcome: Outcome) -> None:
        """Compare."""
        if not self._concerns(step) or self._before is None or outcome.code == -32601:
            return
        path = scene.path(step["params"]["path"])
        target = step["params"].get("to", min(latest(), scene.driver.hello.storage[1] if scene.driver.hello else 99))
        Migration(scene, self._before, path, target, outcome).judge(self._family)


class Migration:
    """One migration: the file before and after, and what was answered."""

    def __init__(self, scene: Scene, before: AgentFile, path: Path, target: int, outcome: Outcome) -> None:
        self.scene, self.before, self.path, self.target, self.outcome = scene, before, path, target, outcome
        self.plan: dict[str, Any] = dict(plan_of(scene, path.name))

    def demand(self, law: str, kept: object, message: str, **details: Any) -> None:
        """Demand something about this migration."""
        where = f"{self.before.version} to {self.target}"
        self.scene.demand(f"migrator.{law}", kept, f"{where}: {message}", **details)

    def crosses(self, version: int) -> bool:
        """Say whether the step to a version was done."""
        return self.before.version < version <= self.target

    def judge(self, family: Family | None) -> None:
        """Judge everything."""
        self.demand("version-stamped", not self.outcome.refused, f"refused: {self.outcome.message}")
        if self.before.version == self.target and family is not None:
            changes = family.changes(Family.of(self.path))
            self.demand("idempotent", not changes, f"the file has the version already, and {'; '.join(changes)}")
            return
        try:
            after = AgentFile(self.path)
        except Unreadable as error:
            self.demand("sound", kept=False, message=str(error))
            return
        with after:
            self._file(after)
            self._structure(after)
            migrated_parts.judge(self, after)
            migrated_audit.judge(self, after)

    def _file(self, after: AgentFile) -> None:
        beside = Family.of(self.path).sidecars(self.path)
        sound = after.integrity()
        self.demand("sound", sound == "ok" and not beside, f"integrity: {sound}; beside the file: {beside}")
        self.demand("version-stamped", after.version == self.target, f"the file says {after.version}")
        if self.target < latest():
            self.demand("stops-at", after.version == self.target, f"the file says {after.version}")
        told = self.outcome.value
        right = (told["from"], told["to"]) == (self.before.version, self.target)
        self.demand("result-versions", right, f"answers from {told['from']} to {told['to']}")
        if told.get("backup"):
            self._backup(Path(told["backup"]))

    def _backup(self, path: Path) -> None:
        try:
            with AgentFile(path) as backup:
                same = all(backup.rows(table) == self.before.rows(table) for table in self.before.tables)
            self.demand("backup-true", same, f"{path.name} is not the file as it was")
        except Unreadable as error:
            self.demand("backup-true", kept=False, message=str(error))

    def _structure(self, after: AgentFile) -> None:
        missing = list(self._lacking(after))
        self.demand("structure", not missing, f"lacks {', '.join(missing)}")

    def _lacking(self, after: AgentFile) -> Iterator[str]:
        for table, schema in layout.tables(self.target).items():
            if table not in after.tables:
                yield f"table {table}"
            else:
                yield from (f"{table}.{one}" for one in layout.columns(schema) if one not in after.columns(table))
        indexes = {row[0] for row in after.query("SELECT name FROM sqlite_master WHERE type = 'index'")}
        yield from (f"index {name}" for name in sorted(layout.index_names(self.target) - indexes))


@judge("migrator-crash")
class CrashJudge(Judge):
    """Looks at what a crash in the middle of a migration left, and at what a second migration makes of it."""

    def __init__(self) -> None:
        self._killed = False

    def after(self, scene: Scene, step: Step, outcome: Outcome) -> None:
        """Judge what is there after the crash, and after the second migration."""
        if step["do"] == "kill":
            self._killed = True
            self._left(scene)
        elif step["do"] == "call" and self._killed:
            self._again(scene, outcome)

    def _left(self, scene: Scene) -> None:
        lacking = []
        try:
            view = scene.look()
            sound = view.integrity()
            lacking = sorted(layout.tables(view.version).keys() - view.tables) if view.version else ["a version"]
        except Unreadable as error:
            sound = str(error)
        scene.demand("migrator.crash-whole", sound == "ok", f"after a crash the file is {sound}")
        scene.demand("migrator.version-without-tables", not lacking, f"the file lacks {', '.join(lacking)}")

    def _again(self, scene: Scene, outcome: Outcome) -> None:
        scene.demand("migrator.crash-whole", not outcome.refused, f"migrating again: {outcome.message}")
        planned = plan_of(scene, "agent.adf")
        told = [(entry.seq, entry.text) for entry in scene.look().entries]
        right = [(entry["seq"], entry["blocks"][0]["text"]) for entry in planned["entries"]]  # type: ignore[attr-defined]
        message = (
            f"after a crash and a second migration there are {len(told)} rows, right are {len(right)} as they were"
        )
        scene.demand("migrator.crash-whole", told == right, message)
        kept = len(scene.look().snapshots) == len(planned.get("snapshots", ()))  # type: ignore[arg-type]
        scene.demand("migrator.crash-whole", kept, "after a crash and a second migration snapshots are missing")
