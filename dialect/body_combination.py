"""Reductions by a body of the user's own: found in a linalg.generic, and done in any order where evaluation says that
it does not matter (`dialect/order_tests.py`).

Of the ways to cut the body into values and `f`, which combines them (`dialect/body_cuts.py`), that nearest to the
outputs is taken by which `f` is commutative and associative. A body that updates several numbers by one (Welford) has
no such cut.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.body_cuts import Body, cuts_of, is_constant, together
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.walk import in_block

if TYPE_CHECKING:
    from mlir_gemm.dialect.order_tests import Neutral

MOST_OUTPUTS, MOST_OPERATIONS = 4, 100
"""Outputs that are combined together, of which each way to assign values to them is tried, and operations of a body."""
_FOUND: dict[str, tuple[int, Neutral] | str] = {}
"""What evaluation found, by the text of a body: which of its cuts, and what is neutral; or why none."""


def body_of(generic: Generic, number: int) -> Body | str:
    """How the body combines an output of a number, and others with it; why it cannot be done in any order."""
    inner = [each.operation for each in in_block(generic.body)][:-1]
    if len(inner) > MOST_OPERATIONS or any(not each.name.startswith(("arith.", "math.", "linalg.")) for each in inner):
        return "it is long, or has operations other than those of arith and math"
    outputs = together(generic, inner, number)
    if len(outputs) > MOST_OUTPUTS:
        return f"{len(outputs)} of its results depend on each other; expected up to {MOST_OUTPUTS}"
    key = f"{outputs} {_text(generic, inner)}"
    cuts = list(cuts_of(generic, inner, outputs))
    if key not in _FOUND:
        _FOUND[key] = _evaluated(generic, inner, cuts)
    found = _FOUND[key]
    if isinstance(found, str):
        return found
    body = replace(cuts[found[0]], neutral=found[1])
    if not found[1].any_start and not _starts_neutral(generic, body):
        return "what it starts from is not neutral, and gives another result where it is combined last"
    return body


def _text(generic: Generic, inner: list[Any]) -> str:
    """The text of a body, with the constants from outside that it uses."""
    outside = {value for op in inner for value in op.operands if is_constant(value)}
    numbers = sorted(str(value.owner.attributes["value"]) for value in outside)
    return f"{numbers} {generic.op.get_asm(use_local_scope=True, assume_verified=True)}"


def _evaluated(generic: Generic, inner: list[Any], cuts: list[Body]) -> tuple[int, Neutral] | str:
    """The first cut by which order does not matter, of any numbers if there is one, by its number; why none is."""
    if not cuts:
        return "it does not combine its results with as many values of the same types"
    from mlir_gemm.dialect.body_evaluation import neutral_of  # with NumPy, for few modules

    reasons: list[str] = []
    for general in (True, False):
        for number, cut in enumerate(cuts):
            found = neutral_of(cut, inner, list(generic.body.arguments), general=general)
            if not isinstance(found, str):
                return number, found
            reasons.append(found)
    return reasons[len(cuts)]


def _starts_neutral(generic: Generic, body: Body) -> bool:
    """Whether a reduction starts from what is neutral, by a linalg.fill of a constant."""
    return all(_filled(generic, generic.outputs[number]) == neutral
               for number, neutral in zip(body.outputs, body.neutrals, strict=True))  # fmt: skip


def _filled(generic: Generic, output: Any) -> Any:
    """The attribute of the number that an output is filled with before; None where that is not known."""
    fill = getattr(output.owner, "operation", None) if isinstance(output.type, ir.RankedTensorType) else None
    if isinstance(output.type, ir.MemRefType):
        block, uses = generic.op.block, {use.owner.operation for use in output.uses}
        before = itertools.takewhile(lambda op: op != generic.op, (each.operation for each in in_block(block)))
        fill = next((op for op in reversed(list(before)) if op in uses), None)
    if fill is not None and fill.name == "arith.constant":
        given = fill.attributes["value"]
        return given.get_splat_value() if getattr(given, "is_splat", False) else None
    if fill is None or fill.name != "linalg.fill" or not is_constant(fill.operands[0]):
        return None
    return fill.operands[0].owner.attributes["value"]
