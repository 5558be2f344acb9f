"""Exports PyTorch functions as linalg on tensors, the form that mlir-gemm takes: the files torch_*.mlir beside it.

Needs `pip install torch==2.13.0 torch-mlir==20261001` (a CPU build of PyTorch suffices). Writes all files, or those
named:

    python export_torch.py [matmul_f16] [linear_gelu] [mlp]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import gelu, linear
from torch_mlir import fx

Shapes = tuple[tuple[int, ...], ...]


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a @ b


def linear_gelu(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return gelu(linear(x, weight, bias))


def mlp(x: torch.Tensor, w1: torch.Tensor, b1: torch.Tensor, w2: torch.Tensor, b2: torch.Tensor) -> torch.Tensor:
    return x + linear(gelu(linear(x, w1, b1)), w2, b2)


EXAMPLES: dict[str, tuple[Callable[..., torch.Tensor], Shapes]] = {
    "matmul_f16": (matmul, ((512, 256), (256, 384))),
    "linear_gelu": (linear_gelu, ((2, 50, 64), (96, 64), (96,))),
    "mlp": (mlp, ((2, 50, 64), (256, 64), (256,), (64, 256), (64,))),
}
"""Each function with the shapes of its arguments, all float16."""


class Function(torch.nn.Module):
    """A function as a module: weights come as arguments, not as parameters."""

    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *arguments: torch.Tensor) -> torch.Tensor:
        return self.function(*arguments)


def export(name: str) -> str:
    """The MLIR text of one example."""
    function, shapes = EXAMPLES[name]
    arguments = [torch.empty(shape, dtype=torch.float16) for shape in shapes]
    module: Any = fx.export_and_import(
        Function(function), *arguments, output_type="linalg-on-tensors", func_name=function.__name__
    )
    return f"{module}".strip() + "\n"


def main() -> None:
    for name in sys.argv[1:] or EXAMPLES:
        Path(__file__).with_name(f"torch_{name}.mlir").write_text(export(name))


if __name__ == "__main__":
    main()
