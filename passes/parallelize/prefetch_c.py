"""prefetch-c: what the epilogue reads through shared memory is copied there while the products are computed.

Expects an scf.forall over blocks with what `promote-c` leaves behind products: a tile.copy from global memory to a
buffer of the block in shared memory, and a barrier. Leaves tile.copy_async in front of the products, or of the loop
that computes them, and in the place of the copy tile.commit, tile.await for everything, and the barrier. The copies
belong to the next group that is committed, so that those of operands in front of it are not waited for longer. Where
copies of operands have a role of their own, it is the consumers that copy C, each tile's before its products: they have
met once they have read the tile before. The buffer comes first in shared memory, since nothing else may lie there
meanwhile. Of several copies to one buffer the first goes this way. Those whose place is known behind the products only,
and is no index arithmetic, stay as they are, as does what the products start from. A second run changes nothing.
Refuses blocks whose tiles were divided among warps already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import tile
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import in_shared
from mlir_gemm.dialect.walk import ancestor_in, body, in_block, named
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import SCOPE


@dataclass(frozen=True)
class PrefetchC(Pass):
    """Copy what the epilogue reads during the products."""

    name: ClassVar[str] = "prefetch-c"

    def run(self, module: Any) -> None:
        for forall in named(module, "scf.forall"):
            _prefetch(forall)


def _prefetch(forall: Any) -> None:
    products = [op.operation for op in named(forall, "tile.mma")]
    filled = [op.operation.operands[0] for op in named(forall, "tile.copy_async")]
    for copy in [op.operation for op in named(forall, "tile.copy")]:
        buffer, source = list(copy.operands)[:2]
        ends = [end for product in products if (end := ancestor_in(copy.block, product))]
        if not ends or not _is_of_block(buffer, forall) or in_shared(source) or buffer in filled:
            continue
        inside = [op.operation for op in in_block(copy.block)]
        first, last = min(map(inside.index, ends)), max(map(inside.index, ends))
        if inside.index(copy) < last:
            continue
        filled.append(buffer)
        if any(SCOPE in product.attributes for product in products):
            raise pass_error(copy, "products that were divided among warps; expected those of whole block tiles")
        while first and inside[first - 1].name in _WAITS:
            first -= 1
        if all(can_stand(value, inside[first]) for value in copy.operands):
            _move(copy, buffer, inside[first])


_WAITS = ("tile.enter", "tile.consumer_wait", "memref.subview")
"""What a consumer does before its first product: the copies come before it."""


def _is_of_block(buffer: Any, forall: Any) -> bool:
    """Whether a buffer is one that the block has for itself."""
    made = buffer.owner
    return in_shared(buffer) and getattr(made, "name", "") == "memref.alloc" and made.operation.block == body(forall)


def can_stand(value: Any, operation: Any) -> bool:
    """Whether a value is known where an operation stands, or can be: what computes it is index arithmetic."""
    if hasattr(value.owner, "operations"):  # the copy's are arguments of blocks around it, or of its own
        return True
    made = value.owner.operation
    at = ancestor_in(made.block, operation)
    if at is None:
        return False
    inside = [op.operation for op in in_block(made.block)]
    return inside.index(made) < inside.index(at) or (
        made.name.startswith("arith.") and all(can_stand(each, operation) for each in made.operands)
    )


def bring(value: Any, operation: Any) -> None:
    """Moves what computes a value in front of an operation, where it stands behind it."""
    if hasattr(value.owner, "operations"):
        return
    made, block = value.owner.operation, operation.block
    inside = [op.operation for op in in_block(block)]
    if made.block == block and inside.index(made) > inside.index(operation):
        for each in made.operands:
            bring(each, operation)
        made.move_before(operation)


def _move(copy: Any, buffer: Any, products: Any) -> None:
    """Copies in front of the products, and waits where the copy stood. The barrier in front of it, which ends them, is
    that after it now."""
    for value in copy.operands:
        bring(value, products)
    inside = [op.operation for op in in_block(copy.block)]
    number = inside.index(copy)
    if inside[number - 1].name == "gpu.barrier":
        inside[number - 1].erase()
    with ir.InsertionPoint(products), copy.location:
        tile.copy_async(buffer, copy.operands[1], tile.place_of(copy))
    with ir.InsertionPoint(copy), copy.location:
        tile.commit()
        tile.await_(0)
    copy.erase()
    made = buffer.owner.operation
    made.move_before(in_block(made.block)[0])
