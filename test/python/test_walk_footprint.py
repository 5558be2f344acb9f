"""What the blocks in flight read of A and B, for every raster and every walk: the formula beside tiles that are
counted, and beside what was measured."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mlir_gemm.parts.grid import covered, merged_readers
from mlir_gemm.parts.registry import raster_of, rasters
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.select import estimate

GROUP, IN_FLIGHT = 11, 132
WALKS = ((1, True), (2, True), (2, False), (4, True), (4, False))


def tile(schedule: Schedule, number: int, rows: int, columns: int) -> tuple[int, int]:
    """Row and column of a tile by its number in the raster's order."""
    raster = raster_of(schedule)
    if raster.diagonal:
        return number % rows, (number % rows + number // rows) % columns
    high = raster.rows(schedule, rows)
    group, rest = divmod(number, high * columns)
    height = min(high, rows - group * high)
    column = rest // height
    return group * high + rest % height, columns - 1 - column if raster.snake and group % 2 else column


def waves(schedule: Schedule, rows: int, columns: int, flight: int) -> Iterator[list[tuple[int, int]]]:
    """The tiles that blocks in flight compute at a time, if all go on alike."""
    tiles, several = rows * columns, schedule.tiles_per_block
    blocks = -(-tiles // several)
    for start in range(0, blocks, flight):
        for step in range(several):
            at = range(start, min(blocks, start + flight))
            numbers = [each * several + step if schedule.sequential_tiles else each + step * blocks for each in at]
            yield [tile(schedule, number, rows, columns) for number in numbers if number < tiles]


@pytest.mark.parametrize("raster", sorted(rasters()))
@pytest.mark.parametrize("grid", [(32, 32), (16, 64), (40, 24)])
def test_panels_of_a_wave_are_those_of_its_tiles(raster: str, grid: tuple[int, int]):
    for several, sequential in WALKS:
        schedule = Schedule(raster=raster, raster_group=GROUP, tiles_per_block=several, sequential_tiles=sequential)
        flight = min(IN_FLIGHT, grid[0] * grid[1] // several)
        told = sum(covered(schedule, raster_of(schedule), *grid, flight)) * grid[0] * grid[1] / flight
        counted = sum(
            len({row for row, _ in wave}) + len({column for _, column in wave})
            for wave in waves(schedule, *grid, flight)
        )
        assert 0.75 < told / counted < 1.25, (several, sequential, told, counted)


def test_only_neighbours_share_requests():
    found = {}
    for name in ("grouped", "row", "diagonal"):
        schedule = Schedule(raster=name, raster_group=GROUP)
        across = covered(schedule, raster_of(schedule), 32, 32, IN_FLIGHT)
        found[name] = merged_readers(schedule, raster_of(schedule), 32, across, IN_FLIGHT)
    assert found["grouped"] == pytest.approx((12, 11))
    assert found["row"][0] == pytest.approx(32) and found["row"][1] < 2
    assert max(found["diagonal"]) < 2


def test_diagonals_are_as_slow_as_measured():
    """H100: 0.59 strided on diagonals, 0.95 strided in groups (2026-11-28-h100-parameters.json.xz); H200: 1.48 of the
    time in groups on diagonals, 1.3 in rows (2026-11-27-h200-spaces.jsonl.xz)."""
    square = Problem(4096, 4096, 4096, "f16", "f16", out="f16", reads_c=False)
    kernel = "mma=wgmma,mainloop=tma,layout=swizzle128,instruction=64x8x16"
    wide = f"{kernel},block=128x128x64,warp=128x128x64,stages=6,ping_pong=on,raster_group=11"
    strided = "persistent=0,tiles_per_block=4,sequential_tiles=off"
    plain, groups, diagonal = (
        seconds(square, f"{wide},{text}", "h100")
        for text in ("persistent=132", f"{strided},raster=grouped", f"{strided},raster=diagonal")
    )
    assert plain / groups > 0.95 and 0.55 < plain / diagonal < 0.75
    skinny = Problem(1216, 2048, 3200, "i8", "i8", acc="i32", out="i32", reads_c=False, b_order="nk")
    narrow = f"{kernel[:-2]}32,block=64x160x128,warp=64x160x128,stages=5,persistent=132"
    column, row, diagonal = (seconds(skinny, f"{narrow},raster={each}") for each in ("column", "row", "diagonal"))
    assert 1.03 < row / column < 1.4 and 1.2 < diagonal / column < 1.6


def seconds(problem: Problem, text: str, chip: str = "sm_90a") -> float:
    return estimate(problem, Schedule.make(Schedule.parse(text)), target(chip)).total
