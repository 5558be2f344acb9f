"""The attribute `tile.algebra`, by which an operation says in which algebra it multiplies."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.errors import Error, InputError
from mlir_gemm.spec.attributes import ALGEBRA
from mlir_gemm.spec.bilinear import ALGORITHMS, AUTO, FEWEST, SCHOOLBOOK, Bilinear, Matrix, Number, Steps, Table, named

NAME, CONSTANTS, ALGORITHM = "name", "constants", "algorithm"
PARTS = ("left", "right", "result")
KEYS = (NAME, CONSTANTS, ALGORITHM, *PARTS)


@dataclass(frozen=True)
class Marked:
    """What an operation's attribute says."""

    table: Table
    steps: Steps | None
    """An algorithm that may be used in place of the schoolbook's."""
    asked: bool = False
    """Whether the algorithm is asked for: else only where it is nearly as exact."""


def is_mark(attribute: Any) -> bool:
    """Whether an attribute is of the form that `tile.algebra` has."""
    if isinstance(attribute, ir.StringAttr):
        return True
    if not isinstance(attribute, ir.DictAttr):
        return False
    return all(
        each.name in KEYS
        and isinstance(each.attr, ir.StringAttr if each.name in (NAME, ALGORITHM) else ir.DenseElementsAttr)
        for each in attribute
    )


def asked_algorithm(op: Any) -> str:
    """The algorithm that an operation asks for; one that is written out is asked for."""
    given: Any = op.attributes[ALGEBRA] if ALGEBRA in op.attributes else None  # noqa: SIM401 (it is no dictionary)
    if isinstance(given, ir.DictAttr) and ALGORITHM in given:
        algorithm = given[ALGORITHM].value
        if algorithm not in ALGORITHMS:
            known = "', '".join(ALGORITHMS)
            raise input_error(op, f"'{ALGEBRA}' with algorithm '{algorithm}'; expected one of '{known}'")
        return algorithm
    return FEWEST if isinstance(given, ir.DictAttr) and PARTS[0] in given else AUTO


def read(op: Any) -> Marked:
    """The constants, and the algorithm that may be used. Raises InputError for an algebra that is not there."""
    given = op.attributes[ALGEBRA]
    name = given.value if isinstance(given, ir.StringAttr) else given[NAME].value if NAME in given else ""
    try:
        if name:
            algebra = named(name)
        elif isinstance(given, ir.DictAttr) and CONSTANTS in given:
            parts = tuple(_nested(given[each]) for each in PARTS if each in given)
            if len(parts) not in (0, len(PARTS)):
                raise InputError(f"'{ALGEBRA}' with a part of an algorithm; expected {', '.join(PARTS)}")
            algebra = Bilinear("here", _nested(given[CONSTANTS]), parts or None)  # type: ignore[arg-type]
            algebra.check()
        else:
            raise InputError(f"'{ALGEBRA}' has no algebra; expected its name, or {CONSTANTS} = dense<...>")
    except Error as problem:
        raise input_error(op, problem.message) from None
    algorithm = asked_algorithm(op)
    return Marked(algebra.table, algebra.steps if algorithm != SCHOOLBOOK else None, algorithm == FEWEST)


def _nested(attribute: Any) -> Any:
    """The numbers of a dense attribute, nested as its dimensions are."""
    shape = list(attribute.type.shape)
    numbers: list[Any] = [attribute[n] for n in range(len(attribute))] if not attribute.is_splat else (
        [attribute.get_splat_value().value] * len(attribute)
    )  # fmt: skip
    for size in reversed(shape[1:]):
        numbers = [numbers[n : n + size] for n in range(0, len(numbers), size)]
    return numbers


def mark(table: Table, steps: Steps | None = None, algorithm: str = FEWEST) -> Any:
    """The attribute of a table, and of `steps` that may be used, where they are asked for or where they are nearly as
    exact: as `algorithm` says."""
    parts: dict[str, Any] = {CONSTANTS: _dense(table)}
    if steps is not None:
        parts |= {name: _dense(each) for name, each in zip(PARTS, (steps.left, steps.right, steps.result), strict=True)}
        if algorithm != FEWEST:
            parts[ALGORITHM] = ir.StringAttr.get(algorithm)
    return ir.DictAttr.get(parts)


def _dense(table: Table | Matrix) -> Any:
    shape: list[int] = []
    given: Any = table
    while isinstance(given, tuple):
        shape.append(len(given))  # pyright: ignore[reportUnknownArgumentType]
        given = given[0]  # pyright: ignore[reportUnknownVariableType]
    numbers: Any = table
    for _ in shape[1:]:
        numbers = list(itertools.chain.from_iterable(numbers))
    f64 = ir.F64Type.get()
    attributes: list[Any] = [ir.FloatAttr.get(f64, _number(each)) for each in numbers]
    return ir.DenseElementsAttr.get(attributes, type=ir.RankedTensorType.get(shape, f64))


def _number(number: Number) -> float:
    return float(number)
