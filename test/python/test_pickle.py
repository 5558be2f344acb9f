"""Kernels cross processes: what was compiled goes along, what a machine holds is found again."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
from dynamic_products import ROWS

import mlir_gemm

FIXED = """
func.func @main(%a: tensor<7x16xf16>, %b: tensor<16x24xf16>) -> tensor<7x24xf32> {
  %f = arith.constant dense<0.0> : tensor<7x24xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<7x16xf16>, tensor<16x24xf16>) outs(%f : tensor<7x24xf32>) -> tensor<7x24xf32>
  return %0 : tensor<7x24xf32>
}
"""
ELSEWHERE = """
import pickle, sys
import numpy as np
with open(sys.argv[1], "rb") as file:
    kernels = pickle.load(file)
a, b = np.full((7, 16), 2, np.float16), np.ones((16, 24), np.float16)
for kernel in kernels:
    print(kernel.chip, kernel.schedule.stages, kernel(a, b)[6, 23])
print("tile.mma" in kernels[0].ir("tensorize"))
"""


def test_a_kernel_runs_in_another_process(tmp_path: Path):
    """One whose sizes are in the source, one that reads them from its arrays, and one bound to sizes; all after a call,
    when they hold what cannot cross."""
    whole = mlir_gemm.compile(ROWS, chip="sm_80", device="simulator", schedule={"stages": 3})
    fixed = mlir_gemm.compile(FIXED, chip="sm_80", device="simulator", schedule={"stages": 3})
    kernels = [fixed, whole, whole.at(s0=7)]
    a, b = np.full((7, 16), 2, np.float16), np.ones((16, 24), np.float16)
    assert [kernel(a, b)[6, 23] for kernel in kernels] == [32.0] * 3
    path = tmp_path / "kernels"
    path.write_bytes(pickle.dumps(kernels))
    found = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(path)], capture_output=True, text=True, check=False, timeout=300
    )
    assert found.stdout.splitlines() == [*["sm_80 3 32.0"] * 3, "True"], found.stderr


def test_a_copy_is_a_kernel():
    kernel = mlir_gemm.compile(ROWS, chip="sm_80", device="simulator")
    again = copy.deepcopy(kernel)
    assert (again.ptx, again.symbols, again.kernels) == (kernel.ptx, kernel.symbols, kernel.kernels)
    assert repr(again) == repr(kernel)
