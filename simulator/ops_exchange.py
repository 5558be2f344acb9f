"""llvm.inline_asm of `st.async`: numbers that lanes store in the shared memory of blocks of their cluster, which an
mbarrier there counts. A store is simulated when it is issued; nothing may use it before a wait for the mbarrier."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.access import Access
from mlir_gemm.simulator.decode import Decoder, Step
from mlir_gemm.simulator.elements import ELEMENTS, LANES
from mlir_gemm.simulator.mbarriers import Barriers, buffer_at, resolved
from mlir_gemm.simulator.ops_mbarrier import active_lanes, of_lane
from mlir_gemm.simulator.warps import Stop, Warp


def store_counted(decoder: Decoder, operation: Any) -> Step:
    """A store of one integer by each lane."""
    place, word, counted = decoder.all_slots(operation.operation.operands)
    bits = ir.IntegerType(operation.operation.operands[1].type).width
    info, element = decoder.info(operation), ELEMENTS[f"i{bits}"]
    access = Access(decoder, info, element, 1, element.bytes)
    barriers = Barriers(info, decoder.options.checks)

    def one(warp: Warp, lane: int) -> None:
        values = warp.slots
        barrier = barriers.at(warp, lane, of_lane(values[counted], lane), beside=True)
        block, address = resolved(warp, of_lane(values[place], lane))
        found = buffer_at(block, address)
        if found is None or found[1] + element.bytes > found[0].size:
            info.find("out-of-bounds", warp, lane, "", f"address {address}, where no shared memory is")
            raise Stop("a store to no shared memory")
        buffer, start = found
        if access.checks:
            if address % element.bytes:
                info.find("misaligned", warp, lane, "", f"address {address} is no multiple of {element.bytes}")
            if barrier.block is not block:
                message = "the number and the mbarrier are in the shared memory of different blocks"
                info.find("mbarrier", warp, lane, "", message)
            assert buffer.view is not None
            starts = np.array([start], np.int64)
            access.watch_later(warp, buffer.view, starts, element.bytes, lane, barrier.agent, barrier.tick, "write")
        number = np.broadcast_to(np.asarray(values[word], element.value), LANES)[lane]
        buffer.scatter(np.array([start]), element.bytes, element.store(np.array([[number]], element.value)))
        if access.counters is not None:
            access.counters.bytes["shared_store"] += element.bytes
        barrier.copied = barrier.tick
        barriers.count(warp, lane, barrier, -element.bytes)
        barrier.settle()

    def step(warp: Warp) -> None:
        for lane in active_lanes(warp):
            one(warp, int(lane))

    return step
