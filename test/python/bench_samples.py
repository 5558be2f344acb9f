"""Results of `mlir-gemm bench` that nobody measured, for tests of what is made of them."""

from __future__ import annotations

import os

from mlir_gemm.bench.figures import Entry, Figures, Results
from mlir_gemm.bench.preparing import Work
from mlir_gemm.bench.problems import Problem
from mlir_gemm.bench.timing import Spread

MACHINE = {
    "device": "Test GPU", "chip": "sm_90", "sms": 132, "max_sm_mhz": 1980, "copy_bytes_s": 4.3e12, "l2_bytes": 62914560,
}  # fmt: skip
STATE = {
    "sm_mhz": [1400, 1700, 1980], "power_w": [300, 600, 698], "temperature": 61, "held_down_by": ["power cap"],
    "samples": 9,
}  # fmt: skip


def compile_or_end(work: Work) -> str:
    """In place of the compiler: some work ends the process, as LLVM does at some faults."""
    if work.schedule == "end":
        os._exit(1)
    return ""


def figures(microseconds: float, right: bool | None = True, schedule: str = "") -> Figures:
    """A contender that takes so long cold, and half of it sustained."""
    seconds = microseconds / 1e6
    return Figures(
        cold=Spread(seconds, 0.99 * seconds, 1.01 * seconds, 15),
        sustained=Spread(seconds / 2, seconds / 2, seconds / 2, 5),
        burst=100,
        host_seconds=5e-6,
        error=2e-4,
        largest_error=1e-3,
        right=right,
        schedule=schedule,
        kernels=1 if schedule else 0,
    )


def entry(problem: Problem, right: bool = True, **microseconds: float) -> Entry:
    """A problem with the contenders of these names."""
    schedule = "block=128x256x64,warp=64x256x16,mma=wgmma,mainloop=tma,stages=4"
    found = {
        name: figures(value, right, schedule) if name.startswith("ours") else figures(value)
        for name, value in microseconds.items()
    }
    return Entry(problem, found, ["triton: not installed"], STATE)


def results(entries: list[Entry], refused: list[tuple[Problem, str, str]] | None = None) -> Results:
    """A run on one machine."""
    return Results(MACHINE, "2026-11-21T12:00:00", "mlir-gemm bench", {"rounds": 15}, entries, refused or [])


LARGE = entry(Problem("large", 4096, 4096, 4096), ours=200, torch=180, cublaslt=190, cublaslt_best=170)
LARGER = entry(Problem("large", 8192, 8192, 8192), ours=1500, torch=1800, cublaslt=1700, cublaslt_best=1650)
SKINNY = entry(Problem("skinny", 64, 8192, 8192, layout="NT"), ours=40, torch=80, triton=60)
SAMPLE = results([LARGE, LARGER, SKINNY], [(Problem("ragged", 1000, 1000, 1000), "", "no schedule is legal")])
