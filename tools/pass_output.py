"""What passes leave, as files of a folder, one for each pass, or as differences: for `compile` and `opt`."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from pathlib import Path

from mlir_gemm.errors import Error
from mlir_gemm.pipeline.runner import Hook, Run, Watch


def hooks_of(arguments: argparse.Namespace) -> list[Hook]:
    """The hooks that a command line asks for."""
    found: list[Hook] = []
    if arguments.print_passes_to:
        found.append(_into(Path(arguments.print_passes_to)))
    if arguments.print_changes:
        found.append(_Changes())
    return found


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
    """Prints the lines that each pass changed, and three around them; nothing of a pass that changed nothing."""

    def __init__(self) -> None:
        self._text = ""

    def before(self, run: Run) -> None:
        self._text = str(run.module)

    def after(self, run: Run, seconds: float) -> None:
        lines = difflib.unified_diff(self._text.splitlines(), str(run.module).splitlines(), lineterm="", n=3)
        changed = list(lines)[2:]
        if changed:
            print(f"// ----- {run.stage + ': ' if run.stage else ''}{run}", *changed, sep="\n", file=sys.stderr)
