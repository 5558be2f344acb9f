"""Products of a warpgroup whose A is a 2:4 sparse tile: wgmma.mma_async.sp, as assembly.

An instruction multiplies 64 rows of A by 32 bytes of its values, which are 32 places of k, twice those of a dense one,
in the same time. Values come by descriptor, as those of a dense A. The metadata comes in a register: a word of each
lane is for 64 places of k, of which a selector says whose lanes' words count: 0 those of the lanes 4 g and 4 g + 1, for
the first 32, and 1 those of the two after them (PTX ISA, "Sparse wgmma.mma_async", metadata of m64nNk32).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import composites, constants, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.memory import subview
from mlir_gemm.dialect.walk import named, users
from mlir_gemm.lowering import assembly, shared_address
from mlir_gemm.spec.sparse import DEPTH, INSTRUCTION_ROWS, KEPT, ROWS
from mlir_gemm.spec.threads import LANES

NAME = "tile.sparse"
INSTRUCTION_DEPTH = 32
"""Places of k of an instruction."""
LINE, CHUNK = 128, 16
"""Bytes of a row of metadata for 64 places of k, one word for each lane, and those that swizzles move."""


@dataclass
class SparseOperand:
    """A of a product: a view of its values, and where a thread's words of metadata are."""

    values: Any
    k: int
    places: list[Any]
    """For each 64 rows a pointer to the word for the first 64 of k."""
    apart: int
    """Bytes from the words for 64 of k to those for the next 64."""

    @staticmethod
    def of(memory: Any) -> SparseOperand:
        """A view of rows of a tile.sparse, at the insertion point."""
        root, starts = shared_address.followed(memory)
        values, metadata = root.owner.operation.operands
        rows, k = memory.type.shape
        first, zero = starts[0], constants.index(0)
        own = subview(values, [first, zero], [rows, k // KEPT])
        row = indexing.div(first, ROWS)
        thread = indexing.rem(indexing.thread(), 4 * LANES)
        lane, warp = indexing.rem(thread, LANES), indexing.div(thread, LANES)
        row = indexing.add(row, warp)
        start = shared_address.address(metadata)
        height = shared_address.rows_of(metadata)
        places: list[Any] = []
        for block in range(rows // INSTRUCTION_ROWS):
            there = indexing.add(row, block * INSTRUCTION_ROWS // ROWS) if block else row
            chunk = dialect("arith").XOrIOp(indexing.div(lane, 4), indexing.rem(there, 8)).result
            at = indexing.add(indexing.mul(there, LINE), indexing.mul(chunk, CHUNK))
            at = indexing.add(indexing.add(start, at), indexing.mul(indexing.rem(lane, 4), 4))
            places.append(shared_address.pointer(at))
        return SparseOperand(own, k, places, height * LINE)

    def load(self, steps: range) -> dict[tuple[int, int], Any]:
        """The words of a thread for some instructions: of each 64 rows, and each 64 of k, by their numbers; at the
        insertion point. Nothing that makes one of them is moved past it."""
        llvm, i32, i8 = dialect("llvm"), ir.IntegerType.get_signless(32), ir.IntegerType.get_signless(8)
        words: dict[tuple[int, int], Any] = {}
        for block, place in enumerate(self.places):
            for slab in dict.fromkeys(step * INSTRUCTION_DEPTH // DEPTH for step in steps):
                at = place
                if slab:
                    at = llvm.GEPOp(place.type, place, [], [slab * self.apart], i8, None).operation.results[0]
                words[block, slab] = llvm.LoadOp(i32, at, alignment=4).operation.results[0]
        type_ = ir.Type.parse(f"!llvm.struct<({', '.join(['i32'] * len(words))})>")
        held = assembly.members_of(assembly.tied(list(words.values()), type_))
        return dict(zip(words, held, strict=True))


def is_sparse(memory: Any) -> bool:
    """Whether memory is a view of a tile.sparse."""
    while getattr(memory.owner, "name", "") == "memref.subview":
        memory = memory.owner.operation.operands[0]
    return getattr(memory.owner, "name", "") == NAME


def drop_views(kernel: Any) -> None:
    """Erases views of sparse tiles and of composite ones, of which instructions take the parts."""
    for view in [*named(kernel, NAME), *named(kernel, composites.NAME)]:
        for user in users(view.operation.results[0]):
            if user.operation.name == "memref.subview" and not users(user.operation.results[0]):
                user.operation.erase()
        if not users(view.operation.results[0]):
            view.operation.erase()


def multiply(
    kinds: tuple[str, str, str], columns: int, struct: Any, sums: list[Any], places: tuple[Any, Any, Any],
    selector: int, transposed: bool,
) -> Any:  # fmt: skip
    """wgmma of 64 rows with a sparse A: `struct` is the accumulator's type, `sums` its numbers, none where it is fresh,
    `places` the descriptors of A's values and of B, and the word of metadata. Gives the accumulator."""
    members = str(struct)[len("!llvm.struct<(") : -2].split(", ")
    count, fresh = len(members), not sums
    first = count if fresh else 2 * count
    out = ", ".join(f"${number}" for number in range(count))
    text = (
        f"{{ .reg .pred p; setp.ne.b32 p, {0 if fresh else 1}, 0; "
        f"wgmma.mma_async.sp.sync.aligned.m64n{columns}k{INSTRUCTION_DEPTH}.{kinds[2]}.{kinds[0]}.{kinds[1]} "
        f"{{{out}}}, ${first}, ${first + 1}, ${first + 2}, {selector}, p, 1, 1, 0, {int(transposed)}; }}"
    )
    constraints = ["=f"] * count + [str(number) for number in range(len(sums))] + ["l", "l", "r"]
    return assembly.inline(text, constraints, [*sums, *places], struct)
