"""wgmma: accumulators as registers of threads, and operands in shared memory as their descriptors say.

PTX ISA, "Asynchronous warpgroup-level matrix instructions": an accumulator m64nN has 16 rows in each of four warps; a
lane holds the rows `lane // 4` and that plus 8, and the columns `8 j + lane % 4 * 2` and one more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from mlir_gemm.simulator.elements import ELEMENTS, LANES, Element, truncated

ROWS = 64
"""Of an instruction."""
STEP_BYTES = 32
"""Bytes of an instruction's K."""
CHUNK = 16
"""Bytes that an operand is moved in."""
_QUARTER = ROWS // 4
_CHUNKS_ACROSS = {0: 1, 1: 8, 2: 4, 3: 2}
"""By the swizzle mode of a descriptor, 16-byte chunks in a row of the pattern: none, 128, 64 and 32 bytes."""
_SIXTEEN_BITS = 2


class Sums:
    """An accumulator of a warpgroup as one matrix, made by the group of products `group`."""

    __slots__ = ("depth", "group", "matrix", "packed")

    def __init__(self, matrix: Any, group: int, packed: bool, depth: int):
        self.matrix = matrix
        self.group = group
        self.packed = packed
        """Whether two f16 share a register."""
        self.depth = depth
        """K of the instruction that made it, whose M and N are those of the matrix."""


class Registers:
    """What a warp holds of an accumulator, or any struct of registers."""

    __slots__ = ("_lanes", "fences", "quarter", "stamp", "sums")

    def __init__(self, lanes: Any, sums: Sums | None, quarter: int, stamp: int, fences: int = 0):
        self._lanes = lanes
        self.sums = sums
        self.quarter = quarter
        self.stamp = stamp
        """How many wgmma.fence the warp had run when it last touched the registers itself; -1 if it did not."""
        self.fences = fences
        """How many it had run when a product made them."""

    @staticmethod
    def of(lanes: Any, stamp: int = -1) -> Registers:
        """Registers with the values of the lanes: (lanes, registers)."""
        return Registers(lanes, None, 0, stamp)

    @property
    def depth(self) -> int:
        """K of the product that made them, 0 for none."""
        return 0 if self.sums is None else self.sums.depth

    @property
    def lanes(self) -> Any:
        """The values: (lanes, registers)."""
        if self._lanes is None:
            assert self.sums is not None
            self._lanes = spread(self.sums.matrix[_QUARTER * self.quarter :][:_QUARTER], self.sums.packed)
        return self._lanes

    def read(self, warp: Any, info: Any) -> Any:
        """The values, for an instruction of the warp, which reports if the products are not known to be done."""
        if self.sums is not None and self.sums.group > warp.waited:
            message = "touches an accumulator of a product that was not waited for"
            if self.sums.group > warp.committed:
                message += " (it is in no committed group)"
            info.find("async-not-awaited", warp, -1, "", message)
        warp.accesses = warp.fences
        if self.sums is not None:  # others may be shared between warps
            self.stamp = warp.fences
        return self.lanes


def spread(quarter: Any, packed: bool) -> Any:
    """16 rows of an accumulator as the registers of a warp's lanes."""
    columns = quarter.shape[1]
    lanes = quarter.reshape(2, 8, columns // 8, 4, 2).transpose(1, 3, 2, 0, 4)
    lanes = np.ascontiguousarray(lanes).reshape(LANES, columns // 2)
    return lanes.astype(np.float16).view(np.int32) if packed else lanes


def gathered(lanes: Any, packed: bool) -> Any:
    """16 rows of an accumulator from the registers of a warp's lanes."""
    if packed:
        lanes = np.ascontiguousarray(lanes).view(np.float16)
    columns = lanes.shape[1] * 2
    quarter = lanes.reshape(8, 4, columns // 8, 2, 2).transpose(3, 0, 2, 1, 4)
    return np.ascontiguousarray(quarter).reshape(_QUARTER, columns)


def whole(parts: list[Registers], packed: bool) -> Any:
    """The matrix whose quarters four warps hold."""
    first = parts[0].sums
    if first is not None and all(part.sums is first and part.quarter == n for n, part in enumerate(parts)):
        return first.matrix
    return np.concatenate([gathered(part.lanes, packed) for part in parts])


@dataclass(frozen=True)
class Descriptor:
    """A matrix in shared memory, as 64 bits say (PTX ISA, "Matrix descriptor format")."""

    start: int
    leading: int
    stride: int
    base: int
    """What the pattern of the swizzle is shifted by."""
    swizzle: int
    rest: int
    """Bits that must be zero."""

    @staticmethod
    def of(bits: int) -> Descriptor:
        """Takes the fields apart; addresses and distances are in units of 16 bytes."""
        bits &= (1 << 64) - 1
        start, leading, stride = ((bits >> low & 0x3FFF) << 4 for low in (0, 16, 32))
        rest = bits & (3 << 14 | 3 << 30 | 7 << 46 | 0x3FF << 52)
        return Descriptor(start, leading, stride, bits >> 49 & 7, bits >> 62, rest)

    def chunks(self, outer: int, item: int, along_k: bool) -> Any:
        """The addresses of an operand's chunks, without the swizzle: (outer, 2) where K runs along the rows, else
        (chunks of `outer`, K)."""
        return self.start + _offsets(self.leading, self.stride, self.swizzle, outer, item, along_k)

    def addresses(self, outer: int, item: int, along_k: bool) -> Any:
        """The same with the swizzle: bits 4 to 6 of an address change by bits 7 to 9 (fewer for narrower patterns)."""
        plain = self.chunks(outer, item, along_k)
        across = _CHUNKS_ACROSS[self.swizzle]
        return plain ^ ((plain >> 7) & (across - 1)) << 4


@lru_cache(maxsize=256)
def _offsets(leading: int, stride: int, swizzle: int, outer: int, item: int, along_k: bool) -> Any:
    """Where the chunks of 16 bytes of an operand lie, from its start. Layouts: PTX ISA, "Strides"."""
    across = _CHUNKS_ACROSS[swizzle]
    if along_k:
        row, chunk = np.arange(outer)[:, None], np.arange(STEP_BYTES // CHUNK)
        inside = chunk * (leading if swizzle == 0 else CHUNK)
        return row // 8 * stride + row % 8 * across * CHUNK + inside
    chunk, k = np.arange(outer * item // CHUNK)[:, None], np.arange(STEP_BYTES // item)
    if swizzle == 0:
        return chunk * stride + k // 8 * leading + k % 8 * CHUNK
    return chunk // across * leading + chunk % across * CHUNK + k // 8 * stride + k % 8 * across * CHUNK


def matrix(chunks: Any, item: int, along_k: bool) -> Any:
    """An operand (outer, K) from its chunks as bytes: (..., 16), in the order of `Descriptor.chunks`."""
    words = chunks.view(f"u{item}")
    if along_k:
        return words.reshape(len(words), -1)
    return np.ascontiguousarray(words.transpose(0, 2, 1)).reshape(-1, words.shape[1])


KINDS: dict[str, tuple[Element, int]] = {
    "f16": (ELEMENTS["f16"], 16), "bf16": (ELEMENTS["bf16"], 16), "tf32": (ELEMENTS["f32"], 8),
    "e4m3": (ELEMENTS["f8E4M3FN"], 32), "e5m2": (ELEMENTS["f8E5M2"], 32), "s8": (ELEMENTS["i8"], 32),
    "u8": (ELEMENTS["i8"], 32),
}  # fmt: skip
"""What the elements of a type are in memory, and the K of an instruction."""


def may_be_transposed(kind: str) -> bool:
    """Whether M or N may run along the rows of an operand."""
    return KINDS[kind][0].bytes == _SIXTEEN_BITS


def numbers(raw: Any, kind: str) -> Any:
    """Elements, as bits, as f32: products of bytes, and sums of 32 of them, are exact in it too."""
    element, _ = KINDS[kind]
    if kind in ("s8", "u8"):
        return raw.view(np.int8 if kind == "s8" else np.uint8).astype(np.float32)
    values = raw.view(element.storage).astype(np.float32)
    return truncated(values) if kind == "tf32" else values
