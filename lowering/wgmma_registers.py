"""A of a warpgroup's product in registers: loaded from rows in shared memory that run along M.

wgmma takes operands of 8 and 32 bits from shared memory with K along the rows only. A may come in registers instead:
of 64 rows and 32 bytes of K a thread has four words. With e elements in a word, `g = lane / 4` and `t = lane % 4`, they
are the rows g and g + 8 of the warp's 16, at the elements `e t` of K, and again at `4 e + e t` (PTX: "Register
Fragments for wgmma.mma_async.m64nNk8", "m64nNk32").

Words are loaded as they are. Bytes are loaded as matrices of 16 bits by ldmatrix, which transposes them: a thread gets
two neighbours along M at two places of K, and of two such words byte permutes make the four places of K of one row and
of the other. Which row of the tile each row of the instruction is, the layouts in `layouts` say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.lowering import assembly, shared_address
from mlir_gemm.lowering.layouts import WARPGROUP_BYTES, WARPGROUP_WORDS, WarpgroupLayout, WordsLayout
from mlir_gemm.spec.threads import LANES

LAYOUTS: dict[int, WarpgroupLayout] = {1: WARPGROUP_BYTES, 4: WARPGROUP_WORDS}
"""Layouts of the accumulator by the bytes of A's elements."""
WORDS = 4
"""Registers of a thread for 64 rows and 32 bytes of K."""
CHUNK, LINE, HALF, GROUP = 16, 128, 64, 8
"""Bytes that swizzles move, of a line of shared memory and of half of it, and rows of a matrix."""
SELECTORS = ((0x6420, 0x2064), (0x7531, 0x3175))
"""Which bytes of two words make the word of a row: of the first and of the second row of a thread, for the lanes whose
first word has the lower places of K, and for the others."""


@dataclass
class RegisterOperand:
    """A of a product, as a thread loads it."""

    item: int
    """Bytes of an element."""
    panel: int
    """Bytes of a panel: all rows of K, of 128 bytes or less of M."""
    width: int
    """Bytes of a row of a panel."""
    places: list[Any]
    """Pointers to a thread's place in a first panel."""
    selectors: list[Any]
    """Of the rows of a thread, which bytes make a word."""

    @staticmethod
    def of(op: Any) -> RegisterOperand:
        """Operand A of a tile.mma, whose rows run along M."""
        memory = op.operands[0]
        item, width = memory.type.element_type.width // 8, shared_address.panel_bytes(memory)
        panel = shared_address.rows_of(memory) * width
        start, inside = shared_address.place(memory, HALF if item == 1 else 0)
        thread = indexing.rem(indexing.thread(), 4 * LANES)
        if item == 4:
            if width != LINE:
                raise pass_error(
                    memory.owner, f"rows of {width} bytes along M of words; expected whole lines of {LINE}"
                )
            return RegisterOperand(item, panel, width, _places_of_words(start, thread, panel), [])
        return RegisterOperand(item, panel, width, _places_of_bytes(start, inside, thread, width), _selectors(thread))

    def load(self, block: int, step: int) -> list[Any]:
        """The four words of 64 rows, the block of that number, and 32 bytes of K, at the insertion point."""
        return self._load_words(block, step) if self.item == 4 else self._load_bytes(block, step)

    def _load_words(self, block: int, step: int) -> list[Any]:
        i32 = ir.IntegerType.get_signless(32)
        first = 2 * block * self.panel + step * GROUP * self.width
        words: list[Any] = []
        for number in range(WORDS):
            at = _beyond(self.places[number], first + number // 2 * WORDS * self.width)
            words.append(dialect("llvm").LoadOp(i32, at, alignment=4).operation.results[0])
        return words

    def _load_bytes(self, block: int, step: int) -> list[Any]:
        nvvm, i32 = dialect("nvvm"), ir.IntegerType.get_signless(32)
        blocks = self.width // 64
        at = _beyond(self.places[block % blocks], block // blocks * self.panel + step * LANES * self.width)
        shape = ir.Attribute.parse("#nvvm.ld_st_matrix_shape<m = 8, n = 8>")
        type_ = ir.Type.parse("!llvm.struct<(i32, i32, i32, i32)>")
        order = ir.Attribute.parse("#nvvm.mma_layout<col>")
        found = nvvm.LdMatrixOp(at, WORDS, order, shape, nvvm.LdStMatrixEltType.B16, results=[type_])
        words = assembly.members_of(found.operation.results[0])
        pairs = [(words[0], words[1]), (words[2], words[3])]
        return [_permuted(low, high, selector, i32) for low, high in pairs for selector in self.selectors]


def _places_of_words(start: Any, thread: Any, panel: int) -> list[Any]:
    """Where a thread's four words of the first step are but for their rows of K: two rows of M at two places of K."""
    lane, warp = indexing.rem(thread, LANES), indexing.div(thread, LANES)
    group, k = indexing.div(lane, 4), indexing.rem(lane, 4)
    chunk = WordsLayout.chunk(WARPGROUP_WORDS, group, warp)
    moved = dialect("arith").XOrIOp(chunk, k).result
    own = indexing.add(indexing.mul(k, LINE), indexing.mul(indexing.rem(group, 4), 4))
    own = indexing.add(indexing.add(start, indexing.mul(indexing.div(warp, 2), panel)), own)
    places: list[Any] = []
    for number in range(WORDS):  # 8 rows of M, and 4 of K, further on: other bits of the chunk
        there = 2 * (number % 2) ^ 4 * (number // 2)
        other = dialect("arith").XOrIOp(moved, constants.index(there)).result if there else moved
        places.append(shared_address.pointer(indexing.add(own, indexing.mul(other, CHUNK))))
    return places


def _places_of_bytes(start: Any, inside: Any | None, thread: Any, width: int) -> list[Any]:
    """Where the row of a matrix is whose address a lane gives: of the first 64 rows of M, and where a line holds 128,
    of the second. `inside` is how far in its panel the operand starts: not at all, or half a line. The second halves of
    the lanes have their two matrices of a half of K in the other order, so that the rows of each matrix lie in
    different chunks of a line."""
    arith = dialect("arith")
    lane, warp = indexing.rem(thread, LANES), indexing.div(thread, LANES)
    matrix, row = indexing.div(lane, GROUP), indexing.rem(lane, GROUP)
    late = arith.XOrIOp(indexing.div(row, 4), indexing.rem(matrix, 2)).result
    k = indexing.add(indexing.mul(indexing.div(matrix, 2), 16), indexing.mul(indexing.div(row, 2), 4))
    k = indexing.add(k, indexing.add(indexing.rem(row, 2), indexing.mul(late, 2)))
    moves = indexing.rem(indexing.div(k, LINE // width), width // CHUNK)
    own = indexing.add(start, indexing.mul(k, width))
    chunk = arith.XOrIOp(warp, moves).result
    if inside is not None:
        chunk = arith.XOrIOp(chunk, indexing.div(inside, CHUNK)).result
    places: list[Any] = []
    for block in range(width // 64):
        other = arith.XOrIOp(chunk, constants.index(4 * block)).result if block else chunk
        places.append(shared_address.pointer(indexing.add(own, indexing.mul(other, CHUNK))))
    return places


def _selectors(thread: Any) -> list[Any]:
    arith, i32 = dialect("arith"), ir.IntegerType.get_signless(32)
    early = arith.CmpIOp(arith.CmpIPredicate.ult, indexing.rem(thread, 4), constants.index(2)).result
    return [arith.SelectOp(early, *(arith.ConstantOp(i32, each).result for each in pair)).result for pair in SELECTORS]


def _beyond(pointer: Any, distance: int) -> Any:
    """A pointer so many bytes further on."""
    if not distance:
        return pointer
    gep = dialect("llvm").GEPOp(pointer.type, pointer, [], [distance], ir.IntegerType.get_signless(8), None)
    return gep.operation.results[0]


PERMUTE = "prmt.b32 $0, $1, $2, $3;"


def _permuted(low: Any, high: Any, selector: Any, type_: Any) -> Any:
    """A word of four bytes of two words."""
    return assembly.inline(PERMUTE, ["=r", "r", "r", "r"], [low, high, selector], type_, effects=False)


def multiply(
    kinds: tuple[str, str, str], shape: tuple[int, int], struct: Any, sums: list[Any], words: list[Any], b: Any
) -> Any:
    """wgmma of 64 rows with A in registers: `shape` is its columns and its K, `struct` the accumulator's type, `sums`
    its numbers, none where it is fresh, `b` the descriptor of B. Gives the accumulator."""
    columns, depth = shape
    members = str(struct)[len("!llvm.struct<(") : -2].split(", ")
    count, fresh = len(members), not sums
    letter = "f" if members[0] == "f32" else "r"
    first = count if fresh else 2 * count
    out = ", ".join(f"${number}" for number in range(count))
    given = ", ".join(f"${number}" for number in range(first, first + WORDS))
    scales = ", 1, 1" if kinds[2] != "s32" else ""
    text = (
        f"{{ .reg .pred p; setp.ne.b32 p, {0 if fresh else 1}, 0; "
        f"wgmma.mma_async.sync.aligned.m64n{columns}k{depth}.{kinds[2]}.{kinds[0]}.{kinds[1]} "
        f"{{{out}}}, {{{given}}}, ${first + WORDS}, p{scales}; }}"
    )
    constraints = [f"={letter}"] * count + [str(number) for number in range(len(sums))] + ["r"] * WORDS + ["l"]
    return assembly.inline(text, constraints, [*sums, *words, b], struct)
