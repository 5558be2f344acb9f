"""One kernel on its way through the stages: a module of its own, or the whole module where that is one kernel."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.products import the_product
from mlir_gemm.dialect.locations import input_error, location_of
from mlir_gemm.dialect.outlining import kernel_modules
from mlir_gemm.errors import Error, InputError, Location, ScheduleError
from mlir_gemm.passes.divide_steps import DIVIDED, DivideSteps, cannot_divide
from mlir_gemm.passes.join_extensions import JoinExtensions
from mlir_gemm.passes.pad_operands import PadOperands
from mlir_gemm.passes.registry import run_pass
from mlir_gemm.passes.swap_sides import SwapSides, cannot_swap
from mlir_gemm.pipeline import annotations
from mlir_gemm.pipeline.dynamic_problem import PLAIN, Variant, symbols_in
from mlir_gemm.pipeline.kernel_record import POINTS, PRODUCT, KernelRecord
from mlir_gemm.pipeline.points import points_passes
from mlir_gemm.pipeline.problem import Problem
from mlir_gemm.pipeline.problem_of import problem_of
from mlir_gemm.pipeline.program import kind_of, note_of, outer_function
from mlir_gemm.pipeline.schedule import Schedule
from mlir_gemm.pipeline.stages import STAGES, stage_passes
from mlir_gemm.pipeline.target import Target
from mlir_gemm.tile_model.dividing import check_division, divide_advice, divided_fields
from mlir_gemm.tile_model.operators import FORMS
from mlir_gemm.tile_model.relayout import relaid, relayout_advice
from mlir_gemm.tile_model.rules import violations
from mlir_gemm.tile_model.select import invariant, select
from mlir_gemm.tile_model.swap import FEWEST_ROWS, check_exchange, should_swap


class KernelRun:
    """Takes one kernel from `import` to `nvvm`."""

    def __init__(
        self,
        module: Any,
        name: str,
        target: Target,
        wanted: Mapping[str, Any],
        *,
        nested: bool,
        variant: Variant = PLAIN,
    ) -> None:
        self.module = module
        self.name = name
        self.target = target
        self.wanted = wanted
        self.nested = nested
        self.variant = variant
        self.problem: Problem | None = None
        self.schedule: Schedule | None = None
        self.stage = annotations.module_string(module, annotations.STAGE) or "import"
        if self.stage not in STAGES:
            raise InputError(f"the kernel '{name}' says that it is at stage '{self.stage}', which does not exist")
        with self._named():
            self.kind = kind_of(outer_function(module))
            if self.kind not in (PRODUCT, POINTS):
                raise input_error(
                    outer_function(module), f"a kernel of kind '{self.kind}'; expected {PRODUCT} or {POINTS}"
                )
            if self._after("select") and self.kind == PRODUCT:
                self._read_decisions()

    def run(self, stage: str) -> None:
        """Runs one stage, unless the kernel is past it. Raises an error that names the kernel of a program."""
        if self._after(stage):
            return
        with self._named():
            if stage == "select":
                self._select()
            else:
                for step in self._passes(stage):
                    run_pass(self.module, step)
        self.stage = stage
        self.mark(stage)

    def relayout(self) -> Any | None:
        """The pass that copies operands to where they are read faster, if the model finds that it pays."""
        function = outer_function(self.module)
        if self.kind == POINTS or self._after("select") or symbols_in(function):
            return None
        try:
            with self.module.context:
                pinned = self._pinned(function)
                problem = problem_of(function)
            advice = relayout_advice(problem, self.target, pinned)
            if not advice:
                return None
            pinned = invariant(problem, self.target, pinned)
            block = select(relaid(problem, advice), self.target, pinned).schedule.block
        except Error:  # `select` will say what is wrong with the kernel as it is
            return None
        return PadOperands(kernel=self.name if self.nested else "", block=block, **advice)

    def divide(self) -> Any | None:
        """The pass that multiplies parts of k side by side, if the user or the model wants that. Raises ScheduleError
        where the user does and it cannot be."""
        function = outer_function(self.module)
        if self.kind == POINTS or self._after("select") or DIVIDED in function.attributes:
            return None
        with self.module.context:
            try:
                pinned = self._pinned(function)
                if symbols_in(function):
                    parts = pinned.get("divide", 1)
                else:
                    parts = divide_advice(problem_of(function), self.target, pinned)
                why = cannot_divide(function, parts) if parts > 1 else ""
            except Error:  # `select` will say what is wrong with the kernel as it is
                return None
        with self._named(), _at_product(function):
            check_division(pinned, why)
        return None if why or parts == 1 else DivideSteps(kernel=self.name if self.nested else "", parts=parts)

    def mark(self, stage: str) -> None:
        """Writes into the IR how far it is."""
        attributes = self.module.operation.attributes
        with self.module.context:
            attributes[annotations.STAGE] = ir.StringAttr.get(stage)
            attributes[annotations.CHIP] = ir.StringAttr.get(self.target.chip)

    def record(self, step: int | None) -> KernelRecord:
        """What is known of it. `step` is where it runs in the launch, if that is known."""
        return KernelRecord(self.name, self.kind, self.problem, self.schedule, step, note_of(self.module))

    def _after(self, stage: str) -> bool:
        return STAGES.index(self.stage) >= STAGES.index(stage)

    def _passes(self, stage: str) -> list[Any]:
        if stage == "nvvm":  # the same for every kernel
            return stage_passes(stage, self.schedule or Schedule(), self.target)
        if self.kind == POINTS:
            return points_passes(stage, self.target, overlap=DIVIDED in outer_function(self.module).attributes)
        assert self.schedule is not None  # `select` ran, or was read from the module
        return stage_passes(stage, self.schedule, self.target)

    def _read_decisions(self) -> None:
        function = outer_function(self.module)
        if annotations.SCHEDULE not in function.attributes:
            raise input_error(
                function,
                f"the module says that it is at stage '{self.stage}', but its function has no {annotations.SCHEDULE}, "
                "which 'select' writes",
            )
        with self.module.context:
            self.schedule = Schedule(**annotations.written_schedule(function))
            self.problem = annotations.written_problem(function)

    def _select(self) -> None:
        """Writes the schedule and the problem on the function: what the user fixed, the rest by the model."""
        function = outer_function(self.module)
        with self.module.context:
            self.variant.write(function)
        if self.kind == POINTS:
            return
        with self.module.context:
            pinned = {**divided_fields(constants.number_of(function, DIVIDED, 1)), **self._pinned(function)}
            problem = self.variant.problem_of(function)
            with _at_product(function):
                pinned = invariant(problem, self.target, pinned)
                wanted = should_swap(problem, self.target, pinned)
            if wanted and self._can_swap(function, pinned):
                run_pass(self.module, SwapSides())
                source, problem, asked = problem, self.variant.problem_of(function), "exchanged" in pinned
                pinned = {**pinned, "exchanged": True}
                kernel_modules.add_note(
                    self.module,
                    f"A and B have changed places: the product is {source}, and is computed as its transpose, "
                    f"{_sizes(problem)}, {_reason(source, asked)}",
                )
            self.problem = problem
        with _at_product(function):
            schedule = self.schedule = select(problem, self.target, pinned).schedule
        broken = violations(problem, schedule, self.target)
        if broken:
            raise ScheduleError("; ".join(broken), _place_of_product(function))
        with self.module.context:
            function.attributes[annotations.SCHEDULE] = annotations.to_dictionary(schedule)
            function.attributes[annotations.PROBLEM] = annotations.to_dictionary(problem)

    def _can_swap(self, function: Any, pinned: Mapping[str, Any]) -> bool:
        why = cannot_swap(function)
        with _at_product(function):
            check_exchange(pinned, why)
        return not why

    def _pinned(self, function: Any) -> dict[str, Any]:
        """The fields that the user has fixed, after what their precision allows has been done."""
        pinned = {**annotations.written_schedule(function), **self.wanted}
        allow_precision(self.module, self.target, pinned)
        return pinned

    @contextmanager
    def _named(self) -> Generator[None]:
        try:
            yield
        except Error as error:
            if self.nested:
                error.notes = (*error.notes, f"in the kernel '{self.name}'")
            raise


def allow_precision(module: Any, target: Target, pinned: Mapping[str, Any]) -> None:
    """Makes of a kernel's module what the schedule's `precision` allows, before its problem is looked at."""
    able = {operator for operator in target.operators if any(form.precision == "f8" for form in FORMS[operator])}
    if pinned.get("precision") == "f8" and pinned.get("operator", "wgmma") in able:
        run_pass(module, JoinExtensions())


def _reason(problem: Problem, asked: bool) -> str:
    """Why the sides of a product changed places."""
    if asked:
        return "as the schedule says"
    if problem.m < FEWEST_ROWS:
        return "because wgmma has tiles of few columns but none of few rows"
    return "because there are better tiles for it"


def _sizes(problem: Problem) -> str:
    return f"{problem.m}x{problem.n}x{problem.k}"


@contextmanager
def _at_product(function: Any) -> Generator[None]:
    """Gives errors the place of the function's product, if they have none."""
    try:
        yield
    except Error as error:
        error.location = error.location or _place_of_product(function)
        raise


def _place_of_product(function: Any) -> Location | None:
    try:
        with function.context:
            return location_of(the_product(function).op)
    except Error:
        return location_of(function)
