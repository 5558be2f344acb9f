"""copy-diagonals: Toeplitz, Hankel and circulant operands are read from shifted copies of their vectors.

Expects linalg.generic on tensors (after raise-to-tensors). An operand of a product whose index is a sum of m (or n) and
k, or their difference, perhaps modulo a number, is a matrix that is constant along diagonals. Leaves a generic that
copies the vector as many times as a tile has rows, each copy shifted by a row (`dialect/linalg/diagonals.py`), a view
of these by strides (`tile.windows`), and a product in which the rows are two loops, with reshapes around it. Leaves
alone, for `unfold-windows`: operands whose rows no multiple of 16 bytes of elements divides well, those which copies
would hardly make smaller, sizes known at run time only, other steps of k than 1, and bodies that use positions. A
second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.linalg import diagonals
from mlir_gemm.dialect.linalg.generics import erase_dead, generics
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class CopyDiagonals(Pass):
    """Read operands that are constant along diagonals from copies of a vector."""

    name: ClassVar[str] = "copy-diagonals"

    def run(self, module: Any) -> None:
        found = [each for op in generics(module) if (each := diagonals.find(op.operation)) is not None]
        for each in found:
            diagonals.read_from_copies(each)
        if found:
            erase_dead(module)
