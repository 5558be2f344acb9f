"""number-subgroups: the number of a thread is that of its subgroup, times the lanes of one, and that of its lane.

Expects a kernel after `share-shuffles`, in blocks of one dimension of whole subgroups of `size` lanes. Leaves
gpu.subgroup_id and gpu.lane_id in place of gpu.thread_id: Vulkan does not say which invocations make a subgroup, so
that what one of them does together (cooperative matrices, shuffles) goes by these numbers. The pipeline must ask for
subgroups of that size, all of them full (VK_EXT_subgroup_size_control, or Vulkan 1.3). A second run changes nothing.

Refuses blocks of several dimensions, and blocks that are not a multiple of `size`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.spirv_kernels import BLOCK
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class NumberSubgroups(Pass):
    """Number threads by their subgroups."""

    name: ClassVar[str] = "number-subgroups"
    size: int = 32
    """Lanes of a subgroup."""
    shuffles: bool = False
    """Whether only kernels are numbered in which subgroups exchange numbers."""

    def __post_init__(self) -> None:
        if self.size < 1:
            raise PassError(f"pass '{self}': expected a size of at least 1")

    def run(self, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            if not self.shuffles or named(kernel, "gpu.shuffle"):
                self._number(kernel)

    def _number(self, kernel: Any) -> None:
        gpu = dialect("gpu")
        block = list(ir.DenseI32ArrayAttr(kernel.attributes[BLOCK])) if BLOCK in kernel.attributes else []
        if block[1:] != [1, 1] or block[0] % self.size:
            shape = "x".join(map(str, block)) or "unknown size"
            raise pass_error(kernel, f"blocks of {shape}; expected one dimension, a multiple of {self.size} threads")
        threads = [
            each for each in named(kernel, "gpu.thread_id") if "x" in str(each.operation.attributes["dimension"])
        ]
        if not threads:
            return
        with ir.InsertionPoint(in_block(body(kernel))[0]), kernel.location:
            first = indexing.mul(gpu.SubgroupIdOp().result, self.size)
            number = indexing.add(first, gpu.LaneIdOp().result)
        for thread in threads:
            thread.operation.results[0].replace_all_uses_with(number)
            thread.operation.erase()
