"""The public names as a caller uses them: arguments by name, sizes that are given, `python -m mlir_gemm`, the wheel."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import mlir_gemm

ROOT = Path(__file__).resolve().parents[2]
ADDING = """
func.func @f(%a: memref<32x16xf32>, %b: memref<16x48xf32>, %c: memref<32x48xf32>) {
  linalg.matmul ins(%a, %b : memref<32x16xf32>, memref<16x48xf32>) outs(%c : memref<32x48xf32>)
  return
}
"""
OPEN = """
func.func @f(%a: memref<?x32xf16>, %b: memref<32x48xf16>, %c: memref<?x48xf32>) {
  linalg.matmul ins(%a, %b : memref<?x32xf16>, memref<32x48xf16>) outs(%c : memref<?x48xf32>)
  return
}
"""


def test_arguments_by_name() -> None:
    kernel = mlir_gemm.compile(ADDING, chip="sm_80", device="simulator")
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((32, 16), np.float32), rng.standard_normal((16, 48), np.float32)
    for given, named in (((a, b), {"c"}), ((a,), {"b", "c"}), ((), {"a", "b", "c"})):
        arrays = {"a": a, "b": b, "c": np.zeros((32, 48), np.float32)}
        kernel(*given, **{name: array for name, array in arrays.items() if name in named})
        assert np.allclose(arrays["c"], a @ b, atol=1e-5)


@pytest.mark.parametrize(("count", "names", "said"), [
    (2, ("d",), "there is no argument 'd'; the kernel takes a, b, c"),
    (2, ("a", "c"), r"argument 0 \('a'\) is given twice"),
    (1, ("c",), r"argument 1 \('b'\) is missing: the kernel takes a, b, c"),
])  # fmt: skip
def test_wrong_names(count: int, names: tuple[str, ...], said: str) -> None:
    kernel = mlir_gemm.compile(ADDING, chip="sm_80", device="simulator")
    array = np.zeros((32, 16), np.float32)
    with pytest.raises(mlir_gemm.ArgumentError, match=said):
        kernel(*[array] * count, **dict.fromkeys(names, array))


def test_sizes_and_divisors_are_those_of_one_variant() -> None:
    kernel = mlir_gemm.compile(OPEN, chip="sm_80", device="simulator", sizes={"s0": 64}, divisors={"s0": 8})
    assert list(kernel.variants) == ["s0~64, s0%8"]
    a, b = np.ones((24, 32), np.float16), np.ones((32, 48), np.float16)
    c = np.zeros((24, 48), np.float32)
    kernel(a, b, c)
    assert (c == 32).all() and list(kernel.variants) == ["s0~64, s0%8"]
    problem = kernel.at(s0=40).problem
    assert problem is not None and problem.m == 40
    with pytest.raises(mlir_gemm.ArgumentError, match="s0=25: compiled for multiples of 8, as 'divisors' says"):
        kernel(a[:1].repeat(25, 0), b, np.zeros((25, 48), np.float32))
    with pytest.raises(mlir_gemm.Error, match="s1"):
        mlir_gemm.compile(OPEN, chip="sm_80", device="simulator", sizes={"s1": 64})


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked outside the source, as pip does."""
    folder = tmp_path_factory.mktemp("wheel")
    left_out = shutil.ignore_patterns(".*", "build", "results", "test", "docs", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, folder / "source", ignore=left_out)  # pip builds where the source is
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, folder / "source"], check=True
    )
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_the_wheel_has_all_that_is_needed(installed: Path, tmp_path: Path) -> None:
    assert (installed / "mlir_gemm" / "py.typed").is_file()
    (tmp_path / "in.mlir").write_text(ADDING)
    # -S leaves out the editable installation, whose dependencies are found all the same.
    path = os.pathsep.join([str(installed), *site.getsitepackages()])
    done = subprocess.run(
        [sys.executable, "-S", "-m", "mlir_gemm", "compile", "in.mlir", "--chip", "sm_80", "-o", "out.ptx"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert ".visible .entry" in (tmp_path / "out.ptx").read_text()
