"""bounded_k: of a product with a triangular, banded or block-wise operand each tile walks only the k steps in which it
is not all zero, a masked tile one, and the tiles of triangles with most steps come first."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_gemm.parts.base import Part, Rules
from mlir_gemm.parts.common_fields import SPACE
from mlir_gemm.parts.grid import grid, steps
from mlir_gemm.parts.registry import mainloop_of
from mlir_gemm.parts.spaces import open_sizes, other_fields
from mlir_gemm.spec.passes import Placed, at, step
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.tile_space import K_RANGE
from mlir_gemm.spec.zeros import UNLISTED, parse

_ALONE = ("promotion",)
"""Fields that count on the same steps in all tiles."""
MOST_LISTED = 1 << 18
"""Steps of all tiles in a table of both sides: a megabyte at most."""
LEAST, LEAST_IN_ONE = 3, 2
"""Steps of k of a whole tile: of a ring, where two loops walk them, and of others."""


def sides_of(problem: Problem) -> set[str]:
    """The sides of the result, `m` and `n`, along which tiles have other steps. Blocks of a cluster that lie beside
    each other along the other side have the same ones, and share what they copy."""
    return {"m", "n"} if problem.result_mask else {each.across for each in parse(problem.zeros)}


def known_zeros(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """What it asks for that steps are skipped."""
    if not (problem.zeros or problem.result_mask):
        return (
            f"space={K_RANGE}: no operand is known to be triangular, banded or of blocks, and no result to be masked; "
            "expected one that is computed by comparisons of its positions, or an argument with tile.triangular, "
            "tile.banded, tile.block_diagonal or tile.blocks, or space=all"
        )
    unknown = open_sizes(problem, schedule, "k")
    least = LEAST if mainloop_of(schedule).producer else LEAST_IN_ONE
    if unknown is None and steps(problem, schedule) < least:
        return f"space={K_RANGE}: {steps(problem, schedule)} k steps; expected at least {least}"
    return unknown


def short_table(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Where a list of blocks meets other conditions, a table has the steps of each tile."""
    conditions = parse(problem.zeros)
    if not any(each.kind == UNLISTED for each in conditions):
        return None
    sides = sides_of(problem)
    unknown = open_sizes(problem, schedule, "".join(sorted(sides)))
    if unknown is not None or len(sides) == 1:
        return unknown
    rows, columns = grid(problem, schedule)
    if rows * columns * steps(problem, schedule) <= MOST_LISTED:
        return None
    return (
        f"space={K_RANGE}: a list of blocks beside other zeros or a mask, for {rows}x{columns} tiles of "
        f"{steps(problem, schedule)} k steps; expected at most {MOST_LISTED} in all, or space=all"
    )


def tiles_alone(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Each tile has steps of its own, which one loop copies and another multiplies, or one does both."""
    sides = sides_of(problem)
    across = [name for name, side in (("cluster_m", "m"), ("cluster_n", "n")) if side in sides]
    return other_fields(schedule, (*across, *_ALONE))


def _passes(schedule: Schedule, _: Target) -> Iterable[Placed]:
    if not mainloop_of(schedule).producer:
        yield at("accumulate", "initialise", step("open-steps"))
    yield at("parallelize", "blocks", step("bound-steps"))


PART = Part(
    "bounded_k",
    lambda schedule: schedule.space == K_RANGE,
    _passes,
    fields=(SPACE,),
    rules=Rules(shape=(known_zeros, tiles_alone, short_table)),
)
