"""The tile dialect's operations of blocks that share the k steps of a tile through global memory.

A block that does not begin a tile leaves its part of the sum in a place of its own (tile.store_partials), and says so;
the block that begins the tile adds the partials of those after it to its own (tile.fix_up). Both work on two memories
that the launch provides (`tile.scratch`): the partials, one for each place, and flags, a row for each place, of which
every warp has one. Flags are zero when a launch begins, and when it ends.
"""

# pyright: reportInvalidTypeForm=false, reportGeneralTypeIssues=false, reportCallIssue=false
# pyright: reportUnknownMemberType=false, reportUntypedBaseClass=false, reportUnknownVariableType=false
# The bindings build operations from annotations that no type checker knows.

from math import prod
from typing import Any, TypeVar

from mlir_gemm.dialect import rules
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.tile import Tile
from mlir_gemm.dialect.verifier import verifier
from mlir_gemm.dialect.walk import named
from mlir_gemm.spec.attributes import SCRATCH

ext: Any = dialect("ext")

Value = TypeVar("Value", bound=Any)

PARTIALS, FLAGS = "partials", "flags"
"""Kinds of memory that the launch provides. What `partials` hold means nothing between launches; `flags` are zero
between them."""
QUADS, WARPGROUP = 4, 128
"""Elements that a thread leaves at a time, and threads of a warpgroup: a row of a place."""
FLAG_ROW = 32
"""Flags of a place: a line of 128 bytes, of which the first ones are used, one for each warp."""


_LEFT = (
    rules.tile(rules.operand(0), "value", 2),
    rules.ranked(1, "partials", 3, space=rules.GLOBAL),
    rules.ranked(2, "flags", 2, space=rules.GLOBAL),
    rules.dense(2, "flags"),
    rules.same_elements(rules.operand(0), rules.operand(1), "value and partials"),
    rules.scratch(QUADS * WARPGROUP, FLAG_ROW),
)


class StorePartials(Tile.Operation, name="store_partials"):
    """Leaves a part of a sum at a place of its own, and raises its flags."""

    value: ext.Operand[Any]
    partials: ext.Operand[Any]
    flags: ext.Operand[Any]
    place: ext.Operand[ir.IndexType]
    verify_invariants = verifier(*_LEFT)


class FixUp(Tile.Operation, name="fix_up"):
    """The sum of a tile and of the partials at `count` places from `first` on, in this order. Waits for the flags of
    each, and lowers them."""

    value: ext.Operand[Value]
    partials: ext.Operand[Any]
    flags: ext.Operand[Any]
    first: ext.Operand[ir.IndexType]
    count: ext.Operand[ir.IndexType]
    result: ext.Result[Value]
    verify_invariants = verifier(*_LEFT)


def make_scratch(places: int, tile: Any) -> tuple[Any, Any]:
    """The memory for the partials of tiles of a vector type, and for their flags: two allocations at the insertion
    point."""
    rows, columns = tile.shape
    types = (
        ir.MemRefType.get([places, rows * columns // (QUADS * WARPGROUP), QUADS * WARPGROUP], tile.element_type),
        ir.MemRefType.get([places, FLAG_ROW], ir.IntegerType.get_signless(32)),
    )
    made: list[Any] = []
    for type_, kind in zip(types, (PARTIALS, FLAGS), strict=True):
        alloc = dialect("memref").AllocOp(type_, [], [])
        alloc.operation.attributes[SCRATCH] = ir.StringAttr.get(kind)
        made.append(alloc.result)
    return made[0], made[1]


def scratch_of(operation: Any) -> str:
    """What kind of scratch an operation allocates: `partials`, `flags`, or nothing for any other operation."""
    attributes = operation.operation.attributes
    return ir.StringAttr(attributes[SCRATCH]).value if SCRATCH in attributes else ""


def scratch_in(function: Any) -> list[Any]:
    """The scratch that a kernel's host function allocates, in order; memrefs."""
    return [each.operation.results[0] for each in named(function, "memref.alloc") if scratch_of(each)]


def bytes_of(type_: Any) -> int:
    """The bytes of scratch of a memref type."""
    return prod(type_.shape) * type_.element_type.width // 8


def store_partials(value: Any, partials: Any, flags: Any, place: Any) -> Any:
    """A tile.store_partials at the insertion point; the operation."""
    return StorePartials(value, partials, flags, place).operation


def fix_up(value: Any, partials: Any, flags: Any, first: Any, count: Any) -> Any:
    """A tile.fix_up at the insertion point; its value."""
    return FixUp(value, partials, flags, first, count, value.type).result
