"""The IR after each pass, as files of a folder, or as differences: for `compile` and `opt`."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from pathlib import Path

from mlir_gemm.dialect.reading import lines
from mlir_gemm.errors import Error
from mlir_gemm.pipeline.registry import parse_pass
from mlir_gemm.pipeline.runner import Hook, Run, Watch


def hooks_of(arguments: argparse.Namespace) -> list[Hook]:
    """The hooks that a command line asks for."""
    found: list[Hook] = []
    if arguments.print_passes_to:
        found.append(_into(Path(arguments.print_passes_to)))
    wanted = _names(arguments.changes_of or "")
    if arguments.print_changes or wanted:
        found.append(_Changes(wanted, in_short=arguments.reading))
    return found


def _names(text: str) -> tuple[str, ...]:
    """The passes in `NAME,NAME`. Raises PassError for a name that no pass has."""
    names = tuple(filter(None, (name.strip() for name in text.split(","))))
    for name in names:
        parse_pass(name)
    return names


def _into(folder: Path) -> Watch:
    """Writes `012-tile-tile-loops.mlir` and so on; in a program the kernel's name stands before that of the pass."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Error(f"cannot write to '{folder}': {error.strerror}") from None

    def show(run: Run, text: str) -> None:
        words = [f"{run.number:03}", run.stage, run.kernel, re.sub(r"[^\w.-]+", "-", str(run.spec))[:60].strip("-")]
        path = folder / f"{'-'.join(filter(None, words))}.mlir"
        try:
            path.write_text(text.rstrip() + "\n", encoding="utf-8")
        except OSError as error:
            raise Error(f"cannot write '{path}': {error.strerror}") from None

    return Watch(lambda _: True, show)


class _Changes(Hook):
    """Prints the lines that each pass changed, with three lines around them, and nothing for a pass that changed
    nothing; of the `wanted` passes only, where there are any, and then says so of those that changed nothing too."""

    def __init__(self, wanted: tuple[str, ...], *, in_short: bool) -> None:
        self._wanted, self._in_short = wanted, in_short
        self._lines: list[str] = []

    def before(self, run: Run) -> None:
        if self._is_wanted(run):
            self._lines = self._lines_of(run)

    def after(self, run: Run, seconds: float) -> None:
        if not self._is_wanted(run):
            return
        changed = list(difflib.unified_diff(self._lines, self._lines_of(run), lineterm="", n=3))[2:]
        if self._wanted and not changed:
            changed = [f"// changed nothing{' that the reading form shows' if self._in_short else ''}"]
        if changed:
            print(f"// ----- {run.stage + ': ' if run.stage else ''}{run}", *changed, sep="\n", file=sys.stderr)

    def _is_wanted(self, run: Run) -> bool:
        return not self._wanted or bool({run.spec.name, *str(run.spec).split(",")} & set(self._wanted))

    def _lines_of(self, run: Run) -> list[str]:
        printed = str(run.module).splitlines()
        return [line for line in lines(printed) if line is not None] if self._in_short else printed
