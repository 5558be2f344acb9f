"""select-rows: kernels of rows get their schedules from the model.

Expects a module as `import` leaves it. Leaves in `tile.rows` of each kernel of rows how its rows are divided among
threads, and in `tile.problem` what is computed; what stands there already is checked and kept. Raises ScheduleError
where that cannot be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from mlir_gemm.dialect.locations import location_of
from mlir_gemm.dialect.outlining import programs
from mlir_gemm.dialect.outlining.side_by_side import Uses
from mlir_gemm.errors import ScheduleError
from mlir_gemm.passes.base import Pass
from mlir_gemm.pipeline import annotations
from mlir_gemm.pipeline.dynamic_problem import Variant
from mlir_gemm.pipeline.program import kind_of
from mlir_gemm.pipeline.row_problem import row_problem_of
from mlir_gemm.pipeline.undecided import kernels_before_select
from mlir_gemm.spec.attributes import HINTS, PROBLEM, ROWS
from mlir_gemm.spec.kernel_record import ROWS as KIND_OF_ROWS
from mlir_gemm.tile_model.rows import check_rows, select_rows


@dataclass(frozen=True)
class SelectRows(Pass):
    """Choose how rows are divided among threads."""

    name: ClassVar[str] = "select-rows"

    def run(self, module: Any) -> None:
        again = _read_again(module)
        for kernel in kernels_before_select(module):
            if kind_of(kernel.function) != KIND_OF_ROWS:
                _refuse_rows(kernel.function)
                continue
            with kernel.errors():
                asked = Variant.read(kernel.function)
                problem = row_problem_of(kernel.function, asked.hints, asked.divisors)
                pinned = annotations.written_rows(kernel.function)
                if pinned:
                    check_rows(problem, pinned, kernel.target)
                schedule = pinned or select_rows(problem, kernel.target)
                if not pinned and kernel.name in again:
                    schedule = replace(schedule, evict_first=False)
                kernel.function.attributes[ROWS] = annotations.dictionary(schedule.fields())
                kernel.function.attributes[PROBLEM] = annotations.to_dictionary(problem)
                if HINTS in kernel.function.attributes:
                    del kernel.function.attributes[HINTS]


def _read_again(module: Any) -> set[str]:
    """The kernels of a program of whose inputs a later one reads some: L2 should not give these up first."""
    modules = programs.kernel_modules(module)
    runs = programs.runs_of(programs.function_of(module)) if modules else []
    found: set[str] = set()
    later: set[Any] = set()
    for run in reversed(runs):
        uses = Uses.of(run, modules)
        if uses.read & later:
            found.add(programs.kernel_of(run))
        later |= uses.read | uses.written
    return found


def _refuse_rows(function: Any) -> None:
    if ROWS in function.attributes:
        raise ScheduleError(f"{ROWS} on a function that is not a kernel of rows; expected none", location_of(function))
