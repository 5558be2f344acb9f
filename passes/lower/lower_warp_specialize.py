"""lower-warp-specialize: tile.warp_specialize becomes a branch on the number of the warpgroup.

Expects kernel functions of whole warpgroups, in which the last one is the producer and the others are consumers. Leaves
an scf.if: one thread of the producer runs the producer's part, all threads of the others the consumer's. Registers move
from the producer to the consumers (`producer` and `consumer` are how many a thread of each gets; 0 leaves them alone).
A gpu.barrier of the consumers becomes one of their threads alone, after a fence of what they did to shared memory. With
`apart` the consumers have their block's number in a register of their own: where both roles count on from one, ptxas
may keep it on the stack, between their numbers of registers (with fragments loaded ahead of a ring it spilled 24 bytes,
with 76 registers of 232 in use).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import in_block, named, operations
from mlir_gemm.lowering import assembly
from mlir_gemm.lowering.assembly import OWN
from mlir_gemm.lowering.named_barriers import sync_consumers
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.launch.launch_blocks import threads_of
from mlir_gemm.spec.threads import LANES, WARPGROUP


@dataclass(frozen=True)
class LowerWarpSpecialize(Pass):
    """Give roles to warpgroups."""

    name: ClassVar[str] = "lower-warp-specialize"
    producer: int = 0
    """Registers of a thread of the producer."""
    consumer: int = 0
    """Registers of a thread of a consumer."""
    apart: bool = False
    """Whether the consumers have a register of their own for their block's number."""

    def run(self, module: Any) -> None:
        for kernel in named(module, "gpu.func"):
            for roles in named(kernel, "tile.warp_specialize"):
                threads = threads_of(kernel)
                if threads % WARPGROUP or threads < 2 * WARPGROUP:
                    raise pass_error(
                        kernel, f"a block of {threads} threads; expected two warpgroups or more of {WARPGROUP}"
                    )
                with ir.InsertionPoint(roles), roles.location:
                    self._branch(roles.operation, threads // WARPGROUP - 1)
                roles.operation.erase()

    def _branch(self, roles: Any, number: int) -> None:
        nvvm, scf = dialect("nvvm"), dialect("scf")
        thread = indexing.thread()
        producer, consumer = (region.blocks[0] for region in roles.regions)
        for barrier in [each for op in in_block(consumer) for each in [op, *operations(op)]]:
            if barrier.operation.name == "gpu.barrier":
                with ir.InsertionPoint(barrier), barrier.operation.location:
                    sync_consumers(number * WARPGROUP)
                barrier.operation.erase()
        branch = scf.IfOp(indexing.equal(indexing.div(thread, WARPGROUP), number), has_else=True)
        with ir.InsertionPoint(branch.then_block):
            self._registers("decrease", self.producer)
            first = indexing.equal(indexing.div(thread, LANES), number * (WARPGROUP // LANES))
            warp = scf.IfOp(first)
            scf.YieldOp([])
        with ir.InsertionPoint(warp.then_block):
            elected = nvvm.ElectSyncOp(results=[ir.IntegerType.get_signless(1)])
            thread_ = scf.IfOp(elected.operation.results[0])
            scf.YieldOp([])
        _fill(thread_.then_block, producer)
        with ir.InsertionPoint(branch.else_block):
            self._registers("increase", self.consumer)
            if self.apart:
                _number_apart(consumer)
        _fill(branch.else_block, consumer)

    def _registers(self, action: str, count: int) -> None:
        if count:
            nvvm = dialect("nvvm")
            nvvm.SetMaxRegisterOp(count, nvvm.SetMaxRegisterAction[action])


def _number_apart(consumer: Any) -> None:
    """Copies the numbers of the block that a role uses, at the insertion point, and lets it use these."""
    arith, i64 = dialect("arith"), ir.IntegerType.get_signless(64)
    own: dict[Any, Any] = {}
    for op in [each.operation for top in in_block(consumer) for each in [top, *operations(top)]]:
        for place, value in enumerate(op.operands):
            if not isinstance(value.owner, ir.Block) and value.owner.name == "gpu.block_id":
                if value not in own:
                    number = assembly.inline(OWN, ["=l", "l"], [arith.IndexCastUIOp(i64, value).result], i64)
                    own[value] = arith.IndexCastUIOp(ir.IndexType.get(), number).result
                op.operands[place] = own[value]


def _fill(target: Any, source: Any) -> None:
    for op in in_block(source):
        target.append(op)
    with ir.InsertionPoint(target):
        dialect("scf").YieldOp([])
