"""select-rows: kernels of rows get their schedules from the model.

Expects a module as `import` leaves it. Leaves in `tile.rows` of each kernel of rows how its rows are divided among
threads, and in `tile.problem` what is computed; what stands there already is checked and kept. Raises ScheduleError
where that cannot be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from mlir_gemm.dialect.arguments import argument_attributes
from mlir_gemm.dialect.locations import location_of
from mlir_gemm.dialect.outlining import programs
from mlir_gemm.dialect.walk import body, in_block
from mlir_gemm.errors import ScheduleError
from mlir_gemm.passes.base import Pass
from mlir_gemm.pipeline import annotations
from mlir_gemm.pipeline.dynamic_problem import Variant
from mlir_gemm.pipeline.program import kind_of
from mlir_gemm.pipeline.row_problem import row_problem_of
from mlir_gemm.pipeline.undecided import kernels_before_select
from mlir_gemm.spec.attributes import HINTS, PROBLEM, ROLE, ROWS
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
    found: set[str] = set()
    for op in in_block(body(module)) if modules else []:
        if op.operation.name != "func.func" or not len(op.regions[0].blocks):
            continue
        later: set[Any] = set()
        for run in reversed(programs.runs_of(op)):
            name, buffers = programs.kernel_of(run), programs.buffers_of(run)
            roles = [each.get(ROLE) for each in argument_attributes(programs.function_of(modules[name]))]
            read = {buffer for buffer, role in zip(buffers, roles, strict=True) if str(role) == '"in"'}
            if read & later:
                found.add(name)
            later.update(buffers)
    return found


def _refuse_rows(function: Any) -> None:
    if ROWS in function.attributes:
        raise ScheduleError(f"{ROWS} on a function that is not a kernel of rows; expected none", location_of(function))
