"""A schedule in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from mlir_gemm.parts.block import consumer_warpgroups, threads
from mlir_gemm.parts.described import kind_of, parts_of, sentence
from mlir_gemm.parts.grid import blocks, grid, ragged, steps, walkers
from mlir_gemm.parts.layout import buffer, staged
from mlir_gemm.parts.registry import mma_of
from mlir_gemm.parts.wording import shown_clusters, shown_tile, shown_walk
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule


def sentences(problem: Problem, schedule: Schedule) -> Iterator[str]:
    """What a schedule does with a product, one thing a sentence."""
    rows, columns = grid(problem, schedule)
    m, n, k = schedule.block
    each = f", for each of {problem.batch} products" if problem.batch > 1 else ""
    walking = walkers(problem, schedule)
    walked = f"{walking} blocks walk them{shown_walk(schedule)}" if walking else "each has a block of its own"
    yield f"The result has {rows} x {columns} tiles of {m}x{n}{each}; {walked}."
    count = steps(problem, schedule)
    yield f"A tile takes {count} step{_s(count)} along k, of {k} each."
    yield _who(schedule)
    if schedule.promote:
        bytes_ = sum(buffer(problem, schedule, operand).size for operand in staged(schedule))
        held = " and ".join(staged(schedule).upper())
        yield f"Shared memory holds {schedule.stages} stage{_s(schedule.stages)} of {bytes_} bytes of {held}."
    im, in_, ik = schedule.instruction
    shape = im, schedule.warp[1] if mma_of(schedule).unit == "warpgroup" else in_, ik
    where = "stay in registers through all steps" if schedule.accumulate else "are read and written in every step"
    types = f"{problem.a} by {problem.b}"
    yield f"An instruction multiplies {shown_tile(shape)} of {types}; the {problem.acc} sums {where}."
    for line in shown_clusters(schedule, blocks(problem, schedule), 0):
        yield f"{line[:1].upper()}{line[1:]}."
    if schedule.split_k_workspace > 1:
        yield f"k is multiplied in {schedule.split_k_workspace} slices, which a kernel after this one adds up."
    if schedule.swap_ab:
        yield "A and B have changed places: the transposed product is computed."
    if ragged(problem, schedule):
        yield "Tiles reach over the edges: what lies outside reads as zero and is not stored."


def made_of(schedule: Schedule) -> list[tuple[str, str, str]]:
    """The parts of a schedule: kind, name, and what each is."""
    return [(kind_of(part), part.name, sentence(part, schedule)) for part in parts_of(schedule)]


def _who(schedule: Schedule) -> str:
    if mma_of(schedule).unit != "warpgroup":
        each = f"{shown_tile(schedule.warp)}{' each' if schedule.warps > 1 else ''}"
        return f"A block has {threads(schedule)} threads: {_does(schedule.warps, 'warp')} {each}."
    count = consumer_warpgroups(schedule)
    return f"A block has {threads(schedule)} threads: {_does(count, 'warpgroup')}, a warp of another copies."


def _does(count: int, unit: str) -> str:
    return f"{count} {unit}{_s(count)} {'multiplies' if count == 1 else 'multiply'}"


def _s(count: int) -> str:
    return "" if count == 1 else "s"
