"""gpu and nvvm: who a thread is, barriers, and shuffles."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlir_gemm.simulator.decode import Blocking, Decoder, Info, Step, handles
from mlir_gemm.simulator.elements import LANES, choose, collapse, is_array, per_lane
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.memory import count
from mlir_gemm.simulator.warps import Barrier, Run, Wait, Warp

_AXES = {"x": 0, "y": 1, "z": 2}


def _axis(operation: Any) -> int:
    text = str(operation.operation.attributes["dimension"])  # #gpu<dim x>
    return _AXES[text.rstrip(">").split()[-1]]


@handles("gpu.thread_id", "gpu.block_id", "gpu.block_dim", "gpu.grid_dim", "gpu.global_id")
def _position(decoder: Decoder, operation: Any) -> Step:
    kind = operation.operation.name.removeprefix("gpu.")
    axis = _axis(operation)
    out = decoder.slot(operation.operation.results[0])

    def step(warp: Warp) -> None:
        block = warp.block
        if kind == "block_id":
            warp.slots[out] = block.id[axis]
        elif kind == "block_dim":
            warp.slots[out] = block.size[axis]
        elif kind == "grid_dim":
            warp.slots[out] = block.grid[axis]
        else:
            below = int(np.prod(block.size[:axis]))
            thread = 0 if block.size[axis] == 1 else warp.lanes // below % block.size[axis]
            warp.slots[out] = thread if kind == "thread_id" else thread + block.id[axis] * block.size[axis]

    return step


@handles("gpu.lane_id", "gpu.subgroup_id", "gpu.subgroup_size", "gpu.num_subgroups", "nvvm.read.ptx.sreg.laneid")
def _subgroup(decoder: Decoder, operation: Any) -> Step:
    kind = operation.operation.name
    out = decoder.slot(operation.operation.results[0])
    element = decoder.element(operation, operation.operation.results[0].type)

    def step(warp: Warp) -> None:
        if kind.endswith(("lane_id", "laneid")):
            warp.slots[out] = count(LANES).astype(element.value)
        elif kind == "gpu.subgroup_id":
            warp.slots[out] = warp.number
        else:
            warp.slots[out] = LANES if kind == "gpu.subgroup_size" else warp.block.warp_count

    return step


def _check_whole(info: Info, warp: Warp) -> None:
    """Reports a barrier that some lanes of the warp do not reach."""
    if warp.diverged:
        lane = int((~warp.mask).argmax())
        info.find("divergent-barrier", warp, lane, "", f"{int((~warp.mask).sum())} lanes of the warp do not reach it")


def _wait(barrier: Barrier, at: int, info: Info) -> Wait:
    return Wait(info, lambda: barrier.opened > at, lambda: str(barrier), barrier)


@handles("gpu.barrier", "nvvm.barrier0", "nvvm.barrier")
def _barrier(decoder: Decoder, operation: Any) -> Blocking:
    if any(str(operand.type) != "i32" for operand in operation.operation.operands):
        raise unsupported(operation, "a barrier with these operands is not simulated")
    operands = decoder.all_slots(operation.operation.operands)
    if "operandSegmentSizes" in operation.operation.attributes:
        present = list(operation.operation.attributes["operandSegmentSizes"])[:2]
    else:
        present = [int(len(operands) > 0), int(len(operands) > 1)]
    info = decoder.info(operation, collective=True)

    def run(warp: Warp) -> Run:
        _check_whole(info, warp)
        values = [int(np.asarray(collapse(warp.slots[slot])).flat[0]) for slot in operands]
        number = values.pop(0) if present[0] else 0
        expected = values.pop(0) if present[1] else 0
        barrier, at = warp.block.arrive(warp, info, number, expected)
        if barrier.opened == at:
            yield _wait(barrier, at, info)

    return Blocking(run)


@handles("nvvm.bar.warp.sync")
def _warp_barrier(decoder: Decoder, operation: Any) -> Step:
    member_mask = decoder.slot(operation.operation.operands[0])
    info = decoder.info(operation, collective=True)

    def step(warp: Warp) -> None:
        wanted = collapse(warp.slots[member_mask])
        if is_array(wanted):
            info.find("divergent-barrier", warp, -1, "", "lanes name different members")
        else:
            named = (wanted >> count(LANES)) & 1 == 1
            there = np.ones(LANES, np.bool_) if warp.mask is None else warp.mask
            missing = named & ~there & (warp.lanes < warp.block.thread_count)
            if missing.any() or (there & ~named).any():
                lane = int((missing | (there & ~named)).argmax())
                info.find("divergent-barrier", warp, lane, "", "the lanes that are there are not the members named")
        warp.sync()

    return step


@handles("gpu.shuffle")
def _shuffle(decoder: Decoder, operation: Any) -> Step:
    value, offset, width = decoder.all_slots(operation.operation.operands)
    out, valid = decoder.all_slots(operation.operation.results)
    element = decoder.element(operation, operation.operation.operands[0].type)
    text = str(operation.operation.attributes["mode"])
    mode = next(name for name in ("xor", "up", "down", "idx") if name in text)
    info = decoder.info(operation, collective=True)

    def step(warp: Warp) -> None:
        values = warp.slots
        lane, by = count(LANES), np.asarray(values[offset], np.int64)
        size = int(np.asarray(collapse(values[width])).flat[0])
        first = lane // size * size
        source = {"xor": lane ^ by, "up": lane - by, "down": lane + by, "idx": first + by}[mode]
        inside = (source >= first) & (source < first + size)
        source = choose(inside, source, lane)
        if warp.mask is not None and not warp.mask[source][warp.mask].all():
            info.find("divergent-collective", warp, -1, "", "a lane reads from one that does not take part")
        values[out] = per_lane(values[value], element)[source]
        values[valid] = inside

    return step


@handles("nvvm.shfl.sync")
def _warp_shuffle(decoder: Decoder, operation: Any) -> Step:
    members, value, offset, clamp = decoder.all_slots(operation.operation.operands)
    out = decoder.slot(operation.operation.results[0])
    element = decoder.element(operation, operation.operation.operands[1].type)
    text = str(operation.operation.attributes["kind"])
    kind = next(name for name in ("bfly", "up", "down", "idx") if name in text)
    info = decoder.info(operation, collective=True)
    if str(operation.operation.results[0].type) != str(operation.operation.operands[1].type):
        raise unsupported(operation, "with a predicate is not simulated")

    def step(warp: Warp) -> None:  # PTX ISA, shfl.sync
        values = warp.slots
        lane, by = count(LANES), np.asarray(values[offset], np.int64)
        limits = np.asarray(values[clamp], np.int64)
        segment, limit = limits >> 8 & 31, limits & 31
        last = (lane & segment) | (limit & ~segment)
        first = lane & segment
        source = {"bfly": lane ^ by, "up": lane - by, "down": lane + by, "idx": first | (by & ~segment)}[kind]
        inside = source >= last if kind == "up" else source <= last
        source = choose(inside, source, lane) & 31
        there = np.ones(LANES, np.bool_) if warp.mask is None else warp.mask
        named = np.asarray(values[members], np.int64) >> lane & 1 == 1
        if not (there & named)[source][there].all():
            info.find("divergent-collective", warp, -1, "", "a lane reads from one that does not take part")
        values[out] = per_lane(values[value], element)[source]

    return step


def check_collective(info: Info, warp: Warp) -> None:
    """Reports an operation of the whole warp that some lanes do not reach."""
    if warp.mask is not None:
        lane = int((~warp.mask).argmax())
        info.find("divergent-collective", warp, lane, "", f"{int((~warp.mask).sum())} lanes do not take part")


def uniform(info: Info, warp: Warp, value: Any, what: str) -> int:
    """A number that must be the same in all lanes; reports it when it is not, and takes the first lane's."""
    value = collapse(value)
    if not is_array(value):
        return int(value)
    active = value if warp.mask is None else value[warp.mask]
    if not (active == active[0]).all():
        lane = int((value != active[0]).argmax())
        info.find("divergent-collective", warp, lane, "", f"{what} differs between lanes; it must be the same in all")
    return int(active[0])
