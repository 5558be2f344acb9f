"""tile.reduce by the threads of a block: in each thread, by shuffles in a warp, through shared memory between warps,
and between the blocks of a cluster through each other's.

The order in which elements meet is fixed by the tile's shape and the block's threads: the same bits in every run. All
threads that a result is for get the same bits: in each exchange both sides combine the same two values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants, guards, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import shared_buffer, vector_bytes
from mlir_gemm.dialect.reductions import BLOCKS, combine_of
from mlir_gemm.dialect.walk import body, in_block, parents
from mlir_gemm.lowering import cluster_exchange as exchange
from mlir_gemm.lowering import shared_address
from mlir_gemm.lowering.row_pieces import Threads, shape_of
from mlir_gemm.spec.threads import LANES

Values = list[Any]
"""One piece, or element, of each value that is reduced."""


@dataclass
class RowReduction:
    """One tile.reduce, emitted at the insertion point."""

    operation: Any
    threads: Threads
    narrow: bool = False
    """Whether each thread has what its block has found of a row, and only blocks are left."""

    def __post_init__(self) -> None:
        self.combine: Callable[[Sequence[Any], Sequence[Any]], Values] = combine_of(self.operation)
        self.dim = ir.IntegerAttr(self.operation.attributes["dim"]).value

    def emit(self, pieces: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """The pieces of each result, from those of each value."""
        shape = shape_of(self.operation.operands[0].type)
        down, along = self.threads.layout(shape).grid(shape)
        grid = [[[each[row * along + column] for each in pieces] for column in range(along)] for row in range(down)]
        if self.dim == 1:
            self.narrow = shape[1] == 1
            whole = [row[0] for row in grid] if self.narrow else None
            found = whole or self._along([self._scalar(self._tree(row)) for row in grid])
            blocks = constants.number_of(self.operation, BLOCKS, 1)
            if blocks > 1:
                found = self._of_cluster(found, blocks)
        else:
            found = self._down([self._tree([row[column] for row in grid]) for column in range(along)])
        return [[values[number] for values in found] for number in range(len(pieces))]

    def _tree(self, values: list[Values]) -> Values:
        """Neighbours combined until one is left."""
        while len(values) > 1:
            pairs = [self.combine(*values[n : n + 2]) for n in range(0, len(values) - 1, 2)]
            values = [*pairs, *values[len(pairs) * 2 :]]
        return values[0]

    def _scalar(self, values: Values) -> Values:
        """The elements of a piece combined."""
        extract = dialect("vector").ExtractOp
        size = values[0].type.shape[0]
        return self._tree([[extract(value, [], [place]).result for value in values] for place in range(size)])

    def _along(self, rows: list[Values]) -> list[Values]:
        """For each row what its group's threads have, combined, as pieces of one element."""
        threads = self.threads
        warps = max(1, threads.across // LANES)
        rows = [self._exchanged(values, min(threads.across, LANES) // 2, 1) for values in rows]
        if warps > 1:
            first = indexing.add(indexing.mul(threads.row, warps), indexing.div(threads.column, LANES))
            is_first = indexing.equal(indexing.rem(threads.column, LANES), 0)
            buffers = self._buffers([len(rows), threads.groups * warps], rows[0])
            self._write(is_first, buffers, rows, first)
            own = indexing.add(indexing.mul(threads.row, warps), indexing.rem(threads.number, warps))
            rows = [
                [_load(buffer, [constants.index(n), own], v.type) for buffer, v in zip(buffers, values, strict=True)]
                for n, values in enumerate(rows)
            ]
            rows = [self._exchanged(values, warps // 2, 1) for values in rows]
            self._end()
        return [[_piece([value]) for value in values] for values in rows]

    def _of_cluster(self, rows: list[Values], blocks: int) -> list[Values]:
        """For each row the values of the blocks of the cluster, combined in an order that their ranks fix: the first
        threads of each group send its value to all blocks, and each block combines what it received. Where that is all
        that is reduced, a lane has a block's, and they combine as lanes do: a body takes many operations for a pair."""
        threads, kernel = self.threads, self._kernel()
        if next(parents(self.operation)).operation.name != "gpu.func":
            raise pass_error(self.operation, "a reduction by a cluster in a loop; expected it after the loop")
        rows = [[_element(value) for value in values] for values in rows]
        words = [[exchange.as_word(value) for value in values] for values in rows]
        buffers = self._buffers([len(rows), threads.groups, blocks], words[0])
        exchange.meet_first(kernel)
        number = [word.type.width // 8 for word in words[0]]
        counted = exchange.mbarrier(kernel)
        line = indexing.add(indexing.mul(threads.row, blocks), _rank())
        places = [
            shared_address.pointer(indexing.add(
                shared_address.base(buffer), indexing.mul(indexing.add(line, n * threads.groups * blocks), bytes_)))
            for n in range(len(rows)) for buffer, bytes_ in zip(buffers, number, strict=True)
        ]  # fmt: skip
        flat = [word for each in words for word in each]
        exchange.to_all(blocks, threads.column, threads.across,
                        lambda block: exchange.hand_over(flat, places, counted, block))  # fmt: skip
        exchange.announce(counted, len(rows) * threads.groups * blocks * sum(number))
        exchange.wait(counted)

        def of(block: Any, n: int) -> Values:
            at = [constants.index(n), threads.row, block]
            return [exchange.from_word(_load(buffer, at, word.type), value.type)
                    for buffer, word, value in zip(buffers, words[n], rows[n], strict=True)]  # fmt: skip

        if self.narrow and threads.across >= LANES:
            own = indexing.rem(threads.column, blocks)
            lanes = [self._exchanged(of(own, n), blocks // 2, 1) for n in range(len(rows))]
            found = [[of_first_lane(value) for value in values] for values in lanes]
        else:
            each = [constants.index(block) for block in range(blocks)]
            found = [self._tree([of(block, n) for block in each]) for n in range(len(rows))]
        return [[_piece([value]) for value in values] for values in found]

    def _kernel(self) -> Any:
        return next(parent for parent in parents(self.operation) if parent.operation.name == "gpu.func")

    def _down(self, columns: list[Values]) -> list[Values]:
        """For each column of fragments what the groups of threads have, combined."""
        threads = self.threads
        if threads.across < LANES:
            columns = [self._by_element(values, threads.across) for values in columns]
        writers = threads.count // max(threads.across, LANES)
        if writers > 1:
            warp = indexing.div(threads.number, max(threads.across, LANES))
            condition = indexing.equal(indexing.div(indexing.rem(threads.number, LANES), threads.across), 0)
            at = indexing.mul(threads.column, threads.width)
            whole = threads.across * threads.width
            buffers = self._buffers([len(columns), writers, whole], columns[0])
            self._write(condition if threads.across < LANES else None, buffers, columns, warp, at)
            found: list[Values] = []
            for number, values in enumerate(columns):
                parts = [
                    [_load(buffer, [constants.index(number), constants.index(writer), at], value.type)
                     for buffer, value in zip(buffers, values, strict=True)]
                    for writer in range(writers)
                ]  # fmt: skip
                found.append(self._tree(parts))
            columns = found
            self._end()
        return columns

    def _by_element(self, values: Values, least: int) -> Values:
        extract, size = dialect("vector").ExtractOp, values[0].type.shape[0]
        elements = [[extract(value, [], [place]).result for value in values] for place in range(size)]
        found = [self._exchanged(each, LANES // 2, least) for each in elements]
        return [_piece([each[number] for each in found]) for number in range(len(values))]

    def _exchanged(self, values: Values, distance: int, least: int) -> Values:
        """What lanes have, combined with those at half the distance, again and again."""
        while distance >= least:
            values = self.combine(values, [shuffled(value, distance) for value in values])
            distance //= 2
        return values

    def _buffers(self, shape: list[int], values: Values) -> list[Any]:
        with ir.InsertionPoint(in_block(body(self._kernel()))[0]):
            return [shared_buffer(shape, _stored(getattr(v.type, "element_type", v.type))) for v in values]

    def _write(self, condition: Any, buffers: list[Any], values: list[Values], *at: Any) -> None:
        def write() -> None:
            for number, each in enumerate(values):
                for buffer, value in zip(buffers, each, strict=True):
                    _store(value, buffer, [constants.index(number), *at])

        guards.do(condition, write)
        dialect("gpu").BarrierOp()

    def _end(self) -> None:
        """In a loop the next iteration writes where this one reads."""
        if next(parents(self.operation)).operation.name != "gpu.func":
            dialect("gpu").BarrierOp()


def _rank() -> Any:
    """The number of the block in its cluster."""
    number = dialect("nvvm").BlockInClusterIdXOp(results=[ir.IntegerType.get_signless(32)]).operation.results[0]
    return dialect("arith").IndexCastUIOp(ir.IndexType.get(), number).result


def _element(piece: Any) -> Any:
    """The number that a piece of one element holds."""
    return dialect("vector").ExtractOp(piece, [], [0]).result


def _piece(elements: list[Any]) -> Any:
    return dialect("vector").FromElementsOp(ir.VectorType.get([len(elements)], elements[0].type), elements).result


def _stored(element: Any) -> Any:
    """The type in which elements lie in memory: an i1 takes a byte."""
    return ir.IntegerType.get_signless(8) if _is_bit(element) else element


def _is_bit(element: Any) -> bool:
    return isinstance(element, ir.IntegerType) and element.width == 1


def _store(value: Any, buffer: Any, indices: list[Any]) -> None:
    value = _as_stored(value)
    if isinstance(value.type, ir.VectorType):
        dialect("vector").StoreOp(value, buffer, indices, alignment=vector_bytes(value.type))
    else:
        dialect("memref").StoreOp(value, buffer, indices)


def _as_stored(value: Any) -> Any:
    """A number or a piece as it lies in memory."""
    element = getattr(value.type, "element_type", value.type)
    if not _is_bit(element):
        return value
    type_ = _stored(element)
    wide = ir.VectorType.get(value.type.shape, type_) if isinstance(value.type, ir.VectorType) else type_
    return dialect("arith").ExtUIOp(wide, value).result


def _load(buffer: Any, indices: list[Any], type_: Any) -> Any:
    element = buffer.type.element_type
    if isinstance(type_, ir.VectorType):
        held = ir.VectorType.get(type_.shape, element)
        value = dialect("vector").LoadOp(held, buffer, indices, alignment=vector_bytes(held)).result
    else:
        value = dialect("memref").LoadOp(buffer, indices).result
    return value if value.type == type_ else dialect("arith").TruncIOp(type_, value).result


def of_first_lane(value: Any) -> Any:
    """What the first lane has of a number, at the insertion point."""
    return shuffled(value, 0, "idx")


def shuffled(value: Any, distance: int, mode: str = "xor") -> Any:
    """What the lane at a distance (by exclusive or), or, with `idx`, at a place has of a number, at the insertion
    point. Shuffles move 32 bits: narrower numbers go in the low bits of one, f64 and i64 in two."""
    arith, vector = dialect("arith"), dialect("vector")
    type_ = value.type
    i32 = ir.IntegerType.get_signless(32)
    if type_.width == 32:
        return _shuffle(value, distance, mode)
    bits = ir.IntegerType.get_signless(type_.width)
    plain = value if type_ == bits else arith.BitcastOp(bits, value).result
    if type_.width == 64:
        halves = vector.BitCastOp(ir.VectorType.get([2], i32), _piece([plain])).result
        moved = [_shuffle(vector.ExtractOp(halves, [], [n]).result, distance, mode) for n in range(2)]
        both = vector.BitCastOp(ir.VectorType.get([1], bits), _piece(moved)).result
        found = vector.ExtractOp(both, [], [0]).result
    else:
        found = arith.TruncIOp(bits, _shuffle(arith.ExtUIOp(i32, plain).result, distance, mode)).result
    return found if type_ == bits else arith.BitcastOp(type_, found).result


def _shuffle(value: Any, distance: int, mode: str) -> Any:
    i32 = ir.IntegerType.get_signless(32)
    arith = dialect("arith")
    by, width = (arith.ConstantOp(i32, number).result for number in (distance, LANES))
    attributes = {"mode": ir.Attribute.parse(f"#gpu<shuffle_mode {mode}>")}
    shuffle = ir.Operation.create("gpu.shuffle", results=[value.type, ir.IntegerType.get_signless(1)],
                                  operands=[value, by, width], attributes=attributes)  # fmt: skip
    return shuffle.results[0]
