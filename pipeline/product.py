"""The passes that every product has, whatever its parts: the parts put theirs between these."""

from __future__ import annotations

from collections.abc import Iterator

from mlir_gemm.parts.block import of_each, threads
from mlir_gemm.parts.layout import staged
from mlir_gemm.parts.registry import layout_of, mainloop_of, mma_of, parts_of, raster_of
from mlir_gemm.pipeline.conversions import converted
from mlir_gemm.spec import extensions
from mlir_gemm.spec.extension_points import PassAt
from mlir_gemm.spec.passes import PassSpec, Placed, at, in_stage, step, upstream
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.stages import ALL_SLOTS
from mlir_gemm.spec.target import Target


def product_passes(stage: str, schedule: Schedule, target: Target, matrices: int = 1) -> list[PassSpec]:
    """The passes of one stage, from `tile` to the last one with IR, of a product with this schedule, by so many
    matrices B, which have equal parts of a tile's columns."""
    return in_stage(stage, ALL_SLOTS[stage], _placed(schedule, target, matrices))


def _placed(schedule: Schedule, target: Target, matrices: int) -> Iterator[Placed]:
    yield from _before_parts(schedule, target, matrices)
    for part in (mma_of(schedule), mainloop_of(schedule), *parts_of(schedule)):
        yield from part.passes(schedule, target)
    yield from _after_parts(schedule, target)
    for each in extensions.of(PassAt):
        if each.stage and each.applies(schedule, target):
            yield at(each.stage, each.slot, step(each.name, **each.options))


def _before_parts(schedule: Schedule, target: Target, matrices: int) -> Iterator[Placed]:
    """What comes first where a part has passes at the same slot."""
    block, warp = of_each(schedule.block, matrices), of_each(schedule.warp, matrices)
    yield at("tile", "loops", step("keep-reference"))
    yield at("tile", "loops", upstream("func.func(convert-linalg-to-affine-loops)"))
    yield at("tile", "loops", step("turn-views"))
    yield at("tile", "sizes", step("share-sizes"))
    yield at("tile", "tile", step("tile-loops", block=block))
    yield at("tile", "padding", step("reveal-padding"))
    yield at("fuse", "fuse", step("fuse-blocks"), *([step("fuse-steps")] if matrices > 1 else []))
    if schedule.promote:
        layouts = [layout_of(schedule, operand).attribute(schedule, operand) for operand in "ab"]
        other: dict[str, str | bool] = {"layout_b": layouts[1]} if layouts[1] != layouts[0] else {}
        if staged(schedule) != "ab":
            other["operands"] = staged(schedule)
        if turned := "".join(operand for operand in "ab" if layout_of(schedule, operand).turns):
            other["turn"] = turned
        yield at("promote", "promote", step("promote-operands", layout=layouts[0], **other))
    yield at("tensorize", "tensorize", step("tensorize"))
    yield at("accumulate", "accumulate", step("accumulate", registers=schedule.accumulate))
    yield at("accumulate", "clean", upstream("cse,canonicalize"))
    yield at("pipeline", "buffers", step("multi-buffer", stages=schedule.stages))
    yield at("pipeline", "clean", upstream("cse"))
    yield at("parallelize", "blocks", step("parallelize-blocks"), upstream("lower-affine,cse"))
    raster = raster_of(schedule)
    space: dict[str, str | int] = {"space": schedule.space} if schedule.space else {}
    if target.index_bits < 64 and raster.walk == "rasterize-blocks":
        space["index_bits"] = target.index_bits
    walk = step(
        raster.walk, raster_group=raster.group(schedule), snake=raster.snake, cluster_m=schedule.cluster_m,
        cluster_n=schedule.cluster_n, split_k_cluster=schedule.split_k_cluster, **space,
    )  # fmt: skip
    yield at("parallelize", "raster", walk, upstream("cse"))
    yield at("distribute", "units", step("distribute-warps", warp=warp, unit=mma_of(schedule).unit))
    yield at("distribute", "clean", upstream("cse"))
    yield at("launch", "launch", step("launch-blocks", threads=threads(schedule)))
    yield at("launch", "outline", upstream("gpu-launch-sink-index-computations"), step("pass-sizes"))
    yield at("launch", "outline", upstream("gpu-kernel-outlining,cse"))
    yield at("lower", "layouts", step("apply-layouts"))
    if schedule.unroll:
        by = {"by": schedule.unroll_by} if schedule.unroll_by else {}
        yield at("lower", "unroll", step("unroll-loops", **by))
    yield at("lower", "copies", step("distribute-copies", bits=schedule.vector, unroll=schedule.unroll))


def _after_parts(schedule: Schedule, target: Target) -> Iterator[Placed]:
    if schedule.cluster > 1:
        yield at("launch", "cluster", step("cluster-blocks", size=schedule.cluster))
    # ptxas must know how many blocks an SM has where registers move between roles.
    resident = schedule.min_blocks or (1 if mainloop_of(schedule).producer else 0)
    if resident:
        yield at("launch", "registers", step("limit-registers", blocks=resident))
    placed = step("place-shared", storage=schedule.storage, limit=target.smem_static)
    yield at("lower", "memory", placed, step("fold-subviews"), step("split-planes"))
    if any(layout_of(schedule, operand).swizzled for operand in "ab") and not mma_of(schedule).by_descriptor:
        yield at("lower", "swizzle", step("swizzle-accesses"))
    yield at("lower", "types", step("expand-fp8"), step("expand-math"))
    cleaning = upstream("gpu.module(gpu.func(canonicalize,cse,loop-invariant-code-motion))")
    yield at("lower", "clean", step("lower-unit-ids"), cleaning)
    yield at("lower", "check", step("pass-scalars"), step("check-lowered"))
    yield from converted(target, mma_of(schedule).features(schedule, target))
