"""tile.grid_reduce by the blocks of a group: numbers in words of global memory, each with a tag.

The first thread of a block writes its words with the tag after the one that they had. The lanes of the first warp load
the words of all blocks, again and again until all have that tag, and combine them; the others wait at the block's
barrier. A word is written and read at once, and brings its number along: no other access is ordered, so that there is
no fence, and nothing is reset. Blocks meet in an order that their number fixes: those of a lane by their ranks, then
lanes at half the distance again and again.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from mlir_gemm.dialect import constants, guards, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.grid_exchange import FIXED, words_of
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import shared_buffer
from mlir_gemm.dialect.reductions import combine_of
from mlir_gemm.dialect.walk import body, in_block, parents
from mlir_gemm.lowering.cluster_exchange import as_word, from_word, word_type
from mlir_gemm.lowering.row_reduction import shuffled
from mlir_gemm.lowering.stream_k_fixup import SCOPE
from mlir_gemm.spec.threads import LANES

Values = list[Any]
"""A number of each value, of one row."""
_WORD_BYTES, _HALF = 8, 32


class GridReduction:
    """One tile.grid_reduce, emitted at the insertion point."""

    def __init__(self, operation: Any, threads: int) -> None:
        """`threads` are those of a block."""
        self.operation, self.threads = operation, threads
        *around, self.kernel = itertools.takewhile(lambda each: each.operation.name != "gpu.module", parents(operation))
        if any(each.operation.name != "scf.for" for each in around):
            raise pass_error(operation, f"a reduction by blocks of the grid in '{around[0].operation.name}'; expected "
                             "it where all blocks of a group come")  # fmt: skip
        self.in_loop = bool(around)
        self.combine = combine_of(operation)
        self.words, self.line, self.rank = list(operation.operands)[:FIXED]
        self.types = [value.type.element_type for value in list(operation.operands)[FIXED:]]
        self.rows = operation.results[0].type.shape[0]
        self.blocks, self.each = self.words.type.shape[1:]

    def emit(self, pieces: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """The pieces of the results, of one element for each row, from those of the values."""
        vector, memref = dialect("vector"), dialect("memref")
        with ir.InsertionPoint(in_block(body(self.kernel))[0]), self.kernel.location:
            buffers = [shared_buffer([self.rows], word_type(type_)) for type_ in self.types]
        tag, is_first = self._next_tag(), indexing.equal(indexing.thread(), 0)
        rows = [[vector.ExtractOp(each[row], [], [0]).result for each in pieces] for row in range(self.rows)]
        guards.do(is_first, lambda: self._write([number for row in rows for number in row], tag))

        def gather() -> None:
            found = [self._over_lanes(values) for values in self._of_lane(tag)]

            def hand_out() -> None:
                for row, values in enumerate(found):
                    for value, buffer in zip(values, buffers, strict=True):
                        memref.StoreOp(as_word(value), buffer, [constants.index(row)])

            guards.do(is_first, hand_out)

        guards.do(guards.less(indexing.thread(), LANES), gather)
        dialect("gpu").BarrierOp()
        loaded = [
            [memref.LoadOp(buffer, [constants.index(row)]).result for row in range(self.rows)] for buffer in buffers
        ]
        if self.in_loop and self.threads == LANES:  # others meet before the next result is stored there
            dialect("gpu").BarrierOp()
        return [
            [vector.FromElementsOp(ir.VectorType.get([1], type_), [from_word(word, type_)]).result for word in words]
            for words, type_ in zip(loaded, self.types, strict=True)
        ]

    def _next_tag(self) -> Any:
        """In the upper half of a word the tag that this block's words get: read early, so that nobody waits for it."""
        arith = dialect("arith")
        inside = [op.operation for op in in_block(self.operation.block)]
        makers = [value.owner.operation for value in (self.line, self.rank) if not hasattr(value.owner, "operations")]
        last = max((inside.index(maker) for maker in makers if maker in inside), default=-1)
        with ir.InsertionPoint(inside[last + 1]), self.operation.location:
            old = self._load(self._pointer(self.rank, 0))
            upper = arith.AndIOp(old, _i64(-1 << _HALF)).result
            return arith.AddIOp(upper, _i64(1 << _HALF)).result

    def _write(self, numbers: Values, tag: Any) -> None:
        """Writes this block's line."""
        arith, llvm, i64 = dialect("arith"), dialect("llvm"), ir.IntegerType.get_signless(64)
        halves: list[Any] = []
        for number in numbers:
            word = as_word(number)
            if word.type == i64:
                halves += [arith.AndIOp(word, _i64((1 << _HALF) - 1)).result, arith.ShRUIOp(word, _i64(_HALF)).result]
            else:
                halves.append(arith.ExtUIOp(i64, word).result)
        order = llvm.AtomicOrdering.monotonic
        for place, half in enumerate(halves):
            pointer = self._pointer(self.rank, place)
            llvm.StoreOp(arith.OrIOp(half, tag).result, pointer, alignment=_WORD_BYTES, ordering=order, syncscope=SCOPE)

    def _of_lane(self, tag: Any) -> list[Values]:
        """What the blocks of a lane have of each row, combined: waits until all have written."""
        arith, scf, i64 = dialect("arith"), dialect("scf"), ir.IntegerType.get_signless(64)
        turns = -(-self.blocks // LANES)
        lane = indexing.thread()
        pointers: list[Any] = []
        for turn in range(turns):
            block = indexing.add(lane, turn * LANES)
            if (turn + 1) * LANES > self.blocks:
                block = arith.MinUIOp(block, constants.index(self.blocks - 1)).result
            pointers += [self._pointer(block, place) for place in range(self.each)]
        loop = scf.WhileOp([i64] * len(pointers), [])
        with ir.InsertionPoint(loop.before.blocks.append()):
            words = [self._load(pointer) for pointer in pointers]
            waits: Any = None
            for word in words:
                other = arith.CmpIOp(arith.CmpIPredicate.uge, arith.XOrIOp(word, tag).result, _i64(1 << _HALF)).result
                waits = other if waits is None else arith.OrIOp(waits, other).result
            scf.ConditionOp(waits, words)
        with ir.InsertionPoint(loop.after.blocks.append(*[i64] * len(pointers))):
            scf.YieldOp([])
        found = list(loop.results)
        rows = self._numbers(found[: self.each])
        for turn in range(1, turns):
            has = None
            if (turn + 1) * LANES > self.blocks:
                has = guards.less(indexing.add(lane, turn * LANES), self.blocks)
            more = self._numbers(found[turn * self.each : (turn + 1) * self.each])
            rows = [self._added(values, others, has) for values, others in zip(rows, more, strict=True)]
        return rows

    def _added(self, values: Values, others: Values, has: Any) -> Values:
        """Values with others, where there are such."""
        combined, select = self.combine(values, others), dialect("arith").SelectOp
        if has is None:
            return combined
        return [select(has, new, old).result for new, old in zip(combined, values, strict=True)]

    def _over_lanes(self, values: Values) -> Values:
        """What the first lane has after all have been combined: those of fewer blocks than lanes are left out."""
        lanes = min(self.blocks, LANES)
        distance = 1 << ((lanes - 1).bit_length() - 1)
        while distance:
            others = [shuffled(value, distance) for value in values]
            has = None
            if lanes % (2 * distance):
                has = guards.less(indexing.add(indexing.thread(), distance), lanes)
            values, distance = self._added(values, others, has), distance // 2
        return values

    def _numbers(self, words: Sequence[Any]) -> list[Values]:
        """The numbers of a line of words, of each row."""
        arith, rest = dialect("arith"), iter(words)
        i32 = ir.IntegerType.get_signless(_HALF)

        def number(type_: Any) -> Any:
            if words_of(type_) == 1:
                return from_word(arith.TruncIOp(i32, next(rest)).result, type_)
            low, high = arith.AndIOp(next(rest), _i64((1 << _HALF) - 1)).result, next(rest)
            return from_word(arith.OrIOp(low, arith.ShLIOp(high, _i64(_HALF)).result).result, type_)

        return [[number(type_) for type_ in self.types] for _ in range(self.rows)]

    def _load(self, pointer: Any) -> Any:
        llvm, i64 = dialect("llvm"), ir.IntegerType.get_signless(64)
        order = llvm.AtomicOrdering.monotonic
        load = llvm.LoadOp(i64, pointer, alignment=_WORD_BYTES, ordering=order, syncscope=SCOPE)
        return load.operation.results[0]

    def _pointer(self, block: Any, place: int) -> Any:
        """A pointer to a word of a block of this group."""
        line = indexing.add(indexing.mul(self.line, self.blocks), block)
        word = indexing.add(indexing.mul(line, self.each), place)
        base = dialect("memref").ExtractAlignedPointerAsIndexOp(self.words).result
        at = indexing.add(base, indexing.mul(word, _WORD_BYTES))
        number = dialect("arith").IndexCastUIOp(ir.IntegerType.get_signless(64), at).result
        return dialect("llvm").IntToPtrOp(ir.Type.parse("!llvm.ptr<1>"), number).operation.results[0]


def _i64(number: int) -> Any:
    return dialect("arith").ConstantOp(ir.IntegerType.get_signless(64), number).result
