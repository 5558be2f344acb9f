"""Text saved after any stage runs: whole and in samples, checked against what it was made from."""

# ruff: noqa: F401 - fixtures are imported

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import EXAMPLES, no_cache_on_disk, run_main

import mlir_gemm
from mlir_gemm.errors import ArgumentError, InputError
from mlir_gemm.pipeline import saved
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator import sampling
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.stages import STAGES

MODULES = Path(__file__).resolve().parents[1] / "modules"
PRODUCT = """func.func @matmul(%A: memref<{0}x{2}xf16>, %B: memref<{2}x{1}xf16>, %C: memref<{0}x{1}xf32>) {{
  linalg.matmul ins(%A, %B : memref<{0}x{2}xf16>, memref<{2}x{1}xf16>) outs(%C : memref<{0}x{1}xf32>)
  return
}}
"""
SMALL = "block=32x32x32,warp=16x32x16,stages=2"
CASES = {
    "wmma": (PRODUCT.format(64, 64, 32), "sm_80", f"{SMALL},mma=wmma", ("--blocks", "0,3")),
    "cp_async": (PRODUCT.format(40, 40, 40), "sm_80", f"{SMALL},mma=mma_sync,mainloop=cp_async", ("--blocks", "1")),
    "wgmma": (
        PRODUCT.format(128, 64, 64), "sm_90a",
        "block=64x64x64,warp=64x64x64,mma=wgmma,mainloop=tma,stages=2", ("--blocks", "1"),
    ),
    "simt": ("matmul_f64", "sm_80", "", ()),
    "batches": ("bmm", "sm_90", "", ("--blocks", "0")),
    "integers": ("int8", "sm_90a", "", ("--blocks", "0")),
    "epilogue": ("linear_bias_bf16", "sm_120", "", ()),
    "sizes_at_run_time": ("dynamic_batch", "sm_90", "", ("--sizes", "s0=16", "--blocks", "0")),
    "constants": ("linear_constant_weights", "sm_80", "", ()),
    "program": ("scaled_rows", "sm_80", "", ()),
}  # fmt: skip
"""A source or the name of a module, a chip, a schedule, and options of `run`."""
AFTER_ALL = ("wmma", "wgmma", "program")
"""The cases that are saved after all stages. The others take every third, in turns, and the last two."""


def _stages(name: str) -> list[str]:
    turn, last = list(CASES).index(name) % 3, len(STAGES) - 3
    return [stage for n, stage in enumerate(STAGES[:-1]) if name in AFTER_ALL or n % 3 == turn or n >= last]


def _source(text: str) -> str:
    return text if "func" in text else (MODULES / f"{text}.mlir").read_text()


def _saved(text: str, chip: str, schedule: str, *stages: str) -> dict[str, str]:
    fields = Schedule.parse(schedule) if schedule else None
    compiled = compile_module(_source(text), chip=chip, schedule=fields, keep=stages, until=stages[-1])
    return {stage: compiled.ir(stage) for stage in stages}


@pytest.mark.parametrize("name", CASES)
def test_text_saved_after_every_stage_runs(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, chip, schedule, options = CASES[name]
    for stage, content in _saved(text, chip, schedule, *_stages(name)).items():
        path = tmp_path / f"{stage}.mlir"
        path.write_text(content)
        status, out, err = run_main(capsys, "run", path, "--device", "simulator", "--no-check", *options)
        assert (status, err) == (0, ""), f"{stage}: {out}{err}"
        assert "error " in out and "WRONG" not in out
        assert ("made again up to 'lower'" in out) == (stage == "nvvm")


@pytest.mark.parametrize("stage", ["promote", "distribute", "lower", "nvvm"])
def test_large_problems_are_sampled(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sampling, "WHOLE", 1 << 18)
    path = tmp_path / "saved.mlir"
    path.write_text(_saved(PRODUCT.format(128, 128, 64), "sm_80", SMALL, stage)[stage])
    status, out, err = run_main(capsys, "run", path, "--device", "simulator")
    assert (status, err) == (0, "")
    assert "a sample (the whole is too much work here; choose with --blocks)" in out
    assert "error C, 4 tiles:" in out


@pytest.mark.parametrize("stage", ["tile", "distribute", "lower"])
@pytest.mark.parametrize("blocks", [(), ("--blocks", "0")])
def test_an_edit_that_changes_the_numbers_is_found(
    stage: str, blocks: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the text computes is compared with what it was made from, not with itself."""
    path = tmp_path / "saved.mlir"
    whole = _saved("linear_bias_bf16", "sm_80", "", stage)[stage]
    before, bias, behind = whole.rpartition("arith.addf")
    path.write_text(before + bias.replace("addf", "subf") + behind)
    status, out, _ = run_main(capsys, "run", path, "--device", "simulator", "--no-check", *blocks)
    assert status == 3
    assert "WRONG" in out
    if not blocks:
        status, out, _ = run_main(capsys, "run", path, "--bisect")
        assert status == 3
        assert f"the text is wrong as it stands: it was saved after '{stage}'" in out


def test_edited_text_after_nvvm_is_for_a_gpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The simulator runs no LLVM: it must not report on IR that is not in the text."""
    path = tmp_path / "saved.mlir"
    path.write_text(
        _saved(PRODUCT.format(32, 32, 32), "sm_80", SMALL, "nvvm")["nvvm"].replace("llvm.fadd", "llvm.fsub")
    )
    text = path.read_text()
    start = text.index("llvm.add")
    path.write_text(text[:start] + "llvm.sub" + text[start + len("llvm.add") :])
    status, _, err = run_main(capsys, "run", path, "--device", "simulator")
    assert status == 1
    assert "cannot be made again, as the text was edited or is from another version" in err
    assert "--device gpu" in err


def test_a_kernel_of_text_saved_after_nvvm_is_called() -> None:
    text = _saved(PRODUCT.format(32, 32, 32), "sm_80", SMALL, "nvvm")["nvvm"]
    kernel = mlir_gemm.compile(text, device="simulator")
    a, b, c = np.eye(32, dtype=np.float16), np.ones((32, 32), np.float16), np.zeros((32, 32), np.float32)
    kernel(a, b, c)
    assert (c == 1).all()
    assert kernel.stages == ("nvvm", "ptx")
    with pytest.raises(InputError, match="there is no stage 'tile'; the stages are nvvm, ptx"):
        kernel.ir("tile")


@pytest.mark.parametrize("name", ["mlp_relu", "dynamic_batch", "linear_constant_weights"])
def test_the_reference_is_the_text_saved_after_select(name: str) -> None:
    texts = _saved(name, "sm_80", "", *STAGES[:-1])
    for stage, text in texts.items():
        assert saved.computed_by(text) == texts["import" if stage == "import" else "select"]
        assert saved.stage_of(text) == stage
    assert saved.stage_of(_source(name)) is None


def test_text_of_an_earlier_version_says_what_is_missing() -> None:
    for stage, fits in (("accumulate", True), ("distribute", False)):
        text = _saved(PRODUCT.format(32, 32, 32), "sm_80", SMALL, stage)[stage]
        start = text.index(f"{saved.REFERENCE} = ")
        without = text[:start] + text[text.index("tile.schedule = ", start) :]
        if fits:
            assert saved.computed_by(without) == without
            continue
        with pytest.raises(InputError, match=r"saved after 'distribute'.*no tile\.reference.*save it again"):
            saved.computed_by(without)


def test_saved_text_keeps_to_the_sizes_that_it_was_made_for() -> None:
    source = _source("dynamic_batch")
    text = compile_module(source, chip="sm_90", divisors={"s0": 8}, until="lower", keep=("lower",)).ir("lower")
    kernel = mlir_gemm.compile(text, device="simulator")
    assert kernel.at(s0=16).problem.m == 16
    assert list(kernel.variants) == ["s0%8"]
    with pytest.raises(ArgumentError, match="s0=17: the text was saved for sizes that are multiples of 8"):
        kernel.at(s0=17)
