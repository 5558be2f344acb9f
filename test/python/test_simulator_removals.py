"""Every operation that orders something, taken out of lowered kernels of all kinds one at a time: each is missed, or
stands in a list with the reason why the kernel is right without it.

Control flow does not depend on data, and order is kept in clocks: a run without a finding has no two accesses that
nothing orders, whatever the times. What is silent is then redundant for that kernel at that size, by what the manual
says of the operations that are left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from group_products import GroupProduct

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.dialect.walk import operations
from mlir_gemm.lowering.release_after_loads import AFTER_LOADS
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.kernel import Options, Report, simulate
from mlir_gemm.spec.schedule import Schedule

ORDERING = (
    "gpu.barrier", "nvvm.barrier", "nvvm.bar.warp.sync", "nvgpu.device_async_create_group", "nvgpu.device_async_wait",
    "nvvm.mbarrier.init", "nvvm.mbarrier.arrive", "nvvm.mbarrier.arrive.expect_tx", "nvvm.mbarrier.try_wait.parity",
    "nvvm.fence.mbarrier.init", "nvvm.fence.proxy", "nvvm.wgmma.fence.aligned", "nvvm.wgmma.commit.group.sync.aligned",
    "nvvm.wgmma.wait.group.sync.aligned", "nvvm.cp.async.bulk.commit.group", "nvvm.cp.async.bulk.wait_group",
    "nvvm.cluster.arrive", "nvvm.cluster.wait", "nvvm.setmaxregister", "nvvm.griddepcontrol launch_dependents",
    "nvvm.griddepcontrol wait",
)  # fmt: skip
ASSEMBLY = {AFTER_LOADS: "after loads"}
"""What orders something among the inline assembly, and what it is called here."""
FLAGS = {"release": "raise a flag", "monotonic": "lower a flag", "acquire": "await a flag"}
"""Atomic accesses by their order, and what they are called here; that to await is the loop around the load."""

FENCE = (
    ("nvvm.wgmma.fence.aligned", 1),
    "PTX, wgmma.fence: products of one shape that follow each other in an accumulator need none. Nothing else touches "
    "it in the loop: the check `wgmma-fence` would say so",
)
LAUNCH = (("nvvm.griddepcontrol launch_dependents", 0), "it lets the next kernel start, which else starts later")
CLUSTER = (
    ("gpu.barrier", 0),
    "all threads of all blocks pass the cluster's barrier right after it, which releases and acquires",
)
IN_REGISTERS = (
    (("nvvm.wgmma.wait.group.sync.aligned", 2), "each half of a step has waited for the half before the last one"),
    (("nvvm.wgmma.commit.group.sync.aligned", 0), "the halves of the first step are one group, which is waited for"),
)
REGISTERS = (("nvvm.setmaxregister", 1), "the warpgroups that multiply may have more registers, and need not")
C_AHEAD = (
    (("nvvm.fence.mbarrier.init", 0), "the same thread fences after the barriers of A and B"),
    (("nvvm.mbarrier.try_wait.parity", 1), "who copies C again has met all that read it at the barriers of the store"),
    (("nvvm.bar.warp.sync", 0), "lanes have met there too since they read C"),
    (("nvvm.fence.proxy", 2), "whoever reads C fences before the result is stored"),
)
"""What several kernels are right without, and why."""


@dataclass(frozen=True)
class Kernel:
    """A kernel, and what it is right without."""

    product: GroupProduct | str
    schedule: str
    redundant: tuple[tuple[tuple[str, int], str], ...] = ()
    """Operations by their names, each with its number among those of that name, and the reason."""


IN_PLACE = """#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @f(%A: memref<128x200xf16>, %B: memref<24x200xf16>, %C: memref<128x24xf32>) {
  linalg.matmul indexing_maps = [#a, #b, #c]
      ins(%A, %B : memref<128x200xf16>, memref<24x200xf16>) outs(%C : memref<128x24xf32>)
  return
}"""
"""C += A B, whose tile of 48 columns has a warpgroup that lies beyond the matrix."""
WARPS = "block=32x32x16,warp=16x16x16,mma"
GROUP = "mma=wgmma,block=64x32x64,warp=64x32x64"
KERNELS = {
    "simt": Kernel(GroupProduct(32, 32, 48, out="f32"), f"{WARPS}=simt,mainloop=direct,stages=1"),
    "wmma": Kernel(GroupProduct(32, 32, 48, out="f32"), f"{WARPS}=wmma,mainloop=register_prefetch,stages=1"),
    "mma.sync": Kernel(GroupProduct(32, 32, 64), f"{WARPS}=mma_sync,mainloop=register_prefetch,stages=2"),
    "cp.async, rows between vectors": Kernel(
        GroupProduct(32, 35, 80), f"{WARPS}=mma_sync,mainloop=cp_async,layout=xor,stages=3",
        ((("nvgpu.device_async_wait", 1), "the groups in flight hold no copies: a copy that is left is a finding"),),
    ),
    "ring": Kernel(
        GroupProduct(64, 64, 192, b="nk"),
        "block=64x32x64,warp=32x16x16,mma=mma_sync,mainloop=tma,stages=2,persistent=1,early_trigger=on", (LAUNCH,),
    ),
    "ring, multicast": Kernel(
        GroupProduct(64, 128, 192, b="nk"),
        "block=64x32x64,warp=32x16x16,mma=mma_sync,mainloop=tma,stages=2,cluster_n=2,persistent=2", (CLUSTER, LAUNCH),
    ),
    "persistent": Kernel(
        GroupProduct(64, 64, 256, b="nk"), f"{GROUP},stages=2,persistent=1,early_trigger=on", (FENCE, LAUNCH)
    ),
    "ping-pong": Kernel(
        GroupProduct(64, 128, 192, b="nk"), f"{GROUP},ping_pong=on,stages=2,persistent=1",
        (
            FENCE, REGISTERS,
            (("nvvm.fence.mbarrier.init", 0), "the same thread runs another one once all barriers are initialised"),
        ),
    ),
    "split_k_cluster": Kernel(
        GroupProduct(64, 64, 512, b="nk"), f"{GROUP.replace('32', '64')},stages=2,split_k_cluster=2",
        (
            FENCE,
            (("nvvm.mbarrier.arrive", 1), "the block has one tile: nobody fills the last stages again"),
            (("nvvm.cp.async.bulk.wait_group", 0), "the block has one tile: no store comes before"),
            (("nvvm.barrier", 0), "the same: it tells others of that wait"),
        ),
    ),
    "stream-k": Kernel(GroupProduct(64, 96, 256, out="f32", b="nk"), f"{GROUP},stages=2,persistent=2,stream_k=2",
                       (FENCE,)),
    "multicast": Kernel(
        GroupProduct(128, 64, 192, b="nk"), f"{GROUP},stages=2,cluster_m=2,persistent=2", (FENCE, CLUSTER)
    ),
    "multicast, square": Kernel(
        GroupProduct(128, 128, 192, b="nk"), f"{GROUP},stages=2,cluster_m=2,cluster_n=2,persistent=4", (FENCE, CLUSTER)
    ),
    "rows between vectors": Kernel(
        GroupProduct(64, 67, 256, b="nk"), f"{GROUP.replace('32', '40')},stages=2,persistent=1", (FENCE,)
    ),
    "swap_ab": Kernel(
        GroupProduct(96, 64, 256, b="nk"), f"{GROUP.replace('32', '48')},stages=2,persistent=1,swap_ab=on", (FENCE,)
    ),
    "A in registers": Kernel(
        GroupProduct(64, 64, 160, "f32", "f32", "km", "nk"),
        "precision=tf32,mma=wgmma,block=64x32x32,warp=64x32x32,stages=2,persistent=1", IN_REGISTERS,
    ),
    "B transposed": Kernel(
        GroupProduct(64, 128, 384, "f8E4M3FN", "f32", "km", "kn"),
        "precision=f8,mma=wgmma,block=64x128x128,warp=64x128x128,stages=2,persistent=1",
        (
            *IN_REGISTERS,
            (("nvvm.mbarrier.arrive", 1), "the block has one tile: nobody fills the last stages again"),
            *((("nvvm.cp.async.bulk.wait_group", number), "no store comes before the first two panels")
              for number in (0, 1)),
            *((("nvvm.barrier", number), "the same: it tells others of that wait") for number in (2, 4)),
        ),
    ),
    "three panels": Kernel(
        GroupProduct(64, 192, 192, out="f32", b="nk"), f"{GROUP.replace('32', '96')},stages=2,persistent=1",
        (
            FENCE,
            (("nvvm.cp.async.bulk.wait_group", 1), "a tile has an odd number of panels: the wait for the first is for "
             "all of those before, and one store may be in flight"),
            (("nvvm.barrier", 2), "the same: it tells others of that wait"),
        ),
    ),
    "in place, over an edge": Kernel(
        IN_PLACE, f"{GROUP.replace('64x32x64', '64x48x64', 1).replace('32', '24')},stages=2,persistent=1",
        (FENCE, REGISTERS, *C_AHEAD),
    ),
    "two steps, four stages": Kernel(
        GroupProduct(64, 64, 128, b="nk"), f"{GROUP.replace('32', '64')},stages=4,early_trigger=off",
        (
            FENCE,
            *((("nvvm.mbarrier.init", number), "no step uses this stage: nobody arrives at it or waits for it")
              for number in (2, 3, 6, 7)),
            *((name, "no stage is filled twice") for name in (
                ("nvvm.mbarrier.try_wait.parity", 0), ("nvvm.mbarrier.arrive", 0), ("nvvm.mbarrier.arrive", 1),
                ("nvvm.wgmma.wait.group.sync.aligned", 0),
            )),
            (("nvvm.wgmma.commit.group.sync.aligned", 0), "the same: only the wait for all products matters"),
            (("nvvm.cp.async.bulk.wait_group", 0), "the block has one tile: no store comes before"),
            (("nvvm.barrier", 0), "the same: it tells others of that wait"),
        ),
    ),
}  # fmt: skip


@lru_cache
def compiled(name: str) -> tuple[Any, list[tuple[str, int, Any]]]:
    """The kernel as `lower` leaves it, and its operations that order something."""
    kernel = KERNELS[name]
    source = kernel.product if isinstance(kernel.product, str) else kernel.product.source()
    schedule = Schedule.parse(kernel.schedule)
    lowered = compile_module(source, chip="sm_90a", schedule=schedule, until="lower", keep=("lower",)).ir("lower")
    module = parse_module(lowered, "-", new_context())
    found, counts = list[tuple[str, int, Any]](), Counter[str]()
    for operation in operations(module):
        op = operation.operation
        what = _ordering(op)
        if what:
            found.append((what, counts[what], op))
            counts[what] += 1
    return module, found


def _ordering(op: Any) -> str:
    """What an operation orders something by; empty for others."""
    if op.name == "llvm.inline_asm":
        return ASSEMBLY.get(ir.StringAttr(op.attributes["asm_string"]).value, "")
    if op.name == "llvm.store":
        return FLAGS.get(_order(op), "")
    if op.name == "scf.while":
        loads = [each.operation for each in op.regions[0].blocks[0].operations if each.operation.name == "llvm.load"]
        return FLAGS.get(_order(loads[0]), "") if loads else ""
    name = op.name
    if name == "nvvm.griddepcontrol":
        name += " wait" if "wait" in str(op.attributes["kind"]) else " launch_dependents"
    return name if name in ORDERING else ""


def _order(access: Any) -> str:
    """The order of an atomic access; empty for a plain one."""
    if "ordering" not in access.attributes:
        return ""
    return dialect("llvm").AtomicOrdering(ir.IntegerAttr(access.attributes["ordering"]).value).name


def arrays(name: str) -> tuple[list[Any], Any]:
    product = KERNELS[name].product
    m, n, k = (128, 24, 200) if isinstance(product, str) else (product.m, product.n, product.k)
    turned = isinstance(product, str) or product.b == "nk"
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (n, k) if turned else (k, n)))
    wanted = a.astype(np.float32) @ (b.T if turned else b).astype(np.float32)
    if not isinstance(product, str) and product.element == "f32":
        a, b = a.astype(np.float32), b.astype(np.float32)
    if not isinstance(product, str) and product.element == "f8E4M3FN":
        a, b = a.astype(ml_dtypes.float8_e4m3fn), b.astype(ml_dtypes.float8_e4m3fn)
    if not isinstance(product, str) and product.a == "km":
        a = np.ascontiguousarray(a.T)
    if isinstance(product, str):
        c = rng.integers(-9, 9, (m, n)).astype(np.float32)
        return [a, b, c], wanted + c
    return [a, b, np.full((m, n), np.nan, np.float32 if product.out == "f32" else np.float16)], wanted


@contextmanager
def without(module: Any, operation: Any) -> Generator[None]:
    """The module without an operation; what used its result takes its first operand instead, if it has any."""
    siblings = [each.operation for each in operation.block.operations]
    behind = siblings[siblings.index(operation) + 1]
    operands = list(operation.operands)
    uses = [(use.owner.operation, use.operand_number) for result in operation.results for use in result.uses]
    held = [user.operands[number] for user, number in uses]
    if operands:
        for user, number in uses:
            user.operands[number] = operands[0]
    operation.detach_from_parent()
    yield
    with module.context, ir.Location.unknown():
        ir.InsertionPoint(behind).insert(operation)
    for (user, number), value in zip(uses, held, strict=True):
        user.operands[number] = value


def run(name: str) -> tuple[Report, bool]:
    memory, wanted = arrays(name)
    report = simulate(compiled(name)[0], memory, Options(max_steps=50_000, first=True))
    return report, np.array_equal(memory[2], wanted)


@pytest.mark.parametrize("name", KERNELS)
def test_every_operation_that_orders_something_is_missed(name: str):
    report, right = run(name)
    assert right and not report.findings, str(report)
    module, found = compiled(name)
    silent = set[tuple[str, int]]()
    for what, number, operation in found:
        with without(module, operation):
            if not run(name)[0].findings:
                silent.add((what, number))
    assert silent == {what for what, _ in KERNELS[name].redundant}


def test_the_kernels_have_all_that_orders_something():
    assert {what for name in KERNELS for what, _, _ in compiled(name)[1]} == {
        *ORDERING,
        *ASSEMBLY.values(),
        *FLAGS.values(),
    }
