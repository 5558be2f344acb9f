"""parallelize-blocks: proves that the block loops are parallel and makes them one affine.parallel.

Expects affine block loops around tile operations. A loop is parallel when no two of its iterations touch the same
element with a write among them: for each buffer that is written, some dimension's offset must move by at least the
tile's extent from one iteration to the next, whatever the loops inside do. Leaves an affine.parallel over all block
loops of a nest. Refuses, naming the access, when independence cannot be proved or an operation touches memory in a way
that it does not know. Assumes that different memrefs do not overlap, as linalg does, but for subviews of one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import affine, constants, tile, transposes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, is_within, named, operations, parents
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.tile.tile_loops import trips_of

_NO_ACCESS = (
    "memref.alloc", "memref.dealloc", "memref.subview", "tile.ring", "tile.producer_acquire",
    "tile.consumer_wait", "tile.consumer_release",
)  # fmt: skip
"""Operations on memrefs that touch no element."""
_PARTS = ("tile.sparse", "tile.composite")
"""Those that make a tile of buffers, which is nowhere in memory."""
_MADE = (*_PARTS, transposes.NAME)
"""Those, and what is transposed where it lies: whose results are read as what they are made of."""
_WHOLE = ("tile.mma", *_PARTS)
"""Those that read all of them."""


@dataclass(frozen=True)
class ParallelizeBlocks(Pass):
    """Prove block loops parallel and collapse them."""

    name: ClassVar[str] = "parallelize-blocks"

    def run(self, module: Any) -> None:
        blocks = [loop for loop in named(module, "affine.for") if affine.level_of(loop) == "block"]
        for outer in [loop for loop in blocks if affine.level_of(next(parents(loop))) != "block"]:
            nest = [loop for loop in affine.perfect_nest(outer) if affine.level_of(loop) == "block"]
            for position, loop in enumerate(nest):
                _prove_parallel(loop, nest[:position])
            _collapse(nest)


@dataclass(frozen=True)
class Touch:
    """One access to a buffer: where it starts, how far it extends in each dimension, and whether it writes."""

    operation: Any
    memory: Any
    offsets: tuple[affine.Linear, ...]
    extents: tuple[int, ...]
    writes: bool


def touches(root: Any) -> list[Touch]:
    """All accesses inside `root` to buffers that live outside it. Raises PassError where they cannot be told."""
    found: list[Touch] = []
    for operation in operations(root):
        for touch in _touches_of(operation):
            base, starts = _through_views(touch.memory)
            definition = _definition(base)
            if definition.operation.name == "memref.alloc" and is_within(definition, root):
                continue
            if starts is None or is_within(definition, root):
                raise pass_error(operation, "an access through a view or to a buffer that cannot be followed")
            outer = len(starts) - len(touch.offsets)
            own = (*[affine.Linear({})] * outer, *touch.offsets)
            offsets = tuple(a + b for a, b in zip(own, starts, strict=True))
            found.append(Touch(operation, base, offsets, (*[1] * outer, *touch.extents), touch.writes))
    return found


def _through_views(memory: Any) -> tuple[Any, list[affine.Linear] | None]:
    """The buffer that a memref is a view of, and where it starts there; None if that is not a plain region. The buffer
    may have leading dimensions that a view is at one index of."""
    starts: list[affine.Linear] | None = [affine.Linear({}) for _ in memory.type.shape]
    while getattr(memory.owner, "name", "") == "memref.subview":
        source, *dynamic = memory.owner.operands
        static = list(memory.owner.attributes["static_offsets"])
        marker = ir.ShapedType.get_dynamic_stride_or_offset()
        offsets = [affine.linear_of(dynamic.pop(0)) if s == marker else affine.Linear({}, s) for s in static]
        shape, outer = list(memory.type.shape), len(offsets) - len(memory.type.shape)
        whole = list(memory.owner.attributes["static_sizes"]) == [*[1] * outer, *shape]
        plain = set(memory.owner.attributes["static_strides"]) == {1} and (not outer or whole)
        inside = [affine.Linear({})] * outer + starts if starts is not None and plain else None
        starts = None if inside is None else [a + b for a, b in zip(inside, offsets, strict=True)]
        memory = source
    return memory, starts


def _definition(memory: Any) -> Any:
    return memory.owner.owner if hasattr(memory.owner, "operations") else memory.owner


def _touches_of(operation: Any) -> list[Touch]:
    operands = list(operation.operation.operands)
    name = operation.operation.name
    if name in ("affine.load", "affine.store"):
        memory, indices = affine.access(operation)
        if indices is None:
            raise pass_error(
                operation, "an access whose indices are not linear in the loops; cannot prove blocks independent"
            )
        return [Touch(operation, memory, tuple(indices), (1,) * len(indices), name == "affine.store")]
    if name in ("tile.load", "tile.store"):
        return [_tile_touch(operation, name == "tile.store")]
    if name in ("tile.copy", "tile.copy_async", "tile.tma_load"):
        return [_tile_touch(operation, False), _whole_touch(operation, operands[0], True)]
    if name == transposes.NAME:
        return [_whole_touch(operation, operands[0], True)]
    memrefs = [operand for operand in operands if isinstance(operand.type, ir.MemRefType)]
    if memrefs and name not in _WHOLE and name not in _NO_ACCESS:
        raise pass_error(operation, f"cannot tell what '{name}' touches; cannot prove blocks independent")
    read = [memref for memref in memrefs if getattr(memref.owner, "name", "") not in _MADE]  # which read buffers
    return [_whole_touch(operation, memref, False) for memref in read] if name in _WHOLE else []


def _whole_touch(operation: Any, memory: Any, writes: bool) -> Touch:
    shape = tuple(memory.type.shape)
    return Touch(operation, memory, (affine.Linear({}),) * len(shape), shape, writes)


def _tile_touch(operation: Any, writes: bool) -> Touch:
    """What the access of a tile in global memory touches: one index of the dimensions that it does not run along."""
    place = tile.place_of(operation)
    op = operation.operation
    shape = (op.results[0] if op.name == "tile.load" else op.operands[0]).type.shape
    extents = tuple(1 if dim < 0 else shape[dim] for dim in place.dims)
    offsets = tuple(affine.linear_of(offset) for offset in place.offsets)
    return Touch(operation, tile.memory_of(operation), offsets, extents, writes)


def _prove_parallel(loop: Any, around: list[Any]) -> None:
    """Iterations of `loop` must be independent in each iteration of the loops around it, whatever those inside do."""
    iv = affine.induction_variable(loop)
    fixed = {affine.induction_variable(other) for other in around}
    accesses = touches(loop)
    for first in accesses:
        for second in accesses:
            if first.memory == second.memory and first.writes and not _independent(first, second, iv, fixed):
                raise pass_error(
                    second.operation,
                    "cannot prove that blocks are independent: this touches elements that another iteration of a "
                    "block loop writes; each block must write a tile of its own",
                )


def _independent(first: Touch, second: Touch, iv: Any, fixed: set[Any]) -> bool:
    """Whether two accesses in different iterations of the loop over `iv` never meet when those in `fixed` are equal."""
    for a, b, extent_a, extent_b in zip(first.offsets, second.offsets, first.extents, second.extents, strict=True):
        free = (set(a.terms) | set(b.terms)) - {iv} - fixed
        same = a.coefficient(iv) == b.coefficient(iv) and a.without([iv]) == b.without([iv])
        if same and abs(a.coefficient(iv)) >= max(extent_a, extent_b) + sum(_reach(a, value) for value in free):
            return True
    return False


def _reach(index: affine.Linear, value: Any) -> int:
    """How far an inner loop moves an index; far beyond any tile when its trip count is not known."""
    loop = value.owner.owner if hasattr(value.owner, "operations") else None
    known = loop is not None and loop.operation.name == "affine.for" and affine.starts_at_zero_by_one(loop.opview)
    trips = affine.extent_of(value) if known else 0
    return abs(index.coefficient(value)) * (trips - 1) if trips else 1 << 62


def _collapse(nest: list[Any]) -> None:
    outer = nest[0]
    trips = [trips_of(loop) for loop in nest]
    if any(trip is None for trip in trips):
        raise pass_error(outer, "block loops must run from 0 in steps of 1 and carry no values")
    with ir.InsertionPoint(outer), outer.location:
        parallel = _make_parallel(trips)
    target = body(parallel)
    anchor = in_block(target)[0]
    for operation in in_block(body(nest[-1]))[:-1]:
        operation.operation.move_before(anchor)
    for loop, argument in zip(nest, target.arguments, strict=True):
        affine.induction_variable(loop).replace_all_uses_with(argument)
    outer.operation.erase()


def _make_parallel(trips: list[Any]) -> Any:
    values = [trip for trip in trips if not isinstance(trip, int)]
    symbols = iter(ir.AffineSymbolExpr.get(number) for number in range(len(values)))
    bounds = [ir.AffineConstantExpr.get(trip) if isinstance(trip, int) else next(symbols) for trip in trips]
    zeros = [ir.AffineConstantExpr.get(0) for _ in trips]
    groups = ir.DenseElementsAttr.get_splat(
        ir.RankedTensorType.get([len(trips)], ir.IntegerType.get_signless(32)),
        ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 1),
    )
    parallel = ir.Operation.create(
        "affine.parallel",
        operands=values,
        attributes={
            "reductions": ir.ArrayAttr.get([]),
            "lowerBoundsMap": ir.AffineMapAttr.get(ir.AffineMap.get(0, 0, zeros)),
            "upperBoundsMap": ir.AffineMapAttr.get(ir.AffineMap.get(0, len(values), bounds)),
            "lowerBoundsGroups": groups,
            "upperBoundsGroups": groups,
            "steps": ir.ArrayAttr.get([constants.integer(1) for _ in trips]),
        },
        regions=1,
    )
    parallel.regions[0].blocks.append(*[ir.IndexType.get() for _ in trips])
    with ir.InsertionPoint(body(parallel)):
        affine.yield_()
    return parallel
