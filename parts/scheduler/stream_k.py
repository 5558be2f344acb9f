"""stream_k: the k steps of tiles that fill no whole wave are shared by all blocks; a fix-up adds up what they sum."""

from __future__ import annotations

from mlir_gemm.parts.base import Part
from mlir_gemm.spec.passes import at, step, upstream

PART = Part(
    "stream_k",
    lambda schedule: bool(schedule.persistent and schedule.stream),
    lambda schedule, _: [
        at(
            "parallelize",
            "scheduler",
            step("stream-steps", blocks=schedule.persistent, share=schedule.stream),
            upstream("cse"),
        )
    ],
)
