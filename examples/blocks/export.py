"""Writes the blocks as linalg on tensors: one file for each, beside this.

    python examples/blocks/export.py [NAME ...]

Needs `pip install torch==2.13.0 torch-mlir==20261001` (a CPU build of PyTorch suffices), and this package, in an
environment of its own.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from mlir_gemm.bench.block_functions import BLOCKS, Block

HERE = Path(__file__).parent


def export(block: Block) -> str:
    """The text of one block."""
    torch: Any = importlib.import_module("torch")
    fx: Any = importlib.import_module("torch_mlir.fx")
    base: Any = torch.nn.Module

    class Module(base):
        def forward(self, *arguments: Any) -> Any:
            return (block.written or block.function)(torch, *arguments)

    examples = [
        torch.zeros(shape, dtype=getattr(torch, block.dtype_of(number))) for number, shape in enumerate(block.shapes)
    ]
    return str(fx.export_and_import(Module(), *examples, output_type="linalg-on-tensors", func_name="main"))


if __name__ == "__main__":
    for name in sys.argv[1:] or BLOCKS:
        Path(HERE, f"{name}.mlir").write_text(export(BLOCKS[name]))
        print(name)
