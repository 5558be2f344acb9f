"""select-precision: lower precision that the schedule allows is used where the chip benefits from it.

Expects a module as `import` leaves it, with what the user has fixed in `tile.schedule`. Where that allows 8-bit floats
to be multiplied as they are (`precision=f8`), or sums of f16 (`precision=f16`), and an operation of the chip does so,
runs `join-extensions` or `narrow-accumulator` on the kernel. Products of parts (`precision=3xtf32` and others, which
`emulate-products` left) get a `promotion`, where nobody has set one and a schedule has it: sums of parts are to be as
exact as those of what they emulate. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.errors import InputError, ScheduleError
from mlir_gemm.parts.registry import mmas_on
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.select.join_extensions import JoinExtensions
from mlir_gemm.passes.select.narrow_accumulator import NarrowAccumulator
from mlir_gemm.pipeline.undecided import Undecided, undecided
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.emulation import EMULATIONS, Emulation
from mlir_gemm.tile_model.long_tiles import PANEL
from mlir_gemm.tile_model.select import select

STEPS = 4
"""k steps of 128 bytes after which sums of parts go to ordinary additions. The errors of 8192^3, of normal and positive
numbers, on an H200: 3.7e-7 and 6.9e-7 with three tf32, 2.5e-7 and 3.8e-7 with six bf16; cuBLAS in f32 has 1.6e-6 and
1.4e-6. With 8 steps of tf32 positive numbers lose more than that."""
TILE, DEEP, LARGE = (192, 128), 1 << 14, 1 << 25
"""The tile of a product of parts of so many elements of k, with so many elements in its result: the largest with two
accumulators. Blocks drift apart over many k steps, and read less from each other's L2 lines than the model expects:
8192^3 by three tf32 takes 9.4 ms with it, 16.0 with 128x144, which the model prefers."""
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
                able = [mma.name for mma in mmas_on(kernel.target) if mma.allows(precision, kernel.target)]
                if precision in _PASSES and able and pinned.get("mma", able[0]) in able:
                    _PASSES[precision]().run(kernel.module)
                if precision in EMULATIONS and "promotion" not in pinned:
                    _promote(kernel, EMULATIONS[precision], pinned)


def _promote(kernel: Undecided, emulation: Emulation, pinned: dict[str, Any]) -> None:
    """Lets ordinary additions take over from the tensor cores every few k steps, where a schedule can."""
    problem = kernel.problem()
    if problem.a != emulation.element or problem.acc != "f32":
        return
    if problem.k <= STEPS * PANEL // ELEMENT_BYTES[problem.a]:
        return
    step = PANEL // ELEMENT_BYTES[problem.a]
    tiles = {"block": (*TILE, step), "warp": (64, TILE[1], step)}
    drifts = problem.k >= DEEP and problem.m * problem.n >= LARGE and not {*tiles} & {*pinned}
    for fields in ({**tiles, "promotion": STEPS},) * drifts + ({"promotion": STEPS},):
        try:
            select(problem, kernel.target, {**pinned, **fields})
        except (ScheduleError, InputError):
            continue
        kernel.pin({**pinned, **fields})
        return
