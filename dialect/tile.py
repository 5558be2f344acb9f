"""The `tile` dialect: what a thread block does, in whole tiles, with no thread in sight.

Reads beyond the bounds of a memref give zero and writes beyond them are dropped, by definition of `load`, `store`,
`copy` and `copy_async`. These operations may carry two more attributes, each with one entry for each dimension of the
memory in global memory (the `source` of a copy):

- `dims`: the dimension of the tile that this dimension of the memory runs along, or -1 when the tile lies at one index
  of it. Without the attribute the tile runs along the last dimensions, in order. A tile dimension that none of the
  memory's runs along is a broadcast, and dimensions out of order are a transposition.
- `in_bounds`: whether the tile is known to lie within the memory along this dimension, so that nothing needs to be
  guarded. Without the attribute nothing is known.

Attributes whose names start with `tile.` (`tile.schedule`, `tile.layout`, `tile.loop`, ...) are the dialect's
own annotations on other dialects' operations; `docs/dialect.md` lists them.
"""

# pyright: reportInvalidTypeForm=false, reportGeneralTypeIssues=false, reportCallIssue=false
# pyright: reportUnknownMemberType=false, reportUntypedBaseClass=false, reportUnknownVariableType=false
# The bindings build operations from annotations that no type checker knows.

import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from mlir_gemm.dialect import constants, rules, window_rules
from mlir_gemm.dialect.bindings import PACKAGE, dialect, ir, passmanager
from mlir_gemm.dialect.effects import attach_effects
from mlir_gemm.dialect.verifier import FLAG, at_least, verifier, word
from mlir_gemm.spec.algebra import Algebra, parse
from mlir_gemm.spec.threads import UNITS

ext: Any = dialect("ext")
_irdl: Any = dialect("irdl")

Value = TypeVar("Value", bound=Any)
"""A type variable in an operation's signature makes its operands and results agree."""


class Tile(ext.Dialect, name="tile"):
    """Operations on block tiles, and after `distribute` on warp tiles (those carry `scope = "warp"`)."""

    @classmethod
    def _emit_module(cls) -> Any:
        """The dialect's definition, which every context loads anew. It is built and simplified once for each number of
        operations, and parsed from then on, in a fifth of the time: 0.7 of 3.9 ms."""
        defined = len(cls.operations)  # other modules, and extensions, define more
        if defined not in _definitions:
            module = super()._emit_module()
            passmanager.PassManager.parse("builtin.module(canonicalize,cse)").run(module.operation)
            _definitions[defined] = f"{module}"
        return ir.Module.parse(_definitions[defined])

    @classmethod
    def load(cls, *, reload: bool = False) -> None:
        """Makes the dialect known to the current context. Its classes are known to all once they have been registered,
        so that a further context takes 0.8 ms where the bindings' own `load` takes 1.6."""
        known = getattr(cls, "_registered", 0)
        if known != len(cls.operations):
            super().load(reload=reload)
            cls._registered = len(cls.operations)
            return
        cls._mlir_module = cls._emit_module()
        _irdl.load_dialects(cls._mlir_module)
        for operation in cls.operations:
            operation._attach_traits()


OTHER_FILES = (
    "position_ops", "reductions", "grid_exchange", "rings", "stores", "stream_k", "walked_steps", "composites",
    "planes", "sparse_ops", "transposes",
)  # fmt: skip
"""The modules beside this one that define operations."""
_definitions: dict[int, str] = {}
"""The text of the dialect's definition, by how many operations it has."""


_COPIED = (
    rules.ranked(0, "target"),
    rules.ranked(1, "source", static=False),
    rules.place(1, 2, rules.operand(0)),
    rules.same_elements(rules.operand(0), rules.operand(1), "target and source"),
)


class Load(Tile.Operation, name="load"):
    """A region of `memory`, starting at `offsets`, as a vector."""

    memory: ext.Operand[Any]
    offsets: Sequence[ext.Operand[ir.IndexType]]
    value: ext.Result[Any]
    verify_invariants = verifier(
        rules.ranked(0, "memory", static=False),
        rules.tile(rules.result, "value"),
        rules.place(0, 1, rules.result),
        rules.same_elements(rules.operand(0), rules.result, "memory and value"),
        **rules.PLACE,
        **rules.ALIGNED,
        **rules.SCOPE,
        written=FLAG,
        evict_first=FLAG,
        beyond=FLAG,
    )


class Store(Tile.Operation, name="store"):
    """Writes a vector to the region of `memory` that starts at `offsets`. `apart` says that no other store of the
    memory writes an element that this one does, wherever they lie."""

    value: ext.Operand[Any]
    memory: ext.Operand[Any]
    offsets: Sequence[ext.Operand[ir.IndexType]]
    verify_invariants = verifier(
        rules.tile(rules.operand(0), "value"),
        rules.ranked(1, "memory", static=False),
        rules.place(1, 2, rules.operand(0), whole=True),
        rules.same_elements(rules.operand(0), rules.operand(1), "value and memory"),
        **rules.PLACE,
        **rules.ALIGNED,
        **rules.SCOPE,
        apart=FLAG,
    )


class Copy(Tile.Operation, name="copy"):
    """Fills the whole of `target` from the region of `source` that starts at `offsets`."""

    target: ext.Operand[Any]
    source: ext.Operand[Any]
    offsets: Sequence[ext.Operand[ir.IndexType]]
    verify_invariants = verifier(*_COPIED, **rules.PLACE)


class CopyAsync(Tile.Operation, name="copy_async"):
    """A copy that is complete only after a `tile.await` for the `tile.commit` that follows it."""

    target: ext.Operand[Any]
    source: ext.Operand[Any]
    offsets: Sequence[ext.Operand[ir.IndexType]]
    verify_invariants = verifier(
        rules.ranked(0, "target", space=rules.IN_SHARED),
        rules.ranked(1, "source", static=False, space=rules.GLOBAL),
        *_COPIED,
        **rules.PLACE,
    )


class Commit(Tile.Operation, name="commit"):
    """Closes a group of the asynchronous copies since the last `tile.commit`."""

    verify_invariants = verifier()


class Await(Tile.Operation, name="await"):
    """Waits until at most `pending` of the groups committed so far are in flight, as seen by this thread; a barrier
    must follow before other threads' copies are read."""

    pending: ir.IntegerAttr
    verify_invariants = verifier(pending=rules.PENDING)


class Clip(Tile.Operation, name="clip"):
    """`value` with zero, or with `neutral`, wherever `offset + i` is negative or not less than `size`, i being the
    index along the dimension `dim` of the value."""

    value: ext.Operand[Value]
    offset: ext.Operand[ir.IndexType]
    size: ext.Operand[ir.IndexType]
    result: ext.Result[Value]
    dim: ir.IntegerAttr
    verify_invariants = verifier(
        rules.tile(rules.operand(0), "value"), rules.dimension, rules.neutral, dim=at_least(0), neutral=rules.NUMBER
    )


class Mma(Tile.Operation, name="mma"):
    """`acc + a b` for a[M, K], b[K, N] and acc[M, N]: whole memrefs `a` and `b`, a vector `acc`. `algebra` says what
    takes the place of plus and times: `arith.minimumf(c, arith.addf(a, b))`.

    The attributes say how the operands are stored: `a` is `mk` for [M, K] or `km` for [K, M], `b` is `kn` or `nk`.
    Integers are signed unless `unsigned` names their operand: `a`, `b` or `ab`.
    """

    lhs: ext.Operand[Any]
    rhs: ext.Operand[Any]
    acc: ext.Operand[Value]
    result: ext.Result[Value]
    a: ir.StringAttr
    b: ir.StringAttr
    verify_invariants = verifier(
        rules.ranked(0, "lhs", 2),
        rules.ranked(1, "rhs", 2),
        rules.tile(rules.operand(2), "acc", 2),
        rules.product,
        a=word(*rules.ORDERS["a"]),
        b=word(*rules.ORDERS["b"]),
        unsigned=word("a", "b", "ab"),
        algebra=word(),
        **{"async": FLAG},
        **rules.SCOPE,
    )


class Run(Tile.Operation, name="run"):
    """Runs a kernel, named by its module, on whole buffers. The kernel gets their addresses, and may see them in other
    shapes."""

    buffers: Sequence[ext.Operand[ir.IndexType]]
    kernel: ir.StringAttr
    verify_invariants = verifier(kernel=word())


class Windows(Tile.Operation, name="windows"):
    """A view of a dense `source` by windows, as a convolution reads its image: a tensor, or memory, each dimension of
    which counts through `sizes` numbers, the last one fastest, each of which moves by one of `strides` elements. The
    image has `shape`, and `low` and `high` zeros around it; `offset` and `strides` count these too. `counts` are the
    dynamic sizes. Nothing is copied: what reads it computes where an element lies, which its type does not say."""

    source: ext.Operand[Any]
    counts: Sequence[ext.Operand[ir.IndexType]]
    result: ext.Result[Any]
    verify_invariants = verifier(window_rules.windows, offset=at_least(0), **window_rules.WINDOWS)


class UnitId(Tile.Operation, name="unit_id"):
    """Which warp of the block this is; with `unit` `"wave"` or `"warpgroup"` which two or four of them."""

    result: ext.Result[ir.IndexType]
    verify_invariants = verifier(unit=word(*UNITS))


_FIRST_OFFSET = {"tile.load": 1, "tile.tma_load": 4, "tile.tma_store": 3, "tile.unaligned_store": 3}
"""How many operands stand before an access's offsets, where it is not 2."""
DIMS, IN_BOUNDS = "dims", "in_bounds"
ALIGNED, FLAT, EVICT_FIRST = "aligned", "flat", "evict_first"
BEYOND = "beyond"
"""On a tile.load that is `aligned`: what lies beyond the row may be anything, and is not used."""
APART = "apart"
ALGEBRA = "algebra"
WRITTEN = "written"
"""On a tile.load whose memory is also stored to by operations that do not name it, as they have its tensor map."""


@dataclass(frozen=True)
class Place:
    """Where in a memref a tile lies, one entry for each dimension of the memref."""

    offsets: tuple[Any, ...]
    """Index values."""
    dims: tuple[int, ...]
    """The tile's dimension that this one runs along, or -1."""
    in_bounds: tuple[bool, ...]
    """Whether the tile is known to end within this dimension."""

    @property
    def known(self) -> list[Any]:
        """The offsets along which nothing needs to be tested."""
        return [offset for offset, inside in zip(self.offsets, self.in_bounds, strict=True) if inside]

    @staticmethod
    def at(offsets: Sequence[Any], rank: int, in_bounds: bool = False) -> "Place":
        """A tile of `rank` dimensions that runs along the last ones of the memory."""
        ahead = len(offsets) - rank
        dims = tuple(max(axis - ahead, -1) for axis in range(len(offsets)))
        return Place(tuple(offsets), dims, (in_bounds,) * len(offsets))


def rank_of(operation: Any) -> int:
    """Dimensions of the tile that an access moves."""
    tile = operation.results[0] if operation.operation.name == "tile.load" else operation.operands[0]
    return len(tile.type.shape)


def memory_of(operation: Any) -> Any:
    """The memref that an access's place is in: what is loaded, copied from or stored to."""
    operands = list(operation.operation.operands)
    return operands[0] if operation.operation.name == "tile.load" else operands[1]


def place_of(operation: Any) -> Place:
    """The place of a tile.load, store, copy, copy_async or tma_load."""
    op = operation.operation
    plain = Place.at(list(op.operands)[_FIRST_OFFSET.get(op.name, 2) :], rank_of(op))
    dims = tuple(ir.DenseI64ArrayAttr(op.attributes[DIMS])) if DIMS in op.attributes else plain.dims
    known = tuple(ir.DenseBoolArrayAttr(op.attributes[IN_BOUNDS])) if IN_BOUNDS in op.attributes else plain.in_bounds
    return Place(plain.offsets, dims, known)


def placed(operation: Any, place: Place | Sequence[Any]) -> Any:
    """Sets the attributes of an access whose place is not the default; returns the operation."""
    op = operation.operation
    if isinstance(place, Place):
        if place.dims != Place.at(place.offsets, rank_of(op)).dims:
            op.attributes[DIMS] = ir.DenseI64ArrayAttr.get(place.dims)
        if any(place.in_bounds):
            op.attributes[IN_BOUNDS] = ir.DenseBoolArrayAttr.get(place.in_bounds)
    return op


def offsets_of(place: Place | Sequence[Any]) -> list[Any]:
    """The offsets of a place that may be given as its offsets alone."""
    return list(place.offsets if isinstance(place, Place) else place)


def load(memory: Any, place: Place | Sequence[Any], type_: Any) -> Any:
    """A tile.load of a vector type at the insertion point; its value. A place may be given as its offsets alone."""
    return placed(Load(memory, offsets_of(place), type_), place).results[0]


def store(value: Any, memory: Any, place: Place | Sequence[Any]) -> Any:
    """A tile.store at the insertion point; the operation."""
    return placed(Store(value, memory, offsets_of(place)), place)


def is_apart(store: Any) -> bool:
    """Whether no other store writes what this one does."""
    return APART in store.operation.attributes


def copy(target: Any, source: Any, place: Place | Sequence[Any]) -> Any:
    """A tile.copy at the insertion point; the operation."""
    return placed(Copy(target, source, offsets_of(place)), place)


def copy_async(target: Any, source: Any, place: Place | Sequence[Any]) -> Any:
    """A tile.copy_async at the insertion point; the operation."""
    return placed(CopyAsync(target, source, offsets_of(place)), place)


def commit() -> Any:
    """A tile.commit at the insertion point; the operation."""
    return Commit().operation


def await_(pending: int) -> Any:
    """A tile.await at the insertion point; the operation."""
    return Await(constants.integer(pending)).operation


def clip(value: Any, dim: int, offset: Any, size: Any, neutral: Any = None) -> Any:
    """A tile.clip at the insertion point; its value. `neutral` is the attribute of a number in place of zero."""
    clipped = Clip(value, offset, size, value.type, constants.integer(dim))
    if neutral is not None:
        clipped.operation.attributes["neutral"] = neutral
    return clipped.result


def mma(lhs: Any, rhs: Any, acc: Any, a: str = "mk", b: str = "kn", unsigned: str = "", algebra: str = "") -> Any:
    """A tile.mma at the insertion point; the operation."""
    operation = Mma(lhs, rhs, acc, acc.type, ir.StringAttr.get(a), ir.StringAttr.get(b)).operation
    if unsigned:
        operation.attributes["unsigned"] = ir.StringAttr.get(unsigned)
    if algebra:
        operation.attributes[ALGEBRA] = ir.StringAttr.get(algebra)
    return operation


def algebra_of(product: Any) -> Algebra | None:
    """What adds up and multiplies in a tile.mma, where it is not an addition and a multiplication of numbers."""
    attributes = product.operation.attributes
    return parse(ir.StringAttr(attributes[ALGEBRA]).value) if ALGEBRA in attributes else None


def order_of(product: Any, operand: str) -> str:
    """How operand `a` or `b` of a tile.mma is stored: `mk` or `km`, `kn` or `nk`."""
    return ir.StringAttr(product.operation.attributes[operand]).value


def run(kernel: str, buffers: Sequence[Any]) -> Any:
    """A tile.run at the insertion point; the operation."""
    return Run(list(buffers), ir.StringAttr.get(kernel)).operation


def unit_id(unit: str = "warp") -> Any:
    """A tile.unit_id at the insertion point; its value."""
    operation = UnitId(ir.IndexType.get()).operation
    if unit != "warp":
        operation.attributes["unit"] = ir.StringAttr.get(unit)
    return operation.results[0]


def register(context: Any) -> None:
    """Makes the dialect known to `context`. Takes a few milliseconds, once for each context, which then stays with one
    thread: verifiers in Python cannot run on those of MLIR's own pool, which would wait for them for ever."""
    context.enable_multithreading(False)
    for more in OTHER_FILES:
        importlib.import_module(f"mlir_gemm.dialect.{more}")
    # Else the bindings look for a module of this name for every operation that they hand out: 60 us each.
    sys.modules.setdefault(f"{PACKAGE}.dialects.tile", sys.modules[__name__])
    with context, ir.Location.unknown():
        Tile.load(reload=True)
        attach_effects(context)
