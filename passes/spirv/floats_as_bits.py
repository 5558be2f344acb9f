"""floats-as-bits: numbers of bf16 and of 8-bit floats, which SPIR-V lacks, become integers that hold their bits.

Expects kernels after `scalarize-registers` and `expand-fp8`. Leaves no such number: bf16 is extended to f32 by a shift,
which is exact, and f32 is rounded to bf16 to nearest even, on its bits; NaN becomes 0x7fc0, as in PyTorch. f64 is
rounded to f32 to odd before, so that it is rounded once. Operations on bf16 compute in f32 and are rounded then: for
sums, products, quotients and roots that is the correctly rounded result, since f32 has more than twice the digits.
Integers of more than 24 bits are rounded to f32 first, as PyTorch does.

Refuses math.fma on bf16, which would be rounded twice, other rounding modes, and operations on 8-bit floats.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.functions.number import Number, absolute, select
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.spirv_kernels import as_bits
from mlir_gemm.dialect.walk import beginning, named
from mlir_gemm.passes.base import Pass

_HALF = 16
"""Bits of bf16, which are the upper ones of f32."""
_NAN = 0x7FC0
_INFINITE = 0x7F800000
"""The bits of infinity in f32."""
_TO_INTEGERS = ("arith.fptosi", "arith.fptoui", "arith.cmpf")
"""Operations whose results are no floats."""


@dataclass(frozen=True)
class FloatsAsBits(Pass):
    """Hold numbers of types that SPIR-V lacks in integers."""

    name: ClassVar[str] = "floats-as-bits"

    def run(self, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            rewriting = _Rewriting()
            found = beginning(kernel, "arith.", "math.", "memref.")
            for operation in found:
                rewriting.take(operation.operation)
            for operation in reversed(rewriting.done):
                operation.erase()


class _Rewriting:
    """One kernel: the bits of its numbers so far."""

    def __init__(self) -> None:
        self.bits: dict[Any, Any] = {}
        self.done: list[Any] = []

    def take(self, operation: Any) -> None:
        """Rewrites an operation, if it is about such numbers."""
        types = [value.type for value in (*operation.operands, *operation.results)]
        if not any(_is_lacking(getattr(each, "element_type", each)) for each in types):
            if operation.name not in ("memref.load", "memref.store"):
                return
            if not any(value in self.bits for value in operation.operands):
                return
        with ir.InsertionPoint(operation), operation.location:
            made = _MADE.get(operation.name, _computed)(self, operation)
        if made is not None:
            (result,) = operation.results
            if _is_lacking(result.type):
                self.bits[result] = made
            else:
                result.replace_all_uses_with(made)
        self.done.append(operation)

    def of(self, value: Any) -> Any:
        """The bits of a number; the number itself where it is of another type."""
        return self.bits[value] if _is_lacking(value.type) else value

    def single(self, value: Any) -> Any:
        """A number in f32 where it is bf16; the number itself where it is of another type."""
        if not isinstance(value.type, ir.BF16Type):
            return value
        wide = Number(self.bits[value]).converted("ExtUIOp", _integers(32)) << _HALF
        return wide.converted("BitcastOp", ir.F32Type.get()).value


def _is_lacking(type_: Any) -> bool:
    return isinstance(type_, ir.BF16Type) or (isinstance(type_, ir.FloatType) and type_.width == 8)


def _integers(width: int) -> Any:
    return ir.IntegerType.get_signless(width)


def _memory(rewriting: _Rewriting, operation: Any) -> None:
    (result,) = operation.results
    old = ir.MemRefType(result.type)
    made = ir.MemRefType.get(old.shape, as_bits(old.element_type), memory_space=old.memory_space)
    result.replace_all_uses_with(ir.Operation.create(operation.name, [made], [], attributes_of(operation)).results[0])


def _load(rewriting: _Rewriting, operation: Any) -> Any:
    return dialect("memref").LoadOp(operation.operands[0], list(operation.operands)[1:]).result


def _store(rewriting: _Rewriting, operation: Any) -> None:
    value, memory, *places = operation.operands
    dialect("memref").StoreOp(rewriting.of(value), memory, places)


def _constant(rewriting: _Rewriting, operation: Any) -> Any:
    (result,) = operation.results
    type_, number = as_bits(result.type), ir.FloatAttr(operation.attributes["value"]).value
    if not isinstance(result.type, ir.BF16Type):
        raise pass_error(operation, f"a constant of {result.type}, which SPIR-V lacks")
    return dialect("arith").ConstantOp(type_, ir.IntegerAttr.get(type_, _bf16_bits(number))).result


def _bf16_bits(number: float) -> int:
    """The bits of a number that bf16 holds."""
    return struct.unpack("<I", struct.pack("<f", number))[0] >> _HALF


def _bitcast(rewriting: _Rewriting, operation: Any) -> Any:
    (value,), (result,) = operation.operands, operation.results
    given = rewriting.of(value)
    wanted = as_bits(result.type) if _is_lacking(result.type) else result.type
    return given if given.type == wanted else dialect("arith").BitcastOp(wanted, given).result


def _select(rewriting: _Rewriting, operation: Any) -> Any:
    condition, *values = operation.operands
    return dialect("arith").SelectOp(condition, *map(rewriting.of, values)).result


def _extended(rewriting: _Rewriting, operation: Any) -> Any:
    (value,), (result,) = operation.operands, operation.results
    if not isinstance(value.type, ir.BF16Type):
        raise pass_error(operation, f"an extension of {value.type}; expected bf16, with `expand-fp8` before")
    single = rewriting.single(value)
    return single if single.type == result.type else dialect("arith").ExtFOp(result.type, single).result


def _truncated(rewriting: _Rewriting, operation: Any) -> Any:
    (value,), (result,) = operation.operands, operation.results
    if not isinstance(result.type, ir.BF16Type):
        raise pass_error(operation, f"a conversion to {result.type}; expected bf16, with `expand-fp8` before")
    mode = str(operation.attributes["roundingmode"]) if "roundingmode" in operation.attributes else "0"
    if not mode.startswith("0"):
        raise pass_error(operation, f"to bf16 in rounding mode {mode}; expected to nearest even")
    return _rounded(Number(value)).value


def _rounded(x: Number) -> Number:
    """A number of another float type as the bits of bf16, to nearest even."""
    if x.element.width == 16:
        x = x.converted("ExtFOp", ir.F32Type.get())
    bits = _to_odd(x) if x.element.width == 64 else x.bits()
    odd = bits.shifted_right(_HALF) & 1
    rounded = (bits + odd + ((1 << (_HALF - 1)) - 1)).shifted_right(_HALF)
    is_nan = Number(rounded.like(_INFINITE).value).below(bits & 0x7FFFFFFF)
    return select(is_nan, _NAN, rounded).converted("TruncIOp", _integers(_HALF))


def _to_odd(x: Number) -> Number:
    """f64 as the bits of f32, rounded towards zero, with the last bit set where that changed it."""
    single = x.converted("TruncFOp", ir.F32Type.get())
    back, bits = single.converted("ExtFOp", x.element), single.bits()
    towards_zero = select(absolute(back) > absolute(x), bits - 1, bits)
    return select(back.differs(x), towards_zero | 1, bits)


def _computed(rewriting: _Rewriting, operation: Any) -> Any:
    """The same operation in f32, rounded."""
    (result,) = operation.results
    types = [value.type for value in (*operation.operands, result)]
    if any(_is_lacking(each) and not isinstance(each, ir.BF16Type) for each in types):
        raise pass_error(operation, f"'{operation.name}' on 8-bit floats; expected arith.extf to a wider type first")
    if operation.name == "math.fma":
        raise pass_error(operation, "'math.fma' on bf16 would be rounded twice; expected arith.mulf and arith.addf")
    given = [rewriting.single(value) for value in operation.operands]
    type_ = result.type if operation.name in _TO_INTEGERS else ir.F32Type.get()
    made = ir.Operation.create(operation.name, [type_], given, attributes_of(operation)).results[0]
    return made if operation.name in _TO_INTEGERS else _rounded(Number(made)).value


_MADE: dict[str, Callable[[_Rewriting, Any], Any]] = {
    "memref.alloc": _memory, "memref.alloca": _memory, "memref.load": _load, "memref.store": _store,
    "arith.constant": _constant, "arith.bitcast": _bitcast, "arith.select": _select, "arith.extf": _extended,
    "arith.truncf": _truncated,
}  # fmt: skip
