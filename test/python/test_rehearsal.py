"""What ends MLIR's passes or LLVM on text from outside is refused in words, and this process goes on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from compiled_text import product

from mlir_gemm.errors import PassError
from mlir_gemm.pipeline import rehearsal
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.runner import run_passes
from mlir_gemm.tools.main import main

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the helper process runs on Linux")

EMPTY = "func.func @f() {\n  return\n}\n"
TO_LLVM = "func.func(convert-to-llvm)"
"""Takes a function for a module, and reads through a null pointer."""
NOT_ON_FUNCTIONS = "func.func(sparsifier)"
COPY = """gpu.module @k [#nvvm.target<chip = "sm_70">] {
  llvm.func @kernel(%from: !llvm.ptr<1>, %to: !llvm.ptr<3>) attributes {nvvm.kernel} {
    nvvm.cp.async.shared.global %to, %from, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    llvm.return
  }
}
"""
"""cp.async is there from sm_80 on."""
TO_PTX = "gpu-module-to-binary{format=isa}"


def test_a_pass_that_crashes_is_named():
    with pytest.raises(PassError) as caught:
        run_passes(EMPTY, ["cse", TO_LLVM])
    assert caught.value.message == f"upstream pass '{TO_LLVM}' crashes (SIGSEGV)"
    assert "func.func @f" in run_passes(EMPTY, ["cse"])


def test_a_pipeline_that_mlir_gives_up_on_is_refused_with_the_reason():
    with pytest.raises(PassError, match="MLIR does not take the pass") as caught:
        run_passes(EMPTY, [NOT_ON_FUNCTIONS])
    assert "restricted to 'builtin.module'" in caught.value.message


def test_an_instruction_that_the_chip_does_not_have_is_named():
    with pytest.raises(PassError) as caught:
        run_passes(COPY, [TO_PTX])
    assert caught.value.message == (
        f"upstream pass '{TO_PTX}' crashes (SIGABRT): Cannot select: intrinsic %llvm.nvvm.cp.async.cg.shared.global.16"
    )
    assert "cp.async" in run_passes(COPY.replace("sm_70", "sm_80"), [TO_PTX])


def test_saved_text_that_llvm_has_no_instruction_for_is_refused():
    source, schedule = product(), {"mma": "mma_sync"}
    whole = compile_module(source, chip="sm_80", schedule=schedule, keep=("launch", "nvvm"))
    saved = whole.ir("nvvm")
    assert compile_module(saved).ptx == whole.ptx
    older = saved.replace('chip = "sm_80">', 'chip = "sm_70">')
    assert older != saved
    with pytest.raises(PassError, match=r"^.*making PTX crashes \(SIGABRT\): Cannot select: intrinsic %llvm\.nvvm\."):
        compile_module(older)
    assert compile_module(whole.ir("launch")).ptx == whole.ptx


@pytest.mark.parametrize(("odd", "reason"), [
    ("arith.constant 1 : i32", r": .*missing `LLVMTranslationDialectInterface`.* for op: arith\.constant"),
    ('llvm.call_intrinsic "llvm.nvvm.nosuch"(%warp) : (i32) -> i32', ": .*nosuch"),
], ids=["no translation", "no intrinsic"])  # fmt: skip
def test_saved_text_that_has_no_llvm_ir_is_refused(odd: str, reason: str):
    whole = compile_module(product(), chip="sm_80", keep=("nvvm",))
    saved = whole.ir("nvvm")
    again = compile_module(saved, until="nvvm", keep=("nvvm",)).emit("llvm")
    assert again == whole.emit("llvm") and "define" in str(again)
    front, end, behind = saved.rpartition("llvm.return")
    text = f"{front}%warp = llvm.mlir.constant(32 : i32) : i32\n      %odd = {odd}\n      {end}{behind}"
    edited = compile_module(text, until="nvvm", keep=("nvvm",))
    with pytest.raises(PassError, match=rf"^error: making LLVM IR crashes \(SIGSEGV\){reason}"):
        edited.emit("llvm")


def test_the_compilers_own_run_is_not_rehearsed(monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object) -> str:
        raise AssertionError

    monkeypatch.setattr(rehearsal, "fatal_end", fail)
    monkeypatch.setattr(rehearsal, "rehearse_translation", fail)
    compilation = compile_module(product(), chip="sm_80", keep=("nvvm",))
    assert compilation.ptx and compilation.emit("llvm")


def test_what_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rehearsal, "SECONDS", 0.0)
    with pytest.raises(PassError, match="takes more than 0 s"):
        run_passes(EMPTY, ["affine-loop-fusion"])


def test_the_command_line_goes_on_to_say_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    (tmp_path / "in.mlir").write_text(COPY)
    assert main(["opt", str(tmp_path / "in.mlir"), TO_PTX]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"error: upstream pass '{TO_PTX}' crashes (SIGABRT): Cannot select: ")
    assert "LLVM ERROR" not in err
