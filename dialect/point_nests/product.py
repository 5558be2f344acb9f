"""Recognising a product in a point nest: a store of `c + a b`, or of what another algebra makes of them, by its loops
and its arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import affine, algebras
from mlir_gemm.dialect.linalg.products import is_multiplied
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, parents, users
from mlir_gemm.spec.algebra import Algebra, padding

EXTENSIONS = ("arith.extf", "arith.extsi", "arith.extui")
"""Casts that lose nothing, so that a product of what they cast is the same product."""
_SUMS = {"arith.addf": "arith.mulf", "arith.addi": "arith.muli"}


@dataclass
class NestProduct:
    """One product: `store(load + lhs * rhs)` at the points (m, n, k) of a nest."""

    store: Any
    load: Any
    """The affine.load of the accumulator."""
    multiply: Any
    lhs: Any
    """The factor that moves with m, as it is multiplied."""
    rhs: Any
    """The factor that moves with n."""
    m: Any
    n: Any
    k: Any
    algebra: Algebra | None = None
    """What adds up and multiplies, where it is not an addition and a multiplication of numbers: its `a` is `lhs`."""

    def cores(self) -> list[Any]:
        """The values of `lhs` and `rhs` to stage: before their extension, unless the narrow types have no padding value
        beyond the end of k."""
        narrow = [unextended(each) for each in (self.lhs, self.rhs)]
        return narrow if self._padding(narrow) is not None else [self.lhs, self.rhs]

    def pads(self) -> tuple[float | int, float | int]:
        """What `lhs` and `rhs` are padded with beyond the end of k, so that the result does not change."""
        found = self._padding(self.cores())
        if found is None:
            raise pass_error(self.store, "no element is known that an operand of this algebra could go on with")
        return found

    def _padding(self, cores: list[Any]) -> tuple[float | int, float | int] | None:
        if self.algebra is None:
            return 0, 0
        a, b = (str(core.type) for core in cores)
        return padding(str(self.algebra), a, b, str(self.load.operation.results[0].type))

    @property
    def points(self) -> list[Any]:
        """The induction variables of the nest's loops."""
        return [self.m, self.n, self.k]

    def behind(self, value: Any) -> list[Any]:
        """The operations of the nest that compute `value`, in order."""
        block = self.store.operation.block
        needed, pending = set[Any](), [value]
        while pending:
            owner = pending.pop().owner
            if not hasattr(owner, "operations") and owner.operation.block == block and owner.operation not in needed:
                needed.add(owner.operation)
                pending += list(owner.operation.operands)
        return [operation for operation in in_block(block) if operation.operation in needed]

    def replace(self, value: Any, new: Any) -> None:
        """Uses `new` for `value`, and erases what computed it if nothing else needs that."""
        old = self.behind(value)
        _before_users(new, value)
        value.replace_all_uses_with(new)
        for operation in reversed(old):
            if not any(users(result) for result in operation.operation.results):
                operation.operation.erase()


def _before_users(new: Any, value: Any) -> None:
    """Moves the operation that makes `new` before the first user of `value`."""
    using = users(value)
    block = new.owner.operation.block
    first = next(operation for operation in in_block(block) if operation.operation in using)
    new.owner.operation.move_before(first.operation)


def product_in(store: Any) -> NestProduct | None:
    """The product that an affine.store in a point nest stores; None when it stores something else.

    The nest's last three loops are m, n and k. Which factor is the left one is told by the loops it moves with.
    """
    points = _points_around(store)
    add = store.operation.operands[0].owner
    if len(points) != 3 or hasattr(add, "operations"):
        return None
    if add.name not in _SUMS:
        return _by_algebra(store, add.operation, points)
    m, n, k = points
    for old, new in ((0, 1), (1, 0)):
        load, multiply = add.operands[old].owner, add.operands[new].owner
        if getattr(load, "name", "") != "affine.load" or getattr(multiply, "name", "") != _SUMS[add.name]:
            continue
        if affine.access(load.opview) != affine.access(store):
            continue
        lhs, rhs = multiply.operands
        product = NestProduct(store, load.opview, multiply.opview, lhs, rhs, m, n, k)
        if product.lhs == product.rhs:
            break
        left, right = (_moves_with(product, factor) for factor in multiply.operands)
        if (n in left or m in right) and not (m in left or n in right):
            product.lhs, product.rhs = product.rhs, product.lhs
        return product
    return _by_algebra(store, add.operation, points)


def _by_algebra(store: Any, combiner: Any, points: list[Any]) -> NestProduct | None:
    """The product by other operations than addition and multiplication that a store in a nest stores."""
    m, n, k = points
    block = store.operation.block
    so_far = next((value for value in combiner.operands if _reads(value, store)), None)
    if so_far is None:
        return None

    def maker_of(value: Any) -> Any:
        owner = value.owner
        inside = not hasattr(owner, "operations") and owner.operation.block == block
        return owner.operation if inside and owner.operation.name != "affine.load" else None

    def leaves(value: Any) -> frozenset[Any]:
        maker = maker_of(value)
        if maker is None:
            return frozenset([value] if getattr(value.owner, "name", "") == "affine.load" else [])
        return frozenset[Any]().union(*map(leaves, maker.operands))

    found = algebras.read(combiner, so_far, maker_of, leaves)
    if isinstance(found, str):
        return None
    product = NestProduct(store, so_far.owner.opview, found.a.owner, found.a, found.b, m, n, k, found.algebra)
    left, right = (_moves_with(product, factor) for factor in (found.a, found.b))
    if m in right and n in left and not (m in left or n in right):
        product.lhs, product.rhs, product.algebra = found.b, found.a, found.algebra.swapped()
        left, right = right, left
    return product if m in left and n in right else None


def _reads(value: Any, store: Any) -> bool:
    """Whether a value is what lies where a store writes."""
    owner = value.owner
    return getattr(owner, "name", "") == "affine.load" and affine.access(owner.opview) == affine.access(store)


def _moves_with(product: NestProduct, value: Any) -> set[Any]:
    """The points that index the loads behind a value."""
    loads = [op for op in product.behind(value) if op.operation.name == "affine.load"]
    return {operand for load in loads for operand in load.operation.operands if operand in product.points}


def _points_around(operation: Any) -> list[Any]:
    """The induction variables of the point loops around an operation, outermost first."""
    found: list[Any] = []
    for parent in parents(operation):
        if affine.level_of(parent) != "point":
            break
        found.insert(0, body(parent).arguments[0])
    return found


def unextended(value: Any) -> Any:
    """What a value was before casts that lose nothing, as far as an mma multiplies it."""
    while getattr(value.owner, "name", "") in EXTENSIONS and is_multiplied(value.owner):
        value = value.owner.operands[0]
    return value
