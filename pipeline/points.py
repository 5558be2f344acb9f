"""The stages of a kernel over points: what is no product and was not fused with one.

Its function is marked `tile.kind = "points"`. It goes through the same stages as a product; where a stage is about
tiles, it has no passes. There is nothing to choose, so there is no schedule.
"""

from __future__ import annotations

from typing import Any

from mlir_gemm.passes.registry import Upstream, ours
from mlir_gemm.pipeline.target import Target


def points_passes(stage: str, target: Target, overlap: bool = False) -> list[Any]:
    """The passes of one stage, from `tile` to `lower`; `nvvm` is the same for every kernel. None for other stages. With
    `overlap` the kernel is launched while the one in front of it ends, where the chip can do that."""
    return _TABLE[stage](target, overlap) if stage in _TABLE else []


def _tile(_: Target, __: bool) -> list[Any]:
    return [
        Upstream("func.func(linalg-generalize-named-ops)"),
        ours("share-sizes"),
        ours("point-loops"),
        Upstream("cse"),
    ]


def _launch(target: Target, _: bool) -> list[Any]:
    return [
        ours("launch-points", processors=target.sms),
        Upstream("gpu-launch-sink-index-computations"),
        ours("pass-sizes"),
        Upstream("gpu-kernel-outlining,cse"),
    ]


def _lower(target: Target, overlap: bool) -> list[Any]:
    return [
        ours("expand-fp8"),
        ours("expand-math"),
        Upstream("lower-affine,gpu.module(gpu.func(canonicalize,cse,loop-invariant-code-motion))"),
        *([ours("overlap-launches", early=False)] if overlap and "tma" in target.copies else []),
        ours("check-lowered"),
    ]


_TABLE = {"tile": _tile, "launch": _launch, "lower": _lower}
