"""How the tiles of A and B lie in shared memory, and how many bank conflicts accesses to them have. Exact: this is the
layout that promotion makes, on 32 banks of 4 bytes."""

from __future__ import annotations

from functools import lru_cache
from math import gcd
from typing import NamedTuple

from mlir_gemm.parts.registry import layout_of, mainloop_of
from mlir_gemm.spec.problem import Problem, element_bytes
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.sparse import KEPT

LINE = 128
"""Bytes that the L1 and shared memory of an SM move in one clock, 32 banks of 4 bytes; also the bytes of an L1 line,
of which one is looked up in a clock (CUDA programming guide)."""
CHUNK = 16
"""Bytes that one thread moves of a vector, and of one row of an 8x8 matrix in ldmatrix; eight such fill the banks."""
CHUNKS = LINE // CHUNK
NARROWEST = 32
"""Bytes of a row of the narrowest panels that the copy engine swizzles."""
BANK = 4
PAIR = 32
"""Bits of two elements of 16 bits, which a lane loads and stores at once."""
ASYNCHRONOUS_BITS = 32
"""The narrowest vector that cp.async moves."""
VECTOR_ELEMENT_BITS = 16
"""Bits of the elements that vectors of a copy hold with `wmma`, which takes f16 only."""


class Buffer(NamedTuple):
    """One stage of an operand in shared memory: the tile as it lies in global memory, or transposed, with `stride`
    bytes a row."""

    rows: int
    columns: int
    element: int
    """Bytes of an element."""
    stride: int
    swizzled: bool
    along_k: bool
    """Whether the elements of a row are neighbours in k; else they are in m or n."""

    @property
    def row(self) -> int:
        """Bytes of a row without its padding."""
        return self.columns * self.element

    @property
    def panel(self) -> int:
        """Bytes of a row of a panel, where the copy engine lays it out: the most of 128, 64 and 32 that divide a
        row."""
        return panel_of(self.row)

    @property
    def size(self) -> int:
        """Bytes of the buffer."""
        return self.rows * self.stride


class Copied(NamedTuple):
    """How an operand's tile comes to its buffer."""

    lying: Buffer
    vector: int
    """Bits of each access: at most the schedule's `vector`, narrowed by how the operand is aligned in memory and by the
    tile's rows."""
    streamed: bool
    """Whether the copies really are asynchronous, as the copy engine's are: cp.async moves 4, 8 or 16 bytes, narrower
    vectors fall back to a load and a store."""


SWIZZLED_ROWS = (32, 64, 96, 192)
"""Bytes of rows whose chunks can change places by XOR, beside the multiples of 128."""


def swizzles(row: int) -> bool:
    """Whether the chunks of rows of this many bytes can change places by XOR with the row's number."""
    return row in SWIZZLED_ROWS or row % LINE == 0


def is_staged(schedule: Schedule, operand: str) -> bool:
    """Whether operand `a` or `b` goes through shared memory."""
    return schedule.promote and (schedule.promote_a if operand == "a" else schedule.promote_b)


def staged(schedule: Schedule) -> str:
    """The operands that go through shared memory: `ab`, one of the two, or none."""
    if not schedule.promote:
        return ""
    return ("a" if schedule.promote_a else "") + ("b" if schedule.promote_b else "")


def laid_out(schedule: Schedule, name: str) -> str:
    """The operands that go through shared memory in a layout: `ab`, one of the two, or none."""
    return "".join(each for each in staged(schedule) if layout_of(schedule, each).name == name)


def layout_field(schedule: Schedule, operand: str) -> str:
    """The field that gives the layout of an operand, with its value, for messages."""
    own = operand == "b" and schedule.layout_b
    return f"layout_b={schedule.layout_b}" if own else f"layout={layout_of(schedule).name}"


def pad_of(schedule: Schedule, operand: str = "a") -> int:
    """Elements that follow each row of A or B in shared memory."""
    return layout_of(schedule, operand).pad(schedule, operand)


def panel_of(row: int) -> int:
    """Row size in bytes of the widest panels that divide rows of this many bytes; 0 where none do."""
    widest = gcd(row, LINE)
    return widest if widest >= NARROWEST else 0


def is_turned(problem: Problem, schedule: Schedule, operand: str) -> bool:
    """Whether copies transpose operand `a` or `b`: it lies along k in memory, and across it in shared memory."""
    along_k = problem.a_order == "mk" if operand == "a" else problem.b_order == "nk"
    return along_k and is_staged(schedule, operand) and layout_of(schedule, operand).turns


def buffer(problem: Problem, schedule: Schedule, operand: str) -> Buffer:
    """The buffer of operand `a` or `b`."""
    return copied(problem, schedule, operand).lying


def copied(problem: Problem, schedule: Schedule, operand: str) -> Copied:
    """The buffer of operand `a` or `b`, and the copies that fill it."""
    global _last
    last = _last  # rules, needs and cost ask for the same schedule about 20 times
    if last is None or last[1] is not schedule or last[0] is not problem:
        last = _last = problem, schedule, _of(problem, schedule, "a"), _of(problem, schedule, "b")
    return last[2] if operand == "a" else last[3]


_last: tuple[Problem, Schedule, Copied, Copied] | None = None


def _of(problem: Problem, schedule: Schedule, operand: str) -> Copied:
    m, n, k = schedule.block
    if operand == "a":
        across, along_k, aligned, computed = m, problem.a_order == "mk", problem.a_vector, problem.a_memory
    else:
        across, along_k, aligned, computed = n, problem.b_order == "nk", problem.b_vector, problem.b_memory
    turned = is_turned(problem, schedule, operand)
    if problem.sparse == operand:
        k //= KEPT
    if problem.composite and operand == "b":
        across, k = (across // problem.composite, k) if along_k else (across, k // problem.composite)
    if problem.b_matrices and operand == "b" and not (along_k and not turned):  # rows of each matrix, one after another
        across, k = across // problem.b_matrices, k * problem.b_matrices
    element = element_bytes(problem, operand)
    vector = 8 * element if turned else min(schedule.vector, aligned)
    mainloop, layout = mainloop_of(schedule), layout_of(schedule, operand)
    asynchronous = mainloop.asynchronous and not computed
    narrowest = 0 if mainloop.producer else ASYNCHRONOUS_BITS if asynchronous else None
    pad = layout.pad(schedule, operand)
    return _copied(across, k, along_k and not turned, element, pad, layout.swizzled, vector, narrowest)


@lru_cache(maxsize=1 << 12)
def _copied(
    across: int, k: int, along_k: bool, element: int, pad: int, swizzled: bool, vector: int, narrowest: int | None
) -> Copied:
    rows, columns = (across, k) if along_k else (k, across)
    lying = Buffer(rows, columns, element, (columns + pad) * element, swizzled, along_k)
    row_bits = 8 * lying.row
    vector = max(8 * element, min(vector, row_bits & -row_bits))
    return Copied(lying, vector, narrowest is not None and vector >= narrowest)


def streamed(problem: Problem, schedule: Schedule) -> bool:
    """Whether all copies into shared memory are asynchronous."""
    if not mainloop_of(schedule).asynchronous:
        return False
    return all(copied(problem, schedule, operand).streamed for operand in staged(schedule))


def loaded_bytes(problem: Problem, schedule: Schedule) -> int:
    """Bytes of one k step's tiles that go through registers, as they lie in shared memory, without padding."""
    tiles = (copied(problem, schedule, operand) for operand in staged(schedule))
    return sum(each.lying.rows * each.lying.row for each in tiles if not each.streamed)


@lru_cache
def bank_conflicts(stride: int) -> int:
    """How many passes ldmatrix takes to read eight rows of 16 bytes, `stride` bytes apart: 1 when they are in different
    banks, 8 when all are in the same banks. `stride` is a multiple of 16."""
    eighths = stride // CHUNK % CHUNKS
    return (eighths & -eighths) or CHUNKS


@lru_cache
def store_conflicts(row: int, stride: int) -> int:
    """How many passes eight threads take to store 16 bytes each to rows of `row` bytes that lie `stride` bytes apart: 1
    for rows of 128 bytes or more, 2 for rows of 64 bytes padded to 80, the second partly on the banks of the first."""
    groups = max(1, row // CHUNK)
    eighths = [(i // groups * (stride // CHUNK) + i % groups) % CHUNKS for i in range(CHUNKS)]
    return max(map(eighths.count, eighths))


@lru_cache
def element_conflicts(element: int, stride: int, swizzled: bool, along_k: bool, row: int) -> float:
    """How many passes a warp takes to read the elements of a fragment one by one, relative to the clocks that their
    bytes need.

    Lane l has index l / 4 of m or n and l % 4 of k, as in every fragment that `mma` takes element by element (for 8
    bits, the first of four in k)."""
    in_word = 4 // element if element < 4 else 1
    addresses: list[int] = []
    for lane in range(32):
        across, k = lane // 4, lane % 4 * in_word
        line, column = (across, k) if along_k else (k, across)
        addresses.append(line * stride + swizzled_byte(column * element, line, row, swizzled))
    passes = 0
    lanes = 32 if element <= 4 else 16  # 64-bit accesses are served half a warp at a time
    for first in range(0, 32, lanes):
        words = {
            address // BANK + part for address in addresses[first : first + lanes] for part in range(-(-element // 4))
        }
        banks = [word % 32 for word in words]
        passes += max(map(banks.count, set(banks)))
    return passes / (32 * element / LINE)


def swizzled_byte(byte: int, line: int, row: int, swizzled: bool) -> int:
    """The byte of a row at which the layout keeps `byte`: the chunks of a row change places by XOR with the number of
    the row, or, where several rows share the 128 bytes of banks, of the group of rows."""
    if not swizzled:
        return byte
    chunks = gcd(row, LINE) // CHUNK
    return byte ^ (line // (CHUNKS // chunks) % chunks * CHUNK)
