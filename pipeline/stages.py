"""The stages: named groups of passes, chosen from a schedule. The IR after each can be saved and resumed from."""

from __future__ import annotations

from typing import Any

from mlir_gemm.passes.registry import Upstream, pass_class
from mlir_gemm.pipeline.forming import kernel_passes
from mlir_gemm.pipeline.importing import normalise_passes
from mlir_gemm.pipeline.schedule import Schedule
from mlir_gemm.pipeline.target import Target

STAGES = (
    "import", "select", "tile", "fuse", "promote", "tensorize", "accumulate", "pipeline",
    "parallelize", "distribute", "launch", "lower", "nvvm", "ptx",
)  # fmt: skip
"""All stages in order."""


def _ours(name: str, **options: Any) -> Any:
    return pass_class(name)(**options)


def import_passes(*, keep_f16: bool = False) -> list[Any]:
    """From what a user wrote to kernels on memrefs. `keep_f16` leaves f16 accumulators as they are."""
    return [*normalise_passes(keep_f16=keep_f16), *kernel_passes()]


def stage_passes(stage: str, schedule: Schedule, target: Target) -> list[Any]:
    """The passes of one stage from `tile` to `nvvm`, for a schedule and a target."""
    if stage == "nvvm":
        return [_ours("select-math"), _nvvm(target)]
    return _TABLE[stage](schedule)


def _tile(schedule: Schedule) -> list[Any]:
    return [
        Upstream("func.func(convert-linalg-to-affine-loops)"),
        _ours("share-sizes"),
        _ours("tile-loops", block=schedule.block),
        _ours("reveal-padding"),
    ]


def _fuse(_: Schedule) -> list[Any]:
    return [_ours("fuse-blocks")]


def _promote(schedule: Schedule) -> list[Any]:
    if not schedule.promote:
        return []
    return [_ours("promote-operands", layout=schedule.layout, pad=schedule.pad)]


def _tensorize(_: Schedule) -> list[Any]:
    return [_ours("tensorize")]


def _accumulate(schedule: Schedule) -> list[Any]:
    opaque = [_ours("sink-init")] if schedule.operator == "wmma" else []
    return [_ours("accumulate", registers=schedule.accumulate), *opaque, Upstream("cse,canonicalize")]


def _pipeline(schedule: Schedule) -> list[Any]:
    return [_ours("multi-buffer", stages=schedule.stages), _COPIES[schedule.copy](schedule), Upstream("cse")]


def _parallelize(schedule: Schedule) -> list[Any]:
    return [
        _ours("parallelize-blocks"),
        Upstream("lower-affine,cse"),
        _ours("map-blocks", raster=schedule.raster, group=schedule.group),
        Upstream("cse"),
    ]


def _distribute(schedule: Schedule) -> list[Any]:
    return [_ours("distribute-warps", warp=schedule.warp), Upstream("cse")]


def _launch(schedule: Schedule) -> list[Any]:
    return [
        _ours("launch-blocks", threads=schedule.threads),
        Upstream("gpu-launch-sink-index-computations"),
        _ours("pass-sizes"),
        Upstream("gpu-kernel-outlining,cse"),
        *([_ours("limit-registers", blocks=schedule.resident)] if schedule.resident else []),
    ]


def _lower(schedule: Schedule) -> list[Any]:
    return [
        _ours("apply-layouts"),
        *([_ours("unroll-loops")] if schedule.unroll else []),
        *_OPERATORS[schedule.operator](schedule),
        _ours("distribute-copies", bits=schedule.vector, unroll=schedule.unroll),
        *([_ours("spread-copies")] if schedule.spread and schedule.copy == "cp_async" else []),
        *([_ours("lower-async")] if schedule.copy == "cp_async" else []),
        _ours("place-shared", storage=schedule.storage),
        _ours("fold-subviews"),
        *([_ours("swizzle-accesses")] if schedule.layout == "xor" else []),
        _ours("expand-fp8"),
        _ours("expand-math"),
        _ours("lower-unit-ids"),
        Upstream("gpu.module(gpu.func(canonicalize,cse,loop-invariant-code-motion))"),
        _ours("check-lowered"),
    ]


def _wmma(_: Schedule) -> list[Any]:
    return [_ours("stage-epilogue"), _ours("mma-to-wmma")]


def _mma_sync(schedule: Schedule) -> list[Any]:
    return [_ours("mma-to-sync", instruction=schedule.instruction)]


def _simt(_: Schedule) -> list[Any]:
    return [_ours("mma-to-fma")]


def _plain(_: Schedule) -> Any:
    return _ours("order-copies")


def _prefetch(schedule: Schedule) -> Any:
    return _ours("prefetch-copies", early=schedule.early)


def _cp_async(_: Schedule) -> Any:
    return _ours("stream-copies")


_COPIES = {"plain": _plain, "prefetch": _prefetch, "cp_async": _cp_async}
"""How each kind of copy overlaps with compute: a row for each."""

_OPERATORS = {"wmma": _wmma, "mma_sync": _mma_sync, "simt": _simt}
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
        "convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=1 index-bitwidth=64},"
        "canonicalize,cse,reconcile-unrealized-casts)"
    )
