"""LIFT's last slide with kernels of ours: six, each the model's choice for one device and size, run on all six."""

from __future__ import annotations

import functools
import itertools
from math import exp, log

from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.rules import violations
from mlir_gemm.tile_model.select import estimate, select

KEY = "lift"
"""The work's."""
DEVICES, SIZES = ("rtx3090", "mi210", "arc-a770"), (512, 4096)
"""The slides name neither: here a GPU of each of three vendors, and squares of which one is small."""
MMA = {"mma": "simt"}
"""As LIFT's: without tensor cores, which no kernel has on all three."""
TITLE = "### Six kernels on three devices"


@functools.cache
def shares() -> tuple[tuple[float | None, ...], ...]:
    """Of each kernel on each device and size, its predicted speed by that of the best of the six there; None where it
    is not legal."""
    places = list(itertools.product(DEVICES, SIZES))
    kernels = [select(_problem(size), target(device), MMA).schedule for device, size in places]
    times = [[_seconds(kernel, device, size) for device, size in places] for kernel in kernels]
    least = [min(row[place] for row in times if row[place]) for place in range(len(places))]
    return tuple(
        tuple(least[place] / seconds if seconds else None for place, seconds in enumerate(row)) for row in times
    )


def _problem(size: int) -> Problem:
    return Problem(size, size, size, "f32", "f32", reads_c=False)


def _seconds(kernel: Schedule, device: str, size: int) -> float:
    """Predicted; 0 where it is not legal."""
    problem, chip = _problem(size), target(device)
    return 0.0 if violations(problem, kernel, chip) else estimate(problem, kernel, chip).total


def section() -> list[str]:
    """In Markdown: the title, what it is, the table, and what follows."""
    found = shares()
    names = [f"{target(device).name}, {size}³" for device, size in itertools.product(DEVICES, SIZES)]
    lines = [f"| best for | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    for name, row in zip(names, found, strict=True):
        lines.append(f"| {name} | {' | '.join('-' if each is None else f'{each:.2f}' for each in row)} |")
    others = [each for n, row in enumerate(found) for m, each in enumerate(row) if n != m and each]
    mean = exp(sum(map(log, others)) / len(others))
    about = (
        'Source: slide "Performance Portability", a picture: "Performance is not portable across architectures and '
        'input sizes". Ours are products of f32 by `mma=simt`, predicted: the speed of each kernel by that of the best '
        "of the six."
    )
    said = (
        f"The text's statement holds: a kernel that was made for another device or size has {mean:.2f} of the best in "
        f"the mean, {min(others):.2f} at worst. Of all devices at once "
        "[`tune --plots`](tuning.md#pictures) has such a matrix, with tensor cores."
    )
    return [TITLE, about, "\n".join(lines), said]
