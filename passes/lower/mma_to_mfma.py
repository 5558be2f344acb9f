"""mma-to-mfma: products of the tiles of waves become AMD's matrix instructions, and everything done to the accumulator
becomes code of each lane.

Expects a kernel function in which the accumulator is the tile of a wave (after `distribute-warps{unit=wave}`), or for
`WMMA` of a warp. Leaves amdgpu.mfma, or amdgpu.wmma, on vectors of a lane that loops carry; operands come by loads of
each lane, of up to 16 bytes where K runs along rows, else element by element. What is not known to lie within the
memory (`in_bounds`) is guarded. Refuses types without an instruction, an `instruction` that the types do not have,
tiles that are not multiples of it, unsigned bytes with `MFMA`, and what `mma-to-fma` refuses of the accumulator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.errors import PassError
from mlir_gemm.lowering.accumulator_lowering import lower_products
from mlir_gemm.lowering.products import kernels_by_kind
from mlir_gemm.lowering.wave_products import Instruction, check
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import SCOPE

UNITS = {"MFMA": "wave", "WMMA": "warp"}
"""Whose tiles each multiplies."""


@dataclass(frozen=True)
class MmaToMfma(Pass):
    """Lower tile.mma to matrix instructions of waves."""

    name: ClassVar[str] = "mma-to-mfma"
    instruction: tuple[int, int, int] = (16, 16, 16)
    """M, N and K of the instruction."""
    kind: str = "MFMA"
    """Which instructions: `MFMA` (waves of 64 lanes, CDNA) or `WMMA` (waves of 32, RDNA 3)."""

    def __post_init__(self) -> None:
        if self.kind not in UNITS:
            raise PassError(f"pass '{self}': kind must be one of {', '.join(UNITS)}")

    def run(self, module: Any) -> None:
        _ = module.context.dialects["amdgpu"]  # loads it: contexts have it only where it is used
        for kernel, instruction in kernels_by_kind(module, self._instruction, "type"):
            lower_products(kernel, instruction.layout, instruction.emit)

    def _instruction(self, product: Any) -> Instruction:
        scope = ir.StringAttr(product.operation.attributes[SCOPE]).value
        if scope != UNITS[self.kind]:
            raise pass_error(product, f"a product of a {scope}; {self.kind} multiplies tiles of a {UNITS[self.kind]}")
        return check(product, self.kind, self.instruction)
