"""How the search lays rows out in shared memory: swizzled where rows allow it, or padded by what the fewest bank
conflicts need."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from mlir_gemm.parts.base import Mma
from mlir_gemm.parts.layout import CHUNK, Buffer, bank_conflicts, element_conflicts, store_conflicts, swizzles
from mlir_gemm.parts.registry import chunks_swizzled, layouts, padded, panelled, turning
from mlir_gemm.spec.element_types import ELEMENT_BYTES, TYPES
from mlir_gemm.spec.problem import Problem, element_bytes
from mlir_gemm.spec.schedule import Tile

SWIZZLE = True
"""Whether asynchronous copies are proposed with swizzled rows, where rows allow it, rather than padded ones: 1.2 times
as fast at 4096 and 8192 on the H200."""
TURNED_AREA, TURNED_SIDE = 64 * 64, 32
"""Elements of a block tile, and what divides its sides, from which copies that transpose are proposed: of smaller ones
they are too many."""
MOST_CHUNKS = 4
"""Pads that are compared, in chunks of 16 bytes."""
Layout = dict[str, Any]
"""Fields of the schedule that say how rows lie."""


def layouts_tried(
    problem: Problem, block: Tile, mma: Mma, streamed: bool, ring: bool, pinned: Mapping[str, Any]
) -> list[Layout]:
    """The layouts and pads to try: the one that suits, and for lanes that read what lies along k the one that
    transposes it."""
    suited = _layout(problem, block, mma, streamed, ring, pinned)
    along = problem.a_order == "mk" or problem.b_order == "nk"
    whole = block[0] * block[1] >= TURNED_AREA and not (block[0] % TURNED_SIDE or block[1] % TURNED_SIDE)
    if not (along and whole and mma.lanes and streamed) or ring or "layout" in pinned or problem.algebra:
        return [suited]
    if {problem.a, problem.b} != {"f32"}:
        return [suited]
    return [suited, {"layout": turning().name, "pad": pinned.get("pad", CHUNK // ELEMENT_BYTES["f32"])}]


def _layout(problem: Problem, block: Tile, mma: Mma, streamed: bool, ring: bool, pinned: Mapping[str, Any]) -> Layout:
    """The layout and the pads that are pinned, or that suit the copy and how fragments are read."""
    narrowest = min(element_bytes(problem, "a"), element_bytes(problem, "b"))
    by_element = narrowest == ELEMENT_BYTES["f64"]
    single = by_element or _floats_across_k(problem)
    swizzled = SWIZZLE and streamed and not pinned.get("pad") and mma.tensor_cores and not single
    if ring:
        return {"layout": pinned.get("layout") or panelled().name, "pad": pinned.get("pad", 0)}
    layout = layouts()[pinned["layout"]] if pinned.get("layout") else None
    if layout is None:
        layout = chunks_swizzled() if swizzled and _swizzles(problem, block) else padded()
    if "pad" in pinned:
        return {"layout": layout.name, "pad": pinned["pad"]}
    if layout.swizzled and not layout.panels:
        return {"layout": layout.name, "pad": 0}
    usual = (2 * CHUNK if by_element and mma.tensor_cores else CHUNK) // narrowest
    if not layout.default or not streamed or "pad_b" in pinned:
        return {"layout": layout.name, "pad": usual}
    pad, pad_b = (_pad(problem, block, mma, operand, usual) for operand in "ab")
    return {"layout": layout.name, "pad": pad, **({} if pad_b == pad else {"pad_b": pad_b})}


def _pad(problem: Problem, block: Tile, mma: Mma, operand: str, usual: int) -> int:
    """The pad of an operand with the fewest bank conflicts when fragments are read, then when copies are written: the
    usual one, or a smaller one that has no more of them."""
    m, n, k = block
    across, along_k = (m, problem.a_order == "mk") if operand == "a" else (n, problem.b_order == "nk")
    element = element_bytes(problem, operand)
    rows, columns = (across, k) if along_k else (k, across)
    by_matrix = bool(mma.tensor_cores and mma.by_matrix(problem, operand))
    # Of lanes those beside each other read rows of B that lie along k; all others read neighbours, or the same.
    reading = "matrix" if by_matrix else "element" if mma.tensor_cores else "rows" if operand == "b" and along_k else ""
    return _fewest(rows, columns, element, along_k, reading, usual, bool(mma.lanes) and operand == "a" and along_k)


@lru_cache(maxsize=1 << 12)
def _fewest(rows: int, columns: int, element: int, along_k: bool, reading: str, usual: int, kept: bool) -> int:
    if kept:
        return usual

    def conflicts(pad: int) -> tuple[float, float, int]:
        row = columns * element
        lying = Buffer(rows, columns, element, row + pad * element, False, along_k)
        read = 1.0
        if reading in ("matrix", "rows"):
            read = bank_conflicts(lying.stride)
        elif reading == "element":
            read = element_conflicts(element, lying.stride, False, along_k, row)
        return read, store_conflicts(row, lying.stride), pad

    unit = max(1, CHUNK // element)
    return min((*range(0, MOST_CHUNKS * unit + 1, unit), usual), key=conflicts)


def _floats_across_k(problem: Problem) -> bool:
    """Whether 8-bit floats are read one by one, across k: where rows are swizzled each has an address of its own, which
    take 255 registers and spill; where they are padded, 126 (64x128x128 by 32x64x32, ptxas for sm_89)."""
    sides = (problem.a, problem.a_order == "mk"), (problem.b, problem.b_order == "nk")
    return any(TYPES[name].is_float and ELEMENT_BYTES[name] == 1 and not along_k for name, along_k in sides)


def _swizzles(problem: Problem, block: Tile) -> bool:
    m, n, k = block
    rows = (
        (k if problem.a_order == "mk" else m) * element_bytes(problem, "a"),
        (k if problem.b_order == "nk" else n) * element_bytes(problem, "b"),
    )
    return all(swizzles(row) for row in rows)
