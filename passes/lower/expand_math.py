"""expand-math: functions that the NVPTX back end has no instructions for become arithmetic.

Expects kernel functions with operations of math, or some of arith (remf, flush_denormals, those with two results), on
numbers or vectors of any rank. Leaves arith, an scf.if where an angle may be large, an scf.for in a remainder of f64,
and the operations of math that `select-math` finds instructions for: fma, absf, sqrt, copysign, floor, ceil, trunc,
round, roundeven, and, with the flag `afn`, exp2, rsqrt and arith.divf of f32. The formulas and their errors stand in
`dialect/functions`. f16 and bf16 are extended to f32 and the result is rounded. Powers with a constant whole exponent
from 1 to 4 become products; arith.remf becomes a long division. Refuses every other operation of math.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.functions import approximations, in_f64, integers, through_f64
from mlir_gemm.dialect.functions.number import (
    APPROXIMATE,
    INFINITY,
    Number,
    absolute,
    rsqrt_fast,
    select,
    with_sign,
)
from mlir_gemm.dialect.functions.pairs import Pair, quick_sum
from mlir_gemm.dialect.functions.remainders import remainder
from mlir_gemm.dialect.functions.rounded import exp_for_rounding, shorter_form
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import rounds_to_halves
from mlir_gemm.dialect.walk import beginning, named
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass

KEPT = ("math.fma", "math.absf", "math.sqrt", "math.copysign", "math.floor", "math.ceil", "math.trunc", "math.round",
        "math.roundeven")  # fmt: skip
"""Each is one instruction, or a few that LLVM knows; exact, so that f16 and bf16 need no detour."""
INSTRUCTIONS = ("math.exp2", "math.rsqrt", "arith.divf")
"""With the flag `afn`, on f32, an instruction each, or two."""
COUNTS = "math.ctpop"
"""On one number of 32 bits an instruction; of a vector LLVM would make a dozen."""
INTEGERS: dict[str, Callable[..., Number]] = {
    f"math.{name}": getattr(integers, name) for name in ("absi", "ctlz", "cttz", "ctpop", "ipowi")
}
"""Operations on integers: upstream has no lowering for them, or one that calls libdevice."""
EXTENDED: dict[str, Callable[..., list[Number]]] = {
    f"arith.{name}": getattr(integers, name) for name in ("addui_extended", "mului_extended", "mulsi_extended")
}
"""The same, with two results."""
FORMULAS: dict[str, Callable[..., Number]] = {
    f"math.{name}": getattr(approximations, name)
    for name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "tanh", "erf", "rsqrt", "sin", "cos")
}
"""Functions of f32."""
RARE = tuple(f"math.{name}" for name in ("atan", "atan2", "asin", "acos", "tan", "sinh", "cosh", "asinh", "acosh",
                                         "atanh", "cbrt", "erfc"))  # fmt: skip
THROUGH_F64: dict[str, Callable[..., Number]] = {name: getattr(through_f64, name[5:]) for name in RARE}
"""Functions of f32 that are computed in f64 and rounded once."""
IN_F64: dict[str, Callable[..., Number]] = {
    name: getattr(in_f64 if hasattr(in_f64, name[5:]) else approximations, name[5:]) for name in (*FORMULAS, *RARE)
}
"""Functions of f64."""
ANGLES = ("math.sin", "math.cos", "math.tan")
"""What has a branch, for large angles."""
TESTS: dict[str, Callable[[Number, float], Number]] = {
    "math.isnan": lambda x, _: x.differs(x),
    "math.isinf": lambda x, _: absolute(x).equals(INFINITY),
    "math.isfinite": lambda x, _: absolute(x) < INFINITY,
    "math.isnormal": lambda x, least: (absolute(x) < INFINITY) & (absolute(x) >= least),
}
"""Of a number and the least normal one of its type."""
LEAST_NORMAL = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}
ARITH = ("arith.remf", "arith.flush_denormals", *EXTENDED)
"""What is expanded of arith."""
POWERS = ("math.powf", "math.fpowi")
OTHERS = ("math.clampf", "math.sincos", "arith.remf", "arith.flush_denormals")
PRODUCTS = 4
"""The largest exponent for which x^n becomes products; each costs half an ulp."""


@dataclass(frozen=True)
class ExpandMath(Pass):
    """Turn elementary functions into arithmetic."""

    name: ClassVar[str] = "expand-math"
    exp: str = "accurate"
    """How exp of f32 is computed: `accurate`, within 0.99 ulp, or by `ex2`, within 2^-21.4, in a third of the time;
    then in kernels that store floats of 16 bits and fewer alone, in two operations, within 2^-17, and rsqrt in one,
    within 2^-22."""

    def run(self, module: Any) -> None:
        if self.exp not in ("accurate", "ex2"):
            raise PassError(f"pass 'expand-math': exp={self.exp}; expected accurate or ex2")
        for kernel in named(module, "gpu.func"):
            found = beginning(kernel, "math.", *ARITH)
            rest = [op for op in found if op.operation.name not in KEPT and not is_instruction(op) and not is_count(op)]
            for operation in rest:
                _check(operation)
            short: dict[str, Callable[[Number], Number]] = {}
            if self.exp == "ex2":
                short = FOR_ROUNDING if rounds_to_halves(kernel) else {"math.exp": approximations.exp_by_ex2}
            for operation in rest:
                shorter = shorter_form(operation)
                if shorter is None:
                    _expand(operation, short)
                else:
                    shorter.build(operation.location)
            for operation in rest:
                operation.operation.erase()


FOR_ROUNDING: dict[str, Callable[[Number], Number]] = {"math.exp": exp_for_rounding, "math.rsqrt": rsqrt_fast}
"""Functions of f32 for results that are rounded to 16 bits."""


def is_count(operation: Any) -> bool:
    """Whether an operation counts the bits of one number of 32 bits."""
    op = operation.operation
    return op.name == COUNTS and str(op.results[0].type) == "i32"


def is_instruction(operation: Any) -> bool:
    """Whether an operation is PTX's ex2.approx, rsqrt.approx or rcp.approx: math.exp2, math.rsqrt or arith.divf on f32
    with the flag `afn`."""
    op = operation.operation
    approximate = "fastmath" in op.attributes and op.attributes["fastmath"] == ir.Attribute.parse(APPROXIMATE)
    return op.name in INSTRUCTIONS and approximate and str(Number(op.results[0]).element) == "f32"


def _check(operation: Any) -> None:
    name = operation.operation.name
    if name in (*INTEGERS, *EXTENDED):
        return
    if name not in (*IN_F64, *TESTS, *POWERS, *OTHERS):
        known = ", ".join(
            full.removeprefix("math.") for full in sorted((*IN_F64, *INTEGERS, *TESTS, *POWERS, *OTHERS, *KEPT))
        )
        raise pass_error(operation, f"'{name}' has no formula here; of the dialect math there are {known}")
    element = str(Number(operation.operation.operands[0]).element)
    if element not in LEAST_NORMAL:
        raise pass_error(operation, f"'{name}' on {element}; expected f16, bf16, f32 or f64")


def _expand(operation: Any, short: dict[str, Callable[[Number], Number]]) -> None:
    old = operation.operation
    with ir.InsertionPoint(operation), operation.location:
        operands = [Number(operand) for operand in old.operands]
        narrow = operands[0].element
        if old.name in (*INTEGERS, *EXTENDED):
            made = [INTEGERS[old.name](*operands)] if old.name in INTEGERS else EXTENDED[old.name](*operands)
            _replace(old, made)
            return
        if narrow.width == 16:
            operands = [x if x.is_integer else x.converted("ExtFOp", ir.F32Type.get()) for x in operands]
        if old.name in TESTS:
            found = [TESTS[old.name](operands[0], LEAST_NORMAL[str(narrow)])]
        elif old.name in short and isinstance(operands[0].element, ir.F32Type):
            found = [short[old.name](operands[0])]
        elif old.name == "math.sincos":
            found = [_of_floats(name, operands) for name in ("math.sin", "math.cos")]
        elif old.name == "arith.flush_denormals":
            found = [_flushed(operands[0], LEAST_NORMAL[str(narrow)])]
        else:
            found = [_result(old, operands)]
        if narrow.width == 16 and old.name not in TESTS:
            found = [each.converted("TruncFOp", narrow) for each in found]
    _replace(old, found)


def _replace(operation: Any, found: list[Number]) -> None:
    for result, each in zip(operation.results, found, strict=True):
        result.replace_all_uses_with(each.value)


def _result(operation: Any, operands: list[Number]) -> Number:
    x = operands[0]
    if operation.name == "math.clampf":
        return _clamp(*operands)
    if operation.name == "arith.remf":
        return remainder(*operands)
    if operation.name not in POWERS:
        return _of_floats(operation.name, operands)
    exponent = _whole_constant(operation.operands[1])
    if exponent is not None and 1 <= exponent <= PRODUCTS:
        return _product(x, exponent)
    y, odd = operands[1], None
    if y.is_integer:
        odd = (y & 1).equals(1)
        pair = _as_pair(y)
    else:
        pair = Pair(y if isinstance(y.element, ir.F64Type) else y.converted("ExtFOp", ir.F64Type.get()), 0.0)
    if isinstance(x.element, ir.F64Type):
        return in_f64.power(x, pair, odd)
    return approximations.power(x, pair.high, odd)


def _of_floats(name: str, operands: list[Number]) -> Number:
    """A function of f32 or f64."""
    if name in ANGLES and operands[0].vector:
        return _by_elements(name, operands[0])
    element = operands[0].element
    if isinstance(element, ir.F64Type):
        return IN_F64[name](*operands)
    if name not in THROUGH_F64:
        return FORMULAS[name](*operands)
    wide = [each.converted("ExtFOp", ir.F64Type.get()) for each in operands]
    return THROUGH_F64[name](*wide).converted("TruncFOp", element)


def _by_elements(name: str, x: Number) -> Number:
    """A function with a branch, which each element of a vector has for itself."""
    vector = dialect("vector")
    places = itertools.product(*(range(size) for size in ir.VectorType(x.type).shape))
    elements = [Number(vector.ExtractOp(x.value, [], list(place)).result) for place in places]
    return Number(vector.FromElementsOp(x.type, [_of_floats(name, [each]).value for each in elements]).result)


def _as_pair(n: Number) -> Pair:
    """An integer as a sum of two of f64, without loss."""
    f64 = ir.F64Type.get()
    if n.element.width <= 32:
        return Pair(n.converted("SIToFPOp", f64), 0.0)
    upper = (n >> 32).converted("SIToFPOp", f64) * 2.0**32
    return quick_sum(upper, (n & 0xFFFFFFFF).converted("SIToFPOp", f64))


def _flushed(x: Number, least: float) -> Number:
    return select(absolute(x) < least, with_sign(x.like(0.0), x), x)


def _clamp(x: Number, low: Number, high: Number) -> Number:
    """As LLVM's maxnum and minnum would, for bounds that are not NaN; a NaN stays one."""
    x = select(x < low, low, x)
    return select(x > high, high, x)


def _product(x: Number, exponent: int) -> Number:
    if exponent == 1:
        return x
    square = x * x
    return {2: lambda: square, 3: lambda: square * x, 4: lambda: square * square}[exponent]()


def _whole_constant(value: Any) -> int | None:
    """The whole number that a constant exponent is, in each element if it is a vector; else None."""
    owner = value.owner
    if getattr(owner, "name", "") in ("vector.broadcast", "vector.splat"):
        return _whole_constant(owner.operands[0])
    splat: Any = constants.splat_of(value) if isinstance(value.type, ir.VectorType) else None
    is_constant = getattr(owner, "name", "") == "arith.constant"
    attribute: Any = owner.attributes["value"] if splat is None and is_constant else splat
    if attribute is None or not isinstance(attribute, ir.FloatAttr | ir.IntegerAttr):
        return None
    number = float(getattr(attribute, "value", float("nan")))
    return int(number) if number.is_integer() else None
