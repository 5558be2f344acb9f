"""expand-fp8: conversions of 8-bit floats become arithmetic on their bits.

Expects kernel functions. Leaves arith.extf and arith.truncf between an 8-bit float and f16, bf16, f32 or f64 as
operations on integers and f16 or f32, which every chip has; they are exact, respectively rounded to nearest even. What
is too large becomes infinity, or NaN in a format that has none, such as f8E4M3FN: as PyTorch and `ml_dtypes` convert.
Conversions from and to integers go by way of f32, where every whole number in the range of these formats is exact.
Refuses f64 to an 8-bit float, which would be rounded twice, other rounding modes, and arithmetic on 8-bit floats
themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.functions.number import INFINITY, Number, absolute, select
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import beginning, named
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.eight_bit_floats import EightBitFloat
from mlir_gemm.spec.element_types import FORMATS

_HALF_MANTISSA, _HALF_BIAS, _SINGLE_MANTISSA, _SINGLE_BIAS = 10, 15, 23, 127
CONVERSIONS = ("arith.extf", "arith.truncf")
FROM_INTEGERS = {"arith.sitofp": "SIToFPOp", "arith.uitofp": "UIToFPOp"}
"""What canonicalisation makes of a conversion to f32 that is rounded further."""
TO_INTEGERS = {"arith.fptosi": "FPToSIOp", "arith.fptoui": "FPToUIOp"}
MOVES = ("arith.constant", "arith.bitcast", "arith.select")
"""Operations of arith that do not compute with the number."""


@dataclass(frozen=True)
class ExpandFp8(Pass):
    """Turn conversions of 8-bit floats into arithmetic."""

    name: ClassVar[str] = "expand-fp8"

    def run(self, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            found = [op for op in beginning(kernel, "arith.", "math.") if _computes_with_eight(op.operation)]
            for operation in found:
                _check(operation)
            for operation in found:
                with ir.InsertionPoint(operation), operation.location:
                    result = _converted(operation.operation)
                operation.operation.results[0].replace_all_uses_with(result.value)
            for operation in found:
                operation.operation.erase()


def _computes_with_eight(operation: Any) -> bool:
    return operation.name not in MOVES and any(
        _is_eight(value.type) for value in (*operation.operands, *operation.results)
    )


def _is_eight(type_: Any) -> bool:
    element = type_.element_type if isinstance(type_, ir.VectorType) else type_
    return isinstance(element, ir.FloatType) and element.width == 8


def _check(operation: Any) -> None:
    op = operation.operation
    if op.name in FROM_INTEGERS or op.name in TO_INTEGERS:
        eight = Number((op.results if op.name in FROM_INTEGERS else op.operands)[0]).element
        if str(eight) not in FORMATS:
            raise pass_error(operation, f"a conversion between integers and {eight}; expected {' or '.join(FORMATS)}")
        return
    if op.name not in CONVERSIONS:
        raise pass_error(operation, f"'{op.name}' on 8-bit floats; expected arith.extf to a wider type first")
    eight, wide = Number(op.operands[0]).element, Number(op.results[0]).element
    if op.name == "arith.truncf":
        eight, wide = wide, eight
    if str(eight) not in FORMATS or str(wide) not in ("f16", "bf16", "f32", "f64"):
        raise pass_error(
            operation, f"a conversion between {eight} and {wide}; expected {' or '.join(FORMATS)} and f16 to f64"
        )
    if op.name == "arith.truncf" and isinstance(wide, ir.F64Type):
        raise pass_error(operation, f"f64 to {eight} would be rounded twice; convert to f32 first")
    mode = str(op.attributes["roundingmode"]) if "roundingmode" in op.attributes else "0"
    if not mode.startswith("0"):
        raise pass_error(operation, f"to {eight} in rounding mode {mode}; expected to nearest even")


def _converted(op: Any) -> Number:
    x, target = Number(op.operands[0]), Number(op.results[0]).element
    if op.name in FROM_INTEGERS:
        return _rounded(x.converted(FROM_INTEGERS[op.name], ir.F32Type.get()), target)
    if op.name in TO_INTEGERS:
        return _extended(x, ir.F32Type.get()).converted(TO_INTEGERS[op.name], target)
    return _extended(x, target) if op.name == "arith.extf" else _rounded(x, target)


def _integers(bits: int) -> Any:
    return ir.IntegerType.get_signless(bits)


def _extended(x: Number, wide: Any) -> Number:
    """By way of f16, which holds every number of all formats."""
    form = FORMATS[str(x.element)]
    bits = x.converted("BitcastOp", _integers(8)).converted("ExtUIOp", _integers(16))
    half = _half(bits, form) if form.has_half_exponents else _half_by_single(bits, form)
    if isinstance(wide, ir.F16Type):
        return half
    single = half.converted("ExtFOp", ir.F32Type.get())
    if isinstance(wide, ir.F32Type):
        return single
    return single.converted("TruncFOp" if isinstance(wide, ir.BF16Type) else "ExtFOp", wide)


def _half(bits: Number, form: EightBitFloat) -> Number:
    size = bits & 0x7F
    half = ((size << (_HALF_MANTISSA - form.mantissa)) | ((bits & 0x80) << 8)).converted("BitcastOp", ir.F16Type.get())
    if form.mantissa == 2:  # the exponents are those of f16, infinity and NaN too
        return half
    scaled = select(_is_nan(bits, size, form), float("nan"), half * 2.0 ** (_HALF_BIAS - form.bias))
    if not form.has_infinity:
        return scaled
    return select(size.equals(form.overflow), select(bits > form.overflow, -INFINITY, half.like(INFINITY)), scaled)


def _half_by_single(bits: Number, form: EightBitFloat) -> Number:
    """Of a format that has numbers where f16 has infinity and NaN: f32 has wider exponents."""
    wide = bits.converted("ExtUIOp", _integers(32))
    placed = ((wide & 0x7F) << (_SINGLE_MANTISSA - form.mantissa)) | ((wide & 0x80) << 24)
    single = placed.converted("BitcastOp", ir.F32Type.get()) * 2.0 ** (_SINGLE_BIAS - form.bias)
    half = single.converted("TruncFOp", ir.F16Type.get())
    return select(_is_nan(bits, bits & 0x7F, form), float("nan"), half)


def _is_nan(bits: Number, size: Number, form: EightBitFloat) -> Number:
    if not form.has_negative_zero:
        return bits.equals(form.nan)
    return size > form.overflow if form.has_infinity else size.equals(form.nan)


def _rounded(x: Number, eight: Any) -> Number:
    form = FORMATS[str(eight)]
    x = x if isinstance(x.element, ir.F32Type) else x.converted("ExtFOp", ir.F32Type.get())
    size, drop = absolute(x), _SINGLE_MANTISSA - form.mantissa
    bits = size.bits()
    odd = bits.shifted_right(drop) & 1
    normal = (bits + odd + ((1 << (drop - 1)) - 1)).shifted_right(drop) - ((_SINGLE_BIAS - form.bias) << form.mantissa)
    # The sum's last bit is worth the smallest number of the format, so that the addition itself rounds.
    last_bit = 2.0 ** (_SINGLE_MANTISSA + 1 - form.bias - form.mantissa)
    tiny = (size + last_bit).bits() - Number.bits(size.like(last_bit))
    result = select(size < 2.0 ** (1 - form.bias), tiny, normal)
    result = select(result > form.largest, form.overflow, result)
    result = select(size <= INFINITY, result, form.nan)
    signed = result | (x.bits().shifted_right(24) & 0x80)
    result = signed if form.has_negative_zero else select(result.equals(0), 0, signed)
    return result.converted("TruncIOp", _integers(8)).converted("BitcastOp", eight)
