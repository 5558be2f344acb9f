"""Rewriting a kernel of rows from tiles of a block to the pieces of a thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect import constants, guards, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.grid_exchange import FIXED
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import in_shared
from mlir_gemm.dialect.walk import body, in_block, named, parents, users
from mlir_gemm.lowering.access import guarded
from mlir_gemm.lowering.cluster_exchange import MEETING
from mlir_gemm.lowering.common_division import Divisor
from mlir_gemm.lowering.grid_reduction import GridReduction
from mlir_gemm.lowering.layouts import Lane, Layout
from mlir_gemm.lowering.row_ends import clipped
from mlir_gemm.lowering.row_pieces import (
    RowAccess,
    Threads,
    is_tile,
    shape_of,
)
from mlir_gemm.lowering.row_reduction import RowReduction
from mlir_gemm.spec.attributes import COOPERATIVE

ROUNDED = 16
"""Bits of the numbers to which a quotient is rounded of which the last bits do not matter."""


@dataclass
class RowRewriter:
    """Rewrites the operations of a kernel one after another."""

    threads: Threads
    pieces: dict[Any, list[Any]] = field(default_factory=dict[Any, list[Any]])
    """What the running thread holds of each tile: its piece of each fragment, row by row."""
    narrow: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """Of tiles that say for each element what its row, or column, has in common: the tile of that."""
    old: list[Any] = field(default_factory=list[Any])

    def rewrite(self, block: Any) -> None:
        """Rewrites the operations of a block."""
        for operation in in_block(block):
            op = operation.operation
            if any(is_tile(value) for value in [*op.operands, *op.results]):
                with ir.InsertionPoint(op), op.location:
                    self._one(op)
            elif op.name not in ("tile.reduce", "tile.grid_reduce"):
                for region in op.regions:
                    for inner in region.blocks:
                        self.rewrite(inner)

    def erase_old(self) -> None:
        """Erases what was replaced, users first."""
        for op in reversed(self.old):
            op.erase()

    def _one(self, op: Any) -> None:
        if op.name == "scf.yield":
            return
        self.old.append(op)
        makers: dict[str, Callable[[Any], None]] = {
            "tile.load": self._load,
            "tile.store": self._store,
            "tile.clip": self._clip,
            "tile.reduce": self._reduce,
            "tile.grid_reduce": self._grid_reduce,
            "vector.broadcast": self._broadcast,
            "arith.constant": self._constant,
            "scf.for": self._loop,
            "scf.if": self._if,
        }
        if op.name in makers:
            makers[op.name](op)
        elif op.name.startswith(("arith.", "math.")):
            self._compute(op)
        else:
            raise pass_error(op, f"'{op.name}' on a tile of a kernel of rows is not supported")

    def _layout(self, value: Any) -> Layout:
        shape = shape_of(value.type)
        layout = self.threads.layout(shape)
        if any(size % part for size, part in zip(shape, layout.shape, strict=True)):
            rows, columns = self.threads.fragment
            wanted = f"multiples of {rows} rows and {columns} columns, or 1"
            raise pass_error(value.owner, f"a tile of {value.type} for {self.threads.count} threads; expected {wanted}")
        return layout

    def _of(self, op: Any, value: Any) -> tuple[Layout, Lane]:
        """How an access's tile is divided, and where the running thread's piece lies."""
        shape, vector = shape_of(value.type), constants.number_of(op, tile.FLAT)
        if not vector:
            return self._layout(value), self.threads.lane(shape)
        threads = self.threads.side_by_side(vector)
        if shape[1] % threads.fragment[1]:
            raise pass_error(op, f"a tile of {value.type} for {threads.count} threads with {vector} elements each; "
                             f"expected a multiple of {threads.fragment[1]} columns")  # fmt: skip
        return threads.layout(shape), threads.lane(shape)

    def _load(self, op: Any) -> None:
        value, shape = op.results[0], shape_of(op.results[0].type)
        layout, lane = self._of(op, value)
        if tile.FLAT in op.attributes and in_shared(op.operands[0]):
            dialect("gpu").BarrierOp()
        access = RowAccess(op, layout, lane)
        self.pieces[value] = [access.load(number) for number in range(layout.count(shape))]

    def _store(self, op: Any) -> None:
        value, shape = op.operands[0], shape_of(op.operands[0].type)
        access = RowAccess(op, *self._of(op, value))

        def store() -> None:
            for number, piece in enumerate(self.pieces[value]):
                each = access.store(number)
                with guarded(each.outer):
                    each.emit(piece)

        alone = None if tile.FLAT in op.attributes else self._alone(shape)
        if alone is not None:
            self._wait_for_loads(op)
        guards.do(alone, store)
        if tile.FLAT in op.attributes and in_shared(op.operands[1]):
            dialect("gpu").BarrierOp()

    def _wait_for_loads(self, op: Any) -> None:
        """Before one thread writes a value that several threads share, the others must have loaded it."""
        kernel = next(parent for parent in parents(op) if parent.operation.name == "gpu.func")
        if not any(load.operands[0] == op.operands[1] for load in named(kernel, "tile.load")):
            return
        if COOPERATIVE in kernel.operation.attributes:
            raise pass_error(op, "a value of each row that is read and written, where blocks of the grid share rows; "
                             "expected grid=0")  # fmt: skip
        if not named(kernel, MEETING):
            dialect("gpu").BarrierOp()
            return
        nvvm = dialect("nvvm")
        nvvm.ClusterArriveOp()
        nvvm.ClusterWaitOp()

    def _alone(self, shape: tuple[int, int]) -> Any:
        """Whether the running thread is the first of those that hold the same piece; None where it is the only one."""
        arith, threads = dialect("arith"), self.threads
        columns, rows = (threads.column, shape[1], threads.across), (threads.row, shape[0], threads.groups)
        same = [place for place, size, count in (columns, rows) if size == 1 and count > 1]
        zero = constants.index(0)
        return guards.both([arith.CmpIOp(arith.CmpIPredicate.eq, place, zero).result for place in same])

    def _constant(self, op: Any) -> None:
        value = op.results[0]
        element = constants.splat_of(value)
        if element is None:
            raise pass_error(op, "a constant tile that is not the same everywhere is not supported here")
        layout = self._layout(value)
        piece = constants.splat(layout.piece_type(value.type.element_type), element)
        self.pieces[value] = [piece] * layout.count(shape_of(value.type))

    def _broadcast(self, op: Any) -> None:
        source, value = op.operands[0], op.results[0]
        layout, shape = self._layout(value), shape_of(value.type)
        type_, count = layout.piece_type(value.type.element_type), layout.count(shape)
        vector = dialect("vector")
        if not is_tile(source):
            self.pieces[value] = [vector.BroadcastOp(type_, source).result] * count
            return
        given, before = self.pieces[source], shape_of(source.type)
        self.narrow[value] = source
        down, along = layout.grid(shape)
        if before == shape:
            self.pieces[value] = given
        elif before[1] == 1 and before[0] == shape[0]:
            wide = [vector.BroadcastOp(type_, vector.ExtractOp(piece, [], [0]).result).result for piece in given]
            self.pieces[value] = [wide[row] for row in range(down) for _ in range(along)]
        elif before[0] == 1 and before[1] == shape[1]:
            self.pieces[value] = given * down
        else:
            raise pass_error(op, f"a broadcast of {source.type} to {value.type}; expected one row, or one column")

    def _compute(self, op: Any) -> None:
        """An elementwise operation on each piece; what was computed for equal pieces is not repeated."""
        value = op.results[0]
        layout = self._layout(value)
        if op.name == "arith.divf" and str(value.type.element_type) == "f32":
            constant = constants.splat_of(op.operands[1])
            divisor = constant and Divisor.constant(constant.value, layout.piece_type(value.type.element_type))
            if divisor is not None:
                self.pieces[value] = [divisor.under(piece, _is_rounded(value)) for piece in self.pieces[op.operands[0]]]
                return
            if op.operands[1] in self.narrow:
                self._divide(op)
                return
        types = [layout.piece_type(result.type.element_type) for result in op.results]
        known: dict[tuple[Any, ...], Any] = {}
        made: list[Any] = []
        for number in range(layout.count(shape_of(value.type))):
            operands = tuple(self.pieces[each][number] if is_tile(each) else each for each in op.operands)
            if operands not in known:
                known[operands] = ir.Operation.create(
                    op.name, results=types, operands=list(operands), attributes=attributes_of(op)
                )
            made.append(known[operands])
        for place, result in enumerate(op.results):
            self.pieces[result] = [each.results[place] for each in made]

    def _divide(self, op: Any) -> None:
        """A division by a value of the whole row: by its reciprocal, computed once for each row."""
        value, divisor = op.operands
        narrow = self.narrow[divisor]
        rounded = _is_rounded(op.results[0])
        divisors = {piece: Divisor.of(piece) for piece in dict.fromkeys(self.pieces[narrow])}
        per = len(self.pieces[divisor]) // len(self.pieces[narrow])
        made: list[Any] = []
        spread: dict[Any, Divisor] = {}
        for number, (piece, by) in enumerate(zip(self.pieces[value], self.pieces[divisor], strict=True)):
            row = shape_of(narrow.type)[1] == 1
            own = self.pieces[narrow][number // per if row else number % len(self.pieces[narrow])]
            if by not in spread:
                spread[by] = divisors[own].spread(by.type)
            made.append(spread[by].under(piece, rounded))
        self.pieces[op.results[0]] = made

    def _reduce(self, op: Any) -> None:
        for value in op.operands:
            self._layout(value)
        found = RowReduction(op, self.threads).emit([self.pieces[value] for value in op.operands])
        for result, pieces in zip(op.results, found, strict=True):
            self.pieces[result] = pieces

    def _grid_reduce(self, op: Any) -> None:
        values = list(op.operands)[FIXED:]
        if any(len(self.pieces[value]) != value.type.shape[0] for value in values):
            raise pass_error(
                op, "rows that threads of several groups have; expected all threads of a block side by side"
            )
        found = GridReduction(op, self.threads.count).emit([self.pieces[value] for value in values])
        for result, pieces in zip(op.results, found, strict=True):
            self.pieces[result] = pieces

    def _clip(self, op: Any) -> None:
        value, offset, size = op.operands
        layout, shape = self._layout(value), shape_of(value.type)
        dim = ir.IntegerAttr(op.attributes["dim"]).value
        element = value.type.element_type
        neutral = op.attributes["neutral"] if "neutral" in op.attributes else constants.zero_of(element)
        lane, across = self.threads.lane(shape), bool(dim)
        made: list[Any] = []
        for number, piece in enumerate(self.pieces[value]):
            row, column = layout.place(number, shape)
            at = (offset, column, lane.column) if across else (offset, row, lane.row)
            made.append(clipped(piece, neutral, at, size, layout, across))
        self.pieces[op.results[0]] = made

    def _loop(self, op: Any) -> None:
        """Rebuilds an scf.for that carries tiles to carry their pieces."""
        bounds, starts = list(op.operands)[:3], list(op.operands)[3:]
        new = dialect("scf").ForOp(*bounds, [each for value in starts for each in self._flat(value)])
        for name, attribute in attributes_of(op).items():
            new.operation.attributes[name] = attribute
        old = body(op)
        self._bind(list(old.arguments)[1:], list(new.body.arguments)[1:])
        old.arguments[0].replace_all_uses_with(new.body.arguments[0])
        for operation in in_block(old):
            new.body.append(operation)
        self.rewrite(new.body)
        last = in_block(new.body)[-1].operation
        with ir.InsertionPoint(last), last.location:
            dialect("scf").YieldOp([each for value in last.operands for each in self._flat(value)])
        last.erase()
        self._bind(list(op.results), list(new.results))

    def _if(self, op: Any) -> None:
        """Rebuilds an scf.if that gives tiles to give their pieces."""
        types = [type_ for value in op.results for type_ in self._types(value)]
        new = dialect("scf").IfOp(op.operands[0], types, has_else=True)
        for old, block in zip(op.regions, (new.then_block, new.else_block), strict=True):
            for operation in in_block(old.blocks[0]):
                block.append(operation)
            self.rewrite(block)
            last = in_block(block)[-1].operation
            with ir.InsertionPoint(last), last.location:
                dialect("scf").YieldOp([each for value in last.operands for each in self._flat(value)])
            last.erase()
        self._bind(list(op.results), list(new.results))

    def _types(self, value: Any) -> list[Any]:
        """The types of a thread's pieces of a tile, or of another value."""
        if not is_tile(value):
            return [value.type]
        layout = self._layout(value)
        return [layout.piece_type(value.type.element_type)] * layout.count(shape_of(value.type))

    def _flat(self, value: Any) -> list[Any]:
        return self.pieces[value] if is_tile(value) else [value]

    def _bind(self, old: list[Any], new: list[Any]) -> None:
        for value in old:
            if is_tile(value):
                count = self._layout(value).count(shape_of(value.type))
                self.pieces[value], new = new[:count], new[count:]
            else:
                value.replace_all_uses_with(new.pop(0))


def _is_rounded(value: Any) -> bool:
    """Whether nothing is made of a value but numbers of 16 bits."""
    return all(
        user.name == "arith.truncf" and user.results[0].type.element_type.width == ROUNDED for user in users(value)
    )
