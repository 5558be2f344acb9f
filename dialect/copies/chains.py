"""Block-wide chains: loads, elementwise arithmetic and stores of tiles that threads can divide among themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants, guards, indexing, memory
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.copies.division import Division, Spot
from mlir_gemm.dialect.copies.pieces import Access
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import operations, users
from mlir_gemm.spec.attributes import SCOPE

_SPREAD = ("arith.constant", "vector.broadcast", "vector.splat")


def is_vector(value: Any) -> bool:
    """Whether a value is a vector."""
    return isinstance(value.type, ir.VectorType)


def is_spread(value: Any) -> bool:
    """Whether a tile is one number everywhere, so that each piece can be made where it is needed."""
    owner = value.owner
    name = getattr(owner, "name", "")
    if name == "arith.constant":
        return constants.splat_of(value) is not None
    return name in _SPREAD and not is_vector(owner.operands[0])


@dataclass
class Chain:
    """Connected operations on tiles of one shape, in program order."""

    shape: tuple[int, ...]
    members: list[Any]

    @property
    def accesses(self) -> list[Any]:
        """The loads and stores."""
        return [op for op in self.members if op.operation.name in ("tile.load", "tile.store")]

    def emit(self, division: Division) -> None:
        """Replaces each operation by what it does to the pieces of one thread."""
        pieces: dict[Any, list[Any]] = {}
        for operation in self.members:
            with ir.InsertionPoint(operation), operation.location:
                _emit(operation, division, pieces)
        for operation in reversed(self.members):
            operation.operation.erase()


def chains_of(kernel: Any, accesses: Sequence[Any]) -> list[Chain]:
    """The chains that a kernel's block-wide tile.load and tile.store belong to."""
    if not accesses:
        return []
    order = {op.operation: number for number, op in enumerate(operations(kernel))}
    seen: set[Any] = set()
    chains: list[Chain] = []
    for access in accesses:
        if access.operation in seen:
            continue
        members = _connected(access)
        seen.update(members)
        tiles = [value for op in members for value in [*op.operands, *op.results] if is_vector(value)]
        shape = tuple(tiles[0].type.shape)
        for operation in members:
            _check_shapes(operation, shape)
        chains.append(Chain(shape, sorted(members, key=lambda op: order[op])))
    return chains


def _connected(access: Any) -> list[Any]:
    """The operations that a block-wide access shares tiles with, directly or through others."""
    found: dict[Any, None] = {}
    pending = [access.operation]
    while pending:
        operation = pending.pop()
        if operation in found:
            continue
        found[operation] = None
        _check_name(operation)
        for value in operation.operands:
            if is_vector(value) and not is_spread(value):
                if hasattr(value.owner, "operations"):
                    raise pass_error(operation, "a block-wide tile that a loop carries cannot be divided among threads")
                pending.append(value.owner.operation)
        pending += [user for value in operation.results for user in users(value)]
    return list(found)


def _check_name(operation: Any) -> None:
    name = operation.name
    known = name in ("tile.load", "tile.store", "tile.clip") or name.startswith(("arith.", "math."))
    if not known or SCOPE in operation.attributes or name == "arith.constant":
        raise pass_error(
            operation,
            f"'{name}' on a block-wide tile; only loads, elementwise arithmetic and stores can be divided among "
            "threads",
        )


def _check_shapes(operation: Any, shape: tuple[int, ...]) -> None:
    for value in [*operation.operands, *operation.results]:
        if is_vector(value) and tuple(value.type.shape) != shape:
            raise pass_error(operation, f"a tile of {value.type} with one of {shape}; expected the same shape")


def _emit(operation: Any, division: Division, pieces: dict[Any, list[Any]]) -> None:
    name = operation.name
    if name == "tile.load":
        access = Access.of(operation)
        pieces[operation.results[0]] = [access.locate(division, spot).load() for spot in division.spots()]
    elif name == "tile.store":
        access = Access.of(operation)
        values = _pieces(operation.operands[0], division, pieces)
        for value, spot in zip(values, division.spots(), strict=True):
            access.locate(division, spot).store(value)
    elif name == "tile.clip":
        values = _pieces(operation.operands[0], division, pieces)
        spots = division.spots()
        pieces[operation.results[0]] = [_clip(operation, division, *each) for each in zip(values, spots, strict=True)]
    else:
        _compute(operation, division, pieces)


def _pieces(value: Any, division: Division, pieces: dict[Any, list[Any]]) -> list[Any]:
    if value in pieces:
        return pieces[value]
    type_ = division.vector(value.type.element_type)
    if value.owner.name == "arith.constant":
        piece = constants.splat(type_, constants.splat_of(value))
    else:
        piece = dialect("vector").BroadcastOp(type_, value.owner.operands[0]).result
    return [piece] * division.rounds


def _compute(operation: Any, division: Division, pieces: dict[Any, list[Any]]) -> None:
    """The same elementwise operation on each piece."""
    operands = [
        _pieces(value, division, pieces) if is_vector(value) else [value] * division.rounds
        for value in operation.operands
    ]
    types = [division.vector(result.type.element_type) for result in operation.results]
    attributes = attributes_of(operation)
    made = [
        ir.Operation.create(operation.name, results=types, operands=list(each), attributes=attributes)
        for each in zip(*operands, strict=True)
    ]
    for number, result in enumerate(operation.results):
        pieces[result] = [new.results[number] for new in made]


def _clip(operation: Any, division: Division, value: Any, spot: Spot) -> Any:
    """A piece with zeros, or the neutral element, from the size that tile.clip gives on."""
    _, offset, size = operation.operands
    dim = ir.IntegerAttr(operation.attributes["dim"]).value
    arith = dialect("arith")
    start = indexing.add(offset, spot.at[dim])
    attributes = operation.attributes
    zero = constants.splat(value.type, attributes["neutral"]) if "neutral" in attributes else guards.zero(value.type)
    whole = dim != division.along or not (memory.divisor_of(size) % division.width or _splits(offset, division))
    if whole or division.width == 1:
        return arith.SelectOp(guards.less(start, size), value, zero).result
    left = arith.SubIOp(size, start).result  # may be negative
    below = [arith.CmpIOp(arith.CmpIPredicate.sgt, left, constants.index(i)).result for i in range(division.width)]
    mask = division.vector(ir.IntegerType.get_signless(1))
    return arith.SelectOp(dialect("vector").FromElementsOp(mask, below).result, value, zero).result


def _splits(offset: Any, division: Division) -> bool:
    """Whether a tile that starts at `offset` may have its pieces start at other than multiples of their width."""
    return memory.divisor_of(offset) % division.width != 0
