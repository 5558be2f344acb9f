"""lower-rows: tiles of a kernel of rows become what each thread holds of them.

Expects kernel functions with operations on tiles of a block, as `tensorize-rows` makes them: tile.load, arithmetic on
vectors of rows and columns, vector.broadcast, tile.clip, tile.reduce, tile.store, loops that carry tiles. `across`
threads stand side by side along the rows of a tile and take `vector` neighbours each in one access; groups of so many
stand below each other. Leaves vectors of a thread. A tile.reduce combines in each thread first, then by shuffles, then
through shared memory, in an order that is the same in every run. Refuses tiles that the threads do not divide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import PassError
from mlir_gemm.lowering.row_lowering import RowRewriter
from mlir_gemm.lowering.row_pieces import Threads
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.launch.launch_blocks import threads_of


@dataclass(frozen=True)
class LowerRows(Pass):
    """Divide the tiles of rows among threads."""

    name: ClassVar[str] = "lower-rows"
    across: int = 32
    """Threads side by side along the rows of a tile; a power of two."""
    vector: int = 4
    """Elements that a thread takes in one access; a power of two."""

    def run(self, module: Any) -> None:
        for number, option in ((self.across, "across"), (self.vector, "vector")):
            if number < 1 or number & (number - 1):
                raise PassError(f"pass 'lower-rows': {option}={number}; expected a power of two")
        for kernel in named(module, "gpu.func"):
            if not named(kernel, "tile.load", "tile.store", "tile.reduce"):
                continue
            count = threads_of(kernel)
            if count % self.across:
                raise PassError(f"pass 'lower-rows': across={self.across} of {count} threads; expected a divisor")
            with ir.InsertionPoint(in_block(body(kernel))[0]), kernel.location:
                threads = Threads.of(count, self.across, self.vector)
            rewriter = RowRewriter(threads)
            rewriter.rewrite(body(kernel))
            rewriter.erase_old()
