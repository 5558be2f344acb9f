"""What one device's best schedule is worth on others: a matrix of variants by devices, predicted, and measured where
there is a GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log

from mlir_gemm.errors import Error
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.rules import violations
from mlir_gemm.tile_model.select import estimate, select

DEVICES = (
    "v100", "rtx2080ti", "a100", "rtx3090", "rtx4090", "h100", "h200", "b200", "mi210", "mi300x", "rx7900",
    "vulkan-h200", "arc-a770", "vulkan", "opencl",
)  # fmt: skip
"""Where nothing else is asked for: of every vendor, and by every interface."""


@dataclass(frozen=True)
class Cell:
    """One variant on one device."""

    share: float | None
    """Its speed by that of the best variant there; None where it is not legal."""
    tflops: float = 0.0
    """Its speed, in TFLOP/s; 0 where it is not legal."""
    measured: bool = False
    why: str = ""
    """The rule that it breaks."""


@dataclass(frozen=True)
class Matrix:
    """Rows are variants, each the best of one device; columns are devices, in the same order."""

    names: tuple[str, ...]
    """Of the devices."""
    variants: tuple[str, ...]
    """All fields of the schedules."""
    cells: tuple[tuple[Cell, ...], ...]
    left_out: tuple[str, ...] = ()
    """Devices that cannot compute the product, with the reasons."""

    def losses(self) -> list[tuple[str, float, float, int]]:
        """Of each variant: its device, its mean (geometric) and least speed by that of the best on the other devices
        on which it is legal (1 where there are none), and on how many it is not."""
        found: list[tuple[str, float, float, int]] = []
        for number, (name, row) in enumerate(zip(self.names, self.cells, strict=True)):
            others = [cell.share for place, cell in enumerate(row) if place != number]
            known = [share for share in others if share]
            mean = exp(sum(map(log, known)) / len(known)) if known else 1.0
            found.append((name, mean, min(known, default=1.0), others.count(None)))
        return found


def matrix(
    problem: Problem,
    devices: Sequence[str] = DEVICES,
    *,
    own: str = "",
    best: str = "",
    measured: Mapping[str, float] | None = None,
) -> Matrix:
    """The matrix of a product, computed as it stands (its operands are not laid out anew first). `own` is the chip of a
    study, `best` the best schedule that it found there, `measured` what was measured there, by schedule.

    Raises TargetError for a device that there is not, and Error where no device can compute the product.
    """
    chips = [target(name) for name in dict.fromkeys([*devices, *([own] if own else [])])]
    unique = {chip.chip: chip for chip in chips}
    variants: dict[str, str] = {}
    left_out: list[str] = []
    for name, chip in unique.items():
        try:
            variants[name] = best if best and own and name == target(own).chip else str(select(problem, chip).schedule)
        except Error as error:
            left_out.append(f"{chip.name}: {error.message.splitlines()[0]}")
    if not variants:
        raise Error("no device can compute the product", notes=tuple(left_out))
    columns = [
        _column(problem, name, list(variants.values()), measured or {} if own and name == target(own).chip else {})
        for name in variants
    ]
    rows = tuple(tuple(column[number] for column in columns) for number in range(len(variants)))
    names = tuple(unique[name].name for name in variants)
    return Matrix(names, tuple(variants.values()), rows, tuple(left_out))


def _column(problem: Problem, chip: str, variants: Sequence[str], measured: Mapping[str, float]) -> list[Cell]:
    """All variants on one device. Measured and predicted times are never compared: each is seen beside the best of its
    own kind."""
    row = target(chip)
    schedules = {variant: Schedule.make(Schedule.parse(variant)) for variant in variants}
    broken = {variant: violations(problem, schedule, row) for variant, schedule in schedules.items()}
    seconds = {
        variant: estimate(problem, schedule, row).total
        for variant, schedule in schedules.items()
        if not broken[variant]
    }
    predicted, best = min(seconds.values(), default=0.0), min(measured.values(), default=0.0)
    found: list[Cell] = []
    for variant in variants:
        if broken[variant]:
            found.append(Cell(None, why=broken[variant][0]))
        elif variant in measured:
            time = measured[variant]
            found.append(Cell(best / time, problem.flops / time / 1e12, measured=True))
        else:
            time = seconds[variant]
            found.append(Cell(predicted / time, problem.flops / time / 1e12))
    return found
