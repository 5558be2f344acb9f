"""Evaluating the body of a reduction, cut into what is combined and how (`Body`), on drawn numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mlir_gemm.dialect import body_numbers as numbers
from mlir_gemm.dialect.body_cuts import Body
from mlir_gemm.dialect.order_tests import COUNT, Evaluated, Neutral, OrderTests, Tuple, Type, draw


def neutral_of(body: Body, inner: Sequence[Any], arguments: Sequence[Any], *, general: bool) -> Neutral | str:
    """What is neutral to a body, whose operations and arguments are these, if it gives the same in any order; why it
    does not, or is not known to. It combines any numbers if `general`, or else what the body computes of inputs."""
    compared = body.operations if general else inner  # what is done before would change what is drawn
    constants = [numbers.number_of(value) for op in compared for value in (*op.results, *op.operands)]
    special = sorted({each for each in constants if each is not None and not isinstance(each, bool)
                      and np.isfinite(each)})  # fmt: skip

    def combined(left: Sequence[Any], right: Sequence[Any]) -> Evaluated:
        known: dict[Any, Any] = dict(zip([*body.arguments, *body.values], [*left, *right], strict=True))
        greatest = numbers.evaluate(body.operations, known)
        return [known[value] for value in body.yielded], greatest

    def elements(rng: Any) -> Tuple:
        if general:
            return [draw(_type(value.type), rng, special) for value in body.values]
        known = {value: draw(_type(value.type), rng, special) for value in arguments if value not in body.arguments}
        for op in inner:
            if any(each in known for each in op.operands) and not any(each in known for each in op.results):
                _compute(op, known)
        return [known[value] if value in known else draw(_type(value.type), rng, special) for value in body.values]

    try:
        types = [_type(value.type) for value in body.values]
        rounds = any(map(numbers.rounds, body.operations))
        found = OrderTests(combined, types, elements, special, rounds=rounds).neutral()
        return found if isinstance(found, str) else replace(found, is_general=general)
    except numbers.UnknownOperationError:
        return "it has an operation that the compiler does not evaluate"


def _compute(op: Any, known: dict[Any, Any]) -> None:
    """Adds what an operation computes of what is known, where that can be evaluated and is finite; what it computes is
    drawn otherwise."""
    try:
        numbers.evaluate([op], known)
    except numbers.UnknownOperationError:
        return
    made = op.results[0]
    if numbers.is_float(made.type) and not np.all(np.isfinite(known[made])):
        known[made] = np.where(np.isfinite(known[made]), known[made], 1.0)
    known[made] = np.broadcast_to(known[made], (COUNT,))


def _type(type_: Any) -> Type:
    if numbers.is_float(type_):
        return Type(type_.width, True)
    return Type(numbers.width_of(type_), False)
