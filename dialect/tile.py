"""The `tile` dialect: what a thread block does, in whole tiles, with no thread in sight.

Reads beyond the bounds of a memref give zero and writes beyond them are dropped, by definition of `load`, `store` and
`copy`. Attributes whose names start with `tile.` (`tile.schedule`, `tile.layout`, `tile.loop`, ...) are the dialect's
own annotations on other dialects' operations; `docs/pipeline.md` lists them.
"""

# pyright: reportInvalidTypeForm=false, reportGeneralTypeIssues=false, reportCallIssue=false
# pyright: reportUnknownMemberType=false, reportUntypedBaseClass=false, reportUnknownVariableType=false
# The bindings build operations from annotations that no type checker knows.

from collections.abc import Sequence
from typing import Any, TypeVar

from mlir_gemm.dialect.bindings import dialect, ir

ext: Any = dialect("ext")

Value = TypeVar("Value", bound=Any)
"""A type variable in an operation's signature makes its operands and results agree."""


class Tile(ext.Dialect, name="tile"):
    """Operations on block tiles, and after `distribute` on warp tiles (those carry `scope = "warp"`)."""


class Load(Tile.Operation, name="load"):
    """A region of `memory`, starting at `offsets`, as a vector."""

    memory: ext.Operand[Any]
    offsets: Sequence[ext.Operand[ir.IndexType]]
    value: ext.Result[Any]


class Store(Tile.Operation, name="store"):
    """Writes a vector to the region of `memory` that starts at `offsets`."""

    value: ext.Operand[Any]
    memory: ext.Operand[Any]
    offsets: Sequence[ext.Operand[ir.IndexType]]


class Copy(Tile.Operation, name="copy"):
    """Fills the whole of `target` from the region of `source` that starts at `offsets`."""

    target: ext.Operand[Any]
    source: ext.Operand[Any]
    offsets: Sequence[ext.Operand[ir.IndexType]]


class Mma(Tile.Operation, name="mma"):
    """`acc + a b` for a[M, K], b[K, N] and acc[M, N]: whole memrefs `a` and `b`, a vector `acc`.

    The attribute `b` says how the second operand is stored: `kn` for [K, N].
    """

    lhs: ext.Operand[Any]
    rhs: ext.Operand[Any]
    acc: ext.Operand[Value]
    result: ext.Result[Value]
    b: ir.StringAttr


class UnitId(Tile.Operation, name="unit_id"):
    """Which warp of the block this is."""

    result: ext.Result[ir.IndexType]


def load(memory: Any, offsets: Sequence[Any], type_: Any) -> Any:
    """A tile.load of a vector type at the insertion point; its value."""
    return Load(memory, list(offsets), type_).value


def store(value: Any, memory: Any, offsets: Sequence[Any]) -> Any:
    """A tile.store at the insertion point; the operation."""
    return Store(value, memory, list(offsets)).operation


def copy(target: Any, source: Any, offsets: Sequence[Any]) -> Any:
    """A tile.copy at the insertion point; the operation."""
    return Copy(target, source, list(offsets)).operation


def mma(lhs: Any, rhs: Any, acc: Any) -> Any:
    """A tile.mma of a[M, K] by b[K, N] at the insertion point; the operation."""
    return Mma(lhs, rhs, acc, acc.type, ir.StringAttr.get("kn")).operation


def unit_id() -> Any:
    """A tile.unit_id at the insertion point; its value."""
    return UnitId(ir.IndexType.get()).result


class _Pure:
    """Memory effects of an operation that has none."""

    @staticmethod
    def get_effects(_op: Any, _effects: Any) -> None:
        return


def register(context: Any) -> None:
    """Makes the dialect known to `context`. Takes a few milliseconds, once for each context."""
    with context, ir.Location.unknown():
        Tile.load(reload=True)
        ir.MemoryEffectsOpInterface.attach("tile.unit_id", target=_Pure, context=context)
