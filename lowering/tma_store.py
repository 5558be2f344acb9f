"""Stores of warpgroup tiles by the copy engine: registers to a panel in shared memory, and from there in one piece.

Each warpgroup has two buffers for 64 rows of its tile for each memory that it stores to, takes them in turn, and waits
before it fills one until the engine has read what was there. A buffer is one panel of rows of 128 or 64 bytes, or
two of 32, one after the other, of which the last of a tile may be missing. The rows of a panel are those of the memory:
of the tile, or, where the memory's rows run down the tile, its columns, with the matrices transposed on their way. The
16-byte chunks of a row change places by XOR with bits of the row's number, as the engine undoes it, so that no two
lanes meet in a bank (`swizzle128`, `swizzle64`, `swizzle32`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants, indexing, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.stores import is_transposed
from mlir_gemm.lowering import shared_address
from mlir_gemm.lowering.access import register_of
from mlir_gemm.lowering.fragments import Fragments
from mlir_gemm.lowering.named_barriers import sync_warpgroup
from mlir_gemm.spec.threads import LANES, WARPGROUP

ROWS, CHUNK, LINE, BUFFERS = 8, 16, 128, 2
"""Rows of a matrix, bytes of a chunk of a row and of a line of shared memory, panels in turn."""


@dataclass
class TmaStores:
    """All tile.tma_store of a group of operations."""

    stores: list[Any]
    fragments: Fragments
    shape: tuple[int, int]
    chunk: int = 0
    """The number of the next chunk."""

    @staticmethod
    def of(operations: list[Any], fragments: Fragments) -> TmaStores | None:
        """Those among some operations; None where there are none."""
        stores = [op for op in operations if op.name == "tile.tma_store"]
        if not stores:
            return None
        stores.sort(key=is_transposed)  # those that take turns with one buffer: the tile's own place first
        rows, columns = stores[0].operands[0].type.shape
        return TmaStores(stores, fragments, (rows, columns))

    @property
    def columns(self) -> int:
        """Columns of the tile that a buffer holds."""
        store = self.stores[0]
        return store.operands[2].type.shape[1 if is_transposed(store) else 2]

    @staticmethod
    def _row_bytes(store: Any) -> int:
        """Bytes of a row of a panel."""
        return shared_address.panel_bytes(store.operands[2])

    def _size(self, store: Any) -> int:
        """Bytes of a panel."""
        return store.operands[2].type.shape[1] * self._row_bytes(store)

    def _moves(self, store: Any, row: Any) -> Any:
        """What the chunks of a row are moved by: the bits of its number that lie above a line of 128 bytes."""
        width = self._row_bytes(store)
        return indexing.rem(indexing.div(row, LINE // width), width // CHUNK)

    def emit(self, numbers: range, chunks: int, piece: Callable[[Any, int], Any]) -> None:
        """Stores one of the tile's chunks, 64 rows of some panels; `piece` gives a thread's piece of a tile by its
        number. A tile that is stored at two places goes through the same buffers twice, one after the other."""
        layout = self.fragments.layout
        unit = indexing.div(indexing.thread(), WARPGROUP)
        for store in self.stores:
            self._wait_for_panels(chunks * len(self.stores), unit)
            panel = self._panel(store, unit)
            with store.location:
                self._fill(store, panel, [piece(store.operands[0], number) for number in numbers])
            nvvm = dialect("nvvm")
            nvvm.FenceProxyOp(nvvm.ProxyKind.async_shared, space=nvvm.SharedSpace.shared_cta)
            sync_warpgroup(unit)
            branch = self._first_thread()
            with ir.InsertionPoint(branch.then_block):
                down, along = layout.place(numbers[0], self.shape)
                for number in range(self._panels(store, numbers)):
                    further = number * self._row_bytes(store) * 8 // _width(store)
                    at = (down + further, along) if is_transposed(store) else (down, along + further)
                    self._send(store, indexing.add(panel, number * self._size(store)), at)
                nvvm.CpAsyncBulkCommitGroupOp()
                dialect("scf").YieldOp([])
            self.chunk += 1

    def _panels(self, store: Any, numbers: range) -> int:
        """Panels that this many pieces of a thread fill: a row of a fragment for each two of them, in 64 rows."""
        layout = self.fragments.layout
        if is_transposed(store):
            return layout.shape[0] * _width(store) // 8 // self._row_bytes(store)
        columns = len(numbers) // len(layout.rows) * layout.shape[1]
        return columns * _width(store) // 8 // self._row_bytes(store)

    def _send(self, store: Any, panel: Any, at: tuple[int, int]) -> None:
        """Starts the copy of a panel to so many rows and columns beyond where the tile lies."""
        place = tile.place_of(store)
        moved = {-1: 0, 0: at[0], 1: at[1]}
        offsets = [indexing.add(offset, moved[dim]) for offset, dim in zip(place.offsets, place.dims, strict=True)]
        corner = [indexing.as_i32(offset) for offset in reversed(offsets)]
        pointer = shared_address.pointer(panel)
        dialect("nvvm").CpAsyncBulkTensorSharedCTAToGlobalOp(store.operands[1], pointer, corner)

    def _wait_for_panels(self, chunks: int, unit: Any) -> None:
        """Waits until the panels that come next have been read: those in front of the last ones, or, where a tile of
        an odd number of chunks starts with the panels that the tile before ended with, all."""
        again = self.chunk == 0 and chunks % BUFFERS
        branch = self._first_thread()
        with ir.InsertionPoint(branch.then_block):
            dialect("nvvm").CpAsyncBulkWaitGroupOp(0 if again else BUFFERS - 1, read=True)
            dialect("scf").YieldOp([])
        sync_warpgroup(unit)

    def _first_thread(self) -> Any:
        arith = dialect("arith")
        first = arith.CmpIOp(arith.CmpIPredicate.eq, self.fragments.lane.number, constants.index(0)).result
        return dialect("scf").IfOp(first)

    def _panel(self, store: Any, unit: Any) -> Any:
        """Where the next buffer starts, in bytes."""
        staging = store.operands[2]
        number = indexing.add(indexing.mul(unit, BUFFERS), self.chunk % BUFFERS)
        *_, rows, columns = staging.type.shape
        size = rows * columns * staging.type.element_type.width // 8
        return indexing.add(shared_address.base(staging), indexing.mul(number, size))

    def _fill(self, store: Any, panel: Any, pieces: list[Any]) -> None:
        if is_transposed(store) and self.fragments.layout.in_matrices:
            self._fill_transposed(store, panel, pieces)
        elif is_transposed(store):
            self._fill_elements(store, panel, pieces)
        elif pieces[0].type.element_type.width == 16:
            self._fill_matrices(store, panel, pieces)
        else:
            self._fill_pairs(store, panel, pieces)

    def _fill_matrices(self, store: Any, panel: Any, pieces: list[Any]) -> None:
        """16 bits: stmatrix of four 8x8 matrices, 16 rows by 16 columns; lanes 8q .. 8q + 7 give the rows of matrix
        q."""
        thread = self.fragments.lane.number
        lane, row = indexing.rem(thread, LANES), indexing.rem(thread, ROWS)
        lower = indexing.rem(indexing.div(lane, ROWS), 2)
        first, row = self.fragments.layout.matrix_row(row, lower, indexing.div(thread, LANES))
        chunk = _xor(indexing.div(lane, 2 * ROWS), self._moves(store, row))
        own = indexing.add(indexing.mul(first, self._row_bytes(store)), indexing.mul(chunk, CHUNK))
        for number in range(0, len(pieces), 4):
            beyond, inside = divmod(number // 2 * CHUNK, self._row_bytes(store))
            at = indexing.add(indexing.add(panel, _xor(own, inside)), beyond * self._size(store))
            _store_matrices(at, pieces[number : number + 4], "row")

    def _fill_transposed(self, store: Any, panel: Any, pieces: list[Any]) -> None:
        """The same, each matrix transposed: matrix q lies at 8 columns of the tile, q // 2 from the first on, and at
        the upper or the lower 8 of the warp's 16 rows."""
        thread = self.fragments.lane.number
        lane, column = indexing.rem(thread, LANES), indexing.rem(thread, ROWS)
        lower = indexing.rem(indexing.div(lane, ROWS), 2)
        first = indexing.add(indexing.mul(indexing.div(lane, 2 * ROWS), ROWS), column)
        chunk = _xor(indexing.add(indexing.mul(indexing.div(thread, LANES), 2), lower), self._moves(store, column))
        own = indexing.add(panel, indexing.add(indexing.mul(first, self._row_bytes(store)), indexing.mul(chunk, CHUNK)))
        for number in range(0, len(pieces), 4):
            at = indexing.add(own, number // 2 * ROWS * self._row_bytes(store))
            _store_matrices(at, pieces[number : number + 4], "col")

    def _fill_elements(self, store: Any, panel: Any, pieces: list[Any]) -> None:
        """The same, element by element, where four lanes have other rows than those of a matrix."""
        layout, lane = self.fragments.layout, self.fragments.lane
        item, row_bytes = pieces[0].type.element_type.width // 8, self._row_bytes(store)
        row, further = lane.row, 0
        if layout.shape[0] * item > row_bytes:
            in_panel = row_bytes // item
            row, further = indexing.rem(row, in_panel), indexing.mul(indexing.div(row, in_panel), self._size(store))
        inside = _xor(indexing.mul(row, item), indexing.mul(self._moves(store, lane.column), CHUNK))
        own = indexing.add(indexing.mul(lane.column, row_bytes), inside)
        for number, piece in enumerate(pieces):
            fragment, lower = divmod(number, 2)
            for each in range(layout.width):
                # The next column is the next row of the panel, whose chunks are moved by one more.
                at = _xor(own, layout.rows[lower] * item ^ each * CHUNK)
                at = indexing.add(at, (fragment * layout.shape[1] + each) * row_bytes)
                element = dialect("vector").ExtractOp(piece, [], [each]).result
                pointer = shared_address.pointer(indexing.add(indexing.add(panel, at), further))
                dialect("llvm").StoreOp(element, pointer, alignment=item)

    def _fill_pairs(self, store: Any, panel: Any, pieces: list[Any]) -> None:
        """32 bits: each thread stores its two neighbours."""
        thread = self.fragments.lane.number
        row, lane = self.fragments.lane.row, indexing.rem(thread, 4)
        chunk = _xor(indexing.div(lane, 2), self._moves(store, row))
        rest = indexing.add(indexing.mul(row, self._row_bytes(store)), indexing.mul(indexing.rem(lane, 2), CHUNK // 2))
        own = indexing.add(rest, indexing.mul(chunk, CHUNK))
        for number, piece in enumerate(pieces):
            fragment, lower = divmod(number, 2)
            beyond, inside = divmod(fragment * 2 * CHUNK, self._row_bytes(store))
            down = self.fragments.layout.rows[lower]
            # Of rows that begin a line of 128 bytes each, the next one is moved by one more.
            moved = CHUNK if down % ROWS and self._row_bytes(store) == LINE else 0
            at = indexing.add(panel, _xor(own, inside ^ moved))
            at = indexing.add(at, down * self._row_bytes(store) + beyond * self._size(store))
            dialect("llvm").StoreOp(piece, shared_address.pointer(at), alignment=CHUNK // 2)


def _width(store: Any) -> int:
    """Bits of an element."""
    return store.operands[2].type.element_type.width


def _store_matrices(address: Any, pieces: list[Any], layout: str) -> None:
    """An stmatrix of one 8x8 matrix for each piece; `layout` is `row`, or `col` to transpose them."""
    nvvm = dialect("nvvm")
    shape = ir.Attribute.parse("#nvvm.ld_st_matrix_shape<m = 8, n = 8>")
    order = ir.Attribute.parse(f"#nvvm.mma_layout<{layout}>")
    registers = [register_of(piece) for piece in pieces]
    nvvm.StMatrixOp(shared_address.pointer(address), registers, order, shape, nvvm.LdStMatrixEltType.B16)


def _xor(left: Any, right: Any) -> Any:
    if isinstance(right, int):
        if not right:
            return left
        right = constants.index(right)
    return dialect("arith").XOrIOp(left, right).result
