"""From a PyTorch function to running kernels: a block of a transformer, x + W2 gelu(W1 x + b1) + b2, in float16.

Where PyTorch and torch-mlir are installed (see export_torch.py) the function is exported here, and the result compared
with PyTorch's own; elsewhere torch_mlp.mlir is taken, and NumPy. Without a GPU the kernels run in the simulator.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

import mlir_gemm

SHAPES = ((2, 50, 64), (256, 64), (256,), (64, 256), (64,))


def source() -> str:
    """The module: exported now, or as it was exported before."""
    try:
        import export_torch
    except ImportError:
        return Path(__file__).with_name("torch_mlp.mlir").read_text()
    return export_torch.export("mlp")


def reference(x: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    """The function itself: PyTorch's where it is installed, else in NumPy and float64."""
    try:
        import export_torch
        import torch
    except ImportError:
        x, w1, b1, w2, b2 = (array.astype(np.float64) for array in (x, w1, b1, w2, b2))
        hidden = x @ w1.T + b1
        hidden *= 0.5 * (1 + np.vectorize(math.erf)(hidden / math.sqrt(2)))
        return x + hidden @ w2.T + b2
    return export_torch.mlp(*map(torch.from_numpy, (x, w1, b1, w2, b2))).numpy()


def main() -> None:
    module = source()
    kernel = mlir_gemm.compile(module, device="gpu")
    for each in kernel.kernels:
        print(f"{each.name}: {each.problem}")

    random = np.random.default_rng(0)
    arguments = [(random.standard_normal(shape) * 0.3).astype(np.float16) for shape in SHAPES]
    try:
        result, device = kernel(*arguments), "the GPU"
    except mlir_gemm.DeviceError:
        result, device = mlir_gemm.compile(module, device="simulator")(*arguments), "the simulator"
    wanted = reference(*arguments).astype(np.float64)
    error = np.linalg.norm(result - wanted) / np.linalg.norm(wanted)
    print(f"on {device}: relative error {error:.1e}")


if __name__ == "__main__":
    main()
