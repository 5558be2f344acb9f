"""The loops of a kernel of rows, and how a block's tile lies in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import indexing, positions
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.structured import Generic, sizes_of
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.sizes import known_size
from mlir_gemm.dialect.walk import body, in_block


@dataclass(frozen=True)
class RowLoops:
    """The loops of a kernel of rows: first those whose points are the rows, then those along a row."""

    sizes: tuple[Any, ...]
    """Integers, or index values."""
    outer: int
    """How many are the rows'."""

    @property
    def row(self) -> int:
        """The loop over rows that tiles run along; the last."""
        return self.outer - 1

    @property
    def element(self) -> int:
        """The loop along a row that tiles run along; the last."""
        return len(self.sizes) - 1


@dataclass(frozen=True)
class TileShape:
    """How a block's tile lies in the loops."""

    shape: tuple[int, int]
    transposed: bool
    """Whether elements of a row run down the tile, and not along it."""

    @property
    def row_dim(self) -> int:
        """The tile's dimension that rows run along."""
        return int(self.transposed)

    @property
    def element_dim(self) -> int:
        """The tile's dimension that elements of a row run along."""
        return 1 - self.row_dim

    @property
    def rows(self) -> int:
        return self.shape[self.row_dim]

    @property
    def elements(self) -> int:
        return self.shape[self.element_dim]

    def type(self, element: Any, wide: bool) -> Any:
        """The type of a tile of wide or narrow values."""
        shape = list(self.shape)
        if not wide:
            shape[self.element_dim] = 1
        return ir.VectorType.get(shape, element)


def loops_of(work: Sequence[Generic]) -> RowLoops:
    """The loops of a kernel's operations, by its first reduction. Raises PassError for operations in other loops."""
    first = next(generic for generic in work if not generic.elementwise)
    outer = sum(first.parallel)
    sizes: dict[int, Any] = {}
    for generic in work:
        wide = len(generic.parallel) == len(first.parallel)
        expected = first.parallel if not generic.elementwise else (True,) * (len(first.parallel) if wide else outer)
        if generic.parallel != expected:
            raise pass_error(generic.op, f"loops that are not those of a kernel of rows, {outer} and "
                             f"{len(first.parallel) - outer} along a row (normalise-kernels)")  # fmt: skip
        for operand, map_ in zip(generic.operands, generic.maps, strict=True):
            for axis, expression in enumerate(map_.results):
                if isinstance(expression, ir.AffineDimExpr):
                    sizes.setdefault(expression.position, known_size(operand, axis))
    missing = [loop for loop in range(len(first.parallel)) if sizes.get(loop) is None]
    if missing or not outer:
        raise pass_error(first.op, "a loop that indexes no operand on its own; its size cannot be told")
    return RowLoops(tuple(sizes[loop] for loop in range(len(first.parallel))), outer)


def block_position(loops: RowLoops, tile_: TileShape, number: Any) -> dict[int, Any]:
    """The rows' loops at a block of this number: where tiles run along one, the first row of the block's."""
    found: dict[int, Any] = {}
    for loop in reversed(range(loops.outer)):
        step = tile_.rows if loop == loops.row else 1
        count = indexing.ceildiv(loops.sizes[loop], step)
        at = number
        if loop:
            at, number = indexing.rem(number, count), indexing.div(number, count)
        found[loop] = indexing.mul(at, step) if step > 1 else at
    return found


def of_results(work: Sequence[Generic]) -> list[Generic]:
    """What has an element for each of a row of results, where the reduction before is along other rows, of parts of
    these that others have reduced; nothing where it is along the same ones, or sizes are known at run time only."""
    first = next(generic for generic in work if not generic.elementwise)
    wide = [generic for generic in work if generic.elementwise and len(generic.parallel) == len(first.parallel)]
    memory = [
        each for generic in (first, *wide[:1]) for each in generic.operands if isinstance(each.type, ir.MemRefType)
    ]
    if not wide or not all(each.type.has_static_shape for each in memory):
        return []
    return wide if sizes_of(wide[0])[-1] != sizes_of(first)[-1] else []


def statements_of(function: Any) -> list[Any]:
    """The operations of a kernel's function that compute something, fills among them."""
    return [op.operation for op in in_block(body(function)) if op.operation.name.startswith("linalg.")]


def phases(size: Any, chunk: int, unroll: int, is_moved: bool, at_once: int = 0) -> list[tuple[Any, Any, int, bool]]:
    """From where to where loops go along a row of a size, of which an iteration takes a chunk, with how many tiles at a
    time, and whether these lie within the row and need no tests: first those before which the row may begin, if tiles
    are moved, then all that do, then those to its end. These are taken one by one, or, if they are not moved and
    `at_once` says how many elements a tile of all blocks has, in one iteration, which waits for memory once."""
    first = chunk if is_moved else 0
    if not isinstance(size, int) and not is_moved:
        last = indexing.mul(indexing.div(size, chunk), chunk)
        return [(0, last, unroll, True), (last, size, unroll, False)]
    last = size // chunk * chunk if isinstance(size, int) else 0
    if last <= first or (not is_moved and last == size):
        return [(0, size, unroll, False)]
    edges = [] if first == 0 else [(0, first, unroll, False)]
    left = -(-(size - last) // at_once) if at_once and not is_moved else 1
    ends = [] if last == size and not is_moved else [(last, size, left, False)]
    return [*edges, (first, last, unroll, True), *ends]


def reads(generic: Generic, makers: Mapping[Any, Generic], known: Set[Any]) -> Iterator[tuple[Any, Any]]:
    """What of memory an operation, and those that make what it takes, read, with the maps. `makers` are operations by
    what they make; what is `known` is not read."""
    for number, (buffer, map_) in enumerate(zip(generic.inputs, generic.maps, strict=False)):
        if not generic.reads(number) or buffer in known:
            continue
        if buffer in makers:
            yield from reads(makers[buffer], makers, known)
        elif isinstance(buffer.type, ir.MemRefType) and not positions.is_position(buffer):
            yield buffer, map_
