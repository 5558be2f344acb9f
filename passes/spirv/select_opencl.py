"""select-opencl: operations of math that upstream has no conversion for become OpenCL.std's.

Expects kernels after `scalarize-registers`. Leaves spirv.CL operations, which upstream's convert-gpu-to-spirv takes as
they are, and math.copysign as operations on bits. math.rsqrt is what `expand-math` leaves where a result is rounded to
16 bits; rsqrt errs by 2 units in the last place at most. The dialect has no exp2, so that 2**x is exp of ln 2 times
what is left of x beside a whole number, which is at most a half, and that number is added to the exponent; f16 goes
through f32. Leaves what it does not know, and exp2 of f64.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.spirv.select_glsl import COPYSIGN, with_sign

NAMES = {
    "math.fma": "spirv.CL.fma", "math.absf": "spirv.CL.fabs", "math.sqrt": "spirv.CL.sqrt",
    "math.floor": "spirv.CL.floor", "math.ceil": "spirv.CL.ceil", "math.round": "spirv.CL.round",
    "math.roundeven": "spirv.CL.rint", "math.rsqrt": "spirv.CL.rsqrt",
}  # fmt: skip
_EXP2 = "math.exp2"
_MOST = 300.0
"""Beyond this 2**x is infinite or zero in f32."""


@dataclass(frozen=True)
class SelectOpencl(Pass):
    """Turn operations of math into OpenCL.std's."""

    name: ClassVar[str] = "select-opencl"

    def run(self, module: Any) -> None:
        _ = ir.Context.current.dialects["spirv"]  # loads it
        for kernel in named(module, "gpu.func"):
            for view in named(kernel, *NAMES, COPYSIGN, _EXP2):
                operation = view.operation
                (result,) = operation.results
                if operation.name == _EXP2 and str(result.type) not in ("f16", "f32"):
                    continue
                with ir.InsertionPoint(operation), operation.location:
                    if operation.name == COPYSIGN:
                        made = with_sign(*operation.operands)
                    elif operation.name == _EXP2:
                        made = _power(operation.operands[0])
                    else:
                        made = _named(NAMES[operation.name], result.type, *operation.operands)
                result.replace_all_uses_with(made)
                operation.erase()


def _named(name: str, type_: Any, *operands: Any) -> Any:
    return ir.Operation.create(name, [type_], list(operands)).result


def _power(x: Any) -> Any:
    """2**x. The whole number is of x within bounds; the rest is of x itself, so that infinities and NaN stay."""
    arith, given = dialect("arith"), x.type
    single, whole = ir.F32Type.get(), ir.IntegerType.get_signless(32)
    if given != single:
        x = arith.ExtFOp(single, x).result
    low, high, ln2 = (arith.ConstantOp(single, each).result for each in (-_MOST, _MOST, math.log(2)))
    bounded = _named("spirv.CL.fmax", single, _named("spirv.CL.fmin", single, x, high), low)
    nearest = _named("spirv.CL.rint", single, bounded)
    rest = arith.MulFOp(arith.SubFOp(x, nearest).result, ln2).result
    exponent = arith.FPToSIOp(whole, nearest).result
    power = _named("spirv.CL.ldexp", single, _named("spirv.CL.exp", single, rest), exponent)
    return power if given == single else arith.TruncFOp(given, power).result
