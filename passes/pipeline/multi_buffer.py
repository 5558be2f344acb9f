"""multi-buffer: every staging buffer gets several stages, used in turn by the steps of the k loop.

Expects shared-memory buffers (memref.alloc in memory space 3) before a k loop that copies into and reads them.
Leaves each with a leading dimension of `stages`, and inside the loop a subview of the stage of the current step (the
step's number modulo `stages`). With one stage nothing changes, nor does a second run change anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import affine
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import SHARED
from mlir_gemm.dialect.rules import MOST_STAGES
from mlir_gemm.dialect.walk import body, in_block, is_within, named, users
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import LAYOUT


@dataclass(frozen=True)
class MultiBuffer(Pass):
    """Give staging buffers several stages."""

    name: ClassVar[str] = "multi-buffer"
    stages: int = 1
    """Stages of each buffer."""

    def __post_init__(self) -> None:
        if not 1 <= self.stages <= MOST_STAGES:
            raise PassError(f"pass '{self}': stages must be from 1 to {MOST_STAGES}")

    def run(self, module: Any) -> None:
        if self.stages == 1:
            return
        for loop in named(module, "affine.for"):
            if affine.level_of(loop) == "k":
                _rotate(loop, self.stages)


def staging_buffers(loop: Any) -> list[Any]:
    """The shared-memory allocations beside a k loop whose buffers the loop uses."""
    beside = [op for op in in_block(loop.operation.block) if op.operation.name == "memref.alloc"]
    shared = [op for op in beside if _in_shared(op)]
    return [op for op in shared if any(is_within(user, loop) for user in users(op.operation.results[0]))]


def _in_shared(alloc: Any) -> bool:
    space = alloc.operation.results[0].type.memory_space
    return space is not None and ir.IntegerAttr(space).value == SHARED


def _rotate(loop: Any, stages: int) -> None:
    buffers = [alloc for alloc in staging_buffers(loop) if len(alloc.operation.results[0].type.shape) == 2]
    if not buffers:
        return
    if not affine.starts_at_zero_by_one(loop):
        raise pass_error(loop, "a k loop that does not count from 0 in steps of 1 cannot use stages in turn")
    iv = affine.induction_variable(loop)
    modulo = ir.AffineMap.get(1, 0, [ir.AffineExpr.get_mod(ir.AffineDimExpr.get(0), stages)])
    with ir.InsertionPoint(in_block(body(loop))[0]), loop.location:
        stage = affine.apply(modulo, [iv])
        for alloc in buffers:
            _replace(alloc, loop, stages, stage)


def _replace(alloc: Any, loop: Any, stages: int, stage: Any) -> None:
    old = alloc.operation.results[0]
    type_ = old.type
    outside = [user for user in users(old) if not is_within(user, loop)]
    if outside:
        raise pass_error(outside[0], "a staging buffer that is used outside its k loop cannot get several stages")
    with ir.InsertionPoint(alloc), alloc.location:
        shape = [stages, *type_.shape]
        larger = dialect("memref").AllocOp(
            ir.MemRefType.get(shape, type_.element_type, memory_space=type_.memory_space), [], []
        )
    if LAYOUT in alloc.operation.attributes:
        larger.operation.attributes[LAYOUT] = alloc.operation.attributes[LAYOUT]
    old.replace_all_uses_with(_stage_view(larger.result, stage, list(type_.shape)))
    alloc.operation.erase()


def _stage_view(buffer: Any, stage: Any, shape: list[int]) -> Any:
    """One stage of a buffer as a 2-D memref, at the insertion point."""
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    layout = ir.StridedLayoutAttr.get(dynamic, [shape[1], 1])
    type_ = ir.MemRefType.get(shape, buffer.type.element_type, layout, buffer.type.memory_space)
    generated = dialect("_memref_ops_gen")
    marker = ir.ShapedType.get_dynamic_size()
    return generated.SubViewOp(type_, buffer, [stage], [], [], [marker, 0, 0], [1, *shape], [1, 1, 1]).result
