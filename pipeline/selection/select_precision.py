"""select-precision: lower precision that the schedule allows is used where the chip benefits from it.

Expects a module as `import` leaves it, with what the user has fixed in `tile.schedule`. Where that allows 8-bit floats
to be multiplied as they are (`precision=f8`), or sums of f16 (`precision=f16`), and an operation of the chip does so,
runs `join-extensions` or `narrow-accumulator` on the kernel. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.parts.registry import mmas_on
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.select.join_extensions import JoinExtensions
from mlir_gemm.passes.select.narrow_accumulator import NarrowAccumulator
from mlir_gemm.pipeline.undecided import undecided

_PASSES = {"f8": JoinExtensions, "f16": NarrowAccumulator}


@dataclass(frozen=True)
class SelectPrecision(Pass):
    """Do what the schedule's precision allows."""

    name: ClassVar[str] = "select-precision"

    def run(self, module: Any) -> None:
        for kernel in undecided(module):
            with kernel.errors():
                pinned = kernel.pinned()
                precision = pinned.get("precision", "full")
                able = [mma.name for mma in mmas_on(kernel.target) if any(f.precision == precision for f in mma.forms)]
                if precision in _PASSES and able and pinned.get("mma", able[0]) in able:
                    _PASSES[precision]().run(kernel.module)
