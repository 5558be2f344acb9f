"""TMA: tensor maps on the host, and the copies of tiles that the copy engine makes by them.

A copy is simulated when it is issued. Nothing may use what it wrote before waiting for the mbarrier that it counts on,
or overwrite what it read before waiting for its group.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from mlir_gemm.dialect import im2col, windows
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.lowering.l2_eviction import LEAVE, POLICIES
from mlir_gemm.simulator.access import Access
from mlir_gemm.simulator.decode import Decoder, Step, handles, integers
from mlir_gemm.simulator.elements import ELEMENTS
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.mbarriers import RANK, Barriers, MBarrier, buffer_at, resolved
from mlir_gemm.simulator.memory import View, dense_strides
from mlir_gemm.simulator.ops_mbarrier import of_lane, predicated
from mlir_gemm.simulator.tensor_maps import CHUNK, TensorMap, Windows
from mlir_gemm.simulator.warps import Block, Stop, Warp


@handles("tile.tensor_map")
def _tensor_map(decoder: Decoder, operation: Any) -> Step:
    source, out = decoder.slot(operation.operation.operands[0]), decoder.slot(operation.operation.results[0])
    attributes = operation.operation.attributes
    box = tuple(ir.DenseI64ArrayAttr(attributes["box"]))
    swizzle = ir.StringAttr(attributes["swizzle"]).value
    info = decoder.info(operation)

    memory = operation.operation.operands[0]
    geometry = im2col.of(memory) if windows.is_windows(memory) else None
    if isinstance(geometry, str):
        raise unsupported(operation, f"of {geometry}")

    def step(warp: Warp) -> None:
        view: View = warp.slots[source]
        found = TensorMap(view, box, swizzle)
        if geometry is not None:
            image = windows.image_of(memory).shape
            image = (view.sizes[0], *image[1:]) if windows.OPEN in image else image
            view = dataclasses.replace(view, sizes=image, strides=dense_strides(image))
            found = Windows(view, box, swizzle, geometry)
        why = found.problem()
        if why is not None:
            info.find("tensor-map", warp, -1, "", f"the driver refuses the map of '{view.buffer.name}': {why}")
            raise Stop(f"the tensor map of '{view.buffer.name}' is refused")
        warp.slots[out] = found

    return step


@handles("tile.windows")
def _windows(decoder: Decoder, operation: Any) -> Step:
    """Windows stand for their image: a tensor map of them looks at the operation."""
    source, out = decoder.slot(operation.operation.operands[0]), decoder.slot(operation.operation.results[0])

    def step(warp: Warp) -> None:
        warp.slots[out] = warp.slots[source]

    return step


class _Copies:
    """What loads and stores of tiles have in common."""

    def __init__(
        self, decoder: Decoder, operation: Any, memory: int, map_: int, first: int, count: int, predicate: int,
        shifts: int = 0,
    ):  # fmt: skip
        self.operation, operands = operation, operation.operation.operands
        self.memory, self.map = decoder.slot(operands[memory]), decoder.slot(operands[map_])
        self.place = decoder.all_slots(list(operands)[first : first + count])
        self.offsets = decoder.all_slots(list(operands)[first + count + 1 : first + count + 1 + shifts])
        self.lanes = predicated(decoder, operation, predicate)
        self.info = decoder.info(operation)
        self.access = Access(decoder, self.info, ELEMENTS["i32"], CHUNK // 4)
        self.checks = decoder.options.checks
        self.counters = self.access.counters
        mode = str(operation.operation.attributes["mode"])
        if "tile>" not in mode and not (shifts and "im2col>" in mode):
            raise unsupported(operation, f"in mode {mode} is not simulated")

    def tile(self, warp: Warp, lane: int) -> tuple[TensorMap, tuple[int, ...]]:
        """The map, and where the tile lies in its array."""
        found = warp.slots[self.map]
        if not isinstance(found, TensorMap):
            raise unsupported(self.operation, "through a pointer that is no tensor map is not simulated")
        place = tuple(of_lane(warp.slots[slot], lane) for slot in reversed(self.place))
        if isinstance(found, Windows) == bool(self.offsets):
            place += tuple(of_lane(warp.slots[slot], lane) & 0xFFFF for slot in reversed(self.offsets))
        if isinstance(found, Windows) != bool(self.offsets) or len(place) != found.coordinates:
            message = f"{len(place)} numbers for a tensor map that takes {found.coordinates}"
            self.info.find("tensor-map", warp, lane, "", message)
            raise Stop("a tensor copy that does not fit its map")
        return found, place

    def chunks(self, warp: Warp, lane: int, map_: TensorMap, block: Block, at: int) -> tuple[View, Any] | None:
        """The tile's chunks in a block's shared memory; None, and a finding, if they are not in it."""
        found = buffer_at(block, at)
        if at % map_.alignment:
            message = f"address {at} is no multiple of {map_.alignment}, as swizzle '{map_.swizzle}' needs"
            self.info.find("misaligned", warp, lane, "", message)
        starts = map_.chunks(at)
        if found is None or found[1] + map_.bytes > found[0].size:
            where = f"address {at}" if found is None else f"byte {found[1]} of {found[0].size} of shared memory"
            self.info.find("out-of-bounds", warp, lane, "", f"a tile of {map_.bytes} bytes at {where}")
            return None
        view = found[0].view
        assert view is not None
        return view, starts - found[0].address

    def count(self, kind: str, space: str, size: int) -> None:
        """Counts bytes."""
        if self.counters is not None:
            self.counters.bytes[f"{space}_{kind}"] += size


@handles("nvvm.cp.async.bulk.tensor.shared.cluster.global")
def _load(decoder: Decoder, operation: Any) -> Step:
    op = operation.operation
    _, _, rank, _, shifts, multicast, hint, predicate = integers(op.attributes["operandSegmentSizes"])
    behind = 3 + rank + shifts
    copies = _Copies(decoder, operation, 0, 1, 2, rank, behind + multicast + hint if predicate else -1, shifts)
    barrier_slot = decoder.slot(op.operands[2 + rank])
    mask = decoder.slot(op.operands[behind]) if multicast else None
    policy = decoder.slot(op.operands[behind + multicast]) if hint else None
    barriers = Barriers(copies.info, copies.checks)

    def step(warp: Warp) -> None:
        values = warp.slots
        for lane in copies.lanes(warp):
            lane = int(lane)
            map_, place = copies.tile(warp, lane)
            target, at = resolved(warp, of_lane(values[copies.memory], lane))
            address = of_lane(values[barrier_slot], lane)
            first = barriers.at(warp, lane, address, beside=True)
            targets = [target]
            if mask is not None:
                wanted = of_lane(values[mask], lane)
                blocks = warp.block.cluster.blocks
                if wanted >> len(blocks) & 0xFFFF or not wanted & 0xFFFF:
                    copies.info.find("out-of-bounds", warp, lane, "", f"blocks {wanted:#x} of {len(blocks)}")
                targets = [block for block in blocks if wanted >> block.rank & 1]
            content = map_.read(place)
            copies.count("load", "global", map_.bytes)
            if policy is not None and of_lane(values[policy], lane) == POLICIES.index(LEAVE):
                copies.count("leaving", "global", map_.bytes)
            for block in targets:
                barrier = first
                if mask is not None:
                    barrier = barriers.at(warp, lane, (block.rank + 1 << RANK) | first.address, beside=True)
                _arrive(copies, barriers, warp, lane, map_, place, block, at, barrier, content)

    return step


def _arrive(
    copies: _Copies, barriers: Barriers, warp: Warp, lane: int, map_: TensorMap, place: tuple[int, ...],
    block: Block, at: int, barrier: MBarrier, content: Any,
) -> None:  # fmt: skip
    """A tile arrives in one block's shared memory, and counts on its mbarrier."""
    found = copies.chunks(warp, lane, map_, block, at)
    if found is not None:
        view, starts = found
        if copies.checks:
            if barrier.block is not block:
                message = "the tile and the mbarrier are in the shared memory of different blocks"
                copies.info.find("mbarrier", warp, lane, "", message)
            copies.access.watch_later(warp, view, starts, CHUNK, lane, barrier.agent, barrier.tick, "write")
            copies.access.watch_early(warp, map_.view, lane)
            rows, width = map_.rows(place)
            if width and map_.view.buffer.shadow is not None:
                copies.access.watch_later(warp, map_.view, rows, width, lane, barrier.agent, barrier.tick, "read")
        copies.count("store", "shared", map_.bytes)
        view.buffer.scatter(starts, CHUNK, content)
    barrier.copied = barrier.tick
    barriers.count(warp, lane, barrier, -map_.bytes)
    barrier.settle()


@handles("nvvm.cp.async.bulk.tensor.global.shared.cta")
def _store(decoder: Decoder, operation: Any) -> Step:
    op = operation.operation
    _, _, rank, hint, predicate = integers(op.attributes["operandSegmentSizes"])
    copies = _Copies(decoder, operation, 1, 0, 2, rank, 2 + rank + hint if predicate else -1)

    def step(warp: Warp) -> None:
        cluster = warp.block.cluster
        agent, tick = cluster.agents.stores(warp.index), cluster.start + warp.stores + 1
        for lane in copies.lanes(warp):
            lane = int(lane)
            map_, place = copies.tile(warp, lane)
            block, at = resolved(warp, of_lane(warp.slots[copies.memory], lane))
            found = copies.chunks(warp, lane, map_, block, at)
            if found is None:
                continue
            view, starts = found
            rows, width = map_.rows(place)
            if copies.checks:
                copies.access.watch_later(warp, view, starts, CHUNK, lane, agent, tick, "read")
                copies.access.watch_early(warp, map_.view, lane)
                if width:
                    copies.access.watch_later(warp, map_.view, rows, width, lane, agent, tick, "write")
            copies.count("load", "shared", map_.bytes)
            copies.count("store", "global", len(rows) * width)
            map_.write(place, view.buffer.gather(starts, CHUNK, "u1"))
            warp.storing = True

    return step


@handles("nvvm.cp.async.bulk.commit.group")
def _commit(decoder: Decoder, operation: Any) -> Step:
    def step(warp: Warp) -> None:
        warp.stores += 1
        warp.storing = False

    return step


@handles("nvvm.cp.async.bulk.wait_group")
def _wait(decoder: Decoder, operation: Any) -> Step:
    pending = ir.IntegerAttr(operation.operation.attributes["group"]).value

    def step(warp: Warp) -> None:
        warp.stored = max(warp.stored, warp.stores - pending)
        warp.learn_done(warp.block.cluster.agents.stores(warp.index), warp.stored)

    return step
