"""distribute-copies: block-wide copies, and chains of loads, arithmetic and stores, are divided among threads.

Expects a kernel function (`known_block_size`) with tile.copy and tile.copy_async between memrefs, and block-wide
tile.load whose values reach block-wide tile.store directly or through elementwise arith and math operations and
tile.clip. Leaves vector.load and vector.store (memref.load and store for single elements of memory that is not
consecutive): consecutive threads take consecutive vectors, as wide as all accesses of the tile allow, at most `bits`
bits each. Where a place is not `in_bounds`, what lies outside is neither read (it gives zero) nor written. The loads
of all vectors of a thread come where the tile.load stood, the arithmetic and the stores likewise; unrolled, but for
tile.copy when `unroll` is false. What the consumers of a tile.warp_specialize copy is divided among their threads.

tile.copy_async becomes nvgpu.device_async_copy, zero-filled out of bounds; where it cannot have 4, 8 or 16 bytes it is
a plain copy, which is as good in time for the same await and barrier. One that transposes is of single elements, of
which a warp takes 8 neighbours of 4 rows where the tile divides so.

Refuses tiles of sizes that are not constant, and other uses of block-wide tiles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, windows
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.copies.chains import Chain, chains_of
from mlir_gemm.dialect.copies.division import Division
from mlir_gemm.dialect.copies.pieces import Access
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.planes import is_planes
from mlir_gemm.dialect.positions import is_position
from mlir_gemm.dialect.walk import named, parents
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.launch.launch_blocks import threads_of
from mlir_gemm.spec.attributes import SCOPE
from mlir_gemm.spec.threads import WARPGROUP

WIDTHS = (8, 16, 32, 64, 128)
"""Bits of the accesses that one thread can make."""
ASYNC_BITS = (32, 64, 128)
"""Bits of the asynchronous copies that one thread can make (PTX: cp.async)."""

_COPIES, _ACCESSES = ("tile.copy", "tile.copy_async"), ("tile.load", "tile.store")
MOST_LOADS = 16
"""Loads of a plain copy that are in flight in a thread at a time: enough to hide latency, few enough for registers."""


@dataclass(frozen=True)
class DistributeCopies(Pass):
    """Divide copies among threads."""

    name: ClassVar[str] = "distribute-copies"
    bits: int = 128
    """Most bits that one thread moves in one access, but for single elements that are wider."""
    unroll: bool = True
    """Unroll the vectors of one thread."""

    def run(self, module: Any) -> None:
        if self.bits not in WIDTHS:
            raise PassError(
                f"pass 'distribute-copies': bits={self.bits}; expected one of {', '.join(map(str, WIDTHS))}"
            )
        for kernel in named(module, "gpu.func"):
            found = named(kernel, *_COPIES, *_ACCESSES, windows.NAME)
            copies = [op for op in found if op.operation.name in _COPIES]
            accesses = [op for op in found if op.operation.name in _ACCESSES and SCOPE not in op.operation.attributes]
            views = [op for op in found if op.operation.name == windows.NAME]
            for copy in copies:
                _distribute_copy(kernel, copy, self)
            for chain in chains_of(kernel, accesses):
                _distribute_chain(kernel, chain, self.bits)
            for view in views:
                if list(view.operation.results[0].uses):
                    raise pass_error(view, "windows read by something other than copies to shared memory (promote=off)")
                view.operation.erase()


def _distribute_copy(kernel: Any, copy: Any, options: DistributeCopies) -> None:
    target, source = Access.whole(copy.operation.operands[0]), Access.of(copy)
    shape = tuple(target.memory.type.shape)
    division = _divide(kernel, copy, shape, [target, source], options.bits)
    bits = division.width * target.element.width
    close = not is_planes(source.memory)  # whose neighbours lie in several planes
    asynchronous = copy.operation.name == "tile.copy_async" and bits in ASYNC_BITS and close
    if asynchronous and not source.runs_close(division.along):
        asynchronous = False  # a broadcast or a strided row is not a copy of consecutive elements
    if asynchronous and not target.runs_close(division.along):  # it transposes
        asynchronous = division.width == 1
        division = replace(division, patches=division.divides_into_patches)
    with ir.InsertionPoint(copy), copy.location:
        if options.unroll or division.rounds == 1:
            _copy_rounds(target, source, division, asynchronous)
        else:
            _copy_in_loop(target, source, division, asynchronous)
    copy.operation.erase()


def _copy_rounds(target: Access, source: Access, division: Division, asynchronous: bool) -> None:
    spots = division.spots()
    if asynchronous:
        for spot in spots:
            source.locate(division, spot).copy_async(target.locate(division, spot))
        return
    for first in range(0, len(spots), MOST_LOADS):
        batch = spots[first : first + MOST_LOADS]
        loaded = [source.locate(division, spot).load() for spot in batch]
        for value, spot in zip(loaded, batch, strict=True):
            target.locate(division, spot).store(value)


def _copy_in_loop(target: Access, source: Access, division: Division, asynchronous: bool) -> None:
    bounds = [constants.index(value) for value in (0, division.rounds, 1)]
    loop = dialect("scf").ForOp(*bounds)
    with ir.InsertionPoint(loop.body):
        spot = division.spot_in_loop(loop.body.arguments[0])
        there, here = target.locate(division, spot), source.locate(division, spot)
        if asynchronous:
            here.copy_async(there)
        else:
            there.store(here.load())
        dialect("scf").YieldOp([])


def _distribute_chain(kernel: Any, chain: Chain, bits: int) -> None:
    accesses = [Access.of(op) for op in chain.accesses]
    chain.emit(_divide(kernel, chain.accesses[0], chain.shape, accesses, bits))


def _divide(kernel: Any, operation: Any, shape: tuple[int, ...], accesses: list[Access], bits: int) -> Division:
    """The division with the widest vectors; among these, one along which global memory has neighbours."""
    for access in accesses:
        type_ = access.memory.type
        width = getattr(access.element, "width", 0)
        if not shape or min(shape) < 1 or not width or (width % 8 and width != 1):
            raise pass_error(operation, f"a tile of {type_}; expected constant sizes and numbers of whole bytes")
    far = [access for access in accesses if access.memory.type.memory_space is None and not is_position(access.memory)]

    def quality(dim: int) -> tuple[int, int, int]:
        width = min(access.width(shape, dim, bits) for access in accesses)
        return width, sum(access.runs_close(dim) for access in far), dim

    best = max(range(len(shape)), key=quality)
    return Division(shape, _threads_at(kernel, operation), best, quality(best)[0])


def _threads_at(kernel: Any, operation: Any) -> int:
    """How many threads run an operation: where roles are specialised, those of the consumers, which are the first."""
    inside = any(parent.operation.name == "tile.warp_specialize" for parent in parents(operation))
    return threads_of(kernel) - WARPGROUP * inside
