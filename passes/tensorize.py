"""tensorize: every point nest becomes operations on whole tiles.

Expects the nests over `tile.loop = "point"` loops that `tile-loops` makes. A three-deep nest that adds the product of
two loads to a third becomes tile.load, tile.mma, tile.store; a two-deep one becomes tile.load, the same arith and math
operations on vectors, and tile.store. Operands of a product that were not staged in shared memory become subviews.
Refuses a nest it does not recognise, one that reads a tile other than elementwise, and a product with an operand that
is neither staged nor a whole number of tiles: a subview does not stop at the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import affine, constants, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import subview
from mlir_gemm.dialect.walk import body, in_block, named, parents
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.tile_loops import plain_trips


@dataclass(frozen=True)
class Tensorize(Pass):
    """Turn point nests into operations on tiles."""

    name: ClassVar[str] = "tensorize"

    def run(self, module: Any) -> None:
        points = [loop for loop in named(module, "affine.for") if affine.level_of(loop) == "point"]
        for loop in [loop for loop in points if affine.level_of(next(parents(loop))) != "point"]:
            _tensorize(loop)


def _tensorize(outer: Any) -> None:
    nest = affine.perfect_nest(outer)
    points = [affine.induction_variable(loop) for loop in nest]
    shape = [plain_trips(loop) for loop in nest]
    if len(nest) not in (2, 3):
        raise pass_error(outer, f"a nest of {len(nest)} point loops; expected 2 (elementwise) or 3 (a product)")
    if not all(shape):
        raise pass_error(outer, "point loops must run from 0 in steps of 1 to a constant above 0 and carry no values")
    inside = in_block(body(nest[-1]))[:-1]
    with ir.InsertionPoint(outer):
        if len(nest) == 3:
            _product(outer, inside, points)
        else:
            _elementwise(inside, points, shape)
    outer.operation.erase()


def _product(outer: Any, inside: list[Any], points: list[Any]) -> None:
    m, n, k = points
    store = inside[-1] if inside else outer
    for operation in inside[:-1]:
        if operation.operation.name not in ("affine.load", "arith.extf", "arith.mulf", "arith.addf"):
            raise pass_error(operation, f"'{operation.operation.name}' inside a product is not supported")
    a, b, c = _match_product(store)
    with store.location:
        lhs, rhs = _whole_operand(a, [m, k]), _whole_operand(b, [k, n])
        acc = _load(c, [m, n])
        _store(tile.mma(lhs, rhs, acc).results[0], store, [m, n])


def _match_product(store: Any) -> tuple[Any, Any, Any]:
    """The loads of a, b and c in `store(c + extend(a) * extend(b))`."""
    add = _maker(store.operands[0], "arith.addf") if store.operation.name == "affine.store" else None
    for old, new in ((0, 1), (1, 0)):
        if add is None:
            break
        c = _maker(add.operands[old], "affine.load")
        product = _maker(add.operands[new], "arith.mulf")
        if c is None or product is None:
            continue
        factors = [_maker(_unextended(value), "affine.load") for value in product.operands]
        if all(factor is not None for factor in factors) and affine.access(c) == affine.access(store):
            return factors[0], factors[1], c
    raise pass_error(store, "a three-deep point nest that is not c += extend(a) * extend(b)")


def _maker(value: Any, name: str) -> Any | None:
    owner = value.owner
    return owner.opview if getattr(owner, "name", None) == name else None


def _unextended(value: Any) -> Any:
    extension = _maker(value, "arith.extf")
    return extension.operands[0] if extension is not None else value


def _split(access: Any, points: list[Any]) -> tuple[Any, list[affine.Linear]]:
    """The memref and the tile's offsets of an access that runs along `points`, one dimension each, in this order."""
    memory, indices = affine.access(access)
    if indices is None or len(indices) != len(points):
        raise pass_error(access, "an access that does not run along the loops of its tile, one dimension each")
    for index, point in zip(indices, points, strict=True):
        if [value for value in index.terms if affine.is_point(value)] != [point] or index.coefficient(point) != 1:
            raise pass_error(
                access, "an access that is not elementwise (transposed, broadcast or strided); not supported"
            )
    return memory, [index.without([point]) for index, point in zip(indices, points, strict=True)]


def _whole_operand(load: Any, points: list[Any]) -> Any:
    """The memref that holds just this operand's tile: the staging buffer itself, or a subview of global memory."""
    memory, offsets = _split(load, points)
    shape = [affine.extent_of(point) for point in points]
    if list(memory.type.shape) == shape and not any(offset.terms or offset.constant for offset in offsets):
        return memory
    if not all(
        size > 0 and not any(number % extent for number in (size, offset.constant, *offset.terms.values()))
        for size, offset, extent in zip(memory.type.shape, offsets, shape, strict=True)
    ):
        tile = "x".join(map(str, shape))
        raise pass_error(
            load, f"an operand that is not staged must be made of whole {tile} tiles; this is {memory.type}"
        )
    return subview(memory, [offset.build() for offset in offsets], shape)


def _vector(points: list[Any], element: Any) -> Any:
    return ir.VectorType.get([affine.extent_of(point) for point in points], element)


def _load(load: Any, points: list[Any]) -> Any:
    memory, offsets = _split(load, points)
    type_ = _vector(points, load.operation.results[0].type)
    return tile.load(memory, [offset.build() for offset in offsets], type_)


def _store(value: Any, store: Any, points: list[Any]) -> None:
    memory, offsets = _split(store, points)
    tile.store(value, memory, [offset.build() for offset in offsets])


def _elementwise(inside: list[Any], points: list[Any], shape: list[Any]) -> None:
    values: dict[Any, Any] = {}
    _check_same_tile(inside, points)
    for operation in inside:
        with operation.location:
            name = operation.operation.name
            if name == "affine.load":
                values[operation.operation.results[0]] = _load(operation, points)
            elif name == "affine.store":
                value = operation.operands[0]
                _store(values.get(value) or _spread(value, shape), operation, points)
            elif name.startswith(("arith.", "math.")):
                _on_vectors(operation, values, shape)
            else:
                raise pass_error(operation, f"'{name}' inside an elementwise operation is not supported")


def _check_same_tile(inside: list[Any], points: list[Any]) -> None:
    """A buffer that is written may be accessed at one place only: else one point would see what another one wrote."""
    accesses = [op for op in inside if op.operation.name in ("affine.load", "affine.store")]
    written = {affine.access(op)[0]: _split(op, points) for op in accesses if op.operation.name == "affine.store"}
    for operation in accesses:
        tile = _split(operation, points)
        if tile[0] in written and tile != written[tile[0]]:
            raise pass_error(operation, "a buffer that is written is also accessed at another place")


def _on_vectors(operation: Any, values: dict[Any, Any], shape: list[Any]) -> None:
    old = operation.operation
    operands = [values.get(value) or _spread(value, shape) for value in old.operands]
    types = [ir.VectorType.get(shape, result.type) for result in old.results]
    attributes = attributes_of(old)
    if old.name == "arith.constant":
        values[old.results[0]] = constants.splat(types[0], attributes["value"])
        return
    new = ir.Operation.create(old.name, results=types, operands=operands, attributes=attributes)
    values.update(zip(old.results, new.results, strict=True))


def _spread(value: Any, shape: list[Any]) -> Any:
    """A scalar from outside the nest as a vector: a constant where it is one, a broadcast otherwise."""
    if affine.is_point(value):
        raise pass_error(value.owner.owner, "a point loop whose induction variable is computed with is not supported")
    type_ = ir.VectorType.get(shape, value.type)
    constant = _maker(value, "arith.constant")
    if constant is not None:
        return constants.splat(type_, constant.attributes["value"])
    return dialect("vector").BroadcastOp(type_, value).result
