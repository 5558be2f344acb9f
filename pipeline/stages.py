"""The stages: named groups of passes, chosen from a schedule. The IR after each can be saved and resumed from."""

from __future__ import annotations

from typing import Any

from mlir_gemm.passes.registry import Upstream, ours
from mlir_gemm.pipeline.forming import kernel_passes
from mlir_gemm.pipeline.importing import normalise_passes
from mlir_gemm.pipeline.schedule import Schedule
from mlir_gemm.pipeline.target import Target

STAGES = (
    "import", "select", "tile", "fuse", "promote", "tensorize", "accumulate", "pipeline",
    "parallelize", "distribute", "describe", "launch", "lower", "nvvm", "ptx",
)  # fmt: skip
"""All stages in order."""


def import_passes(*, keep_f16: bool = False) -> list[Any]:
    """From what a user wrote to kernels on memrefs. `keep_f16` leaves f16 accumulators as they are."""
    return [*normalise_passes(keep_f16=keep_f16), *kernel_passes()]


def stage_passes(stage: str, schedule: Schedule, target: Target) -> list[Any]:
    """The passes of one stage from `tile` to `nvvm`, for a schedule and a target."""
    if stage == "nvvm":
        return [ours("select-math"), _nvvm(target), *([ours("mark-maps")] if schedule.copy == "tma" else [])]
    return _TABLE[stage](schedule)


def _tile(schedule: Schedule) -> list[Any]:
    return [
        Upstream("func.func(convert-linalg-to-affine-loops)"),
        ours("share-sizes"),
        ours("tile-loops", block=schedule.block),
        ours("reveal-padding"),
    ]


def _fuse(_: Schedule) -> list[Any]:
    return [ours("fuse-blocks")]


def _promote(schedule: Schedule) -> list[Any]:
    if not schedule.promote:
        return []
    return [ours("promote-operands", layout=schedule.layout, pad=schedule.pad)]


def _tensorize(_: Schedule) -> list[Any]:
    return [ours("tensorize")]


def _accumulate(schedule: Schedule) -> list[Any]:
    opaque = [ours("sink-init")] if schedule.operator == "wmma" else []
    return [ours("accumulate", registers=schedule.accumulate), *opaque, Upstream("cse,canonicalize")]


def _pipeline(schedule: Schedule) -> list[Any]:
    return [ours("multi-buffer", stages=schedule.stages), _COPIES[schedule.copy](schedule), Upstream("cse")]


def _parallelize(schedule: Schedule) -> list[Any]:
    return [
        ours("parallelize-blocks"),
        Upstream("lower-affine,cse"),
        ours(
            "map-blocks",
            raster=schedule.raster,
            group=schedule.group,
            cluster_m=schedule.cluster_m,
            cluster_n=schedule.cluster_n,
            split=schedule.split,
        ),
        Upstream("cse"),
        *(
            [ours("stream-steps", blocks=schedule.persistent, share=schedule.stream), Upstream("cse")]
            if schedule.persistent and schedule.stream
            else []
        ),
        *(
            [ours("persist-blocks", blocks=schedule.persistent, turns=schedule.turns), Upstream("cse")]
            if schedule.persistent
            else []
        ),
        *([ours("share-copies"), Upstream("cse")] if schedule.cluster_m * schedule.cluster_n > 1 else []),
    ]


def _distribute(schedule: Schedule) -> list[Any]:
    unit = "warpgroup" if schedule.operator == "wgmma" else "warp"
    divide = ours("distribute-warps", warp=schedule.warp, unit=unit)
    if schedule.split == 1:
        return [divide, Upstream("cse")]
    # Together: in between there are only parts of sums.
    return [ours("split-steps"), divide, ours("sum-parts"), Upstream("cse")]


def _describe(schedule: Schedule) -> list[Any]:
    by_rows = [ours("stage-rows")] if schedule.bulk and schedule.operator in ("wgmma", "mma_sync") else []
    if schedule.copy != "tma":
        return by_rows
    return [
        *([ours("stage-stores")] if schedule.bulk else []),
        *by_rows,
        ours("describe-copies", tf32=schedule.precision == "tf32"),
        *([ours("keep-lines", a=schedule.keep_a, b=schedule.keep_b)] if schedule.marks else []),
    ]


def _launch(schedule: Schedule) -> list[Any]:
    return [
        ours("launch-blocks", threads=schedule.threads),
        Upstream("gpu-launch-sink-index-computations"),
        ours("pass-sizes"),
        Upstream("gpu-kernel-outlining,cse"),
        *([ours("cluster-blocks", size=schedule.cluster)] if schedule.cluster > 1 else []),
        *([ours("limit-registers", blocks=_resident(schedule))] if _resident(schedule) else []),
    ]


def _lower(schedule: Schedule) -> list[Any]:
    return [
        ours("apply-layouts"),
        *([ours("unroll-loops")] if schedule.unroll else []),
        *_OPERATORS[schedule.operator](schedule),
        ours("distribute-copies", bits=schedule.vector, unroll=schedule.unroll),
        *([ours("spread-copies")] if schedule.spread and schedule.copy == "cp_async" else []),
        *([ours("lower-async")] if schedule.copy == "cp_async" else []),
        *(_roles(schedule) if schedule.copy == "tma" else []),
        ours("place-shared", storage=schedule.storage),
        ours("fold-subviews"),
        *([ours("swizzle-accesses")] if _is_swizzled(schedule) else []),
        ours("expand-fp8"),
        ours("expand-math"),
        *([ours("pace-epilogue", chains=schedule.pace, turns=schedule.turns)] if schedule.pace else []),
        ours("lower-unit-ids"),
        Upstream("gpu.module(gpu.func(canonicalize,cse,loop-invariant-code-motion))"),
        *([ours("sink-positions")] if schedule.operator == "wgmma" else []),
        ours("check-lowered"),
    ]


def _wmma(_: Schedule) -> list[Any]:
    return [ours("stage-epilogue"), ours("mma-to-wmma")]


def _mma_sync(schedule: Schedule) -> list[Any]:
    return [ours("mma-to-sync", instruction=schedule.instruction)]


def _simt(_: Schedule) -> list[Any]:
    return [ours("mma-to-fma")]


def _plain(_: Schedule) -> Any:
    return ours("order-copies")


def _prefetch(schedule: Schedule) -> Any:
    return ours("prefetch-copies", early=schedule.early)


def _cp_async(_: Schedule) -> Any:
    return ours("stream-copies")


def _tma(schedule: Schedule) -> Any:
    return ours("specialize-copies", asynchronous=schedule.operator == "wgmma")


_COPIES = {"plain": _plain, "prefetch": _prefetch, "cp_async": _cp_async, "tma": _tma}
"""How each kind of copy overlaps with compute: a row for each."""


def _wgmma(_: Schedule) -> list[Any]:
    return [ours("mma-to-wgmma")]


def _resident(schedule: Schedule) -> int:
    """Blocks of an SM that the assembler is told of. It must be told where registers move between roles."""
    return schedule.resident or (1 if schedule.copy == "tma" else 0)


def _is_swizzled(schedule: Schedule) -> bool:
    """Whether lanes access memory whose chunks have changed places; wgmma knows itself where they are."""
    return schedule.layout == "xor" or (schedule.layout == "swizzle128" and schedule.operator != "wgmma")


def _roles(schedule: Schedule) -> list[Any]:
    """How warpgroups take their roles, and the registers that they have then."""
    each = min(LARGEST_SHARE, REGISTERS // (schedule.threads * _resident(schedule)) // 8 * 8)
    producer, consumer = PRODUCER_REGISTERS, (each * (schedule.groups + 1) - PRODUCER_REGISTERS) // schedule.groups
    if consumer <= each or schedule.groups < 2:
        producer = consumer = 0
    return [
        ours("lower-rings"),
        ours("lower-roles", producer=producer, consumer=min(240, consumer // 8 * 8)),
        *([ours("overlap-launches", early=schedule.ahead)] if schedule.overlap else []),
    ]


REGISTERS, LARGEST_SHARE, PRODUCER_REGISTERS = 65536, 248, 40
"""32-bit registers of an SM, the most that a thread can start with, and what the thread that copies keeps: 24 and 240
for two consumers gave nothing over 40 and 232, with which nothing spills."""

_OPERATORS = {"wmma": _wmma, "mma_sync": _mma_sync, "simt": _simt, "wgmma": _wgmma}
"""How each operator lowers tile.mma: a row for each."""

_TABLE = {
    "tile": _tile,
    "fuse": _fuse,
    "promote": _promote,
    "tensorize": _tensorize,
    "accumulate": _accumulate,
    "pipeline": _pipeline,
    "parallelize": _parallelize,
    "distribute": _distribute,
    "describe": _describe,
    "launch": _launch,
    "lower": _lower,
}


def _nvvm(target: Target) -> Upstream:
    """Upstream's conversions. With 64-bit indices LLVM splits constants off addresses, so that accesses at constant
    distances share one address register; with 32 bits it keeps one for each (docs/performance.md)."""
    features = f" features={target.features}" if target.features else ""
    return Upstream(
        f"nvvm-attach-target{{chip={target.chip} O=3{features}}},"
        "gpu.module(expand-strided-metadata,lower-affine,convert-scf-to-cf,convert-nvgpu-to-nvvm,"
        "convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=1 index-bitwidth=64},convert-nvvm-to-llvm,"
        "canonicalize,cse,reconcile-unrealized-casts)"
    )
