"""Fields of the schedule that several parts have."""

from __future__ import annotations

from mlir_gemm.spec.fields import Field
from mlir_gemm.spec.tile_space import SPACES

STAGES = Field(
    "stages",
    "Buffers in shared memory for each operand. Where the next k tile waits in registers, two of them save one of two "
    "barriers of a k step; where copies are asynchronous, `stages` - 1 or `stages` k tiles are in flight.",
    least=1,
)
RASTER_GROUP = Field("raster_group", "Tile rows in a group.", least=1)
SMEM_EPILOGUE = Field(
    "smem_epilogue",
    "Results leave through shared memory: by the copy engine where it can write them, by whole rows where it cannot.",
)
SPACE = Field(
    "space",
    "Which tiles and steps are computed: `all`; of a result that equals its transpose the `triangle` of tiles on and "
    "below the diagonal, of which each is stored twice; of one that is masked on one side of the diagonal the `lower` "
    "or the `upper` tiles; of a product with a triangular operand the `k_range` of each tile in which that is not "
    "zero.",
    values=("", *SPACES),
)
