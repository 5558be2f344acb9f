"""promote-operands: the operands of a product are staged in shared memory, one k tile at a time.

Expects a k loop (`tile.loop = "k"`) around a product's point nest, whose factors are affine.loads that move with k.
Leaves a shared-memory buffer for each of them (`memref.alloc` in memory space 3, in front of the k loop, with the
attribute `tile.layout`), a `tile.copy` of its tile at the head of the k loop, and the loads reading the buffer. Refuses
operands that the loop also writes. Loads from shared memory are left alone, so a second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import affine, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, defined_within, in_block, named
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.tile_loops import plain_trips

SHARED = 3
"""NVVM's number of the shared memory space."""
LAYOUT = "tile.layout"
MOST_PAD = 1024
"""Far beyond any use; it keeps sizes from overflowing."""


@dataclass(frozen=True)
class PromoteOperands(Pass):
    """Stage operands in shared memory."""

    name: ClassVar[str] = "promote-operands"
    pad: int = 8
    """Elements added to each row of a buffer (layout `padN`), against bank conflicts."""

    def __post_init__(self) -> None:
        if not 0 <= self.pad <= MOST_PAD:
            raise PassError(f"pass '{self}': pad must be from 0 to {MOST_PAD}")

    def run(self, module: Any) -> None:
        for loop in named(module, "affine.for"):
            if affine.level_of(loop) == "k":
                _promote(loop, self.pad)


def _promote(k_loop: Any, pad: int) -> None:
    k = affine.induction_variable(k_loop)
    loads = [op for op in named(k_loop, "affine.load") if _moves_with(op, k)]
    written = [affine.access(store)[0] for store in named(k_loop, "affine.store")]
    for load in reversed(loads):  # each puts its copy at the head of the loop: the first one ends up first
        memory, indices = affine.access(load)
        assert indices is not None  # _moves_with saw to it
        if memory in written:
            raise pass_error(load, "an operand that the k loop also writes cannot be staged")
        tile_shape, offsets, points = _split(load, indices)
        if any(defined_within(value, k_loop) for offset in offsets for value in offset.without([k]).terms):
            raise pass_error(load, "an operand whose tile starts at an index made inside the k loop cannot be staged")
        buffer = _make_buffer(k_loop, load, tile_shape, pad)
        with ir.InsertionPoint(in_block(body(k_loop))[0]), load.location:
            tile.copy(buffer, memory, [offset.build() for offset in offsets])
        affine.rebuild_access(load, buffer, points)


def _moves_with(load: Any, k: Any) -> bool:
    memory, indices = affine.access(load)
    if memory.type.memory_space is not None:
        return False
    if indices is None:
        raise pass_error(load, "an operand whose indices are not linear in the loops cannot be staged")
    return any(index.coefficient(k) for index in indices)


def _split(load: Any, indices: list[affine.Linear]) -> tuple[list[int], list[affine.Linear], list[affine.Linear]]:
    """The tile's shape, where it starts in the operand, and the position inside it."""
    shape: list[int] = []
    offsets: list[affine.Linear] = []
    points: list[affine.Linear] = []
    for index in indices:
        inner = [value for value in index.terms if affine.is_point(value)]
        trips = plain_trips(inner[0].owner.owner.opview) if len(inner) == 1 else None
        if trips is None or index.coefficient(inner[0]) != 1:
            raise pass_error(load, "each dimension of an operand must run along one loop of the tile to be staged")
        shape.append(trips)
        offsets.append(index.without(inner))
        points.append(affine.Linear({inner[0]: 1}))
    return shape, offsets, points


def _make_buffer(k_loop: Any, load: Any, shape: list[int], pad: int) -> Any:
    space = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), SHARED)
    element = load.operation.results[0].type
    with ir.InsertionPoint(k_loop), load.location:
        alloc = dialect("memref").AllocOp(ir.MemRefType.get(shape, element, memory_space=space), [], [])
    alloc.operation.attributes[LAYOUT] = ir.StringAttr.get(f"pad{pad}")
    return alloc.result
