"""Stores of warpgroup tiles by the copy engine: registers to a panel in shared memory, and from there in one piece.

Each warpgroup has two panels of 64 rows for each memory that it stores to, takes them in turn, and waits before it
fills one until the engine has read what was there. The 16-byte chunks of a row change places by XOR with bits of the
row's number, as the engine undoes it, so that no two lanes meet in a bank (`swizzle128`, `swizzle64`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mlir_gemm.dialect import constants, indexing, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.operators import shared_address
from mlir_gemm.passes.launch_blocks import GROUP, LANES

if TYPE_CHECKING:
    from mlir_gemm.operators.rewrite import Rewriter

ROWS, CHUNK, LINE, BUFFERS = 8, 16, 128, 2
"""Rows of a matrix, bytes of a chunk of a row and of a line of shared memory, panels in turn."""
FIRST_BARRIER = 1
"""The number of the first warpgroup's own barrier; 0 is the block's."""


@dataclass
class BulkStores:
    """All tile.store_bulk of a group of operations."""

    stores: list[Any]
    rewriter: Rewriter
    shape: tuple[int, int]
    chunk: int = 0
    """The number of the next chunk."""

    @staticmethod
    def of(operations: list[Any], rewriter: Rewriter) -> BulkStores | None:
        """Those among some operations; None where there are none."""
        stores = [op for op in operations if op.name == "tile.store_bulk"]
        if not stores:
            return None
        rows, columns = stores[0].operands[0].type.shape
        return BulkStores(stores, rewriter, (rows, columns))

    @property
    def columns(self) -> int:
        """Columns of a panel."""
        return self.stores[0].operands[2].type.shape[2]

    @property
    def _row_bytes(self) -> int:
        """Bytes of a row of a panel."""
        return self.columns * self.stores[0].operands[2].type.element_type.width // 8

    def _moves(self, row: Any) -> Any:
        """What the chunks of a row are moved by: the bits of its number that lie above a line of 128 bytes."""
        width = self._row_bytes
        return indexing.rem(indexing.div(row, LINE // width), width // CHUNK)

    def emit(self, numbers: range, piece: Callable[[Any, int], Any]) -> None:
        """Stores one chunk, 64 rows of a panel's columns; `piece` gives a thread's piece of a tile by its number."""
        layout = self.rewriter.layout
        chunks = layout.count(self.shape) // len(numbers)
        unit = indexing.div(indexing.thread(), GROUP)
        self._wait_for_panels(chunks, unit)
        panels = [self._panel(store, unit) for store in self.stores]
        for store, panel in zip(self.stores, panels, strict=True):
            with store.location:
                self._fill(panel, [piece(store.operands[0], number) for number in numbers])
        nvvm = dialect("nvvm")
        nvvm.FenceProxyOp(nvvm.ProxyKind.async_shared, space=nvvm.SharedSpace.shared_cta)
        _meet(unit)
        branch = self._first_thread()
        with ir.InsertionPoint(branch.then_block):
            down, along = layout.place(numbers[0], self.shape)
            for store, panel in zip(self.stores, panels, strict=True):
                place = tile.place_of(store)
                moved = {-1: 0, 0: down, 1: along}
                offsets = [indexing.add(offset, moved[dim])
                           for offset, dim in zip(place.offsets, place.dims, strict=True)]  # fmt: skip
                pointer = shared_address.pointer(panel)
                corner = [indexing.as_i32(offset) for offset in reversed(offsets)]
                nvvm.CpAsyncBulkTensorSharedCTAToGlobalOp(store.operands[1], pointer, corner)
            nvvm.CpAsyncBulkCommitGroupOp()
            dialect("scf").YieldOp([])
        self.chunk += 1

    def _wait_for_panels(self, chunks: int, unit: Any) -> None:
        """Waits until the panels that come next have been read: those in front of the last ones, or, where a tile of
        an odd number of chunks starts with the panels that the tile before ended with, all."""
        again = self.chunk == 0 and chunks % BUFFERS
        branch = self._first_thread()
        with ir.InsertionPoint(branch.then_block):
            dialect("nvvm").CpAsyncBulkWaitGroupOp(0 if again else BUFFERS - 1, read=True)
            dialect("scf").YieldOp([])
        _meet(unit)

    def _first_thread(self) -> Any:
        arith = dialect("arith")
        first = arith.CmpIOp(arith.CmpIPredicate.eq, self.rewriter.lane.number, constants.index(0)).result
        return dialect("scf").IfOp(first)

    def _panel(self, store: Any, unit: Any) -> Any:
        """Where the next panel starts, in bytes."""
        staging = store.operands[2]
        number = indexing.add(indexing.mul(unit, BUFFERS), self.chunk % BUFFERS)
        size = staging.type.shape[1] * self._row_bytes
        return indexing.add(shared_address.base(staging), indexing.mul(number, size))

    def _fill(self, panel: Any, pieces: list[Any]) -> None:
        if pieces[0].type.element_type.width == 16:
            self._fill_matrices(panel, pieces)
        else:
            self._fill_pairs(panel, pieces)

    def _fill_matrices(self, panel: Any, pieces: list[Any]) -> None:
        """16 bits: stmatrix of four 8x8 matrices, 16 rows by 16 columns; lanes 8q .. 8q + 7 give the rows of matrix
        q."""
        thread = self.rewriter.lane.number
        lane, row = indexing.rem(thread, LANES), indexing.rem(thread, ROWS)
        lower = indexing.mul(indexing.rem(indexing.div(lane, ROWS), 2), ROWS)
        first = indexing.add(indexing.mul(indexing.div(thread, LANES), 2 * ROWS), indexing.add(lower, row))
        chunk = _xor(indexing.div(lane, 2 * ROWS), self._moves(row))
        own = indexing.add(indexing.mul(first, self._row_bytes), indexing.mul(chunk, CHUNK))
        nvvm = dialect("nvvm")
        shape = ir.Attribute.parse("#nvvm.ld_st_matrix_shape<m = 8, n = 8>")
        rows_first = ir.Attribute.parse("#nvvm.mma_layout<row>")
        for number in range(0, len(pieces), 4):
            at = indexing.add(panel, _xor(own, number // 2 * CHUNK))
            registers = [_register(piece) for piece in pieces[number : number + 4]]
            nvvm.StMatrixOp(shared_address.pointer(at), registers, rows_first, shape, nvvm.LdStMatrixEltType.B16)

    def _fill_pairs(self, panel: Any, pieces: list[Any]) -> None:
        """32 bits: each thread stores its two neighbours."""
        thread = self.rewriter.lane.number
        row, lane = self.rewriter.lane.row, indexing.rem(thread, 4)
        chunk = _xor(indexing.div(lane, 2), self._moves(row))
        rest = indexing.add(indexing.mul(row, self._row_bytes), indexing.mul(indexing.rem(lane, 2), CHUNK // 2))
        own = indexing.add(rest, indexing.mul(chunk, CHUNK))
        for number, piece in enumerate(pieces):
            fragment, lower = divmod(number, 2)
            at = indexing.add(panel, _xor(own, fragment * 2 * CHUNK))
            at = indexing.add(at, lower * ROWS * self._row_bytes)
            dialect("llvm").StoreOp(piece, shared_address.pointer(at), alignment=CHUNK // 2)


def _meet(unit: Any) -> None:
    """A barrier of the warpgroup's threads."""
    number = indexing.as_i32(indexing.add(unit, FIRST_BARRIER))
    dialect("nvvm").BarrierOp(barrierId=number, numberOfThreads=indexing.as_i32(constants.index(GROUP)))


def _xor(left: Any, right: Any) -> Any:
    if isinstance(right, int):
        if not right:
            return left
        right = constants.index(right)
    return dialect("arith").XOrIOp(left, right).result


def _register(piece: Any) -> Any:
    """Two elements of 16 bits as one number."""
    vector, i32 = dialect("vector"), ir.IntegerType.get_signless(32)
    whole = vector.BitCastOp(ir.VectorType.get([1], i32), piece).result
    return vector.ExtractOp(whole, [], [0]).result
