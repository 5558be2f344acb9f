"""Arithmetic on accumulators, and accesses to memory, that follow each other in one block: emitted piece by piece."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect import tile
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.stores import STORES
from mlir_gemm.dialect.walk import users
from mlir_gemm.lowering.access import LaneAccess, PieceStore, guarded
from mlir_gemm.lowering.fragments import Fragments
from mlir_gemm.lowering.memory_order import root_of
from mlir_gemm.lowering.panel_loads import PanelLoads, is_panels
from mlir_gemm.lowering.tma_store import TmaStores
from mlir_gemm.lowering.unaligned_store import UnalignedStores


@dataclass
class ElementwiseRun:
    """Elementwise operations, tile.load and tile.store of a warp, in order.

    Row of fragments by row, everything is loaded, computed and stored, and the loads of the next row come before the
    stores of this one. Loading everything first would take registers for whole tiles; going piece by piece would wait
    for each load, since no load is moved past a store.
    """

    fragments: Fragments
    operations: list[Any] = field(default_factory=list[Any])
    _accesses: dict[Any, LaneAccess] = field(default_factory=dict[Any, LaneAccess])
    _panels: dict[Any, PanelLoads] = field(default_factory=dict[Any, PanelLoads])
    _values: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """Pieces by tile and number, and by the operation and the pieces that it was applied to."""

    def add(self, op: Any) -> None:
        """Adds an operation to the run."""
        self.operations.append(op)

    def must_end_before(self, op: Any) -> bool:
        """Whether the run must end before an operation: it accesses memory that the run stores to, or has another
        shape."""
        if self.operations and _shape(op) != _shape(self.operations[0]):
            return True
        if op.name not in ("tile.load", *STORES):
            return False
        root = root_of(tile.memory_of(op))
        stores = [store for store in self.operations if store.name in STORES]
        if op.name in STORES and tile.is_apart(op):
            return False
        return any(root_of(tile.memory_of(store)) == root for store in stores)

    def emit(self) -> None:
        """Emits the run at the insertion point, and leaves the pieces of what is used after it."""
        fragments = self.fragments
        shape = _shape(self.operations[0])
        for op in self.operations:
            if op.name == "tile.load" and is_panels(tile.memory_of(op)):
                self._panels[op] = PanelLoads(op, fragments.layout, fragments.lane)
            elif op.name in ("tile.load", "tile.store"):
                self._accesses[op] = LaneAccess(op, fragments.layout, fragments.lane)
        staged = TmaStores.of(self.operations, fragments) or UnalignedStores.of(self.operations, fragments)
        chunks = fragments.layout.chunks(shape, staged.columns if staged else None)
        self._load_all(chunks[0])
        for numbers, following in zip(chunks, [*chunks[1:], range(0)], strict=True):
            self._compute_all(numbers)
            self._load_all(following)
            self._store_all(numbers)
            if staged:
                staged.emit(numbers, len(chunks), self._piece)
        members = dict.fromkeys(self.operations)
        for value in [value for op in self.operations for value in op.results]:
            if any(user not in members for user in users(value)):
                every = range(fragments.layout.count(shape))
                fragments.pieces[value] = [self._values[value, number] for number in every]

    def _load_all(self, numbers: range) -> None:
        for op in self.operations:
            if op.name == "tile.load" and users(op.results[0]):
                access = self._panels.get(op) or self._accesses[op]
                with op.location:
                    for number in numbers:
                        self._values[op.results[0], number] = access.load(number)

    def _compute_all(self, numbers: range) -> None:
        for op in self.operations:
            if op.name not in ("tile.load", *STORES) and any(users(value) for value in op.results):
                with op.location:
                    for number in numbers:
                        self._compute(op, number)

    def _store_all(self, numbers: range) -> None:
        for op in self.operations:
            if op.name == "tile.store":
                with op.location:
                    self._store(op, numbers)

    def _piece(self, value: Any, number: int) -> Any:
        if value not in self.fragments.flow:
            return value  # a number, such as the condition of a select
        if (value, number) not in self._values:
            self._values[value, number] = self.fragments.piece(value, number)
        return self._values[value, number]

    def _compute(self, op: Any, number: int) -> None:
        """One elementwise operation on one piece; what was already computed, of a broadcast tile, is not repeated."""
        operands = [self._piece(value, number) for value in op.operands]
        key = (op, *operands)
        if key not in self._values:
            types = [self.fragments.layout.piece_type(result.type.element_type) for result in op.results]
            self._values[key] = ir.Operation.create(
                op.name, results=types, operands=operands, attributes=attributes_of(op)
            )
        for old, new in zip(op.results, self._values[key].results, strict=True):
            self._values[old, number] = new

    def _store(self, op: Any, numbers: range) -> None:
        """Stores pieces; those of a row under one condition."""
        value = op.operands[0]
        rows: dict[Any, list[tuple[PieceStore, Any]]] = {}
        for number in numbers:
            store = self._accesses[op].store(number)
            rows.setdefault(store.outer, []).append((store, self._piece(value, number)))
        for outer, stores in rows.items():
            with guarded(outer):
                for store, piece in stores:
                    store.emit(piece)


def _shape(op: Any) -> tuple[int, int]:
    vectors = [value for value in [*op.operands, *op.results] if isinstance(value.type, ir.VectorType)]
    rows, columns = vectors[0].type.shape
    return rows, columns
