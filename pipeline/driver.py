"""The driver: takes a module through the stages, from text to code. Resumes where saved text left off.

After `import` a module is one kernel, or a program: a function that runs kernels, each in a module of its own inside
it. Then every stage goes through the kernels one by one, up to the last, which makes one code of all of them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from mlir_gemm.dialect.attributes import verify_attributes
from mlir_gemm.dialect.context import new_context, without_collection
from mlir_gemm.dialect.locations import input_error, lacking, location_of, readable, relabelled
from mlir_gemm.dialect.outlining import cuts
from mlir_gemm.dialect.parse import COMPILER, parse_module, remember
from mlir_gemm.dialect.tile_limits import check_tiles
from mlir_gemm.errors import InputError, ScheduleError, TargetError
from mlir_gemm.parts.fields import wanted_fields
from mlir_gemm.pipeline import annotations, codes
from mlir_gemm.pipeline.compilation import Compilation
from mlir_gemm.pipeline.debug_info import Place, source_place
from mlir_gemm.pipeline.dynamic_problem import Variant
from mlir_gemm.pipeline.elementwise import elementwise_passes, passes_together
from mlir_gemm.pipeline.emulated import without_emulation
from mlir_gemm.pipeline.importing import passes_for, translated
from mlir_gemm.pipeline.launch_info import first_steps, launch_of
from mlir_gemm.pipeline.product import product_passes
from mlir_gemm.pipeline.program import (
    in_kernel,
    is_program,
    kind_of,
    name_file,
    name_of,
    nested_kernels,
    note_of,
    outer_function,
)
from mlir_gemm.pipeline.readable_names import renamed
from mlir_gemm.pipeline.reduction import reduction_passes
from mlir_gemm.pipeline.rows import row_passes
from mlir_gemm.pipeline.runner import Hook, Rehearse, Runner, Verify, VerifyLists, check_attributes, reproduce
from mlir_gemm.pipeline.saved import divisors_of, is_decided
from mlir_gemm.pipeline.selecting import select_passes, tuned_passes
from mlir_gemm.spec.attributes import CHIP, SCHEDULE, STAGE
from mlir_gemm.spec.backends import NVPTX
from mlir_gemm.spec.kernel_record import ELEMENTWISE, PRODUCT, REDUCTION, ROWS, KernelRecord
from mlir_gemm.spec.launch import Launch
from mlir_gemm.spec.passes import PassSpec
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.rows import RowSchedule
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.stages import ALL_STAGES, is_after, place_of, stages_of
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.chips import target as target_of
from mlir_gemm.tile_model.tuned import Database

DEFAULT_CHIP = "sm_80"
"""Its PTX runs on every later chip."""


def compile_module(
    source: str,
    *,
    filename: str = "-",
    chip: str | None = None,
    schedule: Mapping[str, Any] | Schedule | None = None,
    entry: str = "",
    until: str = "",
    keep: Collection[str] = (),
    observe: Callable[[str, str], None] | None = None,
    locations: bool = False,
    hints: Mapping[str, int] | None = None,
    divisors: Mapping[str, int] | None = None,
    strides: str = "",
    hooks: Sequence[Hook] = (),
    lines: bool = False,
    tuned: Database | None = None,
) -> Compilation:
    """Compiles MLIR text.

    `chip` is LLVM's name (`sm_90`); by default the one that the text names, else sm_80. `schedule` sets fields, of
    every product in a program, and the model chooses the rest. `entry` is the function to compile, where there are
    several that no other calls. `until` is the last stage to run, by default all of them; `keep` names stages whose IR
    is kept (`all` for all); that of the last one always is.
    `observe` is called with the name and the IR of each kept stage as soon as it has run. With `locations` the kept IR
    tells for each operation where in the source it comes from: that is `ir(stage, locations=True)`.
    `hooks` are told before and after every pass. With `lines` the PTX names the lines of `filename` it comes
    from, and its kernels say what they compute. `tuned` holds schedules that were found by measuring, for products of
    which nothing is fixed.
    Where sizes are known at run time only, `hints` are typical values for which the schedule is chosen, by the names
    that `import` gives to these sizes (s0, ...), and `divisors` numbers that always divide them. `strides` are those of
    arguments whose strides the source leaves open, as `fix-strides` takes them.
    Text that this function wrote after a stage is resumed after that stage.

    Safe to call from several threads; they take turns.

    Raises InputError, ScheduleError, TargetError or PassError; nothing else on any input. A pass that fails by no fault
    of the input leaves a file with the IR before it, and the error's notes say how to run it again.
    """
    variant = Variant(hints or {}, divisors or {}).checked()

    def again(stage: str, with_locations: bool = False, hooks: Sequence[Hook] = ()) -> Compilation:
        return compile_module(
            source, filename=filename, chip=chip, schedule=schedule, entry=entry, until=stage, keep=(stage,),
            locations=with_locations, hints=hints, divisors=divisors, strides=strides, hooks=hooks, lines=lines,
            tuned=tuned,
        )  # fmt: skip

    source = translated(source)
    with COMPILER, without_collection(), relabelled(filename):
        module = parse_module(source, filename, new_context())
        kept = frozenset(ALL_STAGES if "all" in keep else keep)
        saved = annotations.module_string(module, STAGE)
        if saved:
            check_tiles(module)
            verify_attributes(module)
        with lacking(f"the module, saved after stage '{saved}',") if saved else nullcontext():
            run = _Run(module, source, chip, schedule, kept, until, observe, variant, hooks)
            run.entry = run.checked_entry(entry)
            run.filename = filename
            run.locations = filename if locations else None
            run.lines = source_place(filename) if lines and run.target.backend == NVPTX else None
            run.strides, run.tuned = strides, tuned
            try:
                run.until_last()
            except Exception as error:
                if not saved:
                    reproduce(error, run.runner, lambda *watch: again(until, hooks=watch))
                raise

    def emit(kind: str) -> str | bytes:
        *_, ir, last = run.order

        def text() -> str:
            return run.texts.get((ir, False)) or again(ir).ir(ir)

        with COMPILER, relabelled(filename):
            made = codes.Source(run.target, lambda: run.code or again(last).code or "", text, bool(saved))
            return codes.emit(kind, made)

    return Compilation(
        run.stage, run.target, run.records(), run.launch, run.code, tuple(run.stages), run.timings, run.divisors,
        note_of(run.module) if run.program else "", run.texts,
        lambda stage, places: again(stage, places).ir(stage, places), emit,
    )  # fmt: skip


class KernelRun:
    """One kernel, from `import` to the last stage of IR: which passes it needs, and what has been decided about it.

    Raises InputError for a module whose attributes are not those that a stage writes.
    """

    def __init__(self, module: Any, name: str, target: Target, *, nested: bool) -> None:
        self.module = module
        self.name = name
        self.target = target
        self.nested = nested
        self.problem: Problem | None = None
        self.schedule: Schedule | None = None
        self.rows: RowSchedule | None = None
        self.stage = annotations.module_string(module, STAGE) or "import"
        if self.stage not in stages_of(target.backend):
            raise InputError(f"the kernel '{name}' says that it is at stage '{self.stage}', which does not exist")
        with in_kernel(self.nested_name):
            self._read()

    @property
    def nested_name(self) -> str:
        """Its name in a program; empty where the whole module is one kernel."""
        return self.name if self.nested else ""

    def passes(self, stage: str) -> list[PassSpec]:
        """The passes of a stage; none where the kernel is past it."""
        if is_after(self.stage, stage):
            return []
        if self.kind == ELEMENTWISE:
            return elementwise_passes(stage, self.target, outer_function(self.module))
        if self.kind == REDUCTION:
            return reduction_passes(stage, self.target)
        if self.kind == ROWS:
            assert self.rows is not None  # `select` ran, or was read from the module
            return row_passes(stage, self.rows, self.target)
        assert self.schedule is not None  # the same
        return product_passes(stage, self.schedule, self.target, self.problem.matrices if self.problem else 1)

    def mark(self, stage: str) -> None:
        """Writes into the IR how far it is, unless it is further."""
        if is_after(self.stage, stage) and self.stage != stage:
            return
        self.stage = stage
        annotations.mark(self.module, stage, self.target.chip)

    def record(self, step: int | None) -> KernelRecord:
        """What is known of it. `step` is where it runs in the launch, if that is known."""
        function, why = outer_function(self.module), tuple(cuts.read(self.module).items())
        more = annotations.written_row_problem(function), self.rows, why, annotations.problems_beside(function)
        return KernelRecord(self.name, self.kind, self.problem, self.schedule, step, note_of(self.module), *more)

    def _read(self) -> None:
        function = outer_function(self.module)
        self.kind = kind_of(function)
        if not is_after(self.stage, "select"):
            return
        if self.kind == ROWS:
            self.rows = annotations.decided_rows(function)
        if self.kind != PRODUCT:
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


class _Run:
    """One module on its way through the stages."""

    def __init__(
        self,
        module: Any,
        source: str,
        chip: str | None,
        wanted: Mapping[str, Any] | Schedule | None,
        keep: frozenset[str],
        last: str,
        observe: Callable[[str, str], None] | None,
        variant: Variant,
        hooks: Sequence[Hook],
    ):
        self.module = module
        self.source = source
        self.keep = keep
        self.observe = observe
        self.variant = variant
        self.entry, self.filename, self.strides = "", "-", ""
        self.locations: str | None = None
        self.lines: Place | None = None
        self.tuned: Database | None = None
        self.timings: dict[str, float] = {}
        self.texts: dict[tuple[str, bool], str] = {}
        self.stages: list[str] = []
        self.code: codes.Code | None = None
        self.launch: Launch | None = None
        self.kernels: list[KernelRun] = []
        self.program = False
        self.divisors: dict[str, int] | None = None
        self.stage = annotations.module_string(module, STAGE) or ""
        self.from_outside = bool(self.stage)
        """Whether somebody may have edited what passes left."""
        verified = (Rehearse(), Verify()) if self.from_outside else (VerifyLists(),)
        self.runner = Runner((*verified, *hooks), between=self.from_outside)
        self.target = self._target(chip)
        self.order = stages_of(self.target.backend)
        self.last = last or self.order[-1]
        if self.last not in self.order:
            of = "" if last not in ALL_STAGES else f" for {self.target.chip}"
            raise InputError(f"there is no stage '{last}'{of}; the stages are {', '.join(self.order)}")
        self.wanted, self.precision = without_emulation(self._wanted(wanted), self.stage)
        if (variant.hints or variant.divisors) and self._after("select"):
            raise ScheduleError(
                f"the module has been made for certain sizes already (it was saved after '{self.stage}'); start from "
                "the source to give others"
            )
        if self.stage:
            self._find_kernels()
            self.divisors = divisors_of(module) if is_decided(self.stage) else None
            self.stage = min([self.stage, *(kernel.stage for kernel in self.kernels)], key=place_of)

    def until_last(self) -> None:
        """Runs the stages that are still to come, up to the last one."""
        last, place = self.order.index(self.last), self.order.index(self.stage) if self.stage else -1
        if self.stage == self.order[-1] or place > last:
            raise input_error(
                self.module.operation,
                f"the module is past stage '{self.last}' already: it was saved after '{self.stage}'",
            )
        if self.stage:
            self._keep(self.stage, None)  # nothing ran yet
        for stage in self.order[place + 1 : last + 1]:
            start = time.perf_counter()
            self._run(stage)
            self.timings[stage] = time.perf_counter() - start
            self.stage = stage
            self._keep(stage, self.observe)
        if self._after("launch") and self.launch is None:
            self.launch = launch_of(self.module)

    def _keep(self, stage: str, observe: Callable[[str, str], None] | None) -> None:
        """Keeps the IR after a stage, if somebody asked for it or it is the last."""
        self.stages.append(stage)
        if stage in self.keep or stage == self.last != self.order[-1]:
            text = self.texts[stage, self.locations is not None] = self._text(stage)
            if observe is not None and stage in self.keep:
                observe(stage, text)

    def records(self) -> tuple[KernelRecord, ...]:
        """What is known of each kernel."""
        if self.launch is None:
            return tuple(kernel.record(None) for kernel in self.kernels)
        if not self.program:
            return tuple(kernel.record(0) for kernel in self.kernels)
        steps = first_steps(self.module)
        return tuple(kernel.record(steps.get(kernel.name)) for kernel in self.kernels)

    def _after(self, stage: str) -> bool:
        return bool(self.stage) and is_after(self.stage, stage)

    def checked_entry(self, entry: str) -> str:
        """The function to compile. Raises InputError where the text was saved with another one."""
        if entry and self.stage and entry != name_of(self.module):
            raise InputError(f"the module was saved after '{self.stage}', of @{name_of(self.module)}; start from the "
                             f"source for @{entry}")  # fmt: skip
        return entry

    def _target(self, chip: str | None) -> Target:
        written = annotations.module_string(self.module, CHIP)
        if self.stage and written and chip is not None and target_of(chip) != target_of(written):
            raise InputError(
                f"the module was compiled for {written} up to stage '{self.stage}'; it cannot be finished for {chip}"
            )
        try:
            return target_of(chip if chip is not None else written or DEFAULT_CHIP)
        except TargetError as error:
            error.location = location_of(self.module.operation) if chip is None else None
            raise

    def _wanted(self, wanted: Mapping[str, Any] | Schedule | None) -> dict[str, Any]:
        fields = wanted_fields(wanted) if isinstance(wanted, Schedule) else dict(wanted or {})
        if fields and self._after("select"):
            raise ScheduleError(
                f"the module has its schedule already (it was saved after '{self.stage}'); "
                "start from the source to change it"
            )
        return Schedule.check_fields(fields)

    def _find_kernels(self) -> None:
        nested = nested_kernels(self.module)
        self.program = is_program(self.module)
        if self.program:
            self.kernels = [KernelRun(each, name, self.target, nested=True) for name, each in nested]
        else:
            self.kernels = [KernelRun(self.module, name_of(self.module), self.target, nested=False)]

    def _run(self, stage: str) -> None:
        if stage == "import":
            self._import()
            self._find_kernels()
        elif stage == "select":
            annotations.mark(self.module, self.stage, self.target.chip)
            rows = any(kernel.kind == ROWS for kernel in self.kernels)
            tuned = [] if self.wanted or self.precision else tuned_passes(self.tuned, self.target)
            self.runner.run(self.module, select_passes(self.wanted, self.variant, rows=rows, tuned=tuned), stage=stage)
            self._find_kernels()
        elif stage == self.order[-1]:
            self.launch = launch_of(self.module)
            self.code = codes.code_of(
                self.target, self.module, program=self.program, from_outside=self.from_outside, lines=self.lines
            )
            if self.lines is not None and isinstance(self.code, str):
                self.code, self.launch = renamed(self.code, self.launch, self.records())
        else:
            for kernel in self.kernels:
                with in_kernel(name := kernel.nested_name):
                    self.runner.run(kernel.module, kernel.passes(stage), stage=stage, kernel=name, whole=self.module)
            if together := passes_together(stage, [outer_function(kernel.module) for kernel in self.kernels]):
                self.runner.run(self.module, together, stage=stage)
                self._find_kernels()
        if stage != self.order[-1]:
            for kernel in self.kernels:
                kernel.mark(stage)
        annotations.mark(self.module, stage, self.target.chip)
        if stage == "select":
            self._find_kernels()  # with what has been decided
        check_attributes(self.module, f"after stage '{stage}'")

    def _text(self, stage: str) -> str:
        if stage == self.order[-1]:
            return self.code if isinstance(self.code, str) else ""
        if self.locations is None:
            return remember(str(self.module))
        text: str = self.module.operation.get_asm(enable_debug_info=True)
        # MLIR's parser sees only text and calls its file `-`.
        return remember(readable(text.replace('loc("-":', f"loc({json.dumps(self.locations)}:")))

    def _import(self) -> None:
        with self.module.context:
            annotations.name_arguments(self.module, self.source)
        passes = passes_for(self.source, self.wanted, self.target, self.entry, self.strides, self.precision)
        self.runner.run(self.module, passes, stage="import")
        with self.module.context:
            name_file(self.module, self.filename)
