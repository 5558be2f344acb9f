"""Barriers of some of a block's threads: those of a warp, of a warpgroup, or of all warpgroups that multiply."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.spec.threads import WARPGROUP

FIRST_BARRIER = 1
"""The number of the first warpgroup's own barrier; 0 is the block's."""
SHARED_BARRIER = 8
"""That of several warpgroups which compute together."""


CONSUMERS_BARRIER = 8
"""The number of the barrier of all consumers, beyond those of warpgroups."""


def sync_consumers(threads: int) -> None:
    """A barrier of all threads that multiply, where others copy. What lanes have read and stored of shared memory is
    before what the copy engine does next: that stages are released once ldmatrix has loaded them says nothing of it."""
    nvvm = dialect("nvvm")
    nvvm.FenceProxyOp(nvvm.ProxyKind.async_shared, space=nvvm.SharedSpace.shared_cta)
    number, count = (indexing.as_i32(constants.index(each)) for each in (CONSUMERS_BARRIER, threads))
    nvvm.BarrierOp(barrierId=number, numberOfThreads=count)


def sync_warp() -> None:
    """All lanes of the warp meet: what each has stored or read is after them."""
    every = dialect("arith").ConstantOp(ir.IntegerType.get_signless(32), -1).result
    dialect("nvvm").SyncWarpOp(every)


def sync_warpgroup(unit: Any) -> None:
    """A barrier of all threads of a warpgroup, given by its number."""
    number = indexing.as_i32(indexing.add(unit, FIRST_BARRIER))
    dialect("nvvm").BarrierOp(barrierId=number, numberOfThreads=indexing.as_i32(constants.index(WARPGROUP)))


def sync_warpgroups(count: int) -> None:
    """A barrier of all threads of this many warpgroups: all that compute."""
    number, threads = (indexing.as_i32(constants.index(each)) for each in (SHARED_BARRIER, count * WARPGROUP))
    dialect("nvvm").BarrierOp(barrierId=number, numberOfThreads=threads)
