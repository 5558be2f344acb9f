"""Kernels that are launched together: the same numbers for all sizes, from saved text too, and fewer launches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mlir_gemm
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.remade import as_before
from mlir_gemm.pipeline.saved import computed_by

BLOCKS = Path(__file__).parents[2] / "examples" / "blocks"
THREE = """func.func @main(%x: tensor<?x64xf32>, %w: tensor<3x?xf32>, %z: tensor<?xf32>)
    -> (tensor<?x64xf32>, tensor<3x?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %m = tensor.dim %w, %c1 : tensor<3x?xf32>
  %k = tensor.dim %z, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %s = linalg.softmax dimension(1) ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %f = tensor.empty(%m) : tensor<3x?xf32>
  %p = linalg.exp ins(%w : tensor<3x?xf32>) outs(%f : tensor<3x?xf32>) -> tensor<3x?xf32>
  %g = tensor.empty(%k) : tensor<?xf32>
  %q = linalg.abs ins(%z : tensor<?xf32>) outs(%g : tensor<?xf32>) -> tensor<?xf32>
  return %s, %p, %q : tensor<?x64xf32>, tensor<3x?xf32>, tensor<?xf32>
}
"""


def softmax(x: np.ndarray) -> np.ndarray:
    exponentials = np.exp(x - x.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def test_rows_and_elements_side_by_side() -> None:
    """Rows, and two elementwise operations, of any sizes, some of them none, are one launch."""
    kernel = mlir_gemm.compile(THREE, device="simulator", chip="h200")
    assert len(kernel.launch.steps) == 1
    rng = np.random.default_rng(0)
    for n, m, k in ((4, 40, 100), (1, 1, 1), (7, 129, 1000), (0, 5, 7), (3, 0, 0)):
        x, w, z = (rng.standard_normal(shape).astype(np.float32) for shape in ((n, 64), (3, m), (k,)))
        rows, exponentials, magnitudes = (np.asarray(each) for each in kernel(x, w, z))
        np.testing.assert_allclose(rows, softmax(x.astype(np.float64)), rtol=1e-5)
        np.testing.assert_allclose(exponentials, np.exp(w.astype(np.float64)), rtol=1e-6)
        assert np.array_equal(magnitudes, np.abs(z))


@pytest.mark.parametrize("stage", ["tile", "lower", "nvvm"])
def test_saved_text_is_taken_apart_and_joined_again(stage: str) -> None:
    text = "\n".join(line for line in THREE.splitlines() if "tensor.dim" not in line)
    text = text.replace("(%n)", "()").replace("(%m)", "()").replace("(%k)", "()")
    for open_, closed in (("?x64x", "4x64x"), ("3x?x", "3x40x"), ("<?x", "<100x")):
        text = text.replace(open_, closed)
    whole = compile_module(text, chip="sm_90a", keep=("lower", stage))
    saved = whole.ir(stage)
    assert computed_by(saved).count("module @main_") == 3
    assert compile_module(saved).code == whole.code
    if stage == "nvvm":
        assert as_before(saved, "lower") == whole.ir("lower")


@pytest.mark.parametrize(("rows", "kernels"), [(2048, 2), (16384, 2)])
def test_rms_norm_and_linear_are_two_kernels(rows: int, kernels: int) -> None:
    """Many rows are not written normalised: the weights of the product are multiplied by those of the norm beside the
    sums of squares."""
    text = (BLOCKS / "rms_linear.mlir").read_text().replace("2048x", f"{rows}x")
    found = compile_module(text, chip="sm_90a", until="lower")
    assert found.launch is not None
    assert len(found.launch.steps) == len(found.kernels) == kernels
    assert ("beside it" in found.kernels[0].note) is (rows > 2048)
