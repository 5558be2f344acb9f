"""A tile of bytes in shared memory, transposed in place by the warps that multiply.

The tile is squares of 128 rows of 128 bytes, panels of the layout `swizzle128`; transposed, each is 128 rows of the
same panel. A square is 8 x 8 blocks of 16 x 16 bytes. A warp exchanges two blocks that mirror each other at a time, or
transposes two on the diagonal, so that nothing need wait for other warps in between:

- ldmatrix.trans loads both as matrices of 16-bit elements, two for each block. A lane gets two neighbours of a row of
  the block at two places of K of each, as for A in registers (`wgmma_registers`).
- Of two such words two `prmt` make one word with four places of K of one row of the result, and one of the next row.
- stmatrix stores these. The first matrix of a block has the rows 0, 2, 4, 6, 9, 11, 13 and 15, the second the others,
  so that the eight rows of each lie in different chunks of a line of 128 bytes; so do those that are loaded.

The four warps of a group take the pairs of blocks whose numbers differ by an XOR of `d`, one each, for every d from 0
to 7: the pairs (i, i ^ d) with the top bit of d clear in i. With d = 0 these are blocks on the diagonal, i and i ^ 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.lowering import assembly, shared_address
from mlir_gemm.lowering.named_barriers import sync_warpgroup, sync_warpgroups
from mlir_gemm.lowering.wgmma_registers import PERMUTE, SELECTORS
from mlir_gemm.spec.threads import LANES, WARPGROUP

SIDE, BLOCK, BLOCKS = 128, 16, 8
"""Bytes of a side of a square and of a block, and blocks along a side."""
GROUP, TOGETHER = 4, 4
"""Warps that share a square, and pairs of blocks of a warp that are loaded before any is stored."""


@dataclass(frozen=True)
class Lane:
    """What a lane does of every pair of blocks: its 16 lanes' block of the two, and rows of matrices."""

    half: Any
    """Which of the two blocks: the upper or the lower one."""
    load: Any
    """Bytes from a block to the row that the lane's address is of, and ..."""
    loaded: Any
    """... what the swizzle moves its chunk by."""
    store: Any
    stored: Any
    selectors: tuple[Any, Any]
    """Which bytes of two words make the words that are stored first and second."""

    @staticmethod
    def of(lane: Any) -> Lane:
        arith, i32 = dialect("arith"), ir.IntegerType.get_signless(32)
        matrix, row = indexing.div(lane, 8), indexing.rem(lane, 8)
        second = indexing.rem(matrix, 2)
        crossed = arith.XOrIOp(indexing.div(row, 4), second).result
        k = indexing.add(indexing.mul(indexing.div(row, 2), 4), indexing.rem(row, 2))
        k = indexing.add(k, indexing.mul(crossed, 2))
        n = indexing.add(indexing.mul(row, 2), crossed)
        early, upper = (
            arith.CmpIOp(arith.CmpIPredicate.ult, value, constants.index(bound)).result
            for value, bound in ((indexing.rem(lane, 4), 2), (lane, LANES // 2))
        )
        even, odd = (
            arith.SelectOp(early, *(arith.ConstantOp(i32, each).result for each in pair)).result for pair in SELECTORS
        )
        first, last = (arith.SelectOp(upper, *pair).result for pair in ((even, odd), (odd, even)))
        return Lane(
            indexing.div(matrix, 2), indexing.mul(k, SIDE), indexing.rem(k, BLOCKS), indexing.mul(n, SIDE),
            indexing.rem(n, BLOCKS), (first, last),
        )  # fmt: skip


def emit(op: Any) -> None:
    """The code of a thread for a tile.transpose, at the insertion point."""
    memory = op.operands[0]
    k, n = memory.type.shape
    warps = constants.number_of(op, "consumers")
    groups, squares = warps // GROUP, n // SIDE
    wrong = memory.type.element_type.width != 8 or k != SIDE or n % SIDE or shared_address.panel_bytes(memory) != SIDE
    if wrong or warps % GROUP or (squares % groups and groups % squares) or groups // squares > 2:
        raise pass_error(
            op, f"a tile of {memory.type} by {warps} warps; expected squares of {SIDE} bytes of the layout swizzle128, "
            f"one or more for each {2 * GROUP} warps"
        )  # fmt: skip
    thread = indexing.thread()
    unit = indexing.div(thread, WARPGROUP)
    group = indexing.rem(unit, groups)
    lane, start = Lane.of(indexing.rem(thread, LANES)), shared_address.address(memory)
    warp = indexing.rem(indexing.div(thread, LANES), GROUP)
    every = list(_pairs(lane, warp, group, groups, squares))
    for first in range(0, len(every), TOGETHER):
        _exchange(start, lane, every[first : first + TOGETHER])
    nvvm = dialect("nvvm")
    nvvm.FenceProxyOp(nvvm.ProxyKind.async_shared, space=nvvm.SharedSpace.shared_cta)
    if groups == 1:
        sync_warpgroup(unit)
    else:
        sync_warpgroups(groups)


def _pairs(lane: Lane, warp: Any, group: Any, groups: int, squares: int) -> Iterator[tuple[Any, Any, Any]]:
    """Where the squares of a warp's pairs of blocks start, and row and column of the lane's block: of every square of
    its group all, or half of them where two groups share a square."""
    low = indexing.rem(warp, 2)
    clear = [
        indexing.mul(warp, 2),
        indexing.add(indexing.mul(indexing.div(warp, 2), 4), low),
        warp,
    ]  # with bit 0, 1, 2 clear
    shares = groups > squares
    for number in range(1 if shares else squares // groups):
        square = constants.index(0) if shares else indexing.add(group, number * groups)
        start = indexing.mul(square, SIDE * SIDE)
        for d in range(BLOCKS // 2 if shares else BLOCKS):
            apart: Any = indexing.add(indexing.mul(group, BLOCKS // 2), d) if shares else constants.index(d)
            i = clear[(d or BLOCKS // 2).bit_length() - 1]
            if shares and d:  # the second group's differ by 4 and more
                late = dialect("arith").CmpIOp(dialect("arith").CmpIPredicate.ne, group, constants.index(0)).result
                i = indexing.select(late, warp, i)
            mirrored = indexing.mul(lane.half, apart if d else BLOCKS // 2)
            row = _xor(i, mirrored)
            yield start, row, _xor(row, apart)


def _exchange(start: Any, lane: Lane, pairs: list[tuple[Any, Any, Any]]) -> None:
    """Loads the pairs of blocks, and stores each block transposed in the place of its mirror image."""
    nvvm, i32 = dialect("nvvm"), ir.IntegerType.get_signless(32)
    shape = ir.Attribute.parse("#nvvm.ld_st_matrix_shape<m = 8, n = 8>")
    four = ir.Type.parse("!llvm.struct<(i32, i32, i32, i32)>")
    orders = {name: ir.Attribute.parse(f"#nvvm.mma_layout<{name}>") for name in ("row", "col")}
    b16 = nvvm.LdStMatrixEltType.B16
    loaded: list[list[Any]] = []
    for square, row, column in pairs:
        at = _at(start, square, row, column, lane.load, lane.loaded)
        found = nvvm.LdMatrixOp(at, 4, orders["col"], shape, b16, results=[four])
        loaded.append(assembly.members_of(found.operation.results[0]))
    for (square, row, column), words in zip(pairs, loaded, strict=True):
        turned = [
            assembly.inline(PERMUTE, ["=r", "r", "r", "r"], [*two, selector], i32, effects=False)
            for two in (words[:2], words[2:])
            for selector in lane.selectors
        ]
        at = _at(start, square, column, row, lane.store, lane.stored)
        nvvm.StMatrixOp(at, turned, orders["row"], shape, b16)


def _at(start: Any, square: Any, row: Any, chunk: Any, own: Any, moved: Any) -> Any:
    """A pointer to a lane's row of a block: that of this number down a square, in this chunk of its lines."""
    inside = indexing.add(indexing.mul(row, BLOCK * SIDE), indexing.mul(_xor(chunk, moved), BLOCK))
    inside = indexing.add(indexing.add(inside, own), square)
    return shared_address.pointer(indexing.add(start, inside))


def _xor(left: Any, right: Any) -> Any:
    return dialect("arith").XOrIOp(left, right).result
