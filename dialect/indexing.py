"""Index arithmetic on sizes and positions, none of which is negative or wraps around.

The flags that say so (`nsw`, `nuw`) let LLVM split constants off addresses, so that accesses at constant distances
share one address register.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir


def thread() -> Any:
    """The number of the thread in its block, which has threads along x only."""
    gpu = dialect("gpu")
    return gpu.thread_id(gpu.Dimension.x)


def as_i32(value: Any) -> Any:
    """An index value as the i32 that instructions take."""
    return dialect("arith").IndexCastOp(ir.IntegerType.get_signless(32), value).result


def _value(operand: Any) -> Any:
    return constants.index(operand) if isinstance(operand, int) else operand


def _flags() -> Any:
    flags = dialect("arith").IntegerOverflowFlags
    return flags.nsw | flags.nuw


def add(left: Any, right: Any) -> Any:
    """The sum of two index values, either of which may be a Python integer."""
    if isinstance(right, int) and right == 0:
        return left
    return dialect("arith").AddIOp(_value(left), _value(right), overflowFlags=_flags()).result


def sub(left: Any, right: Any) -> Any:
    """The difference of two index values; it must not be negative."""
    return dialect("arith").SubIOp(_value(left), _value(right), overflowFlags=_flags()).result


def mul(left: Any, right: Any) -> Any:
    """The product of two index values, either of which may be a Python integer."""
    return dialect("arith").MulIOp(_value(left), _value(right), overflowFlags=_flags()).result


def div(left: Any, right: Any) -> Any:
    """The quotient of two index values, rounded down."""
    return dialect("arith").DivUIOp(_value(left), _value(right)).result


def ceildiv(left: Any, right: int) -> Any:
    """The quotient of an index value, or of a Python integer, and a positive integer, rounded up."""
    if isinstance(left, int):
        return -(-left // right)
    return left if right == 1 else div(add(left, right - 1), right)


def at_least(left: Any, right: Any) -> Any:
    """Whether an index value is not smaller than another, or than a Python integer."""
    arith = dialect("arith")
    return arith.CmpIOp(arith.CmpIPredicate.uge, _value(left), _value(right)).result


def equal(left: Any, right: Any) -> Any:
    """Whether an index value is another, or a Python integer."""
    arith = dialect("arith")
    return arith.CmpIOp(arith.CmpIPredicate.eq, _value(left), _value(right)).result


def select(condition: Any, then: Any, otherwise: Any) -> Any:
    """One of two index values."""
    return dialect("arith").SelectOp(condition, _value(then), _value(otherwise)).result


def product(factors: Sequence[Any]) -> Any:
    """The product of index values and Python integers; an integer where all are."""
    number, values = 1, list[Any]()
    for factor in factors:
        if isinstance(factor, int):
            number *= factor
        else:
            values.append(factor)
    if not values:
        return number
    found = values[0]
    for value in values[1:]:
        found = mul(found, value)
    return found if number == 1 else mul(found, number)


def rem(left: Any, right: Any) -> Any:
    """The remainder of two index values."""
    return dialect("arith").RemUIOp(_value(left), _value(right)).result
