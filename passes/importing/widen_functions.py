"""widen-functions: functions of 16-bit numbers are computed in f32 with the arithmetic around them, and rounded once.

Expects linalg.generic on tensors. A body with a function of f16 or bf16 that no instruction computes (math.erf, exp,
tanh, powers) and with other arithmetic in that type, as frameworks write a GELU, is computed in f32: what it reads is
extended, and only what it yields, or converts to another type, is rounded. So PyTorch computes each of its operations;
rounded in between, a GELU errs by 1.1 times as much. Bodies without such functions, and those of reductions, are
rounded as they say. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.linalg.generics import generics, read
from mlir_gemm.dialect.walk import in_block
from mlir_gemm.passes.base import Pass

WIDENED = ("f16", "bf16")
ARITHMETIC = tuple(f"arith.{name}" for name in ("addf", "subf", "mulf", "divf", "negf", "maximumf", "minimumf",
                                                "maxnumf", "minnumf"))  # fmt: skip
EXACT = tuple(f"math.{name}" for name in ("absf", "copysign", "floor", "ceil", "trunc", "round", "roundeven"))
"""Their results are numbers of the same type as they are."""
OTHERS = ("math.fma", "math.sqrt", "math.clampf")
"""Rounded correctly, or exact: instructions."""
FUNCTIONS = tuple(f"math.{name}" for name in (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "tanh", "erf", "erfc", "rsqrt", "sin", "cos", "tan",
    "sinh", "cosh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2", "cbrt", "powf", "fpowi",
))  # fmt: skip
"""What is a formula in f32 anyway."""


@dataclass(frozen=True)
class WidenFunctions(Pass):
    """Compute functions of 16-bit numbers, and what is around them, in f32."""

    name: ClassVar[str] = "widen-functions"

    def run(self, module: Any) -> None:
        for operation in generics(module):
            generic = read(operation)
            if generic is None or not generic.parallel:
                continue
            inside = [each.operation for each in in_block(generic.block)]
            narrow = [op for op in inside if _is_widened(op)]
            if any(op.name in FUNCTIONS for op in narrow) and len(narrow) > 1:
                _Widening(inside).run()


@dataclass
class _Widening:
    """One body."""

    inside: list[Any]
    wide: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """The f32 of what is computed in 16 bits."""
    extended: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """The f32 of what is read in 16 bits."""

    def run(self) -> None:
        old = [op for op in self.inside if _is_widened(op)]
        for op in self.inside:
            with ir.InsertionPoint(op), op.location:
                if _is_widened(op):
                    self._widen(op)
                elif op.name == "arith.extf" and op.operands[0] in self.wide and _is(op.results[0], "f32"):
                    op.results[0].replace_all_uses_with(self.wide[op.operands[0]])
                    op.erase()
                else:
                    self._round(op)
        for op in reversed(old):
            op.erase()

    def _widen(self, op: Any) -> None:
        operands = [self._extended(value) if _is(value, *WIDENED) else value for value in op.operands]
        made = ir.Operation.create(op.name, results=[ir.F32Type.get()], operands=operands, attributes=attributes_of(op))
        self.wide[op.results[0]] = made.results[0]

    def _extended(self, value: Any) -> Any:
        if value in self.wide:
            return self.wide[value]
        if value not in self.extended:
            owner, arith, f32 = value.owner, dialect("arith"), ir.F32Type.get()
            if getattr(owner, "name", "") == "arith.constant":
                made = arith.ConstantOp(f32, ir.FloatAttr(owner.attributes["value"]).value)
            else:
                made = arith.ExtFOp(f32, value)
            self.extended[value] = made.result
        return self.extended[value]

    def _round(self, op: Any) -> None:
        """What is no arithmetic gets what it asks for."""
        for place, value in enumerate(op.operands):
            if value in self.wide:
                op.operands[place] = dialect("arith").TruncFOp(value.type, self.wide[value]).result


def _is_widened(op: Any) -> bool:
    """Whether an operation computes a number of 16 bits from such numbers."""
    known = op.name in (*ARITHMETIC, *EXACT, *OTHERS, *FUNCTIONS)
    return known and len(op.results) == 1 and _is(op.results[0], *WIDENED)


def _is(value: Any, *types: str) -> bool:
    return str(value.type) in types
