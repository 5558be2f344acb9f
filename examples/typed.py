"""The public names as a type checker sees them: passes `mypy --strict` and pyright's strict mode.

Compiles a small product, twice, for the simulator, calls it by position and by name, and says what was compiled.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import mlir_gemm

SOURCE = """
func.func @scaled(%a: tensor<16x32xf16>, %b: tensor<32x8xf16>) -> tensor<16x8xf32> {
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<16x32xf16>, tensor<32x8xf16>) outs(%c : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
"""


def product(kernel: mlir_gemm.Kernel, a: NDArray[np.float16], b: NDArray[np.float16]) -> NDArray[np.float32]:
    """What the kernel computes, as an array of NumPy."""
    return np.asarray(kernel(a, b=b), np.float32)


def described(kernel: mlir_gemm.Kernel) -> list[str]:
    """What was compiled, a line for each kernel."""
    return [f"{each.name}: {each.kind} {each.problem or ''}, {each.schedule or ''}" for each in kernel.kernels]


def refusal(source: str) -> str:
    """Why a source is refused; empty where it is not."""
    try:
        mlir_gemm.compile(source, device="simulator")
    except (mlir_gemm.InputError, mlir_gemm.ScheduleError) as error:
        return error.message
    return ""


def main() -> None:
    random = np.random.default_rng(0)
    a = random.standard_normal((16, 32)).astype(np.float16)
    b = random.standard_normal((32, 8)).astype(np.float16)
    fixed: mlir_gemm.Schedule | dict[str, int]
    for fixed in ({}, {"stages": 2}):
        kernel = mlir_gemm.compile(SOURCE, "sm_80", "simulator", fixed)
        error = np.abs(product(kernel, a, b) - a.astype(np.float32) @ b.astype(np.float32)).max()
        print(f"{kernel.chip}, error {error:.1e}", *described(kernel), sep="\n  ")
    print(f"refused: {refusal('func.func @nothing() { return }')}")


if __name__ == "__main__":
    main()
