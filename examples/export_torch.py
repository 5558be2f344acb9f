"""Exports a PyTorch module that multiplies two f16 matrices as linalg on tensors, the form mlir-gemm takes.

Needs `pip install torch==2.13.0 torch-mlir==20261001` (a CPU build of PyTorch suffices), in an environment of its own.
Wrote torch_matmul_f16.mlir:

    python export_torch.py > torch_matmul_f16.mlir
"""

from __future__ import annotations

import torch
from torch_mlir import fx

M, N, K = 512, 384, 256


class Matmul(torch.nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a @ b


def main() -> None:
    a = torch.empty(M, K, dtype=torch.float16)
    b = torch.empty(K, N, dtype=torch.float16)
    module = fx.export_and_import(Matmul(), a, b, output_type="linalg-on-tensors", func_name="matmul")
    print(str(module).strip())


if __name__ == "__main__":
    main()
