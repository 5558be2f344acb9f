"""Rings of stages, the two roles that fill and empty them, products in flight, and stores by the copy engine.

A copy into a stage arrives when the consumer has waited for it; until then the stage holds NaN, and reading it is an
error. So are copies into a stage that was not acquired, or that a product in flight reads, and the use of an
accumulator that was not waited for. The warps of a role run in lockstep, so that a stage is released by all at once.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mlir_gemm.dialect import tile
from mlir_gemm.dialect.constants import number_of
from mlir_gemm.simulator import tile_clusters, tile_ping_pong, tile_stream_k
from mlir_gemm.simulator.errors import SimulationError
from mlir_gemm.simulator.tile_clusters import concerned, fault, peers
from mlir_gemm.simulator.tile_memory import poisoned
from mlir_gemm.simulator.tile_ops import multiplier
from mlir_gemm.simulator.tile_ping_pong import consumers_of as consumers_at
from mlir_gemm.simulator.tile_places import Region
from mlir_gemm.simulator.tile_program import (
    FRAMES,
    RANK,
    Decoder,
    Frame,
    Function,
    Maker,
    PerUnit,
    Step,
    StepMaker,
    Written,
    call,
    located,
    per_unit,
    run_steps,
    uniform,
)

_PRODUCTS, _BARRIER_BYTES = "products in flight", 8


class InFlight:
    """The result of an asynchronous product, which only another product and tile.mma_wait may take."""

    def __init__(self, value: Any, number: int):
        self.value = value
        self.number = number

    def __getattr__(self, name: str) -> Any:
        raise SimulationError("an accumulator is used before tile.mma_wait says that its products are done")


@dataclass
class _Stage:
    """One stage of a ring."""

    ring: Any
    """A weak reference to the ring's barriers: when their memory is gone, so is the stage."""
    releases: int
    """How many blocks release it before it is empty."""
    filled: int = 0
    emptied: int = 0
    """Phases of its two barriers that are complete."""
    released: int = 0
    announced: bool = False
    missing: int = 0
    """Bytes announced that were not copied."""
    under_way: list[tuple[Any, Any]] = field(default_factory=list[tuple[Any, Any]])
    """Copies that nobody waited for yet: the target, and what it is to hold."""
    held: list[Any] = field(default_factory=list[Any])
    """The memory that the consumer may read."""

    def settle(self) -> None:
        """Completes the phase of the full barrier when nothing is missing."""
        if self.announced and not self.missing:
            self.announced = False
            self.filled += 1


@dataclass
class _Products:
    """Asynchronous products of a block."""

    issued: int = 0
    reading: list[tuple[int, list[Any]]] = field(default_factory=list[tuple[int, list[Any]]])
    """Those in flight, by number, and the memory that they read."""


class Rings:
    """All rings of a program, by the address of their barriers."""

    def __init__(self) -> None:
        self.stages: dict[int, _Stage] = {}

    def make(self, barriers: Any, releases: int) -> None:
        """Makes the stages of a ring ready, and forgets those of blocks that are done."""
        self.stages = {place: stage for place, stage in self.stages.items() if stage.ring() is not None}
        for slot in range(barriers.shape[1]):
            self.stages[_address(barriers, slot)] = _Stage(weakref.ref(barriers), releases)

    def stage(self, barriers: Any, slot: Any, operation: Any) -> _Stage:
        """A stage of a ring."""
        number = uniform(slot, "the slot of a ring")
        found = self.stages.get(_address(barriers, number)) if 0 <= number < barriers.shape[1] else None
        if found is None:
            raise fault(operation, f"slot {number} of a ring of {barriers.shape[1]}, or a ring without tile.ring")
        return found


def _address(barriers: Any, slot: int) -> int:
    return barriers.ctypes.data + slot * _BARRIER_BYTES


def _overlaps(value: Any, other: Any) -> bool:
    parts = value if type(value) is PerUnit else [value]
    return any(np.may_share_memory(part, other) for part in parts)


def _products(decoder: Decoder) -> Callable[[Frame], _Products]:
    slot = decoder.slot(_PRODUCTS)

    def products(frame: Frame) -> _Products:
        if frame[slot] is None:
            frame[slot] = _Products()
        return frame[slot]

    return products


def _ring(decoder: Decoder, operation: Any) -> Step:
    rings = decoder.state.rings
    barriers = decoder.slot(operation.operation.operands[0])
    blocks = number_of(operation, "blocks", 1)

    def step(frame: Frame) -> None:
        rings.make(frame[barriers], blocks)

    return step


def _enter(decoder: Decoder, operation: Any) -> Step:
    slot, phase = decoder.slots(operation.operation.results)

    def step(frame: Frame) -> None:
        frame[slot] = frame[phase] = 0

    return step


def _advance(decoder: Decoder, operation: Any) -> Step:
    slot, phase, steps = decoder.slots(operation.operation.operands)
    next_slot, next_phase = decoder.slots(operation.operation.results)
    stages = number_of(operation, "stages")

    def step(frame: Frame) -> None:
        count = uniform(frame[slot], "the slot of a ring") + uniform(frame[steps], "the steps of a ring")
        rounds, frame[next_slot] = divmod(count, stages)
        frame[next_phase] = uniform(frame[phase], "a phase") ^ rounds & 1

    return step


def _producer_acquire(decoder: Decoder, operation: Any) -> Step:
    state = decoder.state
    barriers, slot, phase = decoder.slots(operation.operation.operands)
    size = number_of(operation, "bytes")

    def step(frame: Frame) -> None:
        stage = state.rings.stage(frame[barriers], frame[slot], operation)
        parity = uniform(frame[phase], "a phase") ^ 1
        what = f"stage {frame[slot]} to be empty (phase {frame[phase]})"
        state.coroutines.wait(lambda: stage.emptied & 1 != parity, what)
        if stage.announced or (stage.under_way and stage.releases == 1):  # other blocks may have copied already
            raise fault(operation, f"stage {frame[slot]} is acquired again before it was filled and released")
        stage.announced = True
        stage.held = []
        stage.missing += size
        stage.settle()

    return step


def _consumer_wait(decoder: Decoder, operation: Any) -> Step:
    state = decoder.state
    barriers, slot, phase = decoder.slots(operation.operation.operands)

    def step(frame: Frame) -> None:
        stage = state.rings.stage(frame[barriers], frame[slot], operation)
        parity = uniform(frame[phase], "a phase")
        what = f"stage {frame[slot]} to be filled (phase {parity}; {stage.missing} bytes are missing)"
        state.coroutines.wait(lambda: stage.filled & 1 != parity, what)
        for target, content in stage.under_way:
            target[...] = content
        stage.held += [target for target, _ in stage.under_way]
        stage.under_way = []

    return step


def _tma_load(decoder: Decoder, operation: Any) -> Step:
    state, region = decoder.state, Region.of(operation)
    operands = operation.operation.operands
    first = len(operands) - len(tile.place_of(operation).offsets)
    target, source, barriers, slot, *offsets = decoder.slots([*list(operands)[:4], *list(operands)[first:]])
    blocks = number_of(operation, "multicast", 1)
    ranks_of = concerned(decoder, operation, blocks)
    buffer_of, ring_of = peers(decoder, operands[0]), peers(decoder, operands[2])
    frames, products = decoder.slot(FRAMES), decoder.slot(_PRODUCTS)
    read = located(region.read, operation)

    def step(frame: Frame) -> None:
        stage = state.rings.stage(frame[barriers], frame[slot], operation)
        if not stage.announced:
            raise fault(operation, f"into stage {frame[slot]}, which was not acquired")
        content = read(frame[source], [frame[each] for each in offsets], frame[target].shape)
        for rank in ranks_of(frame) if blocks > 1 else (None,):
            if rank is None:
                other, into = frame, frame[target]
            else:
                other, into = frame[frames][rank], buffer_of(frame, frame[target], rank)
                stage = state.rings.stage(ring_of(frame, frame[barriers], rank), frame[slot], operation)
            under_way = other[products]
            for _, memory in under_way.reading if under_way is not None else ():
                if any(_overlaps(each, into) for each in memory):
                    raise fault(operation, f"into stage {frame[slot]}, which a product in flight reads")
            into[...] = poisoned(1, into.dtype)
            stage.under_way.append((into, content))
            stage.missing -= content.nbytes
            stage.settle()

    return step


def _consumer_release(decoder: Decoder, operation: Any) -> Step:
    state = decoder.state
    barriers, slot = decoder.slots(operation.operation.operands)
    blocks = number_of(operation, "blocks", 1)
    ranks_of = concerned(decoder, operation, blocks)
    ring_of = peers(decoder, operation.operation.operands[0])

    def step(frame: Frame) -> None:
        state.rings.stage(frame[barriers], frame[slot], operation).held = []
        for rank in ranks_of(frame) if blocks > 1 else (None,):
            ring = frame[barriers] if rank is None else ring_of(frame, frame[barriers], rank)
            stage = state.rings.stage(ring, frame[slot], operation)
            stage.released += 1
            if stage.released == stage.releases:
                stage.released = 0
                stage.emptied += 1

    return step


def _mma(decoder: Decoder, operation: Any) -> Step:
    asynchronous = "async" in operation.operation.attributes
    multiply = located(multiplier(operation), operation)
    lhs, rhs, acc = decoder.slots(operation.operation.operands)
    out = decoder.slot(operation.operation.results[0])
    if not asynchronous:
        return call(multiply, [lhs, rhs, acc], out)
    state, products = decoder.state, _products(decoder)

    def step(frame: Frame) -> None:
        sums = frame[acc].value if isinstance(frame[acc], InFlight) else frame[acc]
        operands = [frame[lhs], frame[rhs], sums]
        for stage in state.rings.stages.values():
            for target, _ in stage.under_way:
                if any(_overlaps(memory, target) for memory in operands[:2]):
                    raise fault(operation, "reads a stage that no tile.consumer_wait has waited for")
        units = next((len(each) for each in operands if type(each) is PerUnit), 0)
        result = per_unit(multiply, operands, units) if units else multiply(*operands)
        under_way = products(frame)
        under_way.issued += 1
        under_way.reading.append((under_way.issued, operands[:2]))
        frame[out] = InFlight(result, under_way.issued)

    return step


def _transpose(decoder: Decoder, operation: Any) -> Step:
    """Exchanges rows and columns in place, once for all units of the role."""
    state, products = decoder.state, _products(decoder)
    source, out = decoder.slot(operation.operation.operands[0]), decoder.slot(operation.operation.results[0])

    def step(frame: Frame) -> None:
        memory = frame[source]
        if type(memory) is PerUnit or not memory.flags.c_contiguous:
            raise fault(operation, "a tile that is not one piece of memory, the same for all units")
        waiting = [target for stage in state.rings.stages.values() for target, _ in stage.under_way]
        if any(_overlaps(memory, target) for target in waiting):
            raise fault(operation, "reads a stage that no tile.consumer_wait has waited for")
        if any(_overlaps(each, memory) for _, read in products(frame).reading for each in read):
            raise fault(operation, "writes a stage that a product in flight reads")
        turned = memory.T.copy()
        frame[out] = memory.reshape(turned.shape)
        frame[out][...] = turned

    return step


def _mma_wait(decoder: Decoder, operation: Any) -> Step:
    acc, out = decoder.slot(operation.operation.operands[0]), decoder.slot(operation.operation.results[0])
    pending, products = number_of(operation, "pending"), _products(decoder)

    def step(frame: Frame) -> None:
        value, under_way = frame[acc], products(frame)
        done = under_way.issued - pending
        under_way.reading = [each for each in under_way.reading if each[0] > done]
        frame[out] = value.value if isinstance(value, InFlight) and value.number <= done else value

    return step


def _warp_specialize(decoder: Decoder, operation: Any) -> Step:
    state, products = decoder.state, decoder.slot(_PRODUCTS)
    roles = [decoder.block(region.blocks[0]) for region in operation.operation.regions]
    rank, consumers_of = decoder.slot(RANK), consumers_at(decoder, operation.operation.regions[1].blocks[0])

    def step(frame: Frame) -> None:
        frame[products] = _Products()
        where = f" of block {frame[rank]} of the cluster" if frame[rank] is not None else ""
        producer, consumer = roles
        runs = [(f"the producer{where}", lambda: run_steps(producer, frame))]
        for each in consumers_of(frame):
            each[products] = frame[products] if each is frame else _Products()
            runs.append((f"the consumer{where}", lambda each=each: run_steps(consumer, each)))
        state.coroutines.together(runs)

    return step


def _staged_store(decoder: Decoder, operation: Any) -> Step:
    state, region = decoder.state, Region.of(operation)
    operands = list(operation.operation.operands)
    first = len(operands) - len(tile.place_of(operation).offsets)

    def store(value: Any, memory: Any, *offsets: Any) -> None:
        written = region.write(memory, offsets, value)
        if state.written is not None:
            state.written.append(Written(memory, written))

    return call(located(store, operation), decoder.slots([*operands[:2], *operands[first:]]), None)


def _map(_: Any) -> Function:
    """A tensor map stands for its memory."""

    def same(memory: Any) -> Any:
        return memory

    return same


FUNCTIONS: dict[str, Maker] = {"tile.tensor_map": _map}
STEPS: dict[str, StepMaker] = {
    **tile_clusters.STEPS,
    **tile_ping_pong.STEPS,
    **tile_stream_k.STEPS,
    "tile.ring": _ring, "tile.enter": _enter, "tile.advance": _advance,
    "tile.producer_acquire": _producer_acquire, "tile.consumer_wait": _consumer_wait,
    "tile.consumer_release": _consumer_release, "tile.tma_load": _tma_load,
    "tile.mma": _mma, "tile.mma_wait": _mma_wait, "tile.transpose": _transpose,
    "tile.warp_specialize": _warp_specialize,
    "tile.tma_store": _staged_store, "tile.unaligned_store": _staged_store,
    "tile.leave": lambda _, __: None, "tile.tma_store_wait": lambda _, __: None,
}  # fmt: skip
