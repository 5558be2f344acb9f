"""The command `run`: on a GPU or a stand-in, on the simulator, stage by stage; and what it compares with."""

# ruff: noqa: F401, F811 - fixtures are imported

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import EXAMPLES, no_cache_on_disk, run_main, small

import mlir_gemm
from mlir_gemm import Kernel
from mlir_gemm.pipeline.saved import promises_in
from mlir_gemm.runtime.auto import why_no_gpu
from mlir_gemm.runtime.info import describe_devices
from mlir_gemm.simulator.expected import reference, relative_error
from mlir_gemm.simulator.random_inputs import random_arrays
from mlir_gemm.spec.launch import Argument

HAS_GPU = bool(describe_devices())


@pytest.mark.skipif(HAS_GPU, reason="there is a GPU: see the tests that run on it")
def test_run_without_a_gpu_runs_on_the_simulator(small: Path, capsys: pytest.CaptureFixture[str]):
    status, out, err = run_main(capsys, "run", small)
    assert (status, err) == (0, f"note: {why_no_gpu()}; --device auto takes the simulator then\n")
    assert "with the checks" in out
    assert "no findings" in out
    assert "error C:" in out
    assert "schedule:" in out
    status, out, err = run_main(capsys, "run", small, "--device", "gpu")
    assert (status, out) == (1, "")
    assert err.startswith("error: ")


class FakeGpu:
    """Memory of the host in the place of a GPU's, and `compute` in the place of the kernel."""

    def __init__(self, kernel: Kernel, compute: Callable[[np.ndarray, np.ndarray, np.ndarray], object]):
        self.launch, self.gpu, self.driver, self.constants = kernel.launch, self, None, ()
        self.buffers: list[np.ndarray] = []
        self.compute = compute

    def active(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def allocate(self, size: int, stream: int) -> SimpleNamespace:
        self.buffers.append(np.empty(size, np.uint8))
        return SimpleNamespace(handle=self.buffers[-1].ctypes.data)

    def upload(self, pointer: int, host: int, size: int, stream: int) -> None:
        ctypes.memmove(pointer, host, size)

    def download(self, host: int, pointer: int, size: int, stream: int) -> None:
        ctypes.memmove(host, pointer, size)

    def synchronize(self, stream: int) -> None:
        pass

    def start(self, parameters: object, stream: int) -> None:
        views = [
            buffer.view(argument.dtype.replace("f", "float")).reshape(argument.shape)
            for buffer, argument in zip(self.buffers, self.launch.arguments, strict=True)
        ]
        self.compute(*views)


def right(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    start = np.zeros_like(c) if np.isnan(c).any() else c
    c[:] = start + a.astype(np.float32) @ b.astype(np.float32)


def forgets_one(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    kept = c[7, 9]
    right(a, b, c)
    c[7, 9] = kept


def writes_an_input(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    right(a, b, c)
    b[0, 0] += 1


@pytest.mark.parametrize("name", ["matmul_256", "matmul_tensor", "torch_matmul_f16"])
@pytest.mark.parametrize(("compute", "status"), [(right, 0), (forgets_one, 3), (writes_an_input, 3)])
def test_run_tells_right_from_wrong(
    name: str,
    compute: Callable[..., None],
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    from mlir_gemm.tools import run_command

    path = EXAMPLES / f"{name}.mlir"
    fake = FakeGpu(mlir_gemm.compile(path), compute)
    monkeypatch.setattr(run_command.device, "load", lambda *_: fake)
    monkeypatch.setattr(run_command, "why_no_gpu", lambda: "")
    monkeypatch.setattr(run_command, "_median_seconds", lambda *_: 1e-3)
    actual, out, err = run_main(capsys, "run", path)
    assert (actual, err) == (status, "")
    assert ("WRONG" in out) == (status == 3)
    assert "TFLOP/s" in out


@pytest.mark.skipif(not HAS_GPU, reason="needs a GPU")
@pytest.mark.parametrize("name", ["matmul_256", "matmul_tensor", "torch_matmul_f16"])
def test_run_checks_results(name: str, capsys: pytest.CaptureFixture[str]):
    status, out, err = run_main(capsys, "run", EXAMPLES / f"{name}.mlir", "--device", "gpu")
    assert status == 0, out + err
    assert "TFLOP/s" in out


SCHEDULE = "block=64x64x32,warp=32x32x16,mma=wmma"


def test_run_on_the_simulator_reports_what_was_executed(small: Path, capsys: pytest.CaptureFixture[str]):
    arguments = ("run", small, "--device", "simulator", "--schedule", SCHEDULE)
    status, out, err = run_main(capsys, *arguments, "--no-check", "--report")
    assert (status, err) == (0, "")
    assert "all 16 blocks, without the checks" in out
    assert "bank conflicts" in out
    status, out, _ = run_main(capsys, *arguments, "--blocks", "0,5")
    assert status == 0
    assert "2 of 16 blocks, with the checks" in out
    assert "error C, 2 tiles:" in out
    assert "unchanged" in out
    status, _, err = run_main(capsys, *arguments, "--blocks", "16")
    assert status == 1
    assert "there is no block 16: the grid has 16 blocks" in err


def test_blocks_of_a_product_whose_result_has_another_shape(capsys: pytest.CaptureFixture[str]):
    """As layers of PyTorch have it, whose rows are [batch, length]: the tile of block 18 has rows of both batches."""
    given = ("run", EXAMPLES / "torch_linear_gelu.mlir", "--chip", "sm_80", "--device", "simulator")
    status, out, _ = run_main(capsys, *given, "--schedule", "block=16x16x64,raster=row", "--blocks", "0,18")
    assert status == 0, out
    assert "simulated: 2 of 42 blocks" in out and "rest result0 elsewhere: unchanged" in out
    assert "error result0, 3 tiles: " in out


def test_a_huge_grid_is_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    from mlir_gemm.simulator import sampling

    monkeypatch.setattr(sampling, "WHOLE", 1 << 21)
    monkeypatch.setattr(sampling, "CHECKED", 1 << 21)
    status, out, err = run_main(capsys, "run", EXAMPLES / "torch_matmul_f16.mlir", "--device", "simulator")
    assert (status, err) == (0, "")
    assert "a sample (the whole is too much work here; choose with --blocks)" in out
    assert "error result0, " in out


def test_findings_and_wrong_numbers_exit_with_3(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    ir_of = Kernel.ir
    arguments = ("run", small, "--device", "simulator", "--schedule", SCHEDULE)
    monkeypatch.setattr(Kernel, "ir", lambda self, stage, **_: ir_of(self, stage).replace("gpu.barrier", ""))
    status, out, _ = run_main(capsys, *arguments)
    assert status == 3
    assert "race-shared" in out
    monkeypatch.setattr(
        Kernel, "ir", lambda self, stage, **_: ir_of(self, stage).replace("gpu.subgroup_mma_store", "//")
    )
    for blocks in ((), ("--blocks", "1")):
        status, out, _ = run_main(capsys, *arguments, "--no-check", *blocks)
        assert status == 3
        assert "WRONG" in out


TRIANGLE = """func.func @trmm(%L: memref<256x256xbf16> {tile.triangular = "lower"}, %B: memref<256x64xbf16>,
                %D: memref<256x64xf32>) {
  linalg.matmul ins(%L, %B : memref<256x256xbf16>, memref<256x64xbf16>) outs(%D : memref<256x64xf32>)
  return
}
"""


def test_random_inputs_keep_what_the_source_promises(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "trmm.mlir"
    path.write_text(TRIANGLE)
    options = ("--chip", "sm_90a", "--device", "simulator", "--schedule", "space=k_range")
    assert run_main(capsys, "run", path, *options)[0] == 0

    arguments = [Argument(name, (3, 3), "f32", "in") for name in "abc"] + [Argument("d", (3, 3), "f32", "out")]
    promises = {0: "k>m", 1: "k<m", 2: "symmetric", 3: "symmetric"}
    lower, upper, symmetric, out = random_arrays(arguments, 0, promises)
    assert (lower == np.tril(lower)).all()
    assert (upper == np.triu(upper)).all()
    assert (symmetric == symmetric.T).all()
    assert all(np.count_nonzero(each) == 6 for each in (lower, upper))
    assert np.isnan(out).all()
    assert promises_in(TRIANGLE) == {0: "k>m"}
    assert promises_in(TRIANGLE.replace('{tile.triangular = "lower"}', "{tile.symmetric}")) == {0: "symmetric"}


def test_bisect(small: Path, capsys: pytest.CaptureFixture[str]):
    status, out, err = run_main(capsys, "run", small, "--bisect", "--schedule", SCHEDULE)
    assert (status, err) == (0, "")
    assert "every stage computes the right numbers" in out
    for stage in ("import", "tile", "accumulate", "launch", "lower"):
        assert f"\n{stage} " in out
    status, _, err = run_main(capsys, "run", EXAMPLES / "matmul_8192_memref.mlir", "--bisect")
    assert status == 1
    assert "too large to bisect" in err


def test_progress_is_a_line_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    from mlir_gemm.progress import Progress

    for terminal in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda terminal=terminal: terminal)
        with Progress("blocks") as progress:
            progress(1, 2)
            progress(2, 2)
        err = capsys.readouterr().err
        assert ("2/2 blocks" in err) == terminal
        assert err.endswith("\r\x1b[K") == terminal


@pytest.mark.parametrize("name", ["matmul_256", "matmul_tensor", "torch_matmul_f16"])
def test_reference_is_the_product(name: str):
    """Against the formula written out: D = A B (+ C)."""
    source = (EXAMPLES / f"{name}.mlir").read_text()
    shapes = {"matmul_256": (256, 256, 256), "matmul_tensor": (256, 384, 128), "torch_matmul_f16": (512, 384, 256)}
    m, n, k = shapes[name]
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n)))
    c = [random.standard_normal((m, n)).astype(np.float32)] if name == "matmul_256" else []
    expected = a.astype(np.float64) @ b.astype(np.float64) + (c[0] if c else 0)
    assert relative_error(expected, reference(source, [a, b, *c])[2 if c else -1]) == 0


def test_relative_error_never_hides_nan():
    assert relative_error(np.array([np.nan, 1.0]), np.array([1.0, 1.0])) == np.inf
    assert relative_error(np.array([1.0, 1.1]), np.array([1.0, 1.0])) == pytest.approx(0.1 / 2**0.5)
