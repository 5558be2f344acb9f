"""What is added from outside: by a call, and by a package with an entry point, as `examples/plugin` is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

import mlir_gemm
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.registry import describe
from mlir_gemm.pipeline.runner import run_passes
from mlir_gemm.runtime import cache
from mlir_gemm.spec import extensions
from mlir_gemm.spec.passes import at, step
from mlir_gemm.tile_model.select import select

ROOT = Path(__file__).resolve().parents[2]
SOURCE = (ROOT / "examples" / "matmul_256.mlir").read_text()


@pytest.fixture(autouse=True)
def nothing_else() -> Iterator[None]:
    """Takes away again what a test registers."""
    before = extensions.registered()
    yield
    for item in extensions.registered():
        if item not in before:
            extensions.unregister(item.name)


@dataclass(frozen=True)
class MarkKernels(Pass):
    """Mark every function."""

    name: ClassVar[str] = "mark-kernels"
    word: str = "seen"

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            function.attributes["test.mark"] = ir.StringAttr.get(self.word)


def test_a_pass_runs_where_it_was_put_and_by_itself():
    mlir_gemm.register(mlir_gemm.PassAt(MarkKernels, "tensorize", "tensorize", {"word": "here"}))
    done = compile_module(SOURCE, chip="sm_80", until="accumulate", keep=("all",))
    assert "test.mark" not in done.ir("promote")
    assert 'test.mark = "here"' in done.ir("tensorize")
    assert 'test.mark = "alone"' in run_passes(SOURCE, ["mark-kernels{word=alone}"])
    assert ("tensorize, slot tensorize", "mark-kernels") in [row[:2] for row in describe()]


def test_a_pass_for_some_kernels_only():
    mlir_gemm.register(
        mlir_gemm.PassAt(MarkKernels, "tile", "padding", applies=lambda _, target: target.chip == "sm_90a")
    )
    for chip, marked in (("sm_80", False), ("sm_90a", True)):
        text = compile_module(SOURCE, chip=chip, until="tile", keep=("tile",)).ir("tile")
        assert ("test.mark" in text) == marked


@pytest.mark.parametrize(
    ("stage", "slot", "message"),
    [
        ("tiel", "tile", "expected one of tile, fuse"),
        ("tile", "mma", "expected one of loops, sizes, tile, padding"),
        ("import", "form", "expected one of tile, fuse"),
    ],
)
def test_a_pass_that_belongs_nowhere_is_refused(stage: str, slot: str, message: str):
    with pytest.raises(mlir_gemm.Error, match=message):
        mlir_gemm.register(mlir_gemm.PassAt(MarkKernels, stage, slot))
    assert extensions.of(mlir_gemm.PassAt) == ()


def test_what_is_no_extension_is_refused():
    with pytest.raises(mlir_gemm.Error, match="a Selector, a FrontEnd, Rewrites, an ElementType or a Bilinear"):
        mlir_gemm.register(3)
    with pytest.raises(mlir_gemm.Error, match="is not a pass"):
        mlir_gemm.register(mlir_gemm.PassAt(dict, "tile", "tile"))
    with pytest.raises(mlir_gemm.Error, match="nothing is registered as 'mark-kernels'"):
        mlir_gemm.unregister("mark-kernels")


def test_a_name_is_taken_once():
    mlir_gemm.register(mlir_gemm.PassAt(MarkKernels, "tile", "tile"))
    with pytest.raises(mlir_gemm.Error, match="is registered already"):
        mlir_gemm.register(mlir_gemm.PassAt(MarkKernels, "tile", "tile"))


def test_a_part_puts_passes_at_slots():
    mlir_gemm.register(MARK)
    part = mlir_gemm.Part(
        "marked",
        lambda schedule: schedule.stages > 1,
        lambda schedule, _: [at("pipeline", "clean", step("mark-kernels", word=f"of-{schedule.stages}"))],
    )
    mlir_gemm.register(part)
    for stages, word in ((2, "of-2"), (1, "seen")):
        done = compile_module(
            SOURCE, chip="sm_80", schedule={"stages": stages, "mainloop": "register_prefetch"}, keep=("pipeline",)
        )
        assert f'test.mark = "{word}"' in done.ir("pipeline")


MARK = mlir_gemm.PassAt(MarkKernels, "fuse", "fuse")


def test_a_selector_replaces_the_model():
    def smallest(problem: Any, target: Any, pinned: Any) -> mlir_gemm.Schedule | None:
        return select(problem, target, {**pinned, "block": (64, 64, 32)}).schedule if not pinned else None

    mlir_gemm.register(mlir_gemm.Selector("smallest", smallest))
    chosen = compile_module(SOURCE, chip="sm_80", until="select").schedule
    assert chosen is not None and chosen.block == (64, 64, 32)
    pinned = compile_module(SOURCE, chip="sm_80", until="select", schedule={"stages": 2}).schedule
    assert pinned is not None and pinned.stages == 2  # it had no answer: the model chose


def test_a_selector_may_not_change_what_is_fixed_nor_break_a_rule():
    other = mlir_gemm.Schedule(stages=1)
    mlir_gemm.register(mlir_gemm.Selector("stubborn", lambda *_: other))
    with pytest.raises(mlir_gemm.ScheduleError, match="the selector 'stubborn' changes what is fixed: stages"):
        compile_module(SOURCE, chip="sm_80", schedule={"stages": 2})
    mlir_gemm.unregister("stubborn")
    wrong = other.replace(block=(48, 48, 48))
    mlir_gemm.register(mlir_gemm.Selector("wrong", lambda *_: wrong))
    with pytest.raises(mlir_gemm.ScheduleError, match="block=48x48x48"):
        compile_module(SOURCE, chip="sm_80")


def test_a_front_end_reads_what_is_no_mlir():
    mlir_gemm.register(mlir_gemm.FrontEnd("square", lambda text: SOURCE if text.startswith("square 256") else None))
    assert compile_module("square 256", chip="sm_80").ptx == compile_module(SOURCE, chip="sm_80").ptx


def test_compiled_kernels_are_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MLIR_GEMM_CACHE", str(tmp_path))
    cache.forget()
    mlir_gemm.compile(SOURCE, chip="sm_80", device="simulator")
    plain = set(tmp_path.rglob("*.json"))
    mlir_gemm.register(MARK)
    mlir_gemm.compile(SOURCE, chip="sm_80", device="simulator")
    assert len(set(tmp_path.rglob("*.json")) - plain) == 1


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which the example's package is installed, from a copy of its sources."""
    folder = tmp_path_factory.mktemp("plugin")
    source = shutil.copytree(ROOT / "examples" / "plugin", folder / "source")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps",
         "--target", str(folder / "site"), str(source)], check=True, capture_output=True,
    )  # fmt: skip
    return {**os.environ, "PYTHONPATH": str(folder / "site"), "MLIR_GEMM_CACHE": "off"}


def run(environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "mlir_gemm.tools.main", *arguments], env=environment, check=True, capture_output=True,
        text=True,
    )  # fmt: skip
    return done.stdout


def test_an_installed_package_is_found(installed: dict[str, str]):
    info = run(installed, "info", "--chip", "sm_80")
    for shown in ("PassAt 'count-products'", "Part 'throttled_epilogue'", "Selector 'shallow'", "ElementType 'f8E3M4'"):
        assert shown in info
    assert "registered by mlir-gemm-plugin-example 0.1.0" in info
    assert "count-products" in run(installed, "opt", "--list")
    example = str(ROOT / "examples" / "matmul_256.mlir")
    text = run(installed, "compile", example, "--chip", "sm_80", "--emit", "tensorize", "-o", "-")
    assert "example.products = 1" in text


def test_the_example_changes_what_it_says(installed: dict[str, str]):
    program = (
        "import json, mlir_gemm\n"
        "text = 'func.func @f(%a: memref<512x64xf16>, %b: memref<64x512xf16>, %c: memref<512x512xf32>) {"
        " linalg.matmul ins(%a, %b : memref<512x64xf16>, memref<64x512xf16>) outs(%c : memref<512x512xf32>) return }'\n"
        "kernel = mlir_gemm.compile(text, chip='sm_90a', device='simulator')\n"
        "print(json.dumps(kernel.schedule.stages))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], env=installed, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout) == 2


def test_an_element_type_of_an_installed_package(installed: dict[str, str], tmp_path: Path):
    """The entry point is read before the type is looked for, by each command."""
    source = tmp_path / "fine.mlir"
    source.write_text(
        "func.func @f(%a: memref<64x64xf8E3M4>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {"
        " linalg.matmul ins(%a, %b : memref<64x64xf8E3M4>, memref<64x64xf16>) outs(%c : memref<64x64xf32>) return }"
    )
    assert "mma.sync" in run(installed, "compile", str(source), "--chip", "sm_80", "-o", "-")
    assert "no findings" in run(installed, "run", str(source), "--chip", "sm_80", "--device", "simulator")
    explained = run(installed, "explain", "--mnk", "64,64,64", "--types", "f16,f16,f8E3M4", "--chip", "sm_80")
    assert "f16,f16->f8E3M4" in explained
    assert "f8E3M4" in run(installed, "opt", str(source), "check-module")


EXP_LOG = """module { pdl.pattern @exp_log : benefit(1) {
  %t = pdl.type
  %x = pdl.operand
  %e = pdl.operand
  %exp = pdl.operation "linalg.exp"(%x, %e : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %r = pdl.result 0 of %exp
  %log = pdl.operation "linalg.log"(%r, %e : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %log { pdl.replace %log with (%x : !pdl.value) }
} }"""
LOG_OF_EXP = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.log ins(%0 : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %2 = linalg.negf ins(%1 : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}"""


def _twice(op: Any, rewriter: Any) -> bool:
    """-(-x) is x."""
    inner = op.operands[0].owner
    if getattr(inner, "name", "") != "linalg.negf":
        return False
    rewriter.replace_op(op, [inner.operands[0]])
    return True


def _fails(op: Any, rewriter: Any) -> bool:
    raise ValueError("no such luck")


def test_rules_in_pdl_rewrite_a_source():
    mlir_gemm.register(mlir_gemm.Rewrites("undo", pdl=EXP_LOG))
    text = compile_module(LOG_OF_EXP, until="import").ir("import")
    assert "negf" in text and "math.exp" not in text and "math.log" not in text
    assert "linalg.log" not in run_passes(LOG_OF_EXP, ["apply-rewrites{only=undo}"])


def test_rules_in_python_rewrite_until_none_applies():
    mlir_gemm.register(mlir_gemm.Rewrites("negation", {"linalg.negf": _twice}))
    negation = "linalg.negf ins(%0 : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>"
    source = LOG_OF_EXP.replace("linalg.exp ins(%x", "linalg.negf ins(%x").replace(
        "linalg.log ins(%0 : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>", negation
    )
    assert str(run_passes(source, ["apply-rewrites"])).count("linalg.negf") == 1


def test_rules_that_fail_are_named_with_the_place():
    mlir_gemm.register(mlir_gemm.Rewrites("luckless", {"linalg.log": _fails}))
    said = "the rule of 'luckless' for 'linalg.log' failed: ValueError: no such luck"
    with pytest.raises(mlir_gemm.PassError, match=said) as refused:
        run_passes(LOG_OF_EXP, ["apply-rewrites"])
    assert refused.value.location is not None and refused.value.location.line == 4


def test_rules_that_are_none_are_refused():
    with pytest.raises(mlir_gemm.Error, match="there are no rules in 'none'"):
        mlir_gemm.register(mlir_gemm.Rewrites("none"))
    with pytest.raises(mlir_gemm.Error, match="expected a function, by the name of an operation"):
        mlir_gemm.register(mlir_gemm.Rewrites("odd", {"matmul": _twice}))
    mlir_gemm.register(mlir_gemm.Rewrites("unread", pdl="pdl.pattern {"))
    with pytest.raises(mlir_gemm.Error):
        run_passes(LOG_OF_EXP, ["apply-rewrites"])
