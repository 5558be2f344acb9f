"""nvvm: where a block is in its cluster, the cluster's barrier, and addresses in other blocks' shared memory."""

from __future__ import annotations

from typing import Any

from mlir_gemm.simulator.decode import Blocking, Decoder, Step, handles
from mlir_gemm.simulator.elements import is_array
from mlir_gemm.simulator.mbarriers import RANK
from mlir_gemm.simulator.ops_mbarrier import active_lanes, of_lane
from mlir_gemm.simulator.warps import Run, Wait, Warp

_REGISTERS = "nvvm.read.ptx.sreg."
_AXES = "xyz"


@handles(*(f"{_REGISTERS}cluster.{kind}.{axis}" for kind in ("ctaid", "nctaid") for axis in _AXES),
         *(f"{_REGISTERS}{kind}.{axis}" for kind in ("clusterid", "nclusterid") for axis in _AXES),
         f"{_REGISTERS}cluster.ctarank", f"{_REGISTERS}cluster.nctarank")  # fmt: skip
@handles("gpu.cluster_id", "gpu.cluster_dim", "gpu.cluster_block_id", "gpu.cluster_dim_blocks")
def _position(decoder: Decoder, operation: Any) -> Step:
    op = operation.operation
    name = op.name.removeprefix(_REGISTERS)
    out = decoder.slot(op.results[0])
    if name.startswith("gpu."):
        axis = _AXES.index(str(op.attributes["dimension"]).rstrip(">").split()[-1])
        name = {"gpu.cluster_id": "clusterid", "gpu.cluster_dim": "nclusterid",
                "gpu.cluster_block_id": "cluster.ctaid", "gpu.cluster_dim_blocks": "cluster.nctaid"}[name]  # fmt: skip
    else:
        name, _, letter = name.rpartition(".") if name[-1] in _AXES and name[-2] == "." else (name, "", "x")
        axis = _AXES.index(letter)

    def step(warp: Warp) -> None:
        block = warp.block
        shape = block.cluster.shape
        warp.slots[out] = {
            "cluster.ctaid": block.id[axis] % shape[axis],
            "cluster.nctaid": shape[axis],
            "clusterid": block.id[axis] // shape[axis],
            "nclusterid": block.grid[axis] // shape[axis],
            "cluster.ctarank": block.rank,
            "cluster.nctarank": len(block.cluster.blocks),
        }[name]

    return step


@handles("nvvm.cluster.arrive", "nvvm.cluster.arrive.relaxed")
def _arrive(decoder: Decoder, operation: Any) -> Step:
    info = decoder.info(operation, collective=True)
    orders = not operation.operation.name.endswith("relaxed")

    def step(warp: Warp) -> None:
        cluster = warp.block.cluster
        if warp.diverged:
            info.find("divergent-barrier", warp, -1, "", "not all lanes of the warp reach it")
        if warp.at_cluster > cluster.opened:
            info.find("divergent-barrier", warp, -1, "", "arrives twice at the cluster's barrier with no wait between")
            return
        cluster.arrive(warp, warp.release() if orders else None)
        for barrier in warp.block.mbarriers.values():
            if barrier.made_known and barrier.by == warp.index and not barrier.met:
                barrier.met = warp.at_cluster

    return step


@handles("nvvm.cluster.wait")
def _wait(decoder: Decoder, operation: Any) -> Blocking:
    info = decoder.info(operation, collective=True)

    def run(warp: Warp) -> Run:
        cluster, at = warp.block.cluster, warp.at_cluster
        if at == warp.left_cluster:
            info.find("divergent-barrier", warp, -1, "", "waits at the cluster's barrier and did not arrive there")
            return
        if cluster.opened < at:
            yield Wait(info, lambda: cluster.opened >= at, lambda: f"the cluster's barrier ({_names(cluster.missing)})")
        warp.left_cluster = at
        if cluster.released is not None:
            warp.acquire(cluster.released)
        warp.sync()

    return Blocking(run)


def _names(warps: list[Warp]) -> str:
    return "missing: " + ", ".join(f"warp {warp.number} of block {warp.block.number}" for warp in warps)


@handles("nvvm.mapa")
def _mapa(decoder: Decoder, operation: Any) -> Step:
    address, rank = decoder.all_slots(operation.operation.operands)
    out = decoder.slot(operation.operation.results[0])
    info = decoder.info(operation)

    def step(warp: Warp) -> None:
        where, which = warp.slots[address], warp.slots[rank]
        blocks = len(warp.block.cluster.blocks)
        for lane in active_lanes(warp)[: None if is_array(which) else 1]:
            if not 0 <= of_lane(which, lane) < blocks:
                info.find(
                    "out-of-bounds", warp, int(lane), "", f"block {of_lane(which, lane)} of a cluster of {blocks}"
                )
        if is_array(which):
            which = which.astype("int64")
        warp.slots[out] = (where & ((1 << RANK) - 1)) | ((which + 1) << RANK)

    return step
