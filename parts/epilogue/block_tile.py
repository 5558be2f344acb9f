"""block_tile: C and what the epilogue adds are read (`promote_c`), or the result stored (`promote_result`), through
shared memory, a block tile at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from mlir_gemm.parts.base import Part, Rules
from mlir_gemm.parts.block import consumer_warpgroups
from mlir_gemm.parts.epilogue.tma_store import STAGED
from mlir_gemm.parts.epilogue.unaligned_rows import PATTERN
from mlir_gemm.parts.layout import CHUNK, LINE, NARROWEST
from mlir_gemm.parts.registry import mainloop_of, mma_of, mmas_on
from mlir_gemm.parts.warp_level.clocks import SECTOR, are_unpaired, elements_beside
from mlir_gemm.parts.wording import shown_value
from mlir_gemm.spec.backends import NVPTX
from mlir_gemm.spec.block_tiles import VECTOR, tile_bytes
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.fields import Field
from mlir_gemm.spec.passes import Placed, at, step
from mlir_gemm.spec.problem import Problem, by_registers
from mlir_gemm.spec.schedule import FIELDS, Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.tile_space import ALL, HALVES

BARRIERS = 16
"""Bytes of the two barriers by which a warpgroup waits for what the copy engine brings."""
LEAST_VECTOR = 32
"""Bits of the least asynchronous copy (PTX: cp.async)."""


def _applies(schedule: Schedule) -> bool:
    return schedule.promote_c or schedule.promote_result or schedule.prefetch_c


def by_copy_engine(schedule: Schedule) -> bool:
    """Whether what the epilogue adds comes by the copy engine, to memory of each warpgroup's own."""
    return schedule.prefetch_c and mainloop_of(schedule).producer and mma_of(schedule).unit == "warpgroup"


def brought(problem: Problem) -> list[str]:
    """The element types of the matrices that the copy engine brings: C is added after the products too."""
    return [*problem.epilogue_types.split(), *([problem.acc] if problem.reads_c else [])]


def _passes(schedule: Schedule, _: Target) -> Iterable[Placed]:
    if by_copy_engine(schedule):
        yield at("accumulate", "initialise", step("sink-init", loads=True))
        yield at("describe", "store", step("tma-load-c"))
        return
    if schedule.promote_c:
        yield at("parallelize", "scheduler", step("promote-c"))
    if schedule.promote_result:
        yield at("parallelize", "scheduler", step("promote-result"))
    if schedule.prefetch_c:
        yield at("parallelize", "scheduler", step("prefetch-c"))
        mainloop = mainloop_of(schedule)
        if mainloop.producer or not mainloop.asynchronous:
            yield at("lower", "copies", step("lower-cp-async"))


def _shared(problem: Problem, schedule: Schedule) -> int:
    """Bytes of a tile of C, of those that the epilogue reads, and of the result: one after the other in the same
    memory, but where blocks walk tiles. What the epilogue reads is loaded as it is needed, until the result is
    stored."""
    if mainloop_of(schedule).producer:
        return 0
    c, read, result = _tiles(problem, schedule)
    if schedule.prefetch_c:  # it lies beside the operands
        return c + result if schedule.tiles_per_block > 1 else max(c, sum(map(_placed, read)) + result)
    behind = sum(read) + result if result else max(read, default=0)
    return c + sum(read) + result if schedule.tiles_per_block > 1 else max(c, behind)


def _beside(problem: Problem, schedule: Schedule) -> int:
    """The same beside a ring, which a producer fills meanwhile, and of what is read ahead beside all operands."""
    if by_copy_engine(schedule):
        tiles = (schedule.block[0] * schedule.block[1] * ELEMENT_BYTES[each] for each in brought(problem))
        each = sum(-(-size // PATTERN) * PATTERN for size in tiles) * (2 if schedule.ping_pong else 1)
        # Its barriers come after the ring's, at the next place where a pattern may start.
        return each + PATTERN + (consumer_warpgroups(schedule) - schedule.stages) * BARRIERS
    c, read, result = _tiles(problem, schedule)
    if not mainloop_of(schedule).producer:
        return sum(map(_placed, read)) if schedule.prefetch_c else 0
    return sum(-(-size // PATTERN) * PATTERN for size in (c, *read, result))


def _placed(size: int) -> int:
    """Bytes of a buffer up to where the next one may start."""
    return -(-size // LINE) * LINE


def _tiles(problem: Problem, schedule: Schedule) -> tuple[int, list[int], int]:
    """Bytes of the buffers of C, of each type of what the epilogue reads, in any order of rows, and of the result."""
    m, n, _ = schedule.block
    shape = (m, n) if problem.out_order == "mn" else (n, m)
    out = ELEMENT_BYTES[problem.out]
    result = tile_bytes(shape, out) if schedule.promote_result else 0
    if not schedule.promote_c:
        return 0, [], result
    c = tile_bytes(shape, max(out, ELEMENT_BYTES[problem.acc])) if problem.reads_c else 0
    orders = (shape, shape[::-1]) if problem.epilogue_vector == 0 else (shape,)
    types = problem.epilogue_types.split()
    # Of one type, one in each order at most.
    ways = {element: min(types.count(element), len(orders)) for element in types}
    most = {element: max(tile_bytes(each, ELEMENT_BYTES[element]) for each in orders) for element in ways}
    return c, [most[element] for element, count in ways.items() for _ in range(count)], result


def goes_with(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    mma = mma_of(schedule)
    given = "promote_result" if schedule.promote_result else "promote_c"
    if mma.by_descriptor and schedule.promote_result:
        able = " or ".join(each.name for each in mmas_on(target) if not each.by_descriptor)
        return (
            f"promote_result=on with mma={mma.name}, whose results leave through shared memory by smem_epilogue: "
            f"expected promote_result=off, or mma={able}"
        )
    apart = by_copy_engine(schedule) and not schedule.promote_result
    for name in ("stream_k", "split_k_cluster") if apart else ("ping_pong", "stream_k", "split_k_cluster"):
        if getattr(schedule, name) != FIELDS[name]:
            value, usual = shown_value(getattr(schedule, name)), shown_value(FIELDS[name])
            return f"{given}=on with {name}={value}: consumers share no whole tile; expected {name}={usual}"
    if schedule.promote_result and mma.scratch(problem, schedule):
        return (
            f"promote_result=on: mma={mma.name} hands rows of {problem.out} to lanes anyway; expected "
            "promote_result=off"
        )
    if schedule.promote_result and schedule.space in HALVES:
        return f"promote_result=on with space={schedule.space}, which stores tiles twice: expected space={ALL}"
    if schedule.promote_c and not (problem.reads_c or problem.epilogue_types):
        return (
            "promote_c=on: the sums start from zero, the epilogue reads no matrix of the result's shape (vectors stay "
            "with the lanes), and no C is read; expected promote_c=off"
        )
    if schedule.prefetch_c and (why := _not_ahead(problem, schedule, target)):
        return f"prefetch_c=on: {why}; expected prefetch_c=off"
    if schedule.promote_c and problem.epilogue_types and mma.opaque:
        return (
            f"promote_c=on: mma={mma.name} adds what the epilogue reads to rows that it hands to lanes anyway; "
            "expected promote_c=off"
        )
    return None


def _not_ahead(problem: Problem, schedule: Schedule, target: Target) -> str:
    """Why what the epilogue reads is not copied while the products are computed."""
    added = brought(problem) if by_copy_engine(schedule) else problem.epilogue_types
    if not schedule.promote_c or not added:
        return "it copies what the epilogue reads through shared memory (promote_c=on), and there is nothing of that"
    if not target.has_async_copies:
        return f"{target.chip} has no asynchronous copies (cp.async, from sm_80 on)"
    if not problem.epilogue_vector:
        return "what the epilogue reads does not lie in the order of the result"
    if by_copy_engine(schedule):
        return _not_by_copy_engine(problem, schedule)
    if problem.epilogue_vector < LEAST_VECTOR:
        return (
            f"rows of what the epilogue reads start at multiples of {problem.epilogue_vector} bits only, asynchronous "
            f"copies take {LEAST_VECTOR} at least"
        )
    return ""


def _not_by_copy_engine(problem: Problem, schedule: Schedule) -> str:
    """Why the copy engine does not bring what the epilogue reads."""
    # Of C that sums start from nothing else is known: it mostly is the result's memory.
    vector = min(problem.epilogue_vector, problem.out_vector) if problem.reads_c else problem.epilogue_vector
    if vector < 8 * CHUNK:
        return f"rows of what the epilogue reads start at multiples of {vector} bits only, the copy engine needs 128"
    if problem.out_order != "mn":
        return "rows of what the epilogue reads run down the tiles"
    if by_registers(problem):
        return "with A through registers lanes have other rows"
    for element in brought(problem):
        row = schedule.warp[1] * ELEMENT_BYTES[element]
        if ELEMENT_BYTES[element] not in STAGED or row % NARROWEST:
            return (
                f"the copy engine brings elements of 2 and 4 bytes in rows of multiples of {NARROWEST}, not "
                f"{row} bytes of {element}"
            )
    return ""


def _offers(problem: Problem, schedule: Schedule, target: Target) -> Iterator[tuple[dict[str, Any], str]]:
    """On an H100 twelve products with f16 results of `mma_sync` are 1.18 times as fast so in the mean, where k is short
    1.6 and 2.6 times; f32 results of lanes, in whole lines, as fast as directly
    (`2026-11-24-h100-parameters.json.xz`). A residual of the same type read during the products, beside that, makes
    three products 1.05, 1.12 and 1.23 times as fast (`2026-11-28-h100-added.json.xz`). Only aligned ones of 16 bits
    were measured."""
    mma = mma_of(schedule)
    if mma.by_descriptor or mma.opaque or mainloop_of(schedule).producer or target.backend != NVPTX:
        return
    width = ELEMENT_BYTES[problem.out]
    stored = elements_beside(problem, schedule) * width
    if are_unpaired(problem, schedule):
        yield {"promote_result": True}, "lanes would store elements one by one"
    if stored < SECTOR and width == 2 and problem.out_vector == 8 * VECTOR:
        yield {"promote_result": True}, f"lanes would store {stored} bytes of a row at once, of sectors of {SECTOR}"
        together = {"promote_result": True, "promote_c": True, "prefetch_c": True}
        if set(problem.epilogue_types.split()) == {problem.out} and problem.epilogue_vector == 8 * VECTOR:
            yield together, f"lanes would read as little of a row of what is added, {stored} bytes, and wait for it"


PART = Part(
    "block_tile",
    _applies,
    _passes,
    rank=11,
    fields=(
        Field(
            "promote_c",
            "Read the matrix that the sums start from, and those of the result's shape that the epilogue adds, through "
            "shared memory, where lanes hold the accumulator.",
        ),
        Field("promote_result", "Store the result through shared memory, in whole vectors of its rows."),
        Field(
            "prefetch_c",
            "Copy what the epilogue adds, with `promote_c`, while the products are computed, to memory of its own: by "
            "`cp.async`, and for warpgroups by the copy engine, to memory of each.",
        ),
    ),
    rules=Rules(shape=(goes_with,)),
    offers=_offers,
    shared=_shared,
    beside=_beside,
)
