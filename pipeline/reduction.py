"""The passes of a kernel that adds up products, a warp for each sum.

Its function is marked `tile.kind = "reduction"`. It stays linalg up to `launch`. There is nothing to choose, so there
is no schedule.
"""

from __future__ import annotations

from collections.abc import Iterator

from mlir_gemm.pipeline.conversions import converted
from mlir_gemm.spec.passes import PassSpec, Placed, at, in_stage, step, upstream
from mlir_gemm.spec.stages import ALL_SLOTS
from mlir_gemm.spec.target import Target


def reduction_passes(stage: str, target: Target) -> list[PassSpec]:
    """The passes of one stage, from `tile` to the last one with IR."""
    return in_stage(stage, ALL_SLOTS[stage], _placed(target))


def _placed(target: Target) -> Iterator[Placed]:
    yield at("tile", "loops", step("keep-reference"))
    yield at("launch", "launch", step("launch-reduction"))
    yield at("launch", "outline", upstream("gpu-launch-sink-index-computations"), step("pass-sizes"))
    yield at("launch", "outline", upstream("gpu-kernel-outlining,cse"))
    yield at("lower", "memory", step("fold-subviews"))
    yield at("lower", "types", step("expand-fp8"), step("expand-math"))
    yield at(
        "lower", "clean", upstream("lower-affine,gpu.module(gpu.func(canonicalize,cse,loop-invariant-code-motion))")
    )
    if target.has_dependent_launch:
        yield at("lower", "positions", step("programmatic-dependent-launch", early=False))
    yield at("lower", "check", step("pass-scalars"), step("check-lowered"))
    yield from converted(target)
