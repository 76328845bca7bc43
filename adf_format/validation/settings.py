"""What the user wants: settings files, presets, the selection and the severity of rules.

The nearest `adf-format.toml`, or `pyproject.toml` with a table `[tool.adf-format]`, counts; what stands on the
command line comes after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from adf_format.errors import UsageError
from adf_format.smallfile import read_small
from adf_format.validation import rule as rules
from adf_format.validation.context import Depth
from adf_format.validation.engine import Options
from adf_format.validation.rule import Severity

FILE_NAME = "adf-format.toml"
PRESETS = Path(__file__).with_name("presets.toml")
MAX_SECONDS = 1_000_000.0  # eleven days; the poll of the system counts milliseconds in 32 bits
MAX_MEGABYTES = 1 << 24


@dataclass(frozen=True)
class Settings:
    """Settings of a validation, from a file, the command line, or both.

    :ivar select: patterns of rules to look at; empty for all
    :ivar ignore: patterns of rules to leave out
    :ivar severity: severity by pattern
    :ivar per_file_ignores: patterns of rules to leave out, by glob of the path
    :ivar timeout: seconds for one file
    :ivar memory: megabytes for one worker
    :ivar base: folder that relative paths in the settings start from
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, str] = field(default_factory=dict)
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fail_on: str = "error"
    depth: str = "default"
    preset: str | None = None
    jobs: int | None = None
    timeout: float = 300.0
    memory: int = 1024
    baseline: str | None = None
    base: Path = Path()

    def wanted(self) -> frozenset[str]:
        """Return the ids of the rules to look at.

        :raises UsageError: a pattern names no rule
        """
        chosen = named(self.select) if self.select else frozenset(rules.all_rules())
        return chosen - named(self.ignore)

    def severities(self) -> dict[str, Severity]:
        """Return the severities that differ from the rules' own.

        :raises UsageError: a pattern names no rule, a severity or a preset does not exist
        """
        result = _of_preset(self.preset) if self.preset else {}
        for pattern, severity in self.severity.items():
            result |= dict.fromkeys(named((pattern,)), Severity.of(severity))
        return result

    def options(self) -> Options:
        """Return the options of the engine.

        :raises UsageError: see `wanted` and `severities`
        """
        for patterns in self.per_file_ignores.values():
            named(patterns)
        depth = Depth[self.depth.upper()]
        return Options(depth, self.wanted(), self.severities(), self.timeout)

    def options_for(self, path: str, options: Options) -> Options:
        """Return the options for one file: those of all files, less its `per-file-ignores`."""
        if not self.per_file_ignores:
            return options
        text = Path(path).as_posix()
        inside = _relative(text, self.base)
        ignored = [
            pattern
            for glob, patterns in self.per_file_ignores.items()
            if any(fnmatchcase(name, glob) for name in (text, inside, Path(path).name))
            for pattern in patterns
        ]
        if not ignored or options.wanted is None:
            return options
        return replace(options, wanted=options.wanted - named(tuple(ignored)))

    def threshold(self) -> Severity | None:
        """Return the severity from which a finding makes the run fail, None for never."""
        return None if self.fail_on == "never" else Severity.of(self.fail_on)


def named(patterns: tuple[str, ...]) -> frozenset[str]:
    """Return the ids of the rules that some patterns name.

    :raises UsageError: a pattern names none; the nearest id or name is suggested
    """
    try:
        return rules.select(patterns)
    except UsageError as error:
        known = {name for one in rules.all_rules().values() for name in (one.id, one.family, one.name)}
        for pattern in patterns:
            try:
                rules.select((pattern,))
            except UsageError:
                raise UsageError(f"no rule {pattern!r}{_nearest(pattern, known)}", hint=error.hint) from error
        raise


def find(start: Path) -> Path | None:
    """Return the nearest settings file, from a folder upwards."""
    for folder in (start, *start.parents):
        if (folder / FILE_NAME).is_file():
            return folder / FILE_NAME
        project = folder / "pyproject.toml"
        if project.is_file() and "adf-format" in _toml(project).get("tool", {}):
            return project
    return None


def load(path: Path) -> Settings:
    """Read a settings file.

    :raises UsageError: it cannot be read, or a key or value in it is wrong
    """
    document = _toml(path)
    table = document.get("tool", {}).get("adf-format", {}) if path.name == "pyproject.toml" else document
    given: dict[str, Any] = {"base": path.resolve().parent}
    for key, value in table.items():
        if key not in _KEYS:
            raise UsageError(f"unknown setting {key!r}{_nearest(key, _KEYS)}", file=path)
        try:
            given[key.replace("-", "_")] = _KEYS[key](value)
        except (TypeError, ValueError) as error:
            raise UsageError(f"the setting {key!r} is wrong: {error}", file=path) from error
    if given.get("baseline"):
        given["baseline"] = str(given["base"] / given["baseline"])
    return Settings(**given)


@cache
def presets() -> dict[str, dict[str, Any]]:
    """Return the ready-made settings by name."""
    return _toml(PRESETS)


def _of_preset(name: str) -> dict[str, Severity]:
    if name not in presets():
        raise UsageError(f"no preset {name!r}{_nearest(name, presets())}", hint=f"there are {', '.join(presets())}")
    chosen = presets()[name]
    result = {
        one.id: Severity.of(chosen["default"][str(one.severity)])
        for one in rules.all_rules().values()
        if str(one.severity) in chosen.get("default", {})
    }
    for pattern, severity in chosen.get("severity", {}).items():
        result |= dict.fromkeys(named((pattern,)), Severity.of(severity))
    return result


def _toml(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(read_small(path))
    except OSError as error:
        raise UsageError(f"the settings cannot be read: {error.strerror}", file=path) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the settings are not TOML: {error}", file=path) from error


def _texts(value: object) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise TypeError("a list of rules is expected")
    return tuple(texts)


def _table(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("a table is expected")
    return value


def _severities(value: object) -> dict[str, str]:
    for severity in _table(value).values():
        _one_of("error", "warning", "info")(severity)
    return _table(value)


def _one_of(*words: str) -> Callable[[object], str]:
    def parse(value: object) -> str:
        if value not in words:
            raise ValueError(f"{value!r} is not one of {', '.join(words)}")
        return str(value)

    return parse


def _number(kind: type[int | float], least: float, most: float = float("inf")) -> Callable[[object], Any]:
    def parse(value: object) -> Any:
        if isinstance(value, bool) or not isinstance(value, (int, kind)) or not least <= value <= most:
            upto = "up" if most == float("inf") else f"to {most:g}"
            raise TypeError(f"a number from {least:g} {upto} is expected")
        return value

    return parse


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is expected")
    return value


_KEYS: dict[str, Callable[[Any], Any]] = {
    "select": _texts,
    "ignore": _texts,
    "severity": _severities,
    "per-file-ignores": lambda value: {glob: _texts(patterns) for glob, patterns in _table(value).items()},
    "fail-on": _one_of("error", "warning", "info", "never"),
    "depth": _one_of("quick", "default", "deep"),
    "preset": _text,
    "jobs": _number(int, 0),
    "timeout": _number(float, 0.001, MAX_SECONDS),
    "memory": _number(int, 64, MAX_MEGABYTES),
    "baseline": _text,
}


def _nearest(word: str, words: Iterable[str]) -> str:
    by_lower = {one.lower(): one for one in words}
    found = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.5)
    return f"; did you mean {by_lower[found[0]]!r}?" if found else ""


def _relative(text: str, base: Path) -> str:
    try:
        return Path(text).resolve().relative_to(base.resolve()).as_posix()
    except (ValueError, OSError, RuntimeError):
        return text
