"""share-launches: kernels that do not wait for one another are marked to be launched together.

Expects a program after its schedules have been chosen. Marks (`tile.launch_with`) elementwise kernels that can run side
by side with another one, or with a kernel of rows, because neither writes what the other reads or writes: the weights
of a linear layer times those of an RMS norm beside the sums of squares, the cosines of a rotary embedding beside the
sines. `join-launches` makes one launch of them, in which the first blocks do the one's work and the others the other's.
Both go through memory with few registers, so that blocks of either kind fit beside each other; the launch that is saved
is 1.5 to 2 us, and the smaller one hides behind the larger. Nothing is computed otherwise, to the last bit.

Kernels of rows in clusters or through shared memory as a whole, and those that check something stay apart; so do
products, unless `select-side-by-side` has marked them, and a program for other back ends than NVIDIA's, where a launch
costs differently. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.outlining import programs, side_by_side
from mlir_gemm.dialect.outlining.side_by_side import Launches
from mlir_gemm.dialect.walk import operations
from mlir_gemm.passes.base import Pass
from mlir_gemm.pipeline import annotations
from mlir_gemm.pipeline.program import kind_of
from mlir_gemm.spec.attributes import CHIP, LAUNCH_WITH, SPLIT_K_WORKSPACE
from mlir_gemm.spec.backends import NVPTX
from mlir_gemm.spec.kernel_record import ELEMENTWISE, PRODUCT, ROWS
from mlir_gemm.tile_model.chips import target as target_of

THREADS = 256
"""Threads of a block of elementwise kernels alone."""
MOST_THREADS = 512
MOST = 4
"""Kernels in a launch."""


@dataclass(frozen=True)
class ShareLaunches(Pass):
    """Mark kernels to be launched together."""

    name: ClassVar[str] = "share-launches"

    def run(self, module: Any) -> None:
        modules = programs.kernel_modules(module)
        chip = annotations.module_string(module, CHIP)
        if not modules or (chip and target_of(chip).backend != NVPTX):
            return
        functions = {name: programs.function_of(each) for name, each in modules.items()}
        if any(LAUNCH_WITH in each.attributes and kind_of(each) != PRODUCT for each in functions.values()):
            return
        runs = programs.runs_of(programs.function_of(module))
        if not all(side_by_side.fits(run, functions) for run in runs):
            return  # the launch will say so
        names = [programs.kernel_of(run) for run in runs]
        if len(set(names)) == len(names):
            _share(Launches.of(runs, modules), functions)


def _share(launches: Launches, functions: dict[str, Any]) -> None:
    for name in [launch.kernels[0] for launch in launches.all]:
        number = next((n for n, launch in enumerate(launches.all) if launch.kernels == [name]), -1)
        if number < 0 or kind_of(functions[name]) != ELEMENTWISE or not _may_share(functions[name]):
            continue
        for other in _nearest_first(number, len(launches.all)):
            first = functions[launches.all[other].kernels[0]]
            if other > number and kind_of(first) == ELEMENTWISE:
                continue  # of two that are alike, the later one joins the earlier
            threads = _threads(first)
            if threads and len(launches.all[other].kernels) < MOST and launches.join(number, other):
                anchor = launches.all[launches.number_of(name)].kernels[0]
                side_by_side.mark(functions[anchor], anchor, threads)
                side_by_side.mark(functions[name], anchor, threads)
                break


def _nearest_first(number: int, count: int) -> list[int]:
    """All others of `count` numbers."""
    return sorted((each for each in range(count) if each != number), key=lambda each: abs(each - number))


def _threads(function: Any) -> int:
    """The threads of blocks beside which an elementwise kernel can run; 0 where it cannot."""
    if not _may_share(function):
        return 0
    if kind_of(function) == ELEMENTWISE:
        return THREADS
    rows = annotations.written_rows(function) if kind_of(function) == ROWS else None
    if rows is None or rows.sharing > 1 or rows.staged or rows.flat or rows.threads > MOST_THREADS:
        return 0
    return rows.threads


def _may_share(function: Any) -> bool:
    """Whether nothing is checked in a kernel, and it is no part of a product that was divided."""
    if SPLIT_K_WORKSPACE in function.attributes:
        return False
    return all(each.operation.name != "cf.assert" for each in operations(function))
