"""What follows a complex product and is linear in it: each part of the result is then computed from one part of the
product, or becomes so by constants of the product itself."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect import complex_numbers
from mlir_gemm.dialect.bindings import dialect
from mlir_gemm.dialect.complex_numbers import Pair
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.spec.bilinear import Number

Parts = tuple[tuple[Number, Number], tuple[Number, Number]]
"""For each part of a value how much of each part of the product there is in it."""
WHOLE: Parts = ((1, 0), (0, 1))
_NONE: Parts = ((0, 0), (0, 0))


def matrix_of(value: Any, product: Any, generic: Generic) -> Parts | None:
    """How a complex value of a body depends on the parts of `product`, an argument; None where it does so in another
    way than by constants."""
    if value == product:
        return WHOLE
    if not reaches(value, product):
        return _NONE
    op = value.owner.operation
    if op.name in ("complex.neg", "complex.conj"):
        given = matrix_of(op.operands[0], product, generic)
        return given and _scaled(given, -1 if op.name == "complex.neg" else 1, -1)
    if op.name in ("complex.add", "complex.sub"):
        one, other = (matrix_of(each, product, generic) for each in op.operands)
        if one is None or other is None:
            return None
        sign = 1 if op.name == "complex.add" else -1
        return _rows([[x + sign * y for x, y in zip(*rows, strict=True)] for rows in zip(one, other, strict=True)])
    if op.name != "complex.mul":
        return None
    constants = [complex_numbers.constant_of(each) for each in op.operands]
    number, by = (op.operands[0], constants[1]) if constants[1] is not None else (op.operands[1], constants[0])
    given = matrix_of(number, product, generic) if by is not None else None
    if given is None or by is None:
        return None
    re, im = (each.attribute.value for each in by)
    first, second = given
    return _rows([[re * x - im * y for x, y in zip(first, second, strict=True)],
                  [im * x + re * y for x, y in zip(first, second, strict=True)]])  # fmt: skip


def _rows(rows: Any) -> Parts:
    (a, b), (c, d) = rows
    return (a, b), (c, d)


def _scaled(given: Parts, re: Number, im: Number) -> Parts:
    (a, b), (c, d) = given
    return (re * a, re * b), (im * c, im * d)


def rest_of(value: Any, product: Any, generic: Generic, known: dict[Any, Any]) -> Pair | None:
    """What is added to that, built at the insertion point from `known`; None for nothing."""
    if value == product:
        return None
    if not reaches(value, product):
        return complex_numbers.evaluate([value], generic, known)[0]
    op = value.owner.operation
    parts = [rest_of(each, product, generic, known) for each in op.operands]
    if op.name == "complex.mul":
        held = next((n for n, each in enumerate(op.operands) if complex_numbers.constant_of(each) is not None), 1)
        return None if parts[1 - held] is None else complex_numbers.built(op, parts)
    if all(each is not None for each in parts):
        return complex_numbers.built(op, parts)
    there = next((each for each in parts if each is not None), None)
    if there is not None and op.name == "complex.sub" and parts[0] is None:
        negated = dialect("arith").NegFOp
        return Pair(negated(there.re).result, negated(there.im).result)
    return there


def is_scale(parts: Parts) -> bool:
    """Whether both parts are those of the product times one number."""
    return parts[0][0] == parts[1][1] and not parts[0][1] and not parts[1][0]


def plain_rest(value: Any, product: Any) -> tuple[Any, Number] | None:
    """What a sum or difference of the product, or of a conjugate or multiple of it, and another value adds; and its
    sign. None for anything else."""
    op = None if hasattr(value.owner, "operations") else value.owner.operation
    if op is None or op.name not in ("complex.add", "complex.sub"):
        return None
    where = [number for number, each in enumerate(op.operands) if reaches(each, product)]
    if len(where) != 1 or _has_sum(op.operands[where[0]]):
        return None
    sign = -1 if op.name == "complex.sub" and where[0] == 0 else 1
    return op.operands[1 - where[0]], sign


def reaches(value: Any, product: Any) -> bool:
    """Whether a value of a body is computed from `product`."""
    if value == product:
        return True
    return not hasattr(value.owner, "operations") and any(
        reaches(each, product) for each in value.owner.operation.operands
    )


def _has_sum(value: Any) -> bool:
    if hasattr(value.owner, "operations"):
        return False
    op = value.owner.operation
    return op.name in ("complex.add", "complex.sub") or any(map(_has_sum, op.operands))


def has_rest(value: Any, product: Any) -> bool:
    """Whether something that is not computed from the product is added to it."""
    if value == product:
        return False
    if not reaches(value, product):
        return True
    op = value.owner.operation
    given = [each for each in op.operands if op.name != "complex.mul" or reaches(each, product)]
    return any(has_rest(each, product) for each in given)
