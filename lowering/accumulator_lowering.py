"""Rewriting the accumulator's flow in a kernel from tiles of a warp to vectors of a lane.

`lowering/fragments.py` keeps what lanes hold; `lowering/elementwise_run.py` emits arithmetic and accesses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.accumulator_flow import flow_from, is_elementwise, separate_constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.stores import STORES
from mlir_gemm.dialect.walk import body, in_block, named, users
from mlir_gemm.lowering import dsmem_reduction, stream_k_fixup
from mlir_gemm.lowering.elementwise_run import ElementwiseRun
from mlir_gemm.lowering.fragments import Fragments, shape_of
from mlir_gemm.lowering.layouts import Layout, WarpgroupLayout
from mlir_gemm.lowering.memory_order import check_order, sink_starts
from mlir_gemm.spec.attributes import SCOPE

Emit = Callable[[Fragments, list[Any]], None]
"""Emits the products of a run: tile.mma operations between which nothing happens. Gives each result its vectors."""

Wait = Callable[[list[Any], int], list[Any]]
"""Waits until at most this many products are in flight. Takes the registers of an accumulator, and gives those that
hold it after the wait."""

PURE = ("memref.subview", "memref.dim", "affine.apply", "tile.unit_id", "tile.advance", "gpu.thread_id", "gpu.block_id")
"""Operations besides arith and math that may be moved above a run of products."""


def lower_products(kernel: Any, layout: Layout, emit: Emit, wait: Wait | None = None) -> None:
    """Rewrites everything that the products of a gpu.func flow through, the products by `emit`, waits by `wait`."""
    accesses = [op for op in named(kernel, "tile.load", *STORES) if SCOPE in op.operation.attributes]
    values = [op.operands[0] if op.operation.name in STORES else op.operation.results[0] for op in accesses]
    products = [op.operation.results[0] for op in named(kernel, "tile.mma", "tile.dsmem_reduce")]
    separate_constants([*products, *values])
    flow = flow_from([*products, *values], shared=False)
    for value in flow:
        _check(kernel, value, layout)
    check_order(accesses)
    sink_starts(kernel, flow)
    with ir.InsertionPoint(in_block(body(kernel))[0]), kernel.location:
        lane = layout.lane()
        entry = constants.index(0).owner
        rewriter = Rewriter(layout=layout, flow=flow, lane=lane, entry=entry, emit=emit, wait=wait)
    rewriter.rewrite(body(kernel))
    rewriter.erase_old()
    entry.erase()


def _check(kernel: Any, value: Any, layout: Layout) -> None:
    """Refuses a vector that does not divide into fragments, or comes from where its lanes' parts are not known."""
    shape = list(value.type.shape)
    owner = value.owner
    maker = owner.owner.operation if hasattr(owner, "operations") else owner.operation
    if len(shape) != 2 or shape[0] % layout.shape[0] or shape[1] % layout.shape[1]:
        raise pass_error(
            maker,
            f"a warp tile of {value.type}; this mma needs matrices of multiples of {layout.shape[0]} x "
            f"{layout.shape[1]} elements",
        )
    known = maker.name in (
        "arith.constant",
        "scf.for",
        "tile.mma",
        "tile.mma_wait",
        "tile.dsmem_reduce",
        "tile.fix_up",
        "vector.broadcast",
    ) or is_elementwise(maker)
    if not known and (maker.name != "tile.load" or SCOPE not in maker.attributes):
        raise pass_error(maker, f"'{maker.name}' makes a tile that flows into warp tiles; that is not supported")


@dataclass(kw_only=True)
class Rewriter(Fragments):
    """Rewrites the operations of a kernel one after another."""

    emit: Emit
    wait: Wait | None = None
    old: list[Any] = field(default_factory=list[Any])

    def rewrite(self, block: Any) -> None:
        """Rewrites the operations of a block. Arithmetic and accesses that follow each other make one run,
        consecutive products another; a run is emitted at the next operation of another kind."""
        run, products = ElementwiseRun(self), list[Any]()
        for operation in in_block(block):
            op = operation.operation
            member = self._is_member(op)
            if op.name == "tile.mma" or (not member and not self._is_pure(op)):
                run = self._finish(run, op)
            if products and op.name != "tile.mma" and (member or not self._is_pure(op)):
                self._multiply(products)
                products = []
            if member:
                if run.must_end_before(op):
                    run = self._finish(run, op)
                run.add(op)
                self.old.append(op)
            elif op.name == "tile.mma":
                products.append(op)
                self.old.append(op)
            elif products and self._is_pure(op):
                op.move_before(products[0])
            else:
                with ir.InsertionPoint(op), op.location:
                    self._other(op)
        if run.operations:  # the block has no terminator
            with ir.InsertionPoint(block), run.operations[0].location:
                run.emit()

    def erase_old(self) -> None:
        """Erases what was replaced, users first. Not earlier: a new value may take the address of an erased one, and
        would then be mistaken for it."""
        for op in reversed(self.old):
            # A copy may use the same constant, or the same number for all elements.
            if op.name not in ("arith.constant", "vector.broadcast") or not users(op.results[0]):
                op.erase()

    def _finish(self, run: ElementwiseRun, before: Any) -> ElementwiseRun:
        if not run.operations:
            return run
        with ir.InsertionPoint(before), run.operations[0].location:
            run.emit()
        return ElementwiseRun(self)

    def _multiply(self, products: list[Any]) -> None:
        with ir.InsertionPoint(products[0]), products[0].location:
            self.emit(self, products)

    def _concerns(self, op: Any) -> bool:
        return any(value in self.flow for value in [*op.operands, *op.results])

    def _is_member(self, op: Any) -> bool:
        """Whether an operation works on pieces."""
        if op.name in ("tile.load", *STORES):
            return SCOPE in op.attributes
        return is_elementwise(op) and self._concerns(op)

    def _is_pure(self, op: Any) -> bool:
        """Whether a run may be moved past an operation."""
        plain = op.name.startswith(("arith.", "math.")) or op.name in PURE
        return plain and not self._concerns(op)

    def _other(self, op: Any) -> None:
        if op.name == "scf.yield" or not self._concerns(op):
            for region in op.regions:
                for block in region.blocks:
                    self.rewrite(block)
            return
        makers = {
            "scf.for": self._loop,
            "arith.constant": self._constant,
            "vector.broadcast": self._broadcast,
            "tile.mma_wait": self._wait,
            "tile.dsmem_reduce": self._dsmem_reduce,
            "tile.store_partials": self._store_partials,
            "tile.fix_up": self._fix_up,
        }
        if op.name not in makers:
            raise pass_error(op, f"'{op.name}' on a tile that is kept in registers is not supported")
        self.old.append(op)  # before what is inside it: erasing goes backwards, users first
        makers[op.name](op)

    def _constant(self, op: Any) -> None:
        value = op.results[0]
        element = constants.splat_of(value)
        if element is None:
            raise pass_error(op, "a constant matrix that is not the same everywhere is not supported here")
        self._everywhere(value, lambda type_: constants.splat(type_, element))

    def _broadcast(self, op: Any) -> None:
        source = op.operands[0]
        if isinstance(source.type, ir.VectorType):
            raise pass_error(op, f"a broadcast of {source.type}; expected one of a number")
        self._everywhere(op.results[0], lambda type_: dialect("vector").BroadcastOp(type_, source).result)

    def _wait(self, op: Any) -> None:
        assert self.wait is not None
        self.kept[op.results[0]] = self.wait(self.keep(op.operands[0]), ir.IntegerAttr(op.attributes["pending"]).value)

    def _dsmem_reduce(self, op: Any) -> None:
        pieces = self._all_pieces(op.operands[0])
        self.pieces[op.results[0]] = dsmem_reduction.emit(op, pieces, self.layout, self.lane.number)

    def _store_partials(self, op: Any) -> None:
        stream_k_fixup.store_partials(op, self._all_pieces(op.operands[0]), self.layout, self.lane.number)

    def _fix_up(self, op: Any) -> None:
        pieces = self._all_pieces(op.operands[0])
        self.pieces[op.results[0]] = stream_k_fixup.fix_up(op, pieces, self.layout, self.lane.number)

    def _all_pieces(self, value: Any) -> list[Any]:
        return [self.piece(value, number) for number in range(self.count(value))]

    def _everywhere(self, value: Any, make: Callable[[Any], Any]) -> None:
        """A tile all of whose elements are the same."""
        element = value.type.element_type
        self.pieces[value] = [make(self.layout.piece_type(element))] * self.count(value)
        if not isinstance(self.layout, WarpgroupLayout):
            self.kept[value] = [make(self.layout.kept_type(element))] * self.layout.kept_count(shape_of(value))

    def _loop(self, op: Any) -> None:
        """Rebuilds an scf.for that carries tiles to carry what they are kept in."""
        *bounds, start = list(op.operands)[:3], list(op.operands)[3:]
        inits = [vector for value in start for vector in self._flat(value)]
        new = dialect("scf").ForOp(*bounds[0], inits)
        for name, attribute in attributes_of(op).items():
            new.operation.attributes[name] = attribute
        old = body(op)
        self._bind(old.arguments[1:], list(new.body.arguments)[1:])
        old.arguments[0].replace_all_uses_with(new.body.arguments[0])
        for operation in in_block(old):
            new.body.append(operation)
        self.rewrite(new.body)
        terminator = in_block(new.body)[-1].operation
        with ir.InsertionPoint(terminator), terminator.location:
            dialect("scf").YieldOp([vector for value in terminator.operands for vector in self._flat(value)])
        terminator.erase()
        self._bind(op.results, list(new.results))

    def _flat(self, value: Any) -> list[Any]:
        return self.keep(value) if value in self.flow else [value]

    def _bind(self, old: Any, new: list[Any]) -> None:
        """Gives each old loop value its share of the new ones."""
        for value in old:
            if value not in self.flow:
                value.replace_all_uses_with(new.pop(0))
                continue
            number = self.layout.kept_count(shape_of(value))
            self.kept[value], new = new[:number], new[number:]
