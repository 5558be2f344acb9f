"""The passes of an elementwise kernel: what is not a product and was not fused with one.

Its function is marked `tile.kind = "elementwise"`. It goes through the same stages as a product; where a stage is about
tiles, it has no passes. There is nothing to choose, so there is no schedule.
"""

from __future__ import annotations

from collections.abc import Iterator

from mlir_gemm.pipeline.conversions import converted
from mlir_gemm.spec.passes import PassSpec, Placed, at, in_stage, step, upstream
from mlir_gemm.spec.stages import ALL_SLOTS
from mlir_gemm.spec.target import Target


def elementwise_passes(stage: str, target: Target, dependent_launch: bool = False) -> list[PassSpec]:
    """The passes of one stage, from `tile` to the last one with IR. With `dependent_launch` the kernel is launched
    while the one before it ends, where the chip can do that."""
    return in_stage(stage, ALL_SLOTS[stage], _placed(target, dependent_launch))


def _placed(target: Target, dependent_launch: bool) -> Iterator[Placed]:
    yield at("tile", "loops", step("keep-reference"))
    yield at("tile", "loops", upstream("func.func(linalg-generalize-named-ops)"))
    yield at("tile", "sizes", step("share-sizes"))
    yield at("tile", "tile", step("elementwise-loops"), upstream("cse"))
    yield at("launch", "launch", step("launch-elementwise", processors=target.sms))
    yield at("launch", "outline", upstream("gpu-launch-sink-index-computations"), step("pass-sizes"))
    yield at("launch", "outline", upstream("gpu-kernel-outlining,cse"))
    yield at("lower", "types", step("expand-fp8"), step("expand-math"))
    cleaning = "lower-affine,gpu.module(gpu.func(canonicalize,cse,loop-invariant-code-motion))"
    yield at("lower", "clean", upstream(cleaning))
    if dependent_launch and target.has_dependent_launch:
        yield at("lower", "positions", step("programmatic-dependent-launch", early=False))
    yield at("lower", "check", step("pass-scalars"), step("check-lowered"))
    yield from converted(target)
