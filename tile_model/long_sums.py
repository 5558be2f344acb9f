"""How many elements of k one accumulator may add up, and the slices of k that follow from it.

Tensor cores align products and accumulator to the largest exponent among them and cut off what lies below its last
bit: each step of an instruction loses a little, always towards zero. On an H200 a sum of positive numbers loses 6.5e-9
of itself for each element of k, 1.0e-7 for a step of 16, whatever the length (docs/history/performance.md). A sum of
normal numbers loses a fifth of that. Short sums that ordinary additions in f32 add up, in a tree, keep what the
rounding of a 16-bit result leaves.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any

from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.emulation import multiplied_as
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.sum_tree import MOST
from mlir_gemm.spec.target import Target

SMALL = 256
"""Rows and columns up to which a result counts as small: its parts' sums are few bytes beside its operands."""
LONG = 8192
"""Elements of k from which on a product with a small result is long."""
LONGEST = ((32, 2048), (128, 8192), (SMALL, 16384))
"""Elements of k that an accumulator takes in a long product, by the rows and columns of its result. 8192 are 512 steps
of 16-bit types: 5.3e-5 of a sum of positive numbers, a quarter of what rounding the result to f16 costs. Shorter sums
cost tiny results nothing that can be measured, and larger ones the time to write them and to add them up."""
LONGEST_LARGE = 65536
"""The same for results of more rows or columns."""
NARROW: tuple[str, ...] = ("f8E4M3FN", "f8E5M2")
"""8-bit floats that an instruction multiplies, with a shorter accumulator."""
LONGEST_OF = {**dict.fromkeys(NARROW, 1024), "f32": 2048}
"""The most with small results of some types: 8-bit floats multiplied as they are have short accumulators, and f32 in
full is so slow that shorter sums cost it nothing."""
SHORTEST, SHORTEST_WIDE = 256, 128
"""Elements of k that a part has at least; and where the result is not rounded to 16 bits, but shows all that the sum
has lost."""
SHOWN_SIDE, SHOWN_DEPTH, SHORTER = 64, 1 << 17, 1.25
"""Such a result has shorter sums than the fastest, with up to this many rows and columns and elements of k: those of
the vendor's library are shorter then, too. And how many times the least predicted time they may take."""
WAVES = (0.5, 1, 2, 4)
"""Parts for each SM and tile that are tried; of shorter k as many as are not too short, and half of these."""
TINY_F64 = 64 * 64
"""Elements of a result in f64 that has one tile, of which each SM has one: 64x64x1,000,000 takes 272 us on the H200 in
250 parts, 255 in 125."""
LARGEST_TILE, LONG_SIDE = 256 * 128, 256
"""Elements of the largest block tile, and of its longer side."""
FEW_POINTS, WARPS, PER_WARP = 4, 8, 512
"""Elements of a result up to which warps multiply it without tensor cores: 1x1x10,000,000 in tiles of 16x16 takes 64 us
on the H200, of which 15 of 16 rows are zeros; warps of an SM, and elements of k that each has at least."""
WARP_TYPES = ("f16", "bf16", "f32", "f64")
VECTOR, LINE = 16, 128
"""Bytes that parts must begin at multiples of, and better do: of a vector, and of a line of memory."""
OFF_LINES, PIECE = 1.03, 1024
"""Times as long as parts take that begin between lines; elements of k that a tile multiplies while a kernel starts that
multiplies what is left."""


@dataclass(frozen=True)
class Division:
    """k in `parts` of `depth` elements each. What is left at the end is a product of its own."""

    parts: int
    depth: int
    by_warps: bool = False
    """Whether warps multiply the slices, by ordinary arithmetic, an element of the result each."""
    fields: tuple[tuple[str, Any], ...] = ()
    """Fields of the slices' schedule that go with it."""
    even: bool = False
    """Whether all slices have to be as long, with nothing left at the end: what a user pins."""

    def rest(self, k: int) -> int:
        """Elements of k that are in no part."""
        return k - self.parts * self.depth


def longest_sum(problem: Problem, precision: str = "full", promoted: bool = False) -> int | None:
    """Elements of k that a part may take; None where sums are exact, and for products that are not long. `promoted` is
    for parts whose accumulators take fewer (`promotion`)."""
    if not is_long(problem) or problem.acc.startswith("i"):
        return None
    longest = next((depth for side, depth in LONGEST if max(problem.m, problem.n) <= side), None)
    if longest is None:
        return LONGEST_LARGE
    multiplied = "tf32" if problem.a == "f32" and multiplied_as(precision) == "tf32" else problem.a
    return longest if promoted else min(LONGEST_OF.get(multiplied, longest), longest)


def by_warps(problem: Problem, target: Target) -> Division | None:
    """The division of a long product with a result so small that tiles would be almost all padding: warps read it with
    wide loads. None for others."""
    along = (problem.a_order == "mk" or problem.m == 1) and (problem.b_order == "nk" or problem.n == 1)
    plain = problem.a == problem.b and problem.a in WARP_TYPES and not (problem.a_memory or problem.b_memory)
    points = problem.batch * problem.m * problem.n
    if not along or not plain or points > FEW_POINTS:
        return None
    wanted = max(1, min(WARPS * target.sms // points, MOST**2, problem.k // PER_WARP))
    vector = VECTOR // ELEMENT_BYTES[problem.a]
    even = [
        parts
        for parts in range(wanted // 2, min(wanted * 5 // 4, MOST**2) + 1)
        if parts and problem.k % (parts * vector) == 0
    ]
    made = Division(even[-1], problem.k // even[-1]) if even else fitted(problem, wanted, 1, wanted)
    return dataclasses.replace(made, by_warps=True) if made.parts > 1 else None


def is_long(problem: Problem) -> bool:
    """Whether k is so long that it is divided, for the accuracy of the sum and to use all SMs."""
    return problem.k > (LONG if is_small(problem) else LONGEST_LARGE)


def is_small(problem: Problem) -> bool:
    """Whether the parts' sums are few bytes beside the operands."""
    return max(problem.m, problem.n) <= SMALL


def shows_more(problem: Problem) -> bool:
    """Whether a result shows more digits of its sums than 16 bits hold, and shorter sums cost next to nothing."""
    small = max(problem.m, problem.n) <= SHOWN_SIDE and problem.k <= SHOWN_DEPTH
    return small and problem.out in ("f32", "f64")


def long_divisions(
    problem: Problem, target: Target, precision: str = "full", promoted: bool = False
) -> Iterator[Division]:
    """Divisions of the k of a long product that are worth a comparison: parts that fill the SMs a few times over, none
    longer than an accumulator may take, none shorter than pays."""
    least = ceil(problem.k / (longest_sum(problem, precision, promoted) or problem.k))
    most = max(least, problem.k // (SHORTEST_WIDE if shows_more(problem) and not promoted else SHORTEST), 1)
    long_side = ceil(max(problem.m, problem.n) / LONG_SIDE)  # thin results have no tiles that are as large
    wave = target.sms / (problem.batch * max(long_side, ceil(problem.m * problem.n / LARGEST_TILE)))
    waves_tried = WAVES[:2] if problem.acc == "f64" and problem.m * problem.n <= TINY_F64 else WAVES
    wanted = {min(most, max(1, int(waves * wave))) for waves in waves_tried}
    if most < wave:
        wanted.add(most // 2)
    whole_waves = int(ceil(least / wave) * wave) if wave >= 1 else least
    wanted = {each if each >= least else max(whole_waves, least) for each in wanted}
    found = [fitted(problem, each, least, wave) for each in sorted(wanted)]
    yield from dict.fromkeys(each for each in found if each.parts > 1)


def fitted(problem: Problem, wanted: int, least: int, wave: float) -> Division:
    """The division into up to `wanted` parts, and no fewer than `least`, that takes the least time if each SM has one
    part of a wave at a time: few waves of short parts, that leave little over or nothing and begin at lines."""
    element = min(ELEMENT_BYTES.get(each, 4) for each in (problem.a_memory or problem.a, problem.b_memory or problem.b))
    low = max(least, wanted * 3 // 5, 1)
    numbers = range(low, max(wanted, low * 5 // 4, low) + 1)
    vector, grain = max(VECTOR // element, 1), max(LINE // element, 1)
    made = [Division(each, problem.k // each) for each in numbers if problem.k % (each * vector) == 0]
    made += [Division(each, problem.k // each // grain * grain) for each in numbers]
    made += [Division(problem.k // depth, depth)
             for depth in range(-(-problem.k // (numbers[-1] + 1) // grain) * grain, problem.k // low + 1, grain)
             if depth]  # fmt: skip
    longest = ceil(problem.k / least)
    made = [each for each in made if each.depth and each.parts >= low and 0 <= each.rest(problem.k) <= longest]

    def time(each: Division) -> float:
        off = OFF_LINES if each.depth % grain else 1.0
        rest = each.rest(problem.k)
        return ceil(each.parts / wave) * each.depth * off + (PIECE + ceil(1 / wave) * rest if rest else 0)

    return min(made, key=lambda each: (time(each), each.parts), default=Division(1, problem.k))
