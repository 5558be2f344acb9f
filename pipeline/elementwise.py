"""The passes of an elementwise kernel: what is not a product and was not fused with one.

Its function is marked `tile.kind = "elementwise"`. It goes through the same stages as a product; where a stage is about
tiles, it has no passes. There is nothing to choose, so there is no schedule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mlir_gemm.dialect.outlining import side_by_side
from mlir_gemm.pipeline.conversions import converted
from mlir_gemm.spec.attributes import SPLIT_K_WORKSPACE
from mlir_gemm.spec.passes import PassSpec, Placed, at, in_stage, step, upstream
from mlir_gemm.spec.stages import ALL_SLOTS
from mlir_gemm.spec.target import Target


def elementwise_passes(stage: str, target: Target, function: Any = None) -> list[PassSpec]:
    """The passes of one stage, from `tile` to the last one with IR, of a kernel whose `function` says what it is: of a
    product that was divided it is launched while the kernel before it ends, where the chip can do that, and beside
    another one it has as many threads in a block."""
    divided = function is not None and SPLIT_K_WORKSPACE in function.attributes
    threads = side_by_side.threads_of(function) if function is not None else 0
    return in_stage(stage, ALL_SLOTS[stage], _placed(target, divided, threads))


def passes_together(stage: str, functions: Sequence[Any]) -> list[PassSpec]:
    """The passes over all kernels of a program that follow those of each in a stage."""
    if stage != "lower" or not any(map(side_by_side.anchor_of, functions)):
        return []
    return [step("join-launches")]


def _placed(target: Target, dependent_launch: bool, threads: int) -> Iterator[Placed]:
    yield at("tile", "loops", step("keep-reference"))
    yield at("tile", "loops", upstream("func.func(linalg-generalize-named-ops)"))
    yield at("tile", "sizes", step("share-sizes"))
    yield at("tile", "tile", step("elementwise-loops"), upstream("cse"))
    blocks = {"threads": threads, "exact": True} if threads else {}
    yield at("launch", "launch", step("launch-elementwise", **blocks, processors=target.sms))
    yield at("launch", "outline", upstream("gpu-launch-sink-index-computations"), step("pass-sizes"))
    yield at("launch", "outline", upstream("gpu-kernel-outlining,cse"))
    yield at("lower", "types", step("expand-fp8"), step("expand-math"))
    cleaning = "lower-affine,gpu.module(gpu.func(canonicalize,cse,loop-invariant-code-motion))"
    yield at("lower", "clean", upstream(cleaning))
    if dependent_launch and target.has_dependent_launch:
        yield at("lower", "positions", step("programmatic-dependent-launch", early=False))
    yield at("lower", "check", step("pass-scalars"), step("check-lowered"))
    yield from converted(target)
