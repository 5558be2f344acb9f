"""Finding the stage, and in it the pass, that broke a result: the same inputs run on the IR after each.

Every stage is compared with NumPy in float64 on the source. Stages up to `launch`, and the passes inside the stage
that breaks, run block-wide (`stages`); the output of `lower` runs on the faithful engine (`kernel`) when the problem is
small enough, so that its checks take part. The kernels of a program go one after another: all passes of the first, then
those of the next.
"""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect.locations import relabelled
from mlir_gemm.errors import Error, InputError
from mlir_gemm.pipeline import annotations
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.launch_info import arguments_of, launch_of
from mlir_gemm.pipeline.program import is_program, kind_of, nested_kernels, outer_function
from mlir_gemm.pipeline.runner import Run, Watch
from mlir_gemm.pipeline.saved import computed_by, stage_of
from mlir_gemm.simulator import sampling
from mlir_gemm.simulator.errors import SimulationError
from mlir_gemm.simulator.expected import Array, limits, reference, relative_error
from mlir_gemm.simulator.kernel import simulate
from mlir_gemm.simulator.options import Options
from mlir_gemm.simulator.stages import run_stage
from mlir_gemm.simulator.text import parsed
from mlir_gemm.spec.attributes import CHIP
from mlir_gemm.spec.kernel_record import KernelRecord
from mlir_gemm.spec.launch import Argument
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.stages import is_after
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.chips import target as target_of

LARGEST = 1 << 30
"""Largest M N K: every stage runs the whole problem."""
LAST = "lower"
"""The last stage that can be run here; what follows are upstream's conversions and the assembler."""


@dataclass(frozen=True)
class Row:
    """The outcome after one stage, or after one pass of the stage that breaks."""

    stage: str
    pass_: str
    """The pass with its options; empty for a whole stage."""
    error: float
    """Largest relative error among the arguments (Frobenius norm); infinite for NaN and for what fails; NaN where
    neither interpreter can run what the pass leaves, which `right` then does not hold against it."""
    right: bool
    seconds: float
    note: str = ""

    def __str__(self) -> str:
        name = f"  {self.pass_}" if self.pass_ else self.stage
        verdict = "?" if math.isnan(self.error) else "ok" if self.right else "WRONG"
        return f"{name:<40} {self.error:>9.2e}  {verdict:<5}  {1e3 * self.seconds:>7.0f} ms  {self.note}".rstrip()


@dataclass(frozen=True)
class BisectResult:
    """What each stage computes, and where the first wrong result comes from."""

    rows: tuple[Row, ...]
    stage: str | None
    """The first stage after which the result is wrong; None when all are right."""
    pass_: str | None
    """The pass of that stage that makes it wrong; None when no single one does."""
    as_saved: bool = False
    """Whether the input was saved after that stage: it is wrong as it stands."""

    @property
    def right(self) -> bool:
        """Whether every stage computes the right numbers."""
        return self.stage is None

    def __str__(self) -> str:
        lines = [f"{'stage':<40} {'error':>9}  {'':<5}  {'time':>10}", *map(str, self.rows)]
        if self.stage is None:
            lines.append("every stage computes the right numbers")
        elif self.as_saved:
            lines.append(f"the text is wrong as it stands: it was saved after '{self.stage}'")
        elif self.pass_ is None:
            lines.append(f"the first wrong stage is '{self.stage}'; no single pass of it changes the numbers")
        else:
            lines.append(f"the first wrong stage is '{self.stage}', and in it the pass '{self.pass_}'")
        return "\n".join(lines)


def bisect(
    source: str,
    arrays: Callable[[Sequence[Argument]], list[Array]],
    *,
    schedule: Mapping[str, Any] | Schedule | None = None,
    chip: str | None = None,
    filename: str = "-",
    observe: Callable[[Row], None] | None = None,
) -> BisectResult:
    """Compiles MLIR text and runs it after every stage.

    `arrays` makes the inputs: NumPy arrays for the arguments and results that it is given. `observe` is called with
    each row as soon as it is known. Raises what compiling raises, and InputError for a problem that is too large.
    """
    return _Bisection(source, arrays, schedule, chip, filename, observe).result()


@dataclass
class _Bisection:
    source: str
    arrays: Callable[[Sequence[Argument]], list[Array]]
    schedule: Mapping[str, Any] | Schedule | None
    chip: str | None
    filename: str
    observe: Callable[[Row], None] | None
    rows: list[Row] = field(default_factory=list[Row])

    def result(self) -> BisectResult:
        texts, refusal = self._compile()
        decided = Decided.of(next(text for stage, text in texts.items() if stage != "import"))
        if decided.flops > 2 * LARGEST:
            what = ", ".join(str(kernel.problem) for kernel in decided.kernels if kernel.problem)
            raise InputError(
                f"{what} is too large to bisect, as every stage runs all of it; expected M N K of at most "
                f"{LARGEST}, such as {round(LARGEST ** (1 / 3))} each"
            )
        self.arguments = decided.arguments
        self.before = self.arrays(self.arguments)
        computed = computed_by(self.source)
        self.expected = reference(computed, self.before)
        self.limits = limits(self.arguments, decided.kernels, computed, self.before, self.expected)
        previous = None if stage_of(self.source) else self.source
        for stage, text in texts.items():
            faithful = stage == LAST and decided.flops <= 2 * sampling.CHECKED
            row = self._row(stage, "", text, faithful=faithful)
            if not row.right:
                name = None if previous is None else self._pass(stage, previous)
                return BisectResult(tuple(self.rows), stage, name, previous is None)
            previous = text
        if refusal is not None:
            raise refusal
        return BisectResult(tuple(self.rows), None, None)

    def _compile(self) -> tuple[dict[str, str], Error | None]:
        """The IR after each stage, and why compiling stopped, if it did: a pass may refuse what another one broke."""
        saved = stage_of(self.source)
        texts: dict[str, str] = {saved: self.source} if saved else {}
        try:
            compile_module(
                self.source, filename=self.filename, chip=self.chip, schedule=self.schedule, until=LAST,
                keep=("all",), observe=texts.__setitem__,
            )  # fmt: skip
        except Error as refusal:
            if not set(texts) - {"import", saved}:
                raise
            return texts, refusal
        return texts, None

    def _pass(self, stage: str, before: str) -> str | None:
        """The pass of a stage after which the result is wrong, found by running the stage's passes one by one. IR that
        mixes tiles and lanes so that neither interpreter runs it is skipped, with a row that says so."""
        with relabelled(self.filename):
            for name, text in after_each_pass(stage, before, self.schedule, self.chip):
                if not self._row(stage, name, text, faithful=False).right:
                    return name
        return None

    def _row(self, stage: str, pass_: str, text: str, *, faithful: bool) -> Row:
        after = [array.copy() for array in self.before]
        note, known = "", True
        start = time.perf_counter()
        try:
            if faithful:
                report = _simulate(text, after)
                if report.findings:
                    note = f"{len(report.findings)} findings; the first: {report.findings[0]}"
            else:
                run_stage(text, after, filename=f"after {pass_ or stage}")
            error, right = self._errors(after)
        except SimulationError as problem:
            known = not (pass_ and _cannot_run(problem))
            error, right, note = float("inf" if known else "nan"), False, str(problem)
        except Error as problem:
            error, right, note = float("inf"), False, str(problem)
        row = Row(stage, pass_, error, not known or (right and not note), time.perf_counter() - start, note)
        self.rows.append(row)
        if self.observe is not None:
            self.observe(row)
        return row

    def _errors(self, after: Sequence[Array]) -> tuple[float, bool]:
        errors = [relative_error(got, wanted) for got, wanted in zip(after, self.expected, strict=True)]
        return max(errors), all(error <= limit for error, limit in zip(errors, self.limits, strict=True))


def _simulate(text: str, arrays: list[Array]) -> Any:
    """The report of the faithful engine on the output of `lower`, a kernel or a program."""
    module = parsed(text)
    if not is_program(module):
        return simulate(text, arrays, Options(checks=True))
    program: Any = importlib.import_module("mlir_gemm.simulator.program")
    return program.simulate_launch(text, launch_of(module), arrays, Options(checks=True))


def _cannot_run(problem: SimulationError) -> bool:
    """Whether an error says that an operation is not known here, and not that one went wrong."""
    return any(words in str(problem) for words in ("does not know", "differs between", "is not simulated"))


@dataclass(frozen=True)
class Decided:
    """What is decided in the IR from `select` on."""

    arguments: tuple[Argument, ...]
    kernels: tuple[KernelRecord, ...]
    """By the names of their modules; one without a name where that is the whole module."""
    target: Target

    @property
    def flops(self) -> int:
        """Operations of all products."""
        return sum(kernel.problem.flops for kernel in self.kernels if kernel.problem)

    @staticmethod
    def of(text: str) -> Decided:
        """Reads them off the text of a module."""
        module = parsed(text)
        with module.context:
            nested = nested_kernels(module) if is_program(module) else [("", module)]
            kernels = tuple(_decided_kernel(name, each) for name, each in nested)
            chip = annotations.module_string(module, CHIP) or ""
            return Decided(arguments_of(outer_function(module)), kernels, target_of(chip))


def _decided_kernel(name: str, module: Any) -> KernelRecord:
    function = outer_function(module)
    problem = annotations.written_problem(function)
    schedule = Schedule.make(annotations.written_schedule(function)) if problem is not None else None
    return KernelRecord(name, kind_of(function), problem, schedule, None, "")


def after_each_pass(
    stage: str, before: str, schedule: Mapping[str, Any] | Schedule | None = None, chip: str | None = None
) -> list[tuple[str, str]]:
    """Each pass of a stage with the IR that it leaves, from the IR before the stage; of a program named with its
    kernel. `schedule` and `chip` are needed up to `select`."""
    texts: list[tuple[str, str]] = []

    def show(run: Run, text: str) -> None:
        texts.append((str(run), text))

    decided = is_after(stage, "tile")
    compile_module(
        before,
        chip=None if decided else chip,
        schedule=None if decided else schedule,
        until=stage,
        hooks=(Watch(lambda run: run.stage == stage, show),),
    )
    return texts
