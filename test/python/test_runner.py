"""The one runner of passes: hooks, the order of what they see, and the file that a failing pass leaves."""

from __future__ import annotations

import itertools
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.context import DIALECTS, LATER, new_context
from mlir_gemm.dialect.parse import COMPILER, parse_module
from mlir_gemm.dialect.walk import body, named, operations
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.lower.fold_subviews import FoldSubviews
from mlir_gemm.passes.lower.place_shared import PlaceShared
from mlir_gemm.passes.tensorize.tensorize import Tensorize
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.registry import names, parse_pass, pass_of
from mlir_gemm.pipeline.runner import Hook, Run, Timing, Watch, run_passes
from mlir_gemm.spec.passes import UPSTREAM
from mlir_gemm.spec.stages import SLOTS, STAGES
from mlir_gemm.tools.main import main

SOURCE = (Path(__file__).resolve().parents[2] / "examples" / "matmul_256.mlir").read_text()
PROGRAM = (Path(__file__).resolve().parents[1] / "modules" / "two_products.mlir").read_text()


@dataclass
class Seen(Hook):
    """Notes what it is told."""

    events: list[tuple[str, Run]] = field(default_factory=list[tuple[str, Run]])

    def before(self, run: Run) -> None:
        self.events.append(("before", run))

    def after(self, run: Run, seconds: float) -> None:
        assert seconds >= 0
        self.events.append(("after", run))


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
def test_hooks_see_every_pass_of_every_stage_in_order(chip: str):
    seen, timing = Seen(), Timing()
    compile_module(SOURCE, chip=chip, hooks=(seen, timing))
    whats = [what for what, _ in seen.events]
    runs = [run for what, run in seen.events if what == "after"]
    assert whats == ["before", "after"] * len(runs)
    assert [run.number for run in runs] == list(range(len(runs)))
    stages = list(dict.fromkeys(run.stage for run in runs))
    assert stages == [stage for stage in STAGES if stage in stages]
    assert set(stages) >= {"import", "select", "tile", "lower", "nvvm"}
    assert {run.spec.name for run in runs} <= {*names(), UPSTREAM}
    assert [row[:3] for row in timing.rows] == [(run.stage, run.kernel, run.spec) for run in runs]


def test_kernels_of_a_program_are_named():
    seen = Seen()
    compile_module(PROGRAM, chip="sm_80", hooks=(seen,))
    kernels = {run.kernel for _, run in seen.events if run.stage == "lower"}
    assert len(kernels) > 1 and "" not in kernels
    assert {run.kernel for _, run in seen.events if run.stage in ("import", "select")} == {""}


def test_what_a_hook_saw_can_be_run_again_by_itself():
    """Every pass of a whole compilation, each by its text on the text that the one before it left."""
    texts: list[tuple[Run, str]] = []
    compile_module(
        SOURCE, chip="sm_80", until="lower", hooks=(Watch(lambda _: True, lambda *each: texts.append(each)),)
    )
    inside = [pair for pair in itertools.pairwise(texts) if pair[0][0].stage == pair[1][0].stage]
    for (_, before), (run, after) in inside[::7]:
        alone = run_passes(before, [str(run.spec)])
        assert _without_marks(alone) == _without_marks(after), str(run)


def _without_marks(text: str) -> str:
    """Without how far a module says that it is, which the driver writes."""
    return re.sub(r"tile\.(stage|chip) = \"\w+\",? ?", "", text).replace(" attributes {}", "").replace(", }", "}")


@pytest.mark.parametrize("text", ["tile-loops{block=64,64,32}", "lower-cp-async", "func.func(canonicalize)", "cse"])
def test_a_pass_is_data_that_reads_like_its_text(text: str):
    spec = parse_pass(text)
    assert str(spec) == text
    assert parse_pass(str(spec)) == spec
    assert pass_of(spec) == pass_of(parse_pass(str(spec)))


def test_a_failing_pass_leaves_what_runs_it_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def fail(_: Tensorize, __: Any) -> None:
        raise PassError("this pass gives up")

    monkeypatch.setattr(Tensorize, "run", fail)
    with pytest.raises(PassError, match="this pass gives up") as raised:
        compile_module(SOURCE, chip="sm_80")
    (left,) = tmp_path.iterdir()
    assert str(left) in raised.value.notes[0]
    assert f"mlir-gemm opt {left} tensorize" in raised.value.notes[1]
    monkeypatch.undo()
    assert main(["opt", str(left), "tensorize"]) == 0


def test_an_exception_of_a_pass_leaves_a_reproducer_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def fail(_: Tensorize, __: Any) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(Tensorize, "run", fail)
    with pytest.raises(KeyError) as raised:
        compile_module(PROGRAM, chip="sm_80")
    (left,) = tmp_path.iterdir()
    assert str(left) in raised.value.__notes__[0]
    parse_module(left.read_text(), str(left), new_context())


def test_a_refused_module_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(Exception, match="error"):
        compile_module("func.func @f() { return %x }")
    assert list(tmp_path.iterdir()) == []


def test_what_does_not_verify_is_refused(monkeypatch: pytest.MonkeyPatch):
    """A kernel's passes are verified after each, like all others."""

    def spoil(_: Tensorize, module: Any) -> None:
        for function in module.body.operations:
            for operation in list(function.regions[0].blocks[0].operations)[-1:]:
                operation.operation.erase()

    monkeypatch.setattr(Tensorize, "run", spoil)
    with pytest.raises(PassError, match="after pass 'tensorize' the module does not verify"):
        compile_module(SOURCE, chip="sm_80")


@pytest.mark.parametrize("victim", [FoldSubviews, PlaceShared])
def test_an_earlier_pass_is_blamed(victim: type[Pass], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """In `lower` compile verifies what the last pass left, and what MLIR's own are given; if that fails, what each
    left."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def spoil(_: Any, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            with ir.InsertionPoint.at_block_begin(body(kernel)), kernel.location:
                ir.Operation.create("arith.negf", results=[ir.F32Type.get()])

    monkeypatch.setattr(victim, "run", spoil)
    with pytest.raises(PassError, match=f"after pass '{victim.name}.*' the module does not verify") as raised:
        compile_module(SOURCE, chip="sm_80")
    (left,) = tmp_path.iterdir()
    assert f"mlir-gemm opt {left} " in raised.value.notes[-1]
    monkeypatch.undo()
    assert main(["opt", str(left), victim.name]) == 0


@pytest.mark.parametrize("stage", ["lower", "nvvm"])
def test_kernels_are_found_without_looking_into_them(stage: str):
    """As a walk of everything finds them."""
    with COMPILER:
        module = parse_module(compile_module(PROGRAM, chip="sm_90a", until=stage).ir(stage), "-", new_context())
        for name in ("gpu.module", "gpu.func", "llvm.func", "gpu.launch_func"):
            assert named(module, name) == [op for op in operations(module) if op.operation.name == name]
        assert named(module, "gpu.module")


def test_slots_belong_to_one_stage_each():
    assert list(SLOTS) == list(STAGES)
    for stage, slots in SLOTS.items():
        assert len(set(slots)) == len(slots), stage


def test_contexts_have_the_dialects_that_passes_make_operations_of():
    """`dialect("...")` imports the classes that make them."""
    folders = ("dialect", "lowering", "passes", "pipeline")
    texts = [path.read_text() for folder in folders for path in (Path(__file__).parents[2] / folder).rglob("*.py")]
    used = {name for text in texts for name in re.findall(r'dialect\("([a-z]+)"\)', text)} - {"ext"}
    used |= {name for text in texts for name in re.findall(r'Operation\.create\(\s*"([a-z]+)\.', text)} - {"builtin"}
    assert used <= {*DIALECTS, *LATER}
    assert all(
        f'dialects["{name}"]' in text
        for name in LATER
        for text in texts
        if f'dialect("{name}")' in text and "class " in text and "(Pass):" in text
    )
