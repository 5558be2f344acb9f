"""How much of a problem is simulated: all of it with the checks, all of it without, or a sample of its blocks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlir_gemm.errors import InputError
from mlir_gemm.spec.launch import Launch
from mlir_gemm.spec.problem import Problem

CHECKED = 1 << 30
"""M N K up to which the checks are on unless asked otherwise: 1024 each, 13 s on two cores with 128x128x64 tiles."""
WHOLE = 1 << 32
"""M N K up to which all blocks run unless asked otherwise: 1625 each, 20 s on two cores without the checks."""


@dataclass(frozen=True)
class Plan:
    """Which blocks run, and whether they are checked."""

    grid: int
    """Blocks of the launch."""
    blocks: tuple[int, ...] | None
    """Linear numbers of the blocks that run; None for all."""
    checks: bool
    asked: bool
    """Whether the user chose the blocks."""

    @property
    def running(self) -> int:
        """How many blocks run."""
        return self.grid if self.blocks is None else len(self.blocks)

    def __str__(self) -> str:
        what = f"all {self.grid} blocks" if self.blocks is None else f"{self.running} of {self.grid} blocks"
        if self.blocks is not None and not self.asked:
            what += ", a sample (the whole is too much work here; choose with --blocks)"
        return f"{what}, {'with' if self.checks else 'without'} the checks"


def size(problem: Problem) -> int:
    """M N K."""
    return problem.flops // 2


def is_small(problem: Problem) -> bool:
    """Whether a problem is small enough for the checks to be on by default."""
    return size(problem) <= CHECKED


def plan(problem: Problem, launch: Launch, checks: bool | None, blocks: Sequence[int] | None) -> Plan:
    """What to run: as asked, and where nothing was asked, what takes about a minute.

    Raises InputError for blocks that the grid does not have.
    """
    grid = math.prod(launch.grid)
    if blocks is not None:
        beyond = [block for block in blocks if not 0 <= block < grid]
        if beyond:
            raise InputError(f"there is no block {beyond[0]}: the grid has {grid} blocks, numbered from 0")
        chosen = None if len(set(blocks)) == grid else tuple(dict.fromkeys(blocks))
    else:
        chosen = _sample(grid, size(problem), CHECKED if checks else WHOLE)
    if chosen is not None:
        chosen = _whole_clusters(chosen, launch)
    if chosen is not None and launch.zeroed_bytes:
        chosen = _first(max(chosen) + 1 if blocks is not None else len(chosen), grid)
    running = grid if chosen is None else len(chosen)
    if checks is None:
        checks = size(problem) * running <= CHECKED * grid
    return Plan(grid, chosen, checks, blocks is not None)


def _whole_clusters(blocks: tuple[int, ...], launch: Launch) -> tuple[int, ...] | None:
    """The blocks and all others of their clusters, which run together; None for the whole grid."""
    (across, down, _), (wide, high, deep) = launch.grid, launch.cluster
    found = dict[int, None]()
    for block in blocks:
        x, y, z = block % across, block // across % down, block // (across * down)
        for k, j, i in itertools.product(range(deep), range(high), range(wide)):
            place = x // wide * wide + i, y // high * high + j, z // deep * deep + k
            found[place[0] + across * (place[1] + down * place[2])] = None
    return None if len(found) == math.prod(launch.grid) else tuple(found)


def _first(count: int, grid: int) -> tuple[int, ...] | None:
    """The first blocks, where blocks wait for others of lower numbers; None for all."""
    return None if count == grid else tuple(range(count))


def _sample(grid: int, work: int, limit: int) -> tuple[int, ...] | None:
    """Blocks spread over the grid, the first and the last among them, that take at most `limit`; None for all."""
    if work <= limit:
        return None
    count = max(1, limit * grid // work)
    if count >= grid:
        return None
    return tuple(dict.fromkeys(round(position) for position in np.linspace(grid - 1, 0, count)))[::-1]


@dataclass(frozen=True)
class Tile:
    """A region of an argument that the blocks which run are to write."""

    argument: int
    bounds: tuple[tuple[int, int], ...]
    """Start and end in each dimension."""

    @property
    def region(self) -> tuple[slice, ...]:
        """The same as slices."""
        return tuple(slice(start, end) for start, end in self.bounds)


def tiles_of(parallel: str, arrays: Sequence[Any], blocks: Sequence[int]) -> list[Tile]:
    """The regions that blocks write, from the IR after `parallelize`, whose blocks store whole tiles. The blocks run
    block-wide for it, on copies of `arrays`."""
    from mlir_gemm.simulator.stages import run_stage  # late: it imports the MLIR bindings
    from mlir_gemm.simulator.tile_program import Written

    copies = [array.copy() for array in arrays]
    written: list[Written] = []
    run_stage(parallel, copies, blocks=frozenset(blocks), written=written)
    tiles: dict[Tile, None] = {}
    for number, array in enumerate(copies):
        for each in written:
            if each.memory is array:
                tiles[Tile(number, tuple((part.start, part.stop) for part in each.region))] = None
            elif np.may_share_memory(each.memory, array):
                tiles.update(dict.fromkeys(Tile(number, bounds) for bounds in _bounds(each.memory, each.region, array)))
    return list(tiles)


def _bounds(memory: Any, region: tuple[slice, ...], array: Any) -> list[tuple[tuple[int, int], ...]]:
    """A region of what sees an array's memory in another shape, as boxes of the array, which lies in one piece."""
    first = (memory[region].__array_interface__["data"][0] - array.__array_interface__["data"][0]) // array.itemsize
    steps = [stride // array.itemsize for stride in memory.strides]
    extents = [range(part.stop - part.start) for part in region]
    places = np.array([first + sum(map(math.prod, zip(at, steps, strict=True))) for at in itertools.product(*extents)])
    *outer, rows, columns = np.unravel_index(places, (1, *array.shape) if array.ndim == 1 else array.shape)
    grouped: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for *lead, row, column in zip(*outer, rows, columns, strict=True):
        grouped.setdefault(tuple(map(int, lead)), []).append((int(row), int(column)))
    found: list[tuple[tuple[int, int], ...]] = []
    for lead, held in grouped.items():
        for inner in _boxes(held):
            bounds = (*((at, at + 1) for at in lead), *inner)
            found.append(bounds[1:] if array.ndim == 1 else bounds)
    return found


def _boxes(held: list[tuple[int, int]]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Elements of a matrix as one box, or where they do not fill one as a box for each."""
    (top, bottom), (left, right) = ((min(each), max(each) + 1) for each in zip(*held, strict=True))
    if len(set(held)) == (bottom - top) * (right - left):
        return [((top, bottom), (left, right))]
    return [((row, row + 1), (column, column + 1)) for row, column in dict.fromkeys(held)]


def unchanged_outside(before: Any, after: Any, regions: Sequence[tuple[slice, ...]]) -> bool:
    """Whether an array kept every bit outside some regions."""
    outside = np.ones(before.shape, np.bool_)
    for region in regions:
        outside[region] = False
    bits = f"u{before.dtype.itemsize}"
    return bool(np.array_equal(before.view(bits)[outside], after.view(bits)[outside]))
