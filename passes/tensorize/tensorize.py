"""tensorize: every point nest becomes operations on whole tiles.

Expects the nests over `tile.loop = "point"` loops that `tile-loops` makes. A three-deep nest that adds the product of
two loads to a third, or combines them by another algebra, becomes tile.load, tile.mma, tile.store; a two-deep one
becomes tile.load, the same arith and math operations on vectors, and tile.store. Loads may be broadcast or transposed,
and at one index of other dimensions of their memory: the place of the tile says so. Operands of a product that were not
staged in shared memory become subviews. Refuses a nest it does not recognise, and a product with an operand that is
neither staged nor a matrix of whole tiles: a subview does not stop at the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import affine, tile
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import subview
from mlir_gemm.dialect.point_nests import vectors
from mlir_gemm.dialect.point_nests.places import access_of
from mlir_gemm.dialect.point_nests.product import EXTENSIONS, NestProduct, product_in, unextended
from mlir_gemm.dialect.walk import body, in_block, named, parents
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.tile.tile_loops import plain_trips


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
            _product(outer, inside)
        else:
            _check_same_tile(inside, points)
            vectors.of_points(inside, points)
    outer.operation.erase()


def _product(outer: Any, inside: list[Any]) -> None:
    store = inside[-1] if inside else outer
    found = product_in(store) if store.operation.name == "affine.store" else None
    if found is None:
        raise pass_error(store, "a three-deep point nest that is not c += extend(a) * extend(b)")
    known = {store.operation, *(op.operation for op in found.behind(store.operands[0]))}
    for operation in inside:
        if operation.operation not in known:
            raise pass_error(operation, f"'{operation.operation.name}' inside a product is not supported")
    with store.location:
        lhs, a = _operand(found, found.lhs, [found.m, found.k], "mk")
        rhs, b = _operand(found, found.rhs, [found.k, found.n], "kn")
        result = access_of(store, found.points)
        rows = [found.m, found.n]
        type_ = ir.VectorType.get([affine.extent_of(point) for point in rows], found.load.operation.results[0].type)
        acc = tile.load(result.memory, result.along(rows), type_)
        product = tile.mma(lhs, rhs, acc, a, b, _unsigned(found), str(found.algebra or ""))
        tile.store(product.results[0], result.memory, result.along(rows))


def _operand(product: NestProduct, factor: Any, points: list[Any], order: str) -> tuple[Any, str]:
    """The memref that holds just this operand's tile, and how it is stored in it."""
    load = unextended(factor).owner
    if getattr(load, "name", "") != "affine.load":
        raise pass_error(product.multiply, "a factor that is computed and was not staged (promote-operands does that)")
    access = access_of(load.opview, product.points)
    outer = len(access.starts) - len(points)  # those of a batch, at one index each
    if access.runs == dict(enumerate(reversed(points), outer)):
        points, order = points[::-1], order[::-1]
    if access.runs != dict(enumerate(points, outer)):
        raise pass_error(load, "an operand that is not staged must be a matrix along the product's own loops")
    memory, shape = access.memory, [affine.extent_of(point) for point in points]
    if list(memory.type.shape) == shape and not any(start.terms or start.constant for start in access.starts):
        return memory, order
    if not all(
        size > 0 and not any(number % extent for number in (size, start.constant, *start.terms.values()))
        for size, start, extent in zip(memory.type.shape[outer:], access.starts[outer:], shape, strict=True)
    ):
        tiles = "x".join(map(str, shape))
        raise pass_error(
            load, f"an operand that is not staged must be made of whole {tiles} tiles; this is {memory.type}"
        )
    return subview(memory, [start.build() for start in access.starts], shape), order


def _unsigned(product: NestProduct) -> str:
    """Which of the factors are unsigned integers: those that were extended with zeros."""
    factors = {"a": product.lhs, "b": product.rhs}
    return "".join(name for name, factor in factors.items() if getattr(factor.owner, "name", "") == EXTENSIONS[2])


def _check_same_tile(inside: list[Any], points: list[Any]) -> None:
    """A buffer that is written may be accessed at one place only: else one point would see what another one wrote."""
    accesses = [(op, access_of(op, points)) for op in inside if op.operation.name in ("affine.load", "affine.store")]
    written = {access.memory: access for op, access in accesses if op.operation.name == "affine.store"}
    for operation, access in accesses:
        if access.memory in written and access != written[access.memory]:
            raise pass_error(operation, "a buffer that is written is also accessed at another place")
        if operation.operation.name == "affine.store" and len(access.runs) < len(points):
            raise pass_error(operation, "a store whose elements each get values from several points")
