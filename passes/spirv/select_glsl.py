"""select-glsl: exact operations of math that upstream has no conversion for become GLSL.std.450's.

Expects kernels after `scalarize-registers`. Leaves spirv.GL operations, which upstream's convert-gpu-to-spirv takes
as they are, and math.copysign as operations on bits. Leaves what it does not know, and exp2 of f64, which the set
lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass

NAMES = {
    "math.fma": "spirv.GL.Fma", "math.exp2": "spirv.GL.Exp2", "math.rsqrt": "spirv.GL.InverseSqrt",
    "math.absf": "spirv.GL.FAbs", "math.sqrt": "spirv.GL.Sqrt", "math.floor": "spirv.GL.Floor",
    "math.ceil": "spirv.GL.Ceil", "math.round": "spirv.GL.Round", "math.roundeven": "spirv.GL.RoundEven",
}  # fmt: skip
_NARROW = ("math.exp2", "math.rsqrt")
"""Those that the set has no f64 of."""
COPYSIGN = "math.copysign"


@dataclass(frozen=True)
class SelectGlsl(Pass):
    """Turn exact operations of math into GLSL.std.450's."""

    name: ClassVar[str] = "select-glsl"

    def run(self, module: Any) -> None:
        _ = ir.Context.current.dialects["spirv"]  # loads it
        for kernel in named(module, "gpu.func"):
            for view in named(kernel, *NAMES, COPYSIGN):
                operation = view.operation
                (result,) = operation.results
                if operation.name in _NARROW and str(result.type) not in ("f16", "f32"):
                    continue
                with ir.InsertionPoint(operation), operation.location:
                    if operation.name == COPYSIGN:
                        made = _with_sign(*operation.operands)
                    else:
                        made = ir.Operation.create(
                            NAMES[operation.name], [result.type], list(operation.operands)
                        ).result
                result.replace_all_uses_with(made)
                operation.erase()


def _with_sign(number: Any, sign: Any) -> Any:
    """The first number with the sign of the second, bit by bit."""
    arith, width = dialect("arith"), number.type.width
    bits = ir.IntegerType.get_signless(width)
    mask = arith.ConstantOp(bits, ir.IntegerAttr.get(bits, -(1 << (width - 1)))).result
    rest = arith.ConstantOp(bits, ir.IntegerAttr.get(bits, (1 << (width - 1)) - 1)).result
    magnitude = arith.AndIOp(arith.BitcastOp(bits, number).result, rest).result
    signed = arith.AndIOp(arith.BitcastOp(bits, sign).result, mask).result
    return arith.BitcastOp(number.type, arith.OrIOp(magnitude, signed).result).result
