"""Rules of WMMA: plain products in all orders, aligned, in tiles that divide them."""

from __future__ import annotations

from mlir_gemm.parts.block import threads
from mlir_gemm.parts.layout import VECTOR_ELEMENT_BITS, is_staged, pad_of
from mlir_gemm.parts.mma.wmma.tiles import Sides, operand_tiles
from mlir_gemm.parts.registry import guarding_edges, layout_of
from mlir_gemm.parts.wording import divisors, multiples, shown_tile
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule, Tile
from mlir_gemm.spec.target import Target

SHAPES: tuple[Tile, ...] = ((16, 16, 16), (32, 8, 16), (8, 32, 16))
"""M, N and K of the instruction on f16 (PTX ISA, `wmma.mma`), the one that is proposed unasked first."""
SIZE_UNIT = 16
"""Sizes of a product are multiples of this, whatever the instruction: no edges are guarded."""
ALIGNMENT = 128
"""Bits to which everything is aligned that is read or written."""
STRIDE = 8
"""WMMA loads f16 rows, or columns, whose stride is a multiple of 8 elements (PTX: `wmma.load`, 16 bytes)."""
_AXES = ("m", "n", "k")


def whole_sizes(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if not (problem.m | problem.n | problem.k) % SIZE_UNIT:
        return None
    for name, size in (("M", problem.m), ("N", problem.n), ("K", problem.k)):
        if size % SIZE_UNIT:
            return (
                f"{name}={size} is not supported by mma=wmma: its sizes must be multiples of {SIZE_UNIT} (it "
                f"guards no edges); the nearest: {multiples(size, SIZE_UNIT)}, or mma={guarding_edges(problem, target)}"
            )
    return None


def plain_product(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    given = ""
    if problem.batch > 1:
        given = f"a batch of {problem.batch}"
    elif problem.dynamic:
        given = f"sizes known at run time only ({', '.join(problem.dynamic)})"
    elif problem.a_memory or problem.b_memory:
        given = "an operand that is computed on its way to shared memory"
    elif problem.out_order != "mn" or not problem.epilogue_vector:
        given = "a matrix around the product that is read or written transposed"
    elif min(problem.a_vector, problem.b_vector, problem.out_vector, problem.epilogue_vector) < ALIGNMENT:
        given = f"rows aligned to less than {ALIGNMENT} bits"
    if not given:
        return None
    others = guarding_edges(problem, target)
    return f"{given}: not with mma=wmma, which takes one aligned product; expected {others}"


def block_divides_problem(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    for axis, size, extent in zip(_AXES, schedule.block, (problem.m, problem.n, problem.k), strict=True):
        if extent % size:
            return (
                f"block={shown_tile(schedule.block)}: its {axis} of {size} must divide {axis.upper()}={extent} "
                f"(mma=wmma guards no edges); the nearest: {divisors(extent, size, SIZE_UNIT)}"
            )
    return None


def unaccumulated(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.accumulate:
        return None
    if problem.out != problem.acc:
        return (
            f"accumulate=off with result type {problem.out}: the result then holds partial sums and must be "
            f"{problem.acc}"
        )
    if schedule.vector < 32:
        return (
            f"accumulate=off with vector={schedule.vector}: a tile of f32 is copied too, so expected at least 32 bits"
        )
    return None


def stride(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if not schedule.promote:
        return None
    for operand, (_, columns) in zip("ab", operand_tiles(problem, schedule.block), strict=True):
        pad = pad_of(schedule, operand)
        if not is_staged(schedule, operand) or not layout_of(schedule, operand).padded:
            continue
        if (columns + pad) % STRIDE:
            name = "pad_b" if operand == "b" and schedule.pad_b >= 0 else "pad"
            return (
                f"{name}={pad}: WMMA needs rows in shared memory of a multiple of {STRIDE} elements (16 bytes); "
                f"the nearest: {multiples(pad, STRIDE, least=0)}"
            )
    return None


def copies_even(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Copies have no guards, so that all threads copy the same number of vectors."""
    if not schedule.promote:
        return None
    width, count = schedule.vector // VECTOR_ELEMENT_BITS, threads(schedule)
    lying = operand_tiles(problem, schedule.block)
    if _splits(lying, width, count):
        return None
    for name, (rows, columns) in zip("AB", lying, strict=True):
        whole = columns % width == 0 and rows * columns // width % count == 0
        if whole or not is_staged(schedule, name.lower()):
            continue
        return (
            f"vector={schedule.vector}: the {rows}x{columns} tile of {name} must split into whole "
            f"{schedule.vector}-bit vectors, the same number for each of {count} threads; "
            f"{_narrower_vector(lying, schedule.vector, count)}"
        )
    return None


def _splits(lying: Sides, width: int, count: int) -> bool:
    """Whether rows are whole vectors of `width` elements, of which each of `count` threads copies as many."""
    (rows_a, columns_a), (rows_b, columns_b) = lying
    if columns_a % width or columns_b % width:
        return False
    return not (rows_a * columns_a // width % count or rows_b * columns_b // width % count)


def _narrower_vector(lying: Sides, vector: int, count: int) -> str:
    """The widest vector that is narrower than the one given and splits both tiles, as advice."""
    for bits in (128, 64, 32, 16):
        if bits < vector and _splits(lying, bits // VECTOR_ELEMENT_BITS, count):
            return f"the nearest: vector={bits}"
    return "no vector does: take fewer warps or a larger block tile"
