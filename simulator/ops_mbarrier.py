"""nvvm: mbarriers, and the fences that make memory known to the copy engine and to wgmma.

The lanes of a warp are taken to be in order at an mbarrier: an arrival of one lane releases what the warp did before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.decode import Blocking, Decoder, Step, handles
from mlir_gemm.simulator.elements import LANES, collapse, is_array
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.mbarriers import Barriers, acquire
from mlir_gemm.simulator.memory import count
from mlir_gemm.simulator.warps import Run, Wait, Warp


def active_lanes(warp: Warp) -> Any:
    """The numbers of the active lanes."""
    return count(LANES) if warp.mask is None else np.flatnonzero(warp.mask)


def of_lane(value: Any, lane: int) -> int:
    """A number of one lane."""
    return int(value[lane]) if is_array(value) else int(value)


def predicated(decoder: Decoder, operation: Any, place: int) -> Any:
    """A function from a warp to the lanes that take part, by the operand `place` if there is one (-1: none)."""
    if place < 0:
        return active_lanes
    slot = decoder.slot(operation.operation.operands[place])

    def lanes(warp: Warp) -> Any:
        which = warp.slots[slot]
        there = active_lanes(warp)
        return there[which[there]] if is_array(which) else there[: len(there) if which else 0]

    return lanes


@handles("nvvm.mbarrier.init")
def _init(decoder: Decoder, operation: Any) -> Step:
    address, expected, *predicate = decoder.all_slots(operation.operation.operands)
    barriers = Barriers(decoder.info(operation), decoder.options.checks)
    lanes = predicated(decoder, operation, 2 if predicate else -1)

    def step(warp: Warp) -> None:
        for lane in lanes(warp):
            values = warp.slots
            barriers.make(warp, int(lane), of_lane(values[address], lane), of_lane(values[expected], lane))

    return step


@handles("nvvm.mbarrier.inval")
def _invalidate(decoder: Decoder, operation: Any) -> Step:
    address = decoder.slot(operation.operation.operands[0])
    barriers = Barriers(decoder.info(operation), decoder.options.checks)

    def step(warp: Warp) -> None:
        for lane in active_lanes(warp):
            found = barriers.at(warp, int(lane), of_lane(warp.slots[address], lane))
            del found.block.mbarriers[found.address]

    return step


@handles("nvvm.mbarrier.arrive", "nvvm.mbarrier.arrive.expect_tx", "nvvm.mbarrier.expect_tx")
def _arrive(decoder: Decoder, operation: Any) -> Step:
    op = operation.operation
    address, *rest = decoder.all_slots(op.operands)
    announces = op.name.endswith("expect_tx")
    arrives = ".arrive" in op.name
    place = 2 if announces and len(rest) > 1 else -1
    lanes = predicated(decoder, operation, place)
    barriers = Barriers(decoder.info(operation), decoder.options.checks)
    if "relaxed" in op.attributes and ir.BoolAttr(op.attributes["relaxed"]).value:
        raise unsupported(operation, "with relaxed order is not simulated")
    for result in op.results:
        decoder.constant(result, 0)  # a state that only other forms of waiting take

    def step(warp: Warp) -> None:
        values, known = warp.slots, warp.release()
        for lane in lanes(warp):
            barrier = barriers.at(warp, int(lane), of_lane(values[address], lane))
            number = of_lane(values[rest[0]], lane) if rest else 0
            if arrives:
                how = (1, number) if announces else (number if rest else 1, 0)
                barriers.arrive(warp, int(lane), barrier, known, *how)
            else:
                barriers.count(warp, int(lane), barrier, number)

    return step


@handles("nvvm.mbarrier.try_wait.parity")
def _wait(decoder: Decoder, operation: Any) -> Blocking:
    """Waits: it is tried again until the phase is complete."""
    address, parity, _ = decoder.all_slots(operation.operation.operands)
    info = decoder.info(operation)
    barriers = Barriers(info, decoder.options.checks)

    def run(warp: Warp) -> Run:
        at, odd = collapse(warp.slots[address]), collapse(warp.slots[parity])
        there = active_lanes(warp)
        pairs = dict[tuple[int, int], int]()  # the last lane of each: who initialises is a first one
        for lane in there if is_array(at) or is_array(odd) else there[-1:]:
            pairs[of_lane(at, lane), of_lane(odd, lane)] = int(lane)
        for (where, which), lane in pairs.items():
            if which not in (0, 1):
                info.find("undefined", warp, lane, "", f"parity {which}; a phase has parity 0 or 1")
            ready, what = barriers.wait(warp, lane, where, which & 1)
            if not ready():
                yield Wait(info, ready, what)
            acquire(warp, where)

    return Blocking(run)


@handles("nvvm.fence.mbarrier.init")
def _fence_init(decoder: Decoder, operation: Any) -> Step:
    def step(warp: Warp) -> None:
        _make_known(warp)

    return step


def _make_known(warp: Warp) -> None:
    """A fence orders what the lanes that run it have initialised."""
    for barrier in warp.block.mbarriers.values():
        if barrier.by == warp.index and (warp.mask is None or warp.mask[barrier.lane]):
            barrier.made_known = True


@handles("nvvm.fence.proxy")
def _fence_proxy(decoder: Decoder, operation: Any) -> Step | None:
    kind = str(operation.operation.attributes["kind"])
    if "async" not in kind or "global" in kind:
        return None

    def step(warp: Warp) -> None:
        _make_known(warp)
        there = np.ones(LANES, np.bool_) if warp.mask is None else warp.mask
        left = warp.unfenced & ~there
        if not np.any(left):
            warp.unfenced = False
            fence = warp.block.cluster.agents.fence(warp.index)
            warp.seen[fence] = warp.clock
            warp.clock += 1
        else:
            warp.unfenced = left

    return step


@handles("nvvm.fence.proxy.acquire", "nvvm.fence.proxy.release")
def _fence_tensor_map(decoder: Decoder, operation: Any) -> None:
    raise unsupported(operation, "tensor maps that are changed on the device are not simulated")


@handles("nvvm.setmaxregister")
def _registers(decoder: Decoder, operation: Any) -> Step:
    info = decoder.info(operation, collective=True)
    wanted = ir.IntegerAttr(operation.operation.attributes["regCount"]).value
    right = wanted % 8 == 0 and 24 <= wanted <= 256

    def step(warp: Warp) -> None:
        if not right:
            info.find("undefined", warp, -1, "", f"{wanted} registers; expected a multiple of 8 from 24 to 256")
        if warp.diverged:
            info.find("divergent-collective", warp, -1, "", "not all lanes of the warp reach it")
        warp.block.registers.setdefault(warp.number // 4, {}).setdefault(warp.number, []).append(wanted)

    return step


@handles("nvvm.elect.sync")
def _elect(decoder: Decoder, operation: Any) -> Step:
    operands = decoder.all_slots(operation.operation.operands)
    out = decoder.slot(operation.operation.results[0])

    def step(warp: Warp) -> None:
        members = of_lane(warp.slots[operands[0]], 0) if operands else -1
        there = [lane for lane in active_lanes(warp) if members >> int(lane) & 1]
        found = np.zeros(LANES, np.bool_)
        found[there[:1]] = True
        warp.slots[out] = found

    return step


@handles("nvvm.griddepcontrol")
def _dependence(decoder: Decoder, operation: Any) -> Step | None:
    """Kernels run one after the other here; only who has waited is kept."""
    if "wait" not in str(operation.operation.attributes["kind"]):
        return None

    def step(warp: Warp) -> None:
        cluster = warp.block.cluster
        warp.seen[cluster.agents.before] = cluster.start + 1

    return step


@handles("nvvm.prefetch")
def _nothing(decoder: Decoder, operation: Any) -> None:
    """There are no caches."""
