"""What every pass left, and which operation each operation came from.

A pass gives each operation that it makes the location of the operation it came from. A kernel's operations share a few
places in the source, so after each pass a hook gives every operation a location of its own, a name with a number around
the source's place. After the next pass these names say what became of what.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import location_of
from mlir_gemm.dialect.reading import lines as reading_lines
from mlir_gemm.dialect.walk import named, where
from mlir_gemm.errors import Location
from mlir_gemm.pipeline import emission
from mlir_gemm.pipeline.debug_info import lines_of
from mlir_gemm.pipeline.runner import Hook, Run
from mlir_gemm.spec.passes import PassSpec

NONE = -1
_TAG = re.compile(r'loc\("@(\d+)"')
_TAGS = re.compile(r'"@(\d+)"')
_ALL = re.compile(r' loc\((?:[^()"]|"(?:[^"\\]|\\.)*"|\((?:[^()"]|"(?:[^"\\]|\\.)*"|\([^()]*\))*\))*\)')
_LABEL = re.compile(r"(\$L__BB)\d+(?=_)")
_STAGE = re.compile(r'(, )?tile\.stage = "\w+"')


@dataclass
class Snapshot:
    """The IR after a pass, as lines in the reading form."""

    kernel: str
    """The name of a program's kernel; empty for the whole module."""
    stage: str
    spec: PassSpec | None
    """None for the source, and for PTX."""
    seconds: float
    lines: list[str] = field(default_factory=list[str])
    """Empty where the pass changed nothing."""
    operations: list[int] = field(default_factory=list[int])
    """For each line the number of the operation that stands there, or NONE."""
    parents: list[int] = field(default_factory=list[int])
    """For each operation the number that it, or what it was made of, had in the snapshot before; or NONE."""
    changed: bool = True


class Trace(Hook):
    """Records the IR after every pass. Passes see no difference except longer locations."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.snapshots: list[Snapshot] = []
        self._last: dict[str, list[str]] = {}
        """What was printed of each kernel last, with the tags of its own."""
        self._final: dict[str, Any] = {}
        """The kernels at the stage `nvvm`, copied."""

    def before(self, run: Run) -> None:
        if not self.snapshots:
            self._take_source(run.whole)

    def after(self, run: Run, seconds: float) -> None:
        snapshot = Snapshot(run.kernel, run.stage, run.spec, seconds)
        self.snapshots.append(snapshot)
        operations = _operations(run.module)
        snapshot.parents = [_tag(operation) for operation in operations]
        _retag(operations)
        printed = _printed(run.module)
        bare = [_bare(line) for line in printed]
        if bare == self._last.get(run.kernel) and snapshot.parents == list(range(len(operations))):
            snapshot.changed, snapshot.parents = False, []
            return
        self._last[run.kernel] = bare
        snapshot.lines, snapshot.operations = _lines(printed, bare)
        if run.stage == "nvvm":
            self._keep(run)

    def finish(self, ptx: str) -> str:
        """Adds the PTX of every kernel, traced to what it was made of. Returns why there is none, or nothing."""
        for kernel, module in self._final.items():
            text = emission.ptx(module, lines=lambda _, operation: Location("nvvm", _tag(operation) + 1, 1))
            lines, places = lines_of(text)
            if "\n".join(_instructions(lines)) not in "\n".join(_instructions(ptx.split("\n"))):
                return f"the PTX of '{kernel}' with line information is another"
            self.snapshots.append(_of_ptx(kernel, lines, places))
        return ""

    def _take_source(self, module: Any) -> None:
        text = self.source.splitlines()
        snapshot = Snapshot("", "source", None, 0.0, text, [NONE] * len(text))
        operations = _operations(module)
        for number, operation in enumerate(operations):
            place = location_of(operation)
            if place is not None and 0 < place.line <= len(text) and snapshot.operations[place.line - 1] == NONE:
                snapshot.operations[place.line - 1] = number
        places = [location_of(operation) for operation in operations]
        same = [
            snapshot.operations[place.line - 1] if place and 0 < place.line <= len(text) else NONE for place in places
        ]
        snapshot.parents = [NONE] * len(operations)
        self.snapshots.append(snapshot)
        _retag(operations, same)

    def _keep(self, run: Run) -> None:
        with run.module.context, ir.Location.unknown():
            copy = ir.Module.create()
            for kernel in named(run.module, "gpu.module"):
                kernel.operation.clone(ir.InsertionPoint(copy.body))
            self._final[run.kernel] = copy


def _operations(module: Any) -> list[Any]:
    return [module.operation, *(each.operation for each in where(module, lambda _: True))]


def _tag(operation: Any) -> int:
    found = _TAGS.search(str(operation.location))
    return int(found[1]) if found else NONE


def _retag(operations: Sequence[Any], numbers: Sequence[int] | None = None) -> None:
    """Gives every operation a location that names its number, around the place in the source that it had."""
    with operations[0].context:
        for number, operation in enumerate(operations):
            tag = f"@{number if numbers is None else numbers[number]}"
            operation.location = ir.Location.name(tag, _innermost(operation.location))


def _innermost(location: Any) -> Any:
    """The place in a file that a location names, in the form that errors show."""
    place = location_of(location)
    return ir.Location.file(place.file, place.line, place.column) if place is not None else ir.Location.unknown()


def _printed(module: Any) -> list[str]:
    text: str = module.operation.get_asm(enable_debug_info=True, use_local_scope=True, large_elements_limit=16)
    return text.splitlines()


def _bare(line: str) -> str:
    line = _ALL.sub("", line) if " loc(" in line else line
    return _STAGE.sub("", line) if "tile.stage" in line else line


def _lines(printed: list[str], bare: list[str]) -> tuple[list[str], list[int]]:
    """The reading form of what was printed with tags, also given without, and the operation of each line."""
    tags = [NONE] * len(printed)
    opened: dict[int, int] = {}
    for number, line in enumerate(printed):
        found = _TAG.findall(line[line.rfind(" loc(") :]) if " loc(" in line and line.endswith(")") else []
        depth = len(line) - len(line.lstrip())
        if found:
            tags[number] = int(found[0])
            if line[depth:].startswith("}") and depth in opened:
                tags[opened[depth]] = int(found[0])
        if line.endswith("{") and not line[depth:].startswith("}"):
            opened[depth] = number
    read = reading_lines(bare)
    kept = [(line, tag) for line, tag in zip(read, tags, strict=True) if line is not None]
    return [line for line, _ in kept], [tag for _, tag in kept]


def _instructions(lines: Sequence[str]) -> list[str]:
    """Lines of PTX that do or declare something inside a kernel, without the number of the kernel in its labels."""
    inside = [line for line in lines if line.startswith("\t") and not line.startswith("\t//")]
    return [_LABEL.sub(r"\1", line) for line in inside]


def _of_ptx(kernel: str, lines: list[str], places: list[int]) -> Snapshot:
    """PTX as a snapshot: one operation a line, which came from the operation that the line information names."""
    kept = [(line.expandtabs(4), place) for line, place in zip(lines, places, strict=True) if line.strip()]
    parents = [place - 1 if place else NONE for _, place in kept]
    return Snapshot(
        kernel, "ptx", None, 0.0, [line for line, _ in kept], list(range(len(kept))), parents
    )  # fmt: skip
