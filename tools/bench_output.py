"""What the measuring commands share: their files, and what they say."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from mlir_gemm.errors import Error

CHECK_FAILED = 3  # exit status
RESULTS, REPORT = "results.json", "report.md"


def names(given: list[str]) -> list[str]:
    """From `f16,bf16`, perhaps given several times."""
    return [name.strip() for each in given for name in each.split(",")]


def say(line: str) -> None:
    """A line on stdout, in place of the bar that is on the terminal."""
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    print(line, flush=True)


def first_line(failure: Exception) -> str:
    """Of what was raised: its type, and what it says first."""
    text = str(failure).strip().splitlines()
    return f"{type(failure).__name__}: {text[0] if text else ''}"[:300]


def made(folder: Path) -> Path:
    """A folder that is there now. Raises Error."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise Error(f"cannot write into '{folder}': {problem.strerror or problem}") from None
    return folder


def command() -> str:
    """The command that runs."""
    return shlex.join(["mlir-gemm", *sys.argv[1:]])


def without_plots(folder: Path) -> str:
    """That there are no plots, and how to get them."""
    return (
        "no plots: matplotlib is not installed (pip install 'mlir-gemm[bench]'); "
        f"mlir-gemm bench --report {shlex.quote(str(folder / RESULTS))} draws them later, on any machine"
    )
