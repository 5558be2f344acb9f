"""Elements as sums of parts in a narrower type, and where it is said that products are to be multiplied so."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.spec.attributes import SCHEDULE
from mlir_gemm.spec.emulation import Emulation

PRECISION = "precision"
_LARGEST = {"tf32": 0x7F7FE000, "bf16": 0x7F7F0000}
"""Bits of the largest f32 that each type of parts has."""
_DROPPED = 13
"""Last bits of an f32 that a tf32 does not have."""


def asked(function: Any, option: str) -> str:
    """The precision that a pass is to bring about: its option, else that of the function's `tile.schedule`."""
    if option or SCHEDULE not in function.attributes:
        return option
    written = function.attributes[SCHEDULE]
    found = written[PRECISION] if isinstance(written, ir.DictAttr) and PRECISION in written else None
    return ir.StringAttr(found).value if isinstance(found, ir.StringAttr) else ""


def say(function: Any, precision: str) -> None:
    """Writes the precision of a function's kernels into its `tile.schedule`; none where it is empty."""
    fields: dict[str, Any] = {}
    if SCHEDULE in function.attributes:
        fields = {each.name: each.attr for each in ir.DictAttr(function.attributes[SCHEDULE])}
        del function.attributes[SCHEDULE]
    fields.pop(PRECISION, None)
    if precision:
        fields[PRECISION] = ir.StringAttr.get(precision)
    if fields:
        function.attributes[SCHEDULE] = ir.DictAttr.get(fields)


def element(emulation: Emulation) -> Any:
    """The type of parts in memory."""
    return ir.F32Type.get() if emulation.part == "tf32" else ir.BF16Type.get()


def split(value: Any, emulation: Emulation) -> list[Any]:
    """The parts of an f32, at the insertion point: each is the nearest number of the type to what is left. The first
    part of a number beyond the type's largest is that one, of an infinity 1 with its sign."""
    found: list[Any] = []
    rest = value
    for place in range(emulation.parts):
        near = _nearest(rest, emulation, place)
        found.append(near)
        if place + 1 < emulation.parts:
            rest = dialect("arith").SubFOp(rest, near).result
    if emulation.part == "tf32":
        return found
    return [dialect("arith").TruncFOp(element(emulation), each).result for each in found]


def _nearest(value: Any, emulation: Emulation, place: int) -> Any:
    """The number of a type of parts that is nearest to an f32, as an f32; away from zero where two are. What is
    infinite or NaN is the second part as it is, and leaves nothing for others."""
    arith = dialect("arith")
    integer = ir.IntegerType.get_signless(32)

    def number(bits: int) -> Any:
        return arith.ConstantOp(integer, ir.IntegerAttr.get(integer, bits)).result

    bits = arith.BitcastOp(integer, value).result
    dropped = _DROPPED if emulation.part == "tf32" else 16
    raised = arith.AddIOp(bits, number(1 << (dropped - 1))).result
    kept = arith.AndIOp(raised, number(-1 << dropped)).result
    if place:
        instead = value if place == 1 else arith.ConstantOp(value.type, 0.0).result
        return arith.SelectOp(_is_finite(value), arith.BitcastOp(value.type, kept).result, instead).result
    size, sign = number(0x7FFFFFFF), number(-0x80000000)
    least = arith.MinSIOp(arith.AndIOp(kept, size).result, number(_LARGEST[emulation.part])).result
    infinite = arith.CmpIOp(arith.CmpIPredicate.eq, arith.AndIOp(bits, size).result, number(0x7F800000)).result
    one = arith.SelectOp(infinite, number(0x3F800000), least).result
    signed = arith.OrIOp(one, arith.AndIOp(bits, sign).result).result
    return arith.BitcastOp(value.type, signed).result


def _is_finite(value: Any) -> Any:
    arith = dialect("arith")
    size = dialect("math").AbsFOp(value).result
    largest = ir.FloatAttr.get(value.type, 3.4028234663852886e38)
    return arith.CmpFOp(arith.CmpFPredicate.OLE, size, arith.ConstantOp(value.type, largest).result).result
