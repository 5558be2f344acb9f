"""fill-masked: the tiles on one side of the diagonal of a masked result are stored as the number that they hold.

Expects an scf.parallel over (batch ..., tile rows, tile columns) of one number of rows and columns, with tile.store of
square tiles whose value is computed from constants and a selection by positions (`tile.masked` of the function). Leaves
after each such store another one, at the place that mirrors its own, of what is computed from the constant that is
selected there. A tile on the diagonal has no mirror: its second store lies beyond the memory, where nothing is written.
`rasterize-blocks{space=lower}` or `upper` is for the tiles that are stored so. With `half` clusters have tiles on the
other side of the diagonal too: both of their stores lie beyond the memory. A second run changes nothing. Refuses values
without such a selection, and tiles and places that mirror-stores refuses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import tile
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.clone import clone_slice
from mlir_gemm.dialect.linalg.triangles import masked_value
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.parallelize.mirror_stores import check_half, leave_out, mirrored_place


@dataclass(frozen=True)
class FillMasked(Pass):
    """Store masked tiles as constants."""

    name: ClassVar[str] = "fill-masked"
    half: str = ""
    """Which tiles are computed, `lower` or `upper` ones, where clusters have others too."""

    def __post_init__(self) -> None:
        check_half(self, self.half)

    def run(self, module: Any) -> None:
        for parallel in named(module, "scf.parallel"):
            found = [op.operation for op in named(parallel, "tile.store") if op.operands[1].type.memory_space is None]
            if len({store.operands[1] for store in found}) < len(found):
                continue
            for store in found:
                _fill(parallel, store, self.half)


def _fill(parallel: Any, store: Any, half: str) -> None:
    selected = masked_value(store.operands[0])
    if selected is None:
        raise pass_error(store, "a tile that is not computed from a selection of a constant by positions")
    with ir.InsertionPoint.after(store), store.location:
        place = mirrored_place(parallel, store, half, transposed=False)
        (value,) = clone_slice([store.operands[0]], store.block, {selected[0]: selected[1]})
        tile.store(value, store.operands[1], place).attributes[tile.APART] = ir.UnitAttr.get()
    if half:
        leave_out(parallel, store, half)
