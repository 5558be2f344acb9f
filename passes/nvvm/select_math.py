"""select-math: exact operations of math, arith.maxnumf and minnumf, ex2, rsqrt and rcp.approx become LLVM's intrinsics.

Expects kernel functions after `expand-math`; with the flag `afn`, math.exp2 of f32 is ex2.approx, math.rsqrt
rsqrt.approx, and arith.divf a product with rcp.approx. Leaves calls of intrinsics on numbers and vectors of one
dimension; vectors of more dimensions are taken apart into rows. Belongs before upstream's convert-gpu-to-nvvm, or
convert-gpu-to-rocdl, which would turn these operations into calls of libraries that are not available. Refuses nothing:
it leaves what it does not know.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.walk import named
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.lower.expand_math import INSTRUCTIONS, is_instruction

INTRINSICS = {
    "math.fma": "llvm.fma", "math.absf": "llvm.fabs", "math.sqrt": "llvm.sqrt", "math.copysign": "llvm.copysign",
    "math.floor": "llvm.floor", "math.ceil": "llvm.ceil", "math.trunc": "llvm.trunc", "math.round": "llvm.round",
    "math.roundeven": "llvm.roundeven", "math.ctpop": "llvm.ctpop", "arith.maxnumf": "llvm.maxnum",
    "arith.minnumf": "llvm.minnum",
}  # fmt: skip
"""The instructions that each becomes (abs.f32, fma.rn.f32, cvt.rmi.f32.f32, ...) are there for f16, bf16, f32 and f64
on every chip from sm_70 on, by way of f32 where a chip lacks them; round is a few instructions. AMD's chips have them
too, in one instruction or a few."""
APPROXIMATIONS = {
    "nvptx": ("llvm.nvvm.ex2.approx.ftz.f", "llvm.nvvm.rcp.approx.ftz.f", "llvm.nvvm.rsqrt.approx.f"),
    "amdgcn": ("llvm.amdgcn.exp2.f32", "llvm.amdgcn.rcp.f32", ""),
}
"""2 to the power of f32, and the inverse of f32. Those of AMD's chips are right to one unit in the last place ("Vector
ALU" in the instruction set manuals), and flush what is under the smallest normal number too. The inverse of a root,
which PTX has of denormal numbers too; without it, an exact root and a division."""


@dataclass(frozen=True)
class SelectMath(Pass):
    """Turn exact operations of math into LLVM's intrinsics."""

    name: ClassVar[str] = "select-math"
    chips: str = "nvptx"
    """Whose approximations: `nvptx` or `amdgcn`."""

    def __post_init__(self) -> None:
        if self.chips not in APPROXIMATIONS:
            raise PassError(f"pass '{self}': chips must be one of {', '.join(APPROXIMATIONS)}")

    def run(self, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            found = [op for op in named(kernel, *INSTRUCTIONS, *INTRINSICS) if _has_instruction(op)]
            for operation in found:
                with ir.InsertionPoint(operation), operation.location:
                    result = _selected(operation.operation, APPROXIMATIONS[self.chips])
                operation.operation.results[0].replace_all_uses_with(result)
            for operation in found:
                operation.operation.erase()


def _has_instruction(operation: Any) -> bool:
    return operation.operation.name in INTRINSICS or is_instruction(operation)


def _selected(operation: Any, approximations: tuple[str, str, str]) -> Any:
    operands = list(operation.operands)
    if operation.name == "math.exp2":
        return _each(approximations[0], operands[0])
    if operation.name == "math.rsqrt":
        return _inverse_root(operands[0], approximations[2])
    if operation.name == "arith.divf":
        inverse = _each(approximations[1], operands[1])
        return dialect("arith").MulFOp(operands[0], inverse).result
    return _exact(INTRINSICS[operation.name], operation.results[0].type, operands)


def _exact(name: str, type_: Any, operands: list[Any]) -> Any:
    if not isinstance(type_, ir.VectorType) or len(ir.VectorType(type_).shape) == 1:
        return _call(name, type_, operands)
    vector, type_ = dialect("vector"), ir.VectorType(type_)
    row = ir.VectorType.get(list(type_.shape)[-1:], type_.element_type)
    result = operands[0]  # each of its rows is replaced
    for place in product(*map(range, list(type_.shape)[:-1])):
        rows = [vector.ExtractOp(operand, [], list(place), results=[row]).result for operand in operands]
        result = vector.InsertOp(_call(name, row, rows), result, [], list(place)).result
    return result


def _inverse_root(operand: Any, name: str) -> Any:
    if name:
        return _each(name, operand)
    root = _exact("llvm.sqrt", operand.type, [operand])
    element, arith = getattr(operand.type, "element_type", operand.type), dialect("arith")
    one = ir.FloatAttr.get(element, 1.0)
    whole = ir.DenseElementsAttr.get_splat(operand.type, one) if element != operand.type else one
    return arith.DivFOp(arith.ConstantOp(operand.type, whole).result, root).result


def _each(name: str, operand: Any) -> Any:
    """An approximation, number by number. What is under the smallest normal number becomes zero: results are subtracted
    from something larger, or rounded, and taking care of it would take several instructions more."""
    type_ = operand.type
    if not isinstance(type_, ir.VectorType):
        return _call(name, type_, [operand], plain=True)
    vector, result = dialect("vector"), operand
    for place in product(*map(range, ir.VectorType(type_).shape)):
        number = vector.ExtractOp(operand, [], list(place)).result
        result = vector.InsertOp(_call(name, type_.element_type, [number], plain=True), result, [], list(place)).result
    return result


def _call(name: str, type_: Any, operands: list[Any], plain: bool = False) -> Any:
    shape = f"v{ir.VectorType(type_).shape[0]}" if isinstance(type_, ir.VectorType) else ""
    element = getattr(type_, "element_type", type_)
    attributes = {
        "intrin": ir.StringAttr.get(name if plain else f"{name}.{shape}{element}"),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 0]),
        "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
    }
    return ir.Operation.create("llvm.call_intrinsic", [type_], operands, attributes).results[0]
