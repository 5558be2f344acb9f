"""Reductions over blocks of a grid that run at the same time, through words in global memory.

Each block of a group has words of its own in memory that the launch provides (`tile.scratch = "words"`), and all of a
group make a line. A word of 64 bits holds 32 bits of a number and, above them, a tag: how often the word was written. A
block writes its words with the next tag, and waits until those of all blocks of its group have it. So nothing is to be
reset: the tags go on from launch to launch, and a number arrives with what says that it did.
"""

# pyright: reportInvalidTypeForm=false, reportGeneralTypeIssues=false, reportCallIssue=false
# pyright: reportUnknownMemberType=false, reportUntypedBaseClass=false, reportUnknownVariableType=false
# The bindings build operations from annotations that no type checker knows.

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants, indexing, rules
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.reductions import Combine, combining, one_type, yield_combined
from mlir_gemm.dialect.tile import Tile
from mlir_gemm.dialect.verifier import is_integer, verifier
from mlir_gemm.dialect.walk import body
from mlir_gemm.spec.attributes import SCRATCH

ext: Any = dialect("ext")

WORDS = "words"
"""A kind of memory that the launch provides: zero before the first launch, and kept as each one leaves it."""
FIXED = 3
"""Operands of a tile.grid_reduce before its values."""
_HALF = 32


def words_of(type_: Any) -> int:
    """How many words a number of an element type takes."""
    return -(-type_.width // _HALF)


def _reduced(op: Any) -> str:
    """What is wrong with a tile.grid_reduce: its values, results, words and body belong together."""
    values, results = [value.type for value in list(op.operands)[FIXED:]], [value.type for value in op.results]
    if not values or values != results:
        given, made = (", ".join(map(str, types)) or "nothing" for types in (values, results))
        return f"takes {given} and gives {made}; expected one value or more, and the same types"
    wrong = next((type_ for type_ in values if not _is_narrow(type_, values[0])), None)
    if wrong is not None:
        return f"a value is {wrong}; expected vectors of Rx1 numbers, what a block has of R rows"
    type_, wanted = op.operands[0].type, values[0].shape[0] * sum(words_of(each.element_type) for each in values)
    if not is_integer(type_.element_type, 64) or type_.shape[1] < 2 or type_.shape[2] != wanted:
        return f"words is {type_}; expected memref<lines x blocks x {wanted} x i64>, for 2 blocks or more"
    return combining(op, [each.element_type for each in values])


def _is_narrow(type_: Any, first: Any) -> bool:
    vector = isinstance(type_, ir.VectorType) and type_.rank == 2 and type_.shape[1] == 1
    return vector and list(type_.shape) == list(first.shape)


class GridReduce(Tile.Operation, name="grid_reduce"):
    """Combines numbers of each value, and of `places` beside them, over the blocks of a group, which run at the same
    time: of `words`, memref<lines x blocks x N x i64>, a group has a `line`, and a block the part of its `rank`. Every
    block gets the same result, in an order that is fixed by the number of blocks. The block of code combines two
    numbers of each value into one, as that of a tile.reduce.
    """

    words: ext.Operand[Any]
    line: ext.Operand[ir.IndexType]
    rank: ext.Operand[ir.IndexType]
    values: Sequence[ext.Operand[Any]]
    places: Sequence[ext.Operand[Any]]
    reduced: Sequence[ext.Result[Any]]
    reduced_places: Sequence[ext.Result[Any]]
    combine: ext.Region
    verify_invariants = verifier(rules.ranked(0, "words", 3, space=rules.GLOBAL), rules.dense(0, "words"), _reduced)


@dataclass(frozen=True)
class Meeting:
    """The blocks of a grid that share rows, and where the running one is among them."""

    loop: Any
    """The loop over blocks, before which memory for words is made."""
    lines: int
    blocks: int
    """Lines of words, and blocks of a group, of which each has its part of a line."""
    line: Any
    rank: Any
    """Of the running block, index values."""

    def reduce(self, values: Sequence[Any], combine: Combine) -> list[Any]:
        """A tile.grid_reduce at the insertion point, with words of its own; its results."""
        types = [value.type for value in values]
        number = types[0].shape[0] * sum(words_of(type_.element_type) for type_ in types)
        with ir.InsertionPoint(self.loop):
            i64 = ir.IntegerType.get_signless(64)
            alloc = dialect("memref").AllocOp(ir.MemRefType.get([self.lines, self.blocks, number], i64), [], [])
            alloc.operation.attributes[SCRATCH] = ir.StringAttr.get(WORDS)
        split = one_type(types)
        groups = [list(values)[:split], list(values)[split:], types[:split], types[split:]]
        operation = GridReduce(alloc.result, self.line, self.rank, *groups).operation
        yield_combined(operation, [type_.element_type for type_ in types], combine)
        return list(operation.results)


def meet(loop: Any, group: Any, sizes: tuple[int, int, int], build: Callable[[Any, Meeting], None]) -> None:
    """Lets groups of blocks take rows in turn, at the insertion point in a loop over blocks. `group` is that of the
    running block, `sizes` are those of the rows, the groups, and of a group; `build` builds what is done with a row.

    Where a group takes several rows, it has two lines of words, which rows use by turns: a block writes a line again
    when all have read the other one since, and so this one too.
    """
    rows, groups, blocks = sizes
    rank = indexing.rem(body(loop).arguments[0], blocks)
    if groups == rows:
        build(group, Meeting(loop.operation, groups, blocks, group, rank))
        return
    made = dialect("scf").ForOp(group, constants.index(rows), constants.index(groups))
    with ir.InsertionPoint(made.body):
        row = made.body.arguments[0]
        line = indexing.add(indexing.mul(group, 2), indexing.rem(indexing.div(row, groups), 2))
        build(row, Meeting(loop.operation, 2 * groups, blocks, line, rank))
        dialect("scf").YieldOp([])
