"""distribute-copies: block-wide copies are divided among threads, in vectors.

Expects a kernel function (`known_block_size`) with tile.copy between memrefs, or a block-wide tile.load whose value is
only stored by block-wide tile.store. Leaves vector.load and vector.store: consecutive threads take consecutive vectors
of `bits` bits along a row, each thread as many as needed; unrolled, or in a loop when `unroll` is false (a load whose
value is kept in registers is always unrolled). Refuses tiles that do not divide evenly, and other uses of such loads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing, memory
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import named, users
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.distribute_warps import SCOPE
from mlir_gemm.passes.launch_blocks import threads_of

WIDTHS = (8, 16, 32, 64, 128)
"""Bits of the accesses that one thread can make."""


@dataclass(frozen=True)
class DistributeCopies(Pass):
    """Divide copies among threads."""

    name: ClassVar[str] = "distribute-copies"
    bits: int = 128
    """Bits that one thread moves in one access."""
    unroll: bool = True
    """Unroll the vectors of one thread."""

    def run(self, module: Any) -> None:
        if self.bits not in WIDTHS:
            raise PassError(
                f"pass 'distribute-copies': bits={self.bits}; expected one of {', '.join(map(str, WIDTHS))}"
            )
        for kernel in named(module, "gpu.func"):
            for copy in named(kernel, "tile.copy"):
                _distribute_copy(copy, _Work.of(kernel, copy, copy.operands[0].type, self.bits), self.unroll)
            for load in [op for op in named(kernel, "tile.load") if SCOPE not in op.operation.attributes]:
                _distribute_load(load, _Work.of(kernel, load, load.operation.results[0].type, self.bits))


@dataclass(frozen=True)
class _Work:
    """How one tile is divided: `rounds` vectors of `width` elements for each of `threads` threads."""

    threads: int
    width: int
    across: int
    """Vectors in a row of the tile."""
    rounds: int
    element: Any

    @staticmethod
    def of(kernel: Any, operation: Any, type_: Any, bits: int) -> _Work:
        threads = threads_of(kernel)
        if len(type_.shape) != 2 or not type_.has_static_shape or not hasattr(type_.element_type, "width"):
            raise pass_error(operation, f"a copy of {type_}; expected a matrix of numbers of constant sizes")
        rows, columns = type_.shape
        width = bits // type_.element_type.width
        if not width:
            raise pass_error(
                operation, f"elements of {type_.element_type} in accesses of {bits} bits; expected wider ones"
            )
        if columns % width or rows * columns % (width * threads):
            raise pass_error(
                operation,
                f"a tile of {rows}x{columns} elements does not divide into vectors of {width} for {threads} threads; "
                "take fewer threads, narrower vectors or a larger tile",
            )
        return _Work(threads, width, columns // width, rows * columns // (width * threads), type_.element_type)

    @property
    def vector(self) -> Any:
        return ir.VectorType.get([self.width], self.element)

    def position(self, thread: Any, number: int) -> tuple[Any, Any]:
        """Row and column of the vector that a thread moves in round `number`."""
        if self.threads % self.across == 0:  # the column is the same in all rounds, the row moves by a constant
            row = indexing.div(thread, self.across)
            row = indexing.add(row, number * (self.threads // self.across))
            return row, self._column(thread)
        linear = indexing.add(thread, number * self.threads)
        return indexing.div(linear, self.across), self._column(linear)

    def position_in_loop(self, thread: Any, number: Any) -> tuple[Any, Any]:
        """The same for a round whose number is an index value."""
        linear = indexing.add(thread, indexing.mul(number, self.threads))
        return indexing.div(linear, self.across), self._column(linear)

    def _column(self, linear: Any) -> Any:
        remainder = indexing.rem(linear, self.across)
        return indexing.mul(remainder, self.width)


def _check_side(operation: Any, work: _Work, side: Any, offsets: int = 2) -> None:
    """Refuses memory that cannot be accessed in the vectors that a tile was divided into."""
    if side.type.element_type != work.element or len(side.type.shape) != 2 or offsets != 2:
        raise pass_error(
            operation, f"{side.type} at {offsets} offsets; expected a matrix of {work.element} and 2 offsets"
        )
    bits = 8 * memory.vector_bytes(work.vector)
    if not memory.has_rows(side.type, bits):
        raise pass_error(
            operation,
            f"{side.type} in vectors of {bits} bits; expected rows of consecutive elements, a constant multiple of "
            "that apart",
        )


def _thread() -> Any:
    gpu = dialect("gpu")
    return gpu.thread_id(gpu.Dimension.x)


def _distribute_copy(copy: Any, work: _Work, unroll: bool) -> None:
    target, source, *offsets = copy.operation.operands
    _check_side(copy, work, target)
    _check_side(copy, work, source, len(offsets))
    with ir.InsertionPoint(copy), copy.location:
        thread = _thread()
        if unroll or work.rounds == 1:
            positions = [work.position(thread, number) for number in range(work.rounds)]
            loaded = [_load(work, source, offsets, at) for at in positions]
            for value, at in zip(loaded, positions, strict=True):
                _store(work, value, target, [], at)
        else:
            bounds = [constants.index(value) for value in (0, work.rounds, 1)]
            loop = dialect("scf").ForOp(*bounds)
            with ir.InsertionPoint(loop.body):
                at = work.position_in_loop(thread, loop.body.arguments[0])
                _store(work, _load(work, source, offsets, at), target, [], at)
                dialect("scf").YieldOp([])
    copy.operation.erase()


def _distribute_load(load: Any, work: _Work) -> None:
    source, *offsets = load.operation.operands
    _check_side(load, work, source, len(offsets))
    stores = users(load.operation.results[0])
    for store in stores:
        if store.name != "tile.store" or SCOPE in store.attributes:
            raise pass_error(
                store,
                f"'{store.name}' on a block-wide tile; only a copy (tile.load, then tile.store) can be divided among "
                "threads",
            )
        _check_side(store, work, store.operands[1], len(store.operands) - 2)
    with ir.InsertionPoint(load), load.location:
        thread = _thread()
        positions = [work.position(thread, number) for number in range(work.rounds)]
        loaded = [_load(work, source, offsets, at) for at in positions]
    for store in stores:
        _, target, *origin = store.operands
        with ir.InsertionPoint(store), store.location:
            for value, at in zip(loaded, positions, strict=True):
                _store(work, value, target, origin, at)
        store.operation.erase()
    load.operation.erase()


def _shifted(at: tuple[Any, Any], offsets: list[Any]) -> list[Any]:
    if not offsets:
        return list(at)
    return [indexing.add(offset, position) for offset, position in zip(offsets, at, strict=True)]


def _load(work: _Work, source: Any, offsets: list[Any], at: tuple[Any, Any]) -> Any:
    alignment = memory.vector_bytes(work.vector)
    return dialect("vector").LoadOp(work.vector, source, _shifted(at, offsets), alignment=alignment).result


def _store(work: _Work, value: Any, target: Any, offsets: list[Any], at: tuple[Any, Any]) -> None:
    alignment = memory.vector_bytes(work.vector)
    dialect("vector").StoreOp(value, target, _shifted(at, offsets), alignment=alignment)
