"""One kernel on its way through the stages: a module of its own, or the whole module where that is one kernel."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect.locations import input_error
from mlir_gemm.errors import Error, InputError
from mlir_gemm.pipeline import annotations
from mlir_gemm.pipeline.elementwise import elementwise_passes
from mlir_gemm.pipeline.product import product_passes
from mlir_gemm.pipeline.program import kind_of, note_of, outer_function
from mlir_gemm.pipeline.reduction import reduction_passes
from mlir_gemm.spec.attributes import DIVIDED, SCHEDULE, STAGE
from mlir_gemm.spec.kernel_record import ELEMENTWISE, PRODUCT, REDUCTION, KernelRecord
from mlir_gemm.spec.passes import PassSpec
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.stages import STAGES, is_after
from mlir_gemm.spec.target import Target


class KernelRun:
    """One kernel, from `import` to `nvvm`: which passes it needs, and what has been decided of it.

    Raises InputError for a module whose attributes are not those that a stage writes.
    """

    def __init__(self, module: Any, name: str, target: Target, *, nested: bool) -> None:
        self.module = module
        self.name = name
        self.target = target
        self.nested = nested
        self.problem: Problem | None = None
        self.schedule: Schedule | None = None
        self.stage = annotations.module_string(module, STAGE) or "import"
        if self.stage not in STAGES:
            raise InputError(f"the kernel '{name}' says that it is at stage '{self.stage}', which does not exist")
        try:
            self._read()
        except Error as error:
            if nested:
                error.notes = (*error.notes, f"in the kernel '{name}'")
            raise

    def passes(self, stage: str) -> list[PassSpec]:
        """The passes of a stage; none where the kernel is past it."""
        if is_after(self.stage, stage):
            return []
        if self.kind == ELEMENTWISE:
            return elementwise_passes(stage, self.target, overlap=DIVIDED in outer_function(self.module).attributes)
        if self.kind == REDUCTION:
            return reduction_passes(stage, self.target)
        assert self.schedule is not None  # `select` ran, or was read from the module
        return product_passes(stage, self.schedule, self.target)

    def mark(self, stage: str) -> None:
        """Writes into the IR how far it is, unless it is further."""
        if is_after(self.stage, stage) and self.stage != stage:
            return
        self.stage = stage
        annotations.mark(self.module, stage, self.target.chip)

    def record(self, step: int | None) -> KernelRecord:
        """What is known of it. `step` is where it runs in the launch, if that is known."""
        return KernelRecord(self.name, self.kind, self.problem, self.schedule, step, note_of(self.module))

    def _read(self) -> None:
        function = outer_function(self.module)
        self.kind = kind_of(function)
        if self.kind != PRODUCT or not is_after(self.stage, "select"):
            return
        if SCHEDULE not in function.attributes:
            raise input_error(
                function,
                f"the module says that it is at stage '{self.stage}', but its function has no {SCHEDULE}, "
                "which 'select' writes",
            )
        with self.module.context:
            self.schedule = Schedule.make(annotations.written_schedule(function))
            self.problem = annotations.written_problem(function)
