"""The passes of a kernel of rows: reductions along rows, and the elementwise work around them.

Its function is marked `tile.kind = "rows"`. It goes through the same stages as a product; the schedule is a
`RowSchedule`, which stands in `tile.rows`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mlir_gemm.lowering.cluster_exchange import FEATURES as STORES
from mlir_gemm.pipeline.conversions import converted
from mlir_gemm.spec.passes import PassSpec, Placed, at, in_stage, step, upstream
from mlir_gemm.spec.rows import RowSchedule
from mlir_gemm.spec.stages import ALL_SLOTS
from mlir_gemm.spec.target import Target


def row_passes(stage: str, schedule: RowSchedule, target: Target) -> list[PassSpec]:
    """The passes of one stage, from `tile` to the last one with IR."""
    return in_stage(stage, ALL_SLOTS[stage], _placed(schedule, target))


def _placed(schedule: RowSchedule, target: Target) -> Iterator[Placed]:
    yield at("tile", "loops", step("keep-reference"))
    yield at("tile", "sizes", step("share-sizes"))
    tensorize = step("tensorize-rows", tile=schedule.tile, transposed=schedule.transposed, shift=schedule.shift,
                     staged=schedule.staged, unroll=schedule.unroll, cluster=schedule.cluster,
                     prefetch=schedule.prefetch, evict_first=schedule.evict_first, flat=schedule.flat,
                     part=schedule.part, grid=schedule.grid, groups=schedule.groups, front=schedule.front,
                     paired=schedule.paired)  # fmt: skip
    yield at("tensorize", "tensorize", tensorize, *([step("narrow-maxima")] if target.has_narrow_maxima else []))
    yield at("accumulate", "clean", upstream("cse,canonicalize"))
    yield at("launch", "launch", step("launch-blocks", threads=schedule.threads))
    yield at("launch", "outline", upstream("gpu-launch-sink-index-computations"), step("pass-sizes"))
    yield at("launch", "outline", upstream("gpu-kernel-outlining,cse"))
    if schedule.min_blocks:
        yield at("launch", "registers", step("limit-registers", blocks=schedule.min_blocks))
    if schedule.cluster > 1:
        yield at("launch", "cluster", step("cluster-blocks", size=schedule.cluster))
    if schedule.grid:
        yield at("launch", "cluster", step("cooperative-blocks", blocks=schedule.grid))
    if schedule.shift:
        yield at("lower", "mma", step("unswitch-rows"))
    yield at("lower", "mma", step("lower-rows", across=schedule.across, vector=schedule.vector))
    yield at("lower", "memory", step("place-shared", storage="auto", limit=target.smem_static), step("fold-subviews"))
    yield at("lower", "types", step("expand-fp8"), step("allow-contraction"), step("expand-math", exp="ex2"))
    cleaning = "gpu.module(gpu.func(lower-affine,canonicalize,cse,loop-invariant-code-motion))"
    yield at("lower", "clean", *([step("lower-unit-ids")] if schedule.cluster > 1 else []), upstream(cleaning))
    if target.has_dependent_launch:  # it is launched while the kernel before it ends, and waits before it reads
        yield at("lower", "positions", step("programmatic-dependent-launch", early=False, at_start=True))
    yield at("lower", "check", step("pass-scalars"), step("check-lowered"))
    if target.backend == "nvptx":
        yield at("nvvm", "math", step("extend-bf16"))
    yield from converted(target, STORES if schedule.cluster > 1 and target.has_clusters else "")
    if schedule.evict_first and target.has_l2_policies:
        yield at("nvvm", "maps", step("evict-loads"))
