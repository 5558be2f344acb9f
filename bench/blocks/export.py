"""Writes the blocks as linalg on tensors: one file for each, beside this.

    python bench/blocks/export.py

Needs `pip install torch==2.13.0 torch-mlir==20261001` (a CPU build of PyTorch suffices), in an environment of its own.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
from torch_mlir import fx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from functions import BLOCKS, Block  # noqa: E402


def export(block: Block) -> str:
    """The text of one block."""

    class Module(torch.nn.Module):
        def forward(self, *arguments: Any) -> Any:
            return block.function(torch, *arguments)

    examples = [torch.zeros(shape, dtype=getattr(torch, block.dtype)) for shape in block.shapes]
    return str(fx.export_and_import(Module(), *examples, output_type="linalg-on-tensors", func_name="main"))


if __name__ == "__main__":
    for name, each in BLOCKS.items():
        Path(HERE, f"{name}.mlir").write_text(export(each))
        print(name)
