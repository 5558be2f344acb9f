"""Which schedules a sweep measures: everything that the tile model proposes and the rules allow, and on request what
the model does not propose by itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import mlir_gemm
from mlir_gemm.bench.contenders import PRECISIONS
from mlir_gemm.bench.modules import module
from mlir_gemm.bench.problems import Problem
from mlir_gemm.errors import Error
from mlir_gemm.parts.grid import blocks as blocks_of
from mlir_gemm.parts.mma.wgmma.search import proposals
from mlir_gemm.parts.registry import raster_of
from mlir_gemm.spec.problem import Problem as Product
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.completing import best_group
from mlir_gemm.tile_model.rules import broken
from mlir_gemm.tile_model.select import candidates, estimate, mmas_tried
from mlir_gemm.tile_model.swap import as_computed, may_swap, swapped

MANY_TILES = 2
"""Tiles for each SM from which other groups of the raster are tried: with fewer, all tiles are in flight anyway."""
WIDER = ((4, 1), (1, 4))
"""Clusters that the model does not propose."""


@dataclass(frozen=True)
class Space:
    """What is tried on each problem."""

    mmas: tuple[str, ...] = ("wgmma",)
    pinned: Mapping[str, Any] = field(default_factory=dict[str, Any])
    groups: tuple[int, ...] = ()
    """Further groups of the raster, for the `leaders` schedules that are predicted to be fastest."""
    leaders: int = 8
    ping_pong: bool = False
    """Blocks of one warpgroup's tile also with two that ping-pong."""
    clusters: bool = False
    """Clusters of four as well."""
    stream_k: tuple[int, ...] = ()
    """Values of `stream_k` that are tried where tiles do not fill whole waves."""
    wide: bool = False
    """The wide search of the model."""
    most: int = 0
    """Of each mma, and of the product as it is and swapped, only so many, those predicted to be fastest; 0 for
    all."""


@dataclass(frozen=True)
class Explored:
    """The schedules of one problem."""

    problem: Problem
    choice: str
    """The model's own choice, empty when there is none."""
    swapped: bool
    """Whether that is a schedule of the product with A and B swapped."""
    schedules: tuple[str, ...]
    """By predicted time."""
    reason: str = ""
    """Why there are none."""


def explore(work: tuple[Problem, str, Space]) -> Explored:
    """The schedules of a problem on a chip. One argument, so that a pool can map it."""
    problem, chip, space = work
    precision = precision_of(problem)
    try:
        kernel = mlir_gemm.compile(module(problem), chip=chip, schedule=precision or None)
        product, choice = kernel.problem, kernel.schedule
        if product is None or choice is None:
            return Explored(problem, "", False, (), "the compiler found no product in it")
        if choice.swap_ab:
            product = swapped(product)
        found = schedules(product, target(chip), space, precision)
        return Explored(problem, str(choice), choice.swap_ab, tuple(str(each) for each in found))
    except Error as error:
        return Explored(problem, "", False, (), error.message)
    except Exception as error:  # a fault of the compiler, to be reported with its problem
        return Explored(problem, "", False, (), f"internal error: {type(error).__name__}: {error}")


def precision_of(problem: Problem) -> dict[str, Any]:
    """The field that a problem's type asks for."""
    return {"precision": PRECISIONS[problem.dtype]} if problem.dtype in PRECISIONS else {}


def schedules(
    product: Product, chip: Target, space: Space, precision: Mapping[str, Any] | None = None
) -> list[Schedule]:
    """The legal schedules of the space, each once, by predicted time; those of the swapped product among them where
    the model may swap it."""
    pinned = {**(precision or {}), **space.pinned}
    if "swap_ab" in pinned:
        found = _of_sides(swapped(product) if pinned["swap_ab"] else product, chip, space, pinned)
    else:
        found = _of_sides(product, chip, space, {**pinned, "swap_ab": False})
        if "wgmma" in space.mmas and may_swap(product):
            only = dataclasses.replace(space, mmas=("wgmma",))
            found += _of_sides(swapped(product), chip, only, {**pinned, "swap_ab": True})
    found.sort(key=lambda schedule: estimate(as_computed(product, schedule), schedule, chip).total)
    return found


def _of_sides(product: Product, chip: Target, space: Space, pinned: Mapping[str, Any]) -> list[Schedule]:
    found: list[Schedule] = []
    for mma in space.mmas:
        if mmas_tried(product, chip, {**pinned, "mma": mma}):
            own = list(dict.fromkeys(_of_mma(product, chip, space, {**pinned, "mma": mma})))
            own.sort(key=lambda schedule: estimate(product, schedule, chip).total)
            found += own[: space.most] if space.most else own
    found.sort(key=lambda schedule: estimate(product, schedule, chip).total)
    leaders = [schedule for schedule in found if _many_tiles(product, schedule, chip)][: space.leaders]
    if "raster_group" not in pinned:
        regrouped = [schedule.replace(raster_group=group) for schedule in leaders for group in space.groups]
        found += [schedule for schedule in regrouped if _legal(product, schedule, chip)]
    return list(dict.fromkeys(found))


def _of_mma(product: Product, chip: Target, space: Space, pinned: Mapping[str, Any]) -> Iterator[Schedule]:
    own = [each.schedule for each in candidates(product, chip, pinned)]
    yield from own
    if pinned["mma"] != "wgmma":
        return
    if space.wide:
        wider = proposals(product, chip, pinned, True)
        own = [_grouped(product, each, chip, pinned) for each in wider if _legal(product, each, chip)]
        yield from own
    if space.stream_k and "stream_k" not in pinned:
        yield from _sharing(product, chip, space, own)
    for schedule in own:
        if schedule.cluster > 1 or schedule.ping_pong:
            continue
        if space.ping_pong and "ping_pong" not in pinned:
            yield from _fitting(product, schedule.replace(ping_pong=True, persistent=chip.sms), chip)
        if space.clusters and "cluster_m" not in pinned and "cluster_n" not in pinned:
            for down, along in WIDER:
                yield from _fitting(product, schedule.replace(cluster_m=down, cluster_n=along), chip)


def _sharing(product: Product, chip: Target, space: Space, own: Iterable[Schedule]) -> Iterator[Schedule]:
    """Those that walk tiles, and whose last steps the blocks share."""
    for schedule in own:
        walkers = chip.sms // schedule.cluster * schedule.cluster
        if schedule.split_k_cluster == 1 and not schedule.ping_pong and blocks_of(product, schedule) % walkers:
            for share in space.stream_k:
                yield from _fitting(product, schedule.replace(persistent=walkers, stream_k=share), chip)


def _grouped(product: Product, schedule: Schedule, chip: Target, pinned: Mapping[str, Any]) -> Schedule:
    if not raster_of(schedule).grouped or "raster_group" in pinned:
        return schedule
    return schedule.replace(raster_group=best_group(product, schedule, chip))


def _fitting(product: Product, schedule: Schedule, chip: Target) -> Iterator[Schedule]:
    """The schedule with as many stages as are legal, if there are any."""
    for stages in range(schedule.stages, 1, -1):
        fewer = schedule.replace(stages=stages)
        if _legal(product, fewer, chip):
            yield fewer
            return


def _legal(product: Product, schedule: Schedule, chip: Target) -> bool:
    return next(broken(product, schedule, chip), None) is None


def _many_tiles(product: Product, schedule: Schedule, chip: Target) -> bool:
    m, n, _ = schedule.block
    tiles = product.batch * -(-product.m // m) * -(-product.n // n)
    return raster_of(schedule).grouped and tiles >= MANY_TILES * chip.sms
