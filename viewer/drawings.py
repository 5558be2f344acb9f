"""Tiles as pictures to scale, in SVG: the result and the order of its tiles, one block tile, its ring, its swizzle.

Colours are classes, which the page's style sheet gives values for light and dark.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from math import ceil

from mlir_gemm.parts.block import consumer_warpgroups
from mlir_gemm.parts.grid import blocks, grid, walkers
from mlir_gemm.parts.layout import CHUNK, CHUNKS, LINE, buffer, is_staged, staged, swizzled_byte
from mlir_gemm.parts.registry import layout_of, mainloop_of, mma_of, raster_of
from mlir_gemm.parts.resources import BARRIERS, operand_bytes, smem_bytes, staging_bytes
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target

PLAIN_WALK = "rasterize-blocks"
MOST_TILES = 4096
"""Tiles of a result that are drawn one by one; of more only the first."""


@dataclass
class Svg:
    """A picture that is put together."""

    width: float
    height: float
    title: str
    parts: list[str] = field(default_factory=list[str])

    def rect(self, x: float, y: float, width: float, height: float, class_: str, title: str = "") -> None:
        """A rectangle, with words that show under the mouse."""
        said = f"<title>{escape(title)}</title>" if title else ""
        shape = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" class="{class_}"'
        self.parts.append(f"<rect {shape}>{said}</rect>" if said else f"<rect {shape}/>")

    def text(self, x: float, y: float, words: str, class_: str = "label") -> None:
        """Words whose middle is at x."""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{class_}">{escape(words)}</text>')

    def path(self, points: list[tuple[float, float]], class_: str) -> None:
        """A line through points."""
        if points:
            self.parts.append(f'<path d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in points)}" class="{class_}"/>')

    def __str__(self) -> str:
        size = f'viewBox="0 0 {self.width:.0f} {self.height:.0f}" width="{self.width:.0f}" height="{self.height:.0f}"'
        return f'<svg {size} role="img" aria-label="{escape(self.title)}">{"".join(self.parts)}</svg>'


def order(rows: int, columns: int, group: int, snake: bool) -> Iterator[tuple[int, int]]:
    """Rows and columns of tiles in the order of their numbers: `group` rows at a time (0 for all), column by column."""
    height = group or rows
    for first in range(0, rows, height):
        backwards = snake and first // height % 2 == 1
        for step in range(columns):
            column = columns - 1 - step if backwards else step
            for row in range(first, min(first + height, rows)):
                yield row, column


def result(problem: Problem, schedule: Schedule, target: Target) -> str:
    """The result cut into tiles, those of the first wave filled, and the order in which blocks take them."""
    rows, columns = grid(problem, schedule)
    m, n, _ = schedule.block
    scale = min(340 / max(columns * n, 1), 340 / max(rows * m, 1))
    high, wide = max(m * scale, 1), max(n * scale, 1)
    svg = Svg(columns * wide + 110, rows * high + 40, "the result and its tiles")
    left, top = 90.0, 25.0
    svg.text(left + columns * wide / 2, 14, f"N = {problem.n}: {columns} tiles of {n}")
    svg.text(44, top + rows * high / 2, f"M = {problem.m}")
    svg.text(44, top + rows * high / 2 + 14, f"{rows} of {m}")
    raster = raster_of(schedule)
    down, along = schedule.cluster_m, schedule.cluster_n
    down_tiles, along_tiles = rows // down, columns // along
    tiles = list[tuple[int, int]]()
    if raster.diagonal:
        tiles = [(row, (row + number) % along_tiles) for number in range(along_tiles) for row in range(down_tiles)]
    elif raster.walk == PLAIN_WALK:
        tiles = list(order(down_tiles, along_tiles, max(1, raster.rows(schedule, rows) // down), raster.snake))
    wave = walkers(problem, schedule) or target.sms
    places = [(row * down + i, column * along + j) for row, column in tiles for j in range(along) for i in range(down)]
    for number, (row, column) in enumerate(places[:MOST_TILES]):
        shade = "wave" if number < wave else "tile"
        svg.rect(
            left + column * wide, top + row * high, wide, high, shade, f"tile {number}: row {row}, column {column}"
        )
    if not places:
        svg.rect(left, top, columns * wide, rows * high, "tile", "an order of its own")
    middle = [(left + (column + 0.5) * along * wide, top + (row + 0.5) * down * high) for row, column in tiles]
    svg.path(middle[: MOST_TILES // (down * along)], "walk")
    svg.rect(left, top, problem.n * scale, problem.m * scale, "outline")
    return str(svg)


def block(problem: Problem, schedule: Schedule) -> str:
    """One k step of a block: a tile of A, one of B, and of the result, cut into those of warps and instructions."""
    m, n, k = schedule.block
    scale = 300 / max(m + k, n + k, 1)
    svg = Svg((n + k) * scale + 150, (m + k) * scale + 76, "a block tile")
    left, top, gap = 60 + k * scale, 20 + k * scale, 8.0
    x, y = left + gap, top + gap
    svg.rect(60, y, k * scale, m * scale, "a", f"A: {m} x {k} {problem.a}")
    svg.rect(x, 20, n * scale, k * scale, "b", f"B: {k} x {n} {problem.b}")
    svg.rect(x, y, n * scale, m * scale, "c", f"the accumulator: {m} x {n} {problem.acc}")
    warp_m, warp_n, warp_k = schedule.warp
    unit = "warpgroup" if mma_of(schedule).unit == "warpgroup" else "warp"
    for number, (i, j) in enumerate((i, j) for i in range(0, m, warp_m) for j in range(0, n, warp_n)):
        svg.rect(
            x + j * scale,
            y + i * scale,
            warp_n * scale,
            warp_m * scale,
            "warp",
            f"{unit} {number}: {warp_m} x {warp_n}",
        )
    inner_m, inner_n, inner_k = schedule.instruction
    inner_n = warp_n if unit == "warpgroup" else inner_n
    svg.rect(x, y, inner_n * scale, inner_m * scale, "instruction", f"one instruction: {inner_m} x {inner_n}")
    svg.rect(60, y, inner_k * scale, inner_m * scale, "instruction", f"its part of A: {inner_m} x {inner_k}")
    svg.rect(x, 20, inner_n * scale, inner_k * scale, "instruction", f"its part of B: {inner_k} x {inner_n}")
    if warp_k < k:
        svg.path([(60 + warp_k * scale, y), (60 + warp_k * scale, y + m * scale)], "cut")
        svg.path([(x, 20 + warp_k * scale), (x + n * scale, 20 + warp_k * scale)], "cut")
    svg.text(60 + k * scale / 2, y - 4, f"A {m}x{k}")
    svg.text(x + n * scale / 2, 14, f"B {k}x{n}")
    svg.text(x + n * scale / 2, y + m * scale + 16, f"{m} x {n} of the result, in {problem.acc}")
    words = f"{schedule.warps} {unit}{'s' if schedule.warps > 1 else ''} of {warp_m}x{warp_n}"
    svg.text(x + n * scale / 2, y + m * scale + 32, f"{words}; instruction {inner_m}x{inner_n}x{inner_k}")
    return str(svg)


def ring(problem: Problem, schedule: Schedule, target: Target) -> str:
    """Shared memory of a block to scale: the stages of A and B, barriers, what results leave through, and what is
    left."""
    if not schedule.promote:
        return ""
    sizes = {operand: buffer(problem, schedule, operand).size for operand in staged(schedule)}
    used = max(smem_bytes(problem, schedule), operand_bytes(problem, schedule))
    scale = 640 / target.smem_block
    svg = Svg(700, 92, "shared memory")
    at = 20.0
    for stage in range(schedule.stages):
        for operand, bytes_ in sizes.items():
            title = f"stage {stage}: {operand.upper()}, {bytes_} bytes"
            svg.rect(at, 24, bytes_ * scale, 34, operand, title)
            at += bytes_ * scale
        width = sum(sizes.values()) * scale
        svg.rect(at - width, 24, width, 34, "outline")
        svg.text(at - width / 2, 46, str(stage))
    if mainloop_of(schedule).producer:
        bytes_ = schedule.stages * BARRIERS
        svg.rect(at, 24, max(bytes_ * scale, 2), 34, "barrier", f"barriers, two for each stage: {bytes_} bytes")
        at += max(bytes_ * scale, 2)
    staging = staging_bytes(problem, schedule)
    if staging:
        beside = mma_of(schedule).by_descriptor
        x = at if beside else 20.0
        svg.rect(
            x,
            60 if not beside else 24,
            staging * scale,
            8 if not beside else 34,
            "staging",
            f"results: {staging} bytes",
        )
    svg.rect(20, 24, target.smem_block * scale, 34, "outline", f"at most {target.smem_block} bytes")
    held = " and ".join(staged(schedule).upper())
    svg.text(350, 14, f"{schedule.stages} stage{'s' if schedule.stages > 1 else ''} of {held} in shared memory")
    svg.text(350, 84, f"{used} of {target.smem_block} bytes of a block")
    return str(svg)


def swizzle(problem: Problem, schedule: Schedule, operand: str) -> str:
    """Where the 16-byte chunks of the first rows of an operand lie among the banks of shared memory."""
    if not is_staged(schedule, operand):
        return ""
    lying = buffer(problem, schedule, operand)
    layout = layout_of(schedule, operand)
    by_engine = mainloop_of(schedule).producer
    row = lying.panel if by_engine else lying.row
    stride = row if by_engine else lying.stride
    svg = Svg(400, 260, f"the layout of {operand.upper()}")
    chunks = min(CHUNKS, row // CHUNK) or 1
    for line in range(8):
        for chunk in range(chunks):
            byte = swizzled_byte(chunk * CHUNK, line, row, lying.swizzled or by_engine)
            address = line * stride + byte
            x, y = 60 + address % LINE // CHUNK * 32, 28 + (line if stride >= LINE else address // LINE) * 24
            said = (
                f"row {line}, chunk {chunk}: byte {address}, banks {address % LINE // 4} to {address % LINE // 4 + 3}"
            )
            svg.rect(x, y, 32, 24, f"chunk chunk{chunk}", said)
            svg.text(x + 16, y + 16, f"{line}.{chunk}", "small")
    last = 8 if stride >= LINE else (7 * stride + row - 1) // LINE + 1
    for line in range(last):
        svg.text(30, 44 + line * 24, f"{line * max(stride, LINE)}", "small")
    svg.text(200, 14, f"{operand.upper()}: row.chunk of 16 bytes, among 32 banks ({layout.name})")
    svg.height = 40 + ceil(last) * 24
    return str(svg)


def roles(schedule: Schedule) -> str:
    """What the warps of a block do over time, where one copies for the others."""
    if not mainloop_of(schedule).producer:
        return ""
    consumers = consumer_warpgroups(schedule) if mma_of(schedule).unit == "warpgroup" else 1
    svg = Svg(640, 40 + 34 * (consumers + 1), "what the roles of a block do")
    svg.text(45, 42, "producer")
    tile, steps = 260.0, 6
    for step in range(2 * steps):
        svg.rect(
            90 + step * tile / steps / 1.02, 26, tile / steps - 8, 24, "a" if step < steps else "b", "copies a stage"
        )
    for consumer in range(consumers):
        y = 26 + 34 * (consumer + 1)
        svg.text(45, y + 16, f"consumer {consumer}")
        starts = [110.0 + consumer * tile] if schedule.ping_pong else [110.0, 110.0 + tile]
        for start in starts:
            width = tile - 8 if schedule.ping_pong else tile - 60
            svg.rect(start, y, width, 24, "c", "multiplies the k steps of a tile")
            svg.rect(start + width, y, 52, 24, "staging", "stores its tile")
    svg.text(330, 14, "not to scale: copies run ahead; while one consumer stores the other multiplies"
             if schedule.ping_pong else "not to scale: copies run ahead of the products")  # fmt: skip
    return str(svg)


def bars(terms: list[tuple[str, float, bool]], total: float) -> str:
    """Terms of a prediction as bars: words, seconds, and whether the term overlaps others."""
    longest = max((seconds for _, seconds, _ in terms), default=total) or 1.0
    svg = Svg(620, 22 * len(terms) + 6, "what the time consists of")
    for number, (words, seconds, overlaps) in enumerate(terms):
        y = 4 + 22 * number
        svg.text(200, y + 13, words, "end")
        svg.rect(210, y, 300 * seconds / longest, 16, "overlapping" if overlaps else "additive", words)
        svg.text(220 + 300 * seconds / longest, y + 13, f"{seconds * 1e6:.2f} us, {seconds / total:.0%}", "start")
    return str(svg)


def rows_of(rows: int, length: int, tile: tuple[int, int], transposed: bool) -> str:
    """A kernel of rows: all rows, and the tile of one block."""
    high, wide = (length, rows) if transposed else (rows, length)
    scale = min(420 / max(wide, 1), 220 / max(high, 1))
    svg = Svg(wide * scale + 40, high * scale + 40, "rows and the tile of a block")
    svg.rect(20, 24, max(wide * scale, 2), max(high * scale, 2), "tile")
    down, along = min(tile[0], high), min(tile[1], wide)
    svg.rect(20, 24, max(along * scale, 2), max(down * scale, 2), "wave", f"the tile of a block: {tile[0]} x {tile[1]}")
    svg.text(20 + wide * scale / 2, 14, f"{high} x {wide}, tiles of {tile[0]} x {tile[1]}")
    return str(svg)


def of_product(problem: Problem, schedule: Schedule, target: Target) -> list[tuple[str, str]]:
    """All pictures of a product, each with a caption."""
    count = blocks(problem, schedule)
    walking = walkers(problem, schedule)
    walks = f"{walking} blocks walk the tiles" if walking else "a block for each"
    pictures = [
        (f"The result: {count} tiles, {walks}; the line is their order", result(problem, schedule, target)),
        ("One k step of a block, to scale; outlined is one instruction", block(problem, schedule)),
        ("Shared memory of a block, to scale", ring(problem, schedule, target)),
        ("Who copies and who multiplies", roles(schedule)),
        ("The first eight rows of A in shared memory", swizzle(problem, schedule, "a")),
        ("The first eight rows of B in shared memory", swizzle(problem, schedule, "b")),
    ]  # fmt: skip
    return [(caption, svg) for caption, svg in pictures if svg]
