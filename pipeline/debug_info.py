"""Lines of the source in PTX, so that a profiler shows them beside the machine code. The instructions stay the same.

LLVM writes a `.loc` before each instruction whose line is another than that of the one before. Inside multi-line
inline assembly it counts the lines of the assembly on top, which are not lines of the source: those are removed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from mlir_gemm.dialect.bindings import ir, passmanager
from mlir_gemm.dialect.locations import location_of
from mlir_gemm.dialect.walk import where
from mlir_gemm.errors import Location

_SCOPES = "ensure-debug-info-scope-on-llvm-func{emission-kind=DebugDirectivesOnly}"
_LOC = re.compile(r"\t\.loc\t\d+ (\d+)")
_DIRECTIVES = re.compile(r"\t\.(loc|file)\t|\t\.section\t\.debug|\$L__(tmp|func_begin|func_end)\d+:")

Place = Callable[[int, Any], Location | None]
"""Where an operation comes from, by its number in program order and itself; None where that is not known."""


def source_place(filename: str) -> Place:
    """The place in the user's file: MLIR's parser sees only text and calls that `-`."""
    whole = filename if filename == "-" else os.path.abspath(filename)

    def place(_: int, operation: Any) -> Location | None:
        found = location_of(operation)
        return found and Location(whole if found.file == "-" else found.file, found.line, found.column)

    return place


def add_lines(module: Any, place: Place) -> None:
    """Gives every operation of a module with kernels at the `nvvm` stage one place in a file, in the form that becomes
    `.loc` in PTX."""
    with module.context:
        last = ir.Location.unknown()
        for number, operation in enumerate([module.operation, *where(module, lambda _: True)]):
            found = place(number, operation)
            if found is not None and found.line:
                last = ir.Location.file(found.file, found.line, found.column)
            operation.operation.location = last
        passmanager.PassManager.parse(f"builtin.module({_SCOPES})").run(module.operation)


def cleaned(ptx: str) -> str:
    """PTX without the lines that LLVM gives to what stands inside inline assembly."""
    kept: list[str] = []
    inside = False
    for line in ptx.split("\n"):
        inside = (inside or "// begin inline asm" in line) and "// end inline asm" not in line
        if not (inside and _LOC.match(line)):
            kept.append(line)
    return "\n".join(kept)


def without_lines(ptx: str) -> str:
    """PTX without what line information adds to it."""
    return "\n".join(line for line in ptx.split("\n") if not _DIRECTIVES.match(line))


def lines_of(ptx: str) -> tuple[list[str], list[int]]:
    """The lines of PTX without line information, and for each the line of the source that it comes from, or 0."""
    text: list[str] = []
    lines: list[int] = []
    now = 0
    for line in ptx.split("\n"):
        found = _LOC.match(line)
        if found:
            now = int(found[1])
        elif not _DIRECTIVES.match(line):
            text.append(line)
            lines.append(now)
        if line.startswith("}"):
            now = 0
    return text, lines
