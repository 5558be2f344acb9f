"""Compiles a matrix product, shows what was decided and, where there is a GPU, runs it on NumPy arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mlir_gemm

SOURCE = Path(__file__).with_name("matmul_tensor.mlir")


def main() -> None:
    kernel = mlir_gemm.compile(SOURCE)
    print("schedule:", kernel.schedule)
    print("launch:  ", kernel.launch)

    random = np.random.default_rng(0)
    a = random.standard_normal((256, 128)).astype(np.float16)
    b = random.standard_normal((128, 384)).astype(np.float16)
    try:
        d = kernel(a, b)
    except mlir_gemm.DeviceError as error:
        print(f"not run: {error.message}")
        return
    reference = a.astype(np.float64) @ b.astype(np.float64)
    print("relative error:", np.linalg.norm(d - reference) / np.linalg.norm(reference))


if __name__ == "__main__":
    main()
