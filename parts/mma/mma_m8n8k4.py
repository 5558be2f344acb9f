"""mma_m8n8k4: mma.sync of 8x8x4 on f16, of which the four quad-pairs of a warp multiply one each (sm_70, sm_72).

Fragments are loaded by lanes, four neighbours of a row at a time, whichever way A and B lie; there is no ldmatrix.
Shapes and fragment layouts: PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16 floating point type". Later chips have
the instruction, but run it slowly. It and WMMA compute the same on the same tensor cores, so that the one is taken
whose prediction is less. On a V100 WMMA is reported further behind, at half of what is predicted (docs/papers.md)."""

from __future__ import annotations

from mlir_gemm.parts.base import Form, Mma
from mlir_gemm.parts.mma.mma_sync import to_sync
from mlir_gemm.parts.warp_level.clocks import tensor_core_rate
from mlir_gemm.parts.warp_level.cost import LANES
from mlir_gemm.parts.warp_level.registers import registers_needed
from mlir_gemm.parts.warp_level.search import searching
from mlir_gemm.spec.passes import at
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule, Tile

ONE: Tile = (8, 8, 4)
TOGETHER: Tile = (16, 16, 4)
"""What a quad-pair multiplies, and the four of a warp."""


def _fragments(_: Problem, schedule: Schedule) -> int:
    """Two registers for each 16 rows of A and columns of B: two quad-pairs hold the same."""
    return 2 * (schedule.warp[0] + schedule.warp[1]) // TOGETHER[0]


PART = Mma(
    "mma_m8n8k4",
    rank=3,
    forms=(Form(("f16",), False, "f32", TOGETHER),),
    passes=lambda schedule, target: [at("lower", "mma", to_sync(schedule, ONE, target))],
    search=searching("mma_m8n8k4"),
    family=LANES,
    rate=tensor_core_rate,
    registers=registers_needed,
    needs=frozenset({"mma.m8n8k4"}),
    features=lambda _, __: "+ptx64",
    fragments=_fragments,
    peer=True,
)
