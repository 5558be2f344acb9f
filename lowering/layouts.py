"""Which lane of a warp holds which elements of an accumulator tile.

A tile is divided into equal fragments. Of each fragment a lane holds some pieces, each a few neighbours of one row:
lane `l` holds the rows `l // across * step + rows[p]`, from the column `l % across * width` on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.constants import zero_of
from mlir_gemm.spec.threads import LANES


@dataclass(frozen=True)
class Layout:
    """A division of accumulator tiles among the lanes of a warp."""

    shape: tuple[int, int]
    """Rows and columns of a fragment."""
    rows: tuple[int, ...]
    """Where a lane's pieces lie, in rows from its first one."""
    width: int
    """Elements of a piece."""
    step: int = 1
    """Rows from one group of lanes to the next."""
    stacked: bool = True
    """Whether a fragment is one vector of all its pieces (pieces x width); else it is as many vectors."""
    lanes: int = LANES
    """Threads that a tile is divided among."""
    in_matrices: bool = True
    """Whether the first pieces of eight times four lanes are the rows of a matrix, one after the other."""

    @property
    def across(self) -> int:
        """Lanes side by side."""
        return self.shape[1] // self.width

    def __post_init__(self) -> None:
        assert self.lanes % self.across == 0 and self.shape[0] == self.lanes // self.across * len(self.rows)

    def grid(self, tile: tuple[int, int]) -> tuple[int, int]:
        """Fragments down and along a tile of M x N elements."""
        return tile[0] // self.shape[0], tile[1] // self.shape[1]

    def count(self, tile: tuple[int, int]) -> int:
        """Pieces of a tile in one lane: those of one fragment after the other, fragments row by row."""
        down, along = self.grid(tile)
        return down * along * len(self.rows)

    def chunks(self, tile: tuple[int, int], columns: int | None) -> list[range]:
        """The pieces of a lane that an epilogue takes at a time: those of a row of fragments, and of `columns` columns
        where that is given; where they do not divide the tile, the last of a row has less."""
        each = self.count((self.shape[0], tile[1]))
        size = self.count((self.shape[0], columns)) if columns else each
        return [
            range(row + first, row + min(first + size, each))
            for row in range(0, self.count(tile), each)
            for first in range(0, each, size)
        ]

    def place(self, number: int, tile: tuple[int, int]) -> tuple[int, int]:
        """Row and column of a piece in the tile, beyond those of the lane."""
        fragment, piece = divmod(number, len(self.rows))
        down, along = divmod(fragment, self.grid(tile)[1])
        return down * self.shape[0] + self.rows[piece], along * self.shape[1]

    def piece_type(self, element: Any) -> Any:
        """The vector type of a piece."""
        return ir.VectorType.get([self.width], element)

    @property
    def share(self) -> int:
        """Pieces in one of the vectors that a lane keeps a tile in."""
        return len(self.rows) if self.stacked else 1

    def kept_type(self, element: Any) -> Any:
        """The type of the vectors that a lane keeps a tile in, as instructions take them and loops carry them."""
        return ir.VectorType.get([self.share, self.width] if self.stacked else [self.width], element)

    def kept_count(self, tile: tuple[int, int]) -> int:
        """How many vectors a lane keeps a tile in."""
        return self.count(tile) // self.share

    def keep(self, pieces: list[Any], _tile: tuple[int, int]) -> list[Any]:
        """What a lane keeps a tile in, made of its pieces at the insertion point."""
        type_ = self.kept_type(pieces[0].type.element_type)
        return [_stack(type_, pieces[first : first + self.share]) for first in range(0, len(pieces), self.share)]

    def take(self, kept: list[Any], number: int, tile: Any) -> Any:
        """One piece of a tile of the type `tile`, taken at the insertion point from what a lane keeps it in."""
        vector = kept[number // self.share]
        if not self.stacked:
            return vector
        return dialect("vector").ExtractOp(vector, [], [number % self.share]).result

    def lane(self) -> Lane:
        """Where the running lane's first piece lies in a fragment, at the insertion point."""
        number = indexing.rem(indexing.thread(), self.lanes)
        row, column = indexing.div(number, self.across), indexing.rem(number, self.across)
        if self.step > 1:
            row = indexing.mul(row, self.step)
        if self.width > 1:
            column = indexing.mul(column, self.width)
        return Lane(number, row, column)

    def matrix_row(self, group: Any, lower: Any, warp: Any) -> tuple[Any, Any]:
        """The row of a matrix of 8 rows, in which the four lanes `group` have an element, as they have one of the
        second matrix where `lower` is 1; and the same, or a number with the same last three bits."""
        half = LANES // self.across
        return indexing.add(indexing.mul(warp, 2 * half), indexing.add(indexing.mul(lower, half), group)), group


@dataclass(frozen=True)
class Lane:
    """The running lane: its number in the warp, and the row and column of its first piece in a fragment."""

    number: Any
    row: Any
    column: Any


SYNC = Layout((16, 8), rows=(0, 8), width=2)
"""Accumulators of mma.m16n8 (PTX: "Matrix Fragments for mma.m16n8k16" and the others)."""

SYNC_DOUBLE = Layout((8, 8), rows=(0,), width=2)
"""Accumulators of mma.m8n8k4 with f64."""


def _stack(type_: Any, pieces: list[Any]) -> Any:
    """A kept vector from its pieces."""
    if len(type_.shape) == 1:
        return pieces[0]
    value = dialect("arith").ConstantOp(type_, zero_of(type_)).result
    for number, piece in enumerate(pieces):
        value = dialect("vector").InsertOp(piece, value, [], [number]).result
    return value


def simt(rows: int, width: int) -> Layout:
    """Lanes 4 x 8, each with `rows` rows of `width` neighbours."""
    return Layout((4 * rows, 8 * width), tuple(range(rows)), width, step=rows, stacked=False)


@dataclass(frozen=True)
class WarpgroupLayout(Layout):
    """Accumulators of wgmma, whose lanes are the 128 threads of a warpgroup: warp w holds the rows 16w .. 16w + 15 of
    each 64 as mma.sync would. All columns of 64 rows are kept in one struct, which is what the instruction takes: of
    numbers, and where they are f16 of pairs in i32."""

    def lane(self) -> Lane:
        """Where the running thread's first piece lies in a fragment, at the insertion point."""
        number = indexing.rem(indexing.thread(), self.lanes)
        rows = LANES // self.across
        across = indexing.div(number, self.across)
        row = self.first_row(indexing.rem(across, rows), lambda: indexing.div(across, rows))
        return Lane(number, row, indexing.mul(indexing.rem(number, self.across), self.width))

    def first_row(self, group: Any, warp: Callable[[], Any]) -> Any:
        """The row of the first piece of four lanes, by the number of the four in their warp, and that of the warp."""
        return indexing.add(group, indexing.mul(warp(), 2 * LANES // self.across))

    def each(self, tile: tuple[int, int]) -> int:
        """Pieces of one thread in 64 rows of a tile."""
        return self.count((self.shape[0], tile[1]))

    def chunks(self, tile: tuple[int, int], columns: int | None) -> list[range]:
        """The same; 64 columns or less where nothing is given."""
        return super().chunks(tile, columns or next(n for n in (64, 32, 16, 8) if tile[1] % n == 0))

    def kept_types(self, element: Any, tile: tuple[int, int]) -> Any:
        """The struct of a thread's numbers in 64 rows of a tile."""
        members = ["i32"] * self.each(tile) if _is_half(element) else [str(element)] * (self.each(tile) * self.width)
        return ir.Type.parse(f"!llvm.struct<({', '.join(members)})>")

    def kept_count(self, tile: tuple[int, int]) -> int:
        return self.grid(tile)[0]

    def keep(self, pieces: list[Any], tile: tuple[int, int]) -> list[Any]:
        llvm, vector = dialect("llvm"), dialect("vector")
        element = pieces[0].type.element_type
        type_, each = self.kept_types(element, tile), self.each(tile)
        if _is_half(element):
            pieces = [vector.BitCastOp(_pair(), piece).result for piece in pieces]
        size = pieces[0].type.shape[0]
        kept: list[Any] = []
        for first in range(0, len(pieces), each):
            struct = llvm.PoisonOp(type_).operation.results[0]
            for number in range(each * size):
                piece, place = divmod(number, size)
                member = vector.ExtractOp(pieces[first + piece], [], [place]).result
                struct = llvm.InsertValueOp(struct, member, [number]).operation.results[0]
            kept.append(struct)
        return kept

    def take(self, kept: list[Any], number: int, tile: Any) -> Any:
        llvm, vector = dialect("llvm"), dialect("vector")
        rows, columns = tile.shape
        block, piece = divmod(number, self.each((rows, columns)))
        type_ = self.piece_type(tile.element_type)
        held = _pair() if _is_half(tile.element_type) else type_
        size, member = held.shape[0], held.element_type
        places = range(piece * size, (piece + 1) * size)
        members = [llvm.ExtractValueOp(member, kept[block], [place]).operation.results[0] for place in places]
        made = vector.FromElementsOp(held, members).result
        return made if held == type_ else vector.BitCastOp(type_, made).result


def _is_half(element: Any) -> bool:
    return isinstance(element, ir.F16Type)


def _pair() -> Any:
    """The register that holds two f16."""
    return ir.VectorType.get([1], ir.IntegerType.get_signless(32))


WARPGROUP = WarpgroupLayout((64, 8), rows=(0, 8), width=2, lanes=128)
"""Accumulators of wgmma.m64n* (PTX: "Matrix Fragments for wgmma.mma_async.m64nNk16", D)."""


@dataclass(frozen=True)
class WordsLayout(WarpgroupLayout):
    """The same where A's words come through registers, loaded from rows that run along M: which row of the tile a row
    of the instruction is, is free, and is chosen so that the lanes of a load meet in no bank.

    A load takes 8 rows of M and 4 of K. In the swizzle of 128 bytes, rows of K are XORed by 0 to 3 (times 16 bytes), so
    that rows of M must not lie within 16 words; results that leave transposed are XORed by 0, 2, 4 and 6. Chunks that
    are apart by 5 meet in neither: two warps share 32 rows, and each has of every 8 rows half a chunk here and half
    there."""

    def first_row(self, group: Any, warp: Callable[[], Any]) -> Any:
        number = warp()
        chunk = self.chunk(group, number)
        panel = indexing.mul(indexing.div(number, 2), 32)
        return indexing.add(panel, indexing.add(indexing.mul(chunk, 4), indexing.rem(group, 4)))

    def chunk(self, group: Any, warp: Any) -> Any:
        """Of a panel of 32 rows, the chunk of 4 in which the first piece of four lanes lies."""
        high = indexing.div(group, 4)
        low = dialect("arith").XOrIOp(high, indexing.rem(warp, 2)).result
        return indexing.add(indexing.mul(high, 4), low)

    def matrix_row(self, group: Any, lower: Any, warp: Any) -> tuple[Any, Any]:
        row = indexing.add(self.first_row(group, lambda: warp), indexing.mul(lower, 8))
        return row, row


WARPGROUP_WORDS = WordsLayout((64, 8), rows=(0, 8), width=2, lanes=128, in_matrices=False)
"""Accumulators where A has elements of 4 bytes and comes through registers."""


@dataclass(frozen=True)
class BytesLayout(WarpgroupLayout):
    """The same for bytes: matrices that ldmatrix transposes have two neighbours along M in each 16 bits, so that four
    lanes have two neighbouring rows."""

    def first_row(self, group: Any, warp: Callable[[], Any]) -> Any:
        return indexing.add(indexing.mul(group, 2), indexing.mul(warp(), 16))

    def matrix_row(self, group: Any, lower: Any, warp: Any) -> tuple[Any, Any]:
        row = indexing.add(self.first_row(group, lambda: warp), lower)
        return row, row


WARPGROUP_BYTES = BytesLayout((64, 8), rows=(0, 1), width=2, lanes=128, in_matrices=False)
"""Accumulators where A has elements of one byte and comes through registers."""
