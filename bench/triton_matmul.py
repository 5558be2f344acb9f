"""A standard Triton product with a choice of tiles, written for this comparison: blocks in groups of rows, pointers,
masks along k, and whatever tile is fastest."""

# The kernel's parameters have no types: Triton would take the annotations for code of the kernel.
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from mlir_gemm.bench.operands import Operands
from mlir_gemm.spec.element_types import ELEMENT_BYTES

tl: Any = None
"""triton.language, which the kernel's body names; imported by `load`."""
CONSTANTS = ("block_m", "block_n", "block_k", "group", "integers", "precision")
"""Parameters of the kernel that are known when it is compiled."""
_compiled: list[Any] = []


@dataclass(frozen=True)
class Tile:
    """What is tuned. `block_k` is in units of 2 bytes."""

    block_m: int
    block_n: int
    block_k: int
    stages: int
    warps: int


TILES = (
    Tile(128, 256, 64, 3, 8), Tile(128, 128, 64, 4, 8), Tile(128, 128, 64, 3, 4), Tile(64, 128, 64, 4, 4),
    Tile(128, 64, 64, 4, 4), Tile(64, 64, 64, 5, 4), Tile(64, 32, 128, 4, 4), Tile(16, 128, 128, 4, 4),
)  # fmt: skip
GROUP = 8


def load() -> Any:
    """The compiled kernel. Raises ImportError where Triton is not installed."""
    global tl
    if not _compiled:
        triton: Any = importlib.import_module("triton")
        tl = importlib.import_module("triton.language")
        _product.__annotations__.update(dict.fromkeys(CONSTANTS, "constexpr"))
        _compiled.append(triton.jit(_product))
    return _compiled[0]


def launcher(operands: Operands, tile: Tile) -> Any:
    """A function without arguments that computes the problem with a tile."""
    kernel, problem = load(), operands.problem
    a, b = operands.matrices
    block_k = tile.block_k * 2 // ELEMENT_BYTES[problem.element]
    grid = (-(-problem.m // tile.block_m) * -(-problem.n // tile.block_n),)
    integers = problem.accumulator == "i32"
    precision = "ieee" if problem.dtype == "f32" else "tf32"

    def run() -> None:
        kernel[grid](
            a, b, operands.out, problem.m, problem.n, problem.k, a.stride(0), a.stride(1), b.stride(0), b.stride(1),
            block_m=tile.block_m, block_n=tile.block_n, block_k=block_k, group=GROUP, integers=integers,
            precision=precision, num_stages=tile.stages, num_warps=tile.warps,
        )  # fmt: skip

    return run


def _product(
    a, b, d, m, n, k, a_row, a_column, b_row, b_column, block_m, block_n, block_k, group, integers, precision
):  # fmt: skip
    block = tl.program_id(0)
    rows_of_blocks = tl.cdiv(m, block_m)
    in_group = group * tl.cdiv(n, block_n)
    first = (block // in_group) * group
    height = min(rows_of_blocks - first, group)
    row = (first + (block % in_group) % height) * block_m
    column = ((block % in_group) // height) * block_n
    # Rows and columns beyond the end read others again; what comes of them is not stored.
    rows = ((row + tl.arange(0, block_m)) % m).to(tl.int64)
    columns = ((column + tl.arange(0, block_n)) % n).to(tl.int64)
    steps = tl.arange(0, block_k)
    a_at = a + rows[:, None] * a_row + steps[None, :] * a_column
    b_at = b + steps[:, None] * b_row + columns[None, :] * b_column
    sums = tl.zeros((block_m, block_n), dtype=tl.int32 if integers else tl.float32)
    for start in range(0, k, block_k):
        a_tile = tl.load(a_at, mask=steps[None, :] < k - start, other=0.0)
        b_tile = tl.load(b_at, mask=steps[:, None] < k - start, other=0.0)
        sums = tl.dot(a_tile, b_tile, sums, input_precision=precision, out_dtype=sums.dtype)
        a_at += block_k * a_column
        b_at += block_k * b_row
    to_rows = (row + tl.arange(0, block_m)).to(tl.int64)
    to_columns = column + tl.arange(0, block_n)
    inside = (to_rows[:, None] < m) & (to_columns[None, :] < n)
    tl.store(d + to_rows[:, None] * n + to_columns[None, :], sums.to(d.dtype.element_ty), mask=inside)
