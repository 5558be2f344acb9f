"""The driver: takes a module through the stages, from text to PTX. Starts where the text says that it left off.

After `import` a module is one kernel, or a program: a function that runs kernels, each in a module of its own inside
it. Then every stage goes through the kernels one by one, up to `ptx`, which makes one text of all of them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import input_error, location_of, relabelled
from mlir_gemm.dialect.parse import COMPILER, new_context, parse_module
from mlir_gemm.errors import InputError, ScheduleError, TargetError
from mlir_gemm.passes.registry import run_pass, verify
from mlir_gemm.pipeline import annotations, assembler, emission
from mlir_gemm.pipeline.compilation import Compilation
from mlir_gemm.pipeline.dynamic_problem import Variant
from mlir_gemm.pipeline.kernel_record import KernelRecord
from mlir_gemm.pipeline.kernel_run import KernelRun
from mlir_gemm.pipeline.launch import Launch
from mlir_gemm.pipeline.launch_info import first_steps, launch_of, launch_of_program
from mlir_gemm.pipeline.program import is_program, nested_kernels, outer_function
from mlir_gemm.pipeline.schedule import Schedule
from mlir_gemm.pipeline.stages import STAGES, import_passes
from mlir_gemm.pipeline.target import Target
from mlir_gemm.tile_model.chips import target as target_of

DEFAULT_CHIP = "sm_80"
"""Its PTX runs on every later chip."""


def compile_module(
    source: str,
    *,
    filename: str = "-",
    chip: str | None = None,
    schedule: Mapping[str, Any] | Schedule | None = None,
    until: str = "ptx",
    keep: Collection[str] = (),
    observe: Callable[[str, str], None] | None = None,
    locations: bool = False,
    hints: Mapping[str, int] | None = None,
    divisors: Mapping[str, int] | None = None,
) -> Compilation:
    """Compiles MLIR text.

    `chip` is LLVM's name (`sm_90`); by default the one that the text names, else sm_80. `schedule` sets fields, of
    every product in a program, and the model chooses the rest. `until` is the last stage to run; `keep` names stages
    whose IR is kept (`all` for all).
    `observe` is called with the name and the IR of each kept stage as soon as it has run. With `locations` the kept IR
    tells for each operation where in the source it comes from.
    Where sizes are known at run time only, `hints` are typical values for which the schedule is chosen, by the names
    that `import` gives to these sizes (s0, ...), and `divisors` numbers that always divide them.
    Text that this function wrote after some stage is taken up behind that stage.

    Safe to call from several threads; they take turns.

    Raises InputError, ScheduleError, TargetError or PassError; nothing else on any input.
    """
    if until not in STAGES:
        raise InputError(f"there is no stage '{until}'; the stages are {', '.join(STAGES)}")
    variant = Variant(hints or {}, divisors or {}).checked()
    with COMPILER, relabelled(filename):
        module = parse_module(source, filename, new_context())
        run = _Run(module, source, chip, schedule, frozenset(STAGES if "all" in keep else keep), observe, variant)
        run.locations = filename if locations else None
        run.until(until)

    def again(stage: str, with_locations: bool = False) -> str:
        if stage not in STAGES:
            raise InputError(f"there is no stage '{stage}'; the stages are {', '.join(STAGES)}")
        once_more = compile_module(
            source, filename=filename, chip=chip, schedule=schedule, until=stage, keep=(stage,),
            locations=with_locations, hints=hints, divisors=divisors,
        )  # fmt: skip
        return once_more.ir(stage)

    def emit(kind: str) -> str | bytes:
        with COMPILER, relabelled(filename):
            if kind == "llvm":
                return emission.llvm_ir(run.texts.get("nvvm") or again("nvvm"))
            code = run.ptx or again("ptx")
            if not code:
                raise InputError("the function has nothing to run, so there is no code to make a cubin of")
            return assembler.cubin(code, run.target.chip)

    return Compilation(
        run.stage, run.target, run.records(), run.launch, run.ptx, tuple(run.timings), run.timings,
        run.texts, again, emit,
    )  # fmt: skip


class _Run:
    """One module on its way through the stages."""

    def __init__(
        self,
        module: Any,
        source: str,
        chip: str | None,
        wanted: Mapping[str, Any] | Schedule | None,
        keep: frozenset[str],
        observe: Callable[[str, str], None] | None,
        variant: Variant,
    ):
        self.module = module
        self.source = source
        self.keep = keep
        self.observe = observe
        self.variant = variant
        self.locations: str | None = None
        self.timings: dict[str, float] = {}
        self.texts: dict[str, str] = {}
        self.ptx: str | None = None
        self.launch: Launch | None = None
        self.kernels: list[KernelRun] = []
        self.program = False
        self.stage = annotations.module_string(module, annotations.STAGE) or ""
        if self.stage and self.stage not in STAGES:
            raise input_error(
                module.operation, f"the module says that it is at stage '{self.stage}', which does not exist"
            )
        self.target = self._target(chip)
        self.wanted = self._wanted(wanted)
        if (variant.hints or variant.divisors) and self._after("select"):
            raise ScheduleError(
                f"the module has been made for certain sizes already (it was saved after '{self.stage}'); start from "
                "the source to give others"
            )
        if self.stage:
            self._find_kernels()
            self.stage = min([self.stage, *(kernel.stage for kernel in self.kernels)], key=STAGES.index)

    def until(self, last: str) -> None:
        """Runs the stages that are still to come, up to `last`."""
        if self.stage == "ptx" or (self.stage and STAGES.index(self.stage) > STAGES.index(last)):
            raise input_error(
                self.module.operation, f"the module is past stage '{last}' already: it was saved after '{self.stage}'"
            )
        for stage in STAGES[STAGES.index(self.stage) + 1 if self.stage else 0 : STAGES.index(last) + 1]:
            start = time.perf_counter()
            self._run(stage)
            self.timings[stage] = time.perf_counter() - start
            self.stage = stage
            if stage in self.keep:
                self.texts[stage] = self._text(stage)
                if self.observe is not None:
                    self.observe(stage, self.texts[stage])
        if last in self.keep and last not in self.texts:  # saved after this very stage: nothing ran
            self.texts[last] = self._text(last)
        if self._after("launch") and self.launch is None:
            self.launch = self._launch()

    def records(self) -> tuple[KernelRecord, ...]:
        """What is known of each kernel."""
        if self.launch is None:
            return tuple(kernel.record(None) for kernel in self.kernels)
        if not self.program:
            return tuple(kernel.record(0) for kernel in self.kernels)
        steps = first_steps(self.module)
        return tuple(kernel.record(steps.get(kernel.name)) for kernel in self.kernels)

    def _after(self, stage: str) -> bool:
        return bool(self.stage) and STAGES.index(self.stage) >= STAGES.index(stage)

    def _target(self, chip: str | None) -> Target:
        written = annotations.module_string(self.module, annotations.CHIP)
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
        fields = (
            {name: getattr(wanted, name) for name in wanted.__dataclass_fields__}
            if isinstance(wanted, Schedule)
            else dict(wanted or {})
        )
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
            self.kernels = [self._kernel(each, name, nested=True) for name, each in nested]
        else:
            name = ir.StringAttr(outer_function(self.module).attributes["sym_name"]).value
            self.kernels = [self._kernel(self.module, name, nested=False)]

    def _kernel(self, module: Any, name: str, *, nested: bool) -> KernelRun:
        return KernelRun(module, name, self.target, self.wanted, nested=nested, variant=self.variant)

    def _run(self, stage: str) -> None:
        if stage == "import":
            self._import()
            self._find_kernels()
            for kernel in self.kernels:
                kernel.mark(stage)
        elif stage == "ptx":
            self.launch = self._launch()
            self.ptx = emission.ptx_of_program(self.module) if self.program else emission.ptx(self.module)
        else:
            if stage == "select":
                self._rewrite([kernel.relayout() for kernel in self.kernels])
                self._rewrite([kernel.divide() for kernel in self.kernels])
            for kernel in self.kernels:
                kernel.run(stage)
        self._mark(stage)

    def _rewrite(self, wanted: list[Any | None]) -> None:
        """Puts kernels in front of products that are faster then, and behind them."""
        steps = [step for step in wanted if step is not None]
        for step in steps:
            run_pass(self.module, step)
            verify(self.module, step)
        if steps:
            self._find_kernels()

    def _launch(self) -> Launch:
        return launch_of_program(self.module) if self.program else launch_of(self.module)

    def _mark(self, stage: str) -> None:
        attributes = self.module.operation.attributes
        with self.module.context:
            attributes[annotations.STAGE] = ir.StringAttr.get(stage)
            attributes[annotations.CHIP] = ir.StringAttr.get(self.target.chip)

    def _text(self, stage: str) -> str:
        if stage == "ptx":
            return self.ptx or ""
        if self.locations is None:
            return str(self.module)
        text: str = self.module.operation.get_asm(enable_debug_info=True)
        # MLIR's parser sees only text and calls its file `-`.
        return text.replace('loc("-":', f"loc({json.dumps(self.locations)}:")

    def _import(self) -> None:
        with self.module.context:
            annotations.name_arguments(self.module, self.source)
        for step in import_passes():
            run_pass(self.module, step)
            verify(self.module, step)
