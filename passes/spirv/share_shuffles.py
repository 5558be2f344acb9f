"""share-shuffles: threads exchange numbers through shared memory instead of their registers.

Expects kernels after `vulkan-interface` with gpu.shuffle xor among 32 threads, as the stages up
to `lower` count them. Leaves for each a store, a load and two barriers: Vulkan does not say how many threads run in
step, nor which ones. With `words=false`, on chips whose subgroups have 32 lanes, before `number-subgroups`, numbers of
32 bits stay, which subgroups exchange.

Refuses other modes, and shuffles that not all threads of the block reach together: in branches, and in loops whose
bounds depend on the thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.spirv_kernels import BLOCK, buffer_type
from mlir_gemm.dialect.walk import body, named
from mlir_gemm.passes.base import Pass

LANES = WORD = 32
_OWN = ("gpu.thread_id", "memref.load", "vector.load", "gpu.shuffle")
"""What differs between the threads of a block, or may."""


@dataclass(frozen=True)
class ShareShuffles(Pass):
    """Exchange numbers through shared memory."""

    name: ClassVar[str] = "share-shuffles"
    words: bool = True
    """Whether numbers of 32 bits go through shared memory too; else subgroups of 32 lanes exchange them."""

    def run(self, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            buffers: dict[str, Any] = {}
            for shuffle in named(kernel, "gpu.shuffle"):
                _check(shuffle.operation)
                if not self.words and shuffle.operation.operands[0].type.width == WORD:
                    continue
                _replace(kernel, shuffle.operation, buffers)


def _check(shuffle: Any) -> None:
    mode = str(shuffle.attributes["mode"])
    if "xor" not in mode:
        raise pass_error(shuffle, f"gpu.shuffle in the mode {mode}; expected xor")
    width = shuffle.operands[2].owner
    if width.name != "arith.constant" or ir.IntegerAttr(width.attributes["value"]).value != LANES:
        raise pass_error(shuffle, f"gpu.shuffle among a number of threads that is not {LANES}")
    parent = shuffle.parent
    while parent is not None and parent.operation.name != "gpu.func":
        op = parent.operation
        if op.name != "scf.for" or any(_differs(bound) for bound in list(op.operands)[:3]):
            raise pass_error(
                shuffle, f"gpu.shuffle in '{op.name}', which not all threads of a block may reach together"
            )
        parent = op.parent


def _differs(value: Any) -> bool:
    """Whether a value may differ between the threads of a block."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return False if owner.owner.operation.name == "gpu.func" else _differs_in(owner.owner.operation, value)
    return owner.name in _OWN or bool(owner.regions) or any(_differs(operand) for operand in owner.operands)


def _differs_in(loop: Any, value: Any) -> bool:
    """The same of what a loop carries: only its counter is known."""
    return loop.name != "scf.for" or value.arg_number > 0 or any(_differs(each) for each in list(loop.operands)[:3])


def _replace(kernel: Any, shuffle: Any, buffers: dict[str, Any]) -> None:
    arith, gpu, memref = dialect("arith"), dialect("gpu"), dialect("memref")
    value, type_ = shuffle.operands[0], shuffle.operands[0].type
    if str(type_) not in buffers:
        x, y, z = ir.DenseI32ArrayAttr(kernel.attributes[BLOCK])
        if (y, z) != (1, 1):
            raise pass_error(shuffle, f"gpu.shuffle in blocks of {x}x{y}x{z} threads; expected one dimension")
        with ir.InsertionPoint.at_block_begin(body(kernel)), shuffle.location:
            buffers[str(type_)] = memref.AllocOp(buffer_type(type_, "Workgroup", x), [], []).result
    buffer = buffers[str(type_)]
    with ir.InsertionPoint(shuffle), shuffle.location:
        index = ir.IndexType.get()
        own = gpu.ThreadIdOp(gpu.Dimension.x).result
        other = arith.XOrIOp(own, arith.IndexCastUIOp(index, shuffle.operands[1]).result).result
        memref.StoreOp(value, buffer, [own])
        gpu.BarrierOp()
        found = memref.LoadOp(buffer, [other]).result
        gpu.BarrierOp()  # before the next one stores
        always = arith.ConstantOp(ir.IntegerType.get_signless(1), 1).result
    shuffle.results[0].replace_all_uses_with(found)
    shuffle.results[1].replace_all_uses_with(always)
    shuffle.erase()
