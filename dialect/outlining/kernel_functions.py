"""Writing a kernel's module: a function on memrefs that does what operations on tensors do."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

from mlir_gemm.dialect import positions, windows
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import clone
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.outlining.buffers import Buffers
from mlir_gemm.dialect.outlining.kernels import Place
from mlir_gemm.dialect.outlining.tensors import start_of, stripped
from mlir_gemm.dialect.outlining.views import View, view_of_type


def new_function(name: str, types: Sequence[Any], where: Any, places: Sequence[Any] | None = None) -> tuple[Any, Any]:
    """A func.func with arguments of these types, and its block."""
    with where:
        function = dialect("func").FuncOp(name, (list(types), []))
    locations = list(places) if places is not None else [ir.Location.unknown()] * len(types)
    return function, function.add_entry_block(locations)


def reinterpreted(memory: Any, view: View) -> Any:
    """A memref in another view of its buffer, at the insertion point."""
    if view == view_of_type(memory.type, memory.owner):
        return memory
    if view.windows:
        return windows_of(memory, view)
    layout = ir.StridedLayoutAttr.get(view.offset, list(view.strides))
    type_ = ir.MemRefType.get(list(view.shape), memory.type.element_type, layout)
    if positions.is_position(memory):
        return positions.again(memory, type_)
    return ir.Operation.create(
        "memref.reinterpret_cast",
        results=[type_],
        operands=[memory],
        attributes={
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0, 0]),
            "static_offsets": ir.DenseI64ArrayAttr.get([view.offset]),
            "static_sizes": ir.DenseI64ArrayAttr.get(list(view.shape)),
            "static_strides": ir.DenseI64ArrayAttr.get(list(view.strides)),
        },
    ).result


def windows_of(memory: Any, view: View) -> Any:
    """A view of dense memory by windows, at the insertion point."""
    parts = view.parts or tuple(((size, stride),) for size, stride in zip(view.shape, view.strides, strict=True))
    assert view.windows is not None
    type_ = ir.MemRefType.get(list(view.shape), memory.type.element_type)
    return windows.make(memory, type_, view.windows, parts, view.offset)


class KernelFunction:
    """A kernel that is being written: operations are noted by `add`, and written by `finish`."""

    def __init__(self, outer: Any, name: str):
        self.name = name
        with ir.InsertionPoint(outer.body):
            self.module = ir.Operation.create(
                "builtin.module", attributes={"sym_name": ir.StringAttr.get(name)}, regions=1
            )
        self.module.regions[0].blocks.append()
        self.attributes: dict[str, Any] = {}
        self._touched: list[tuple[Any, str]] = []
        self._work: list[tuple[Any, Callable[[], None]]] = []
        self._memory: dict[Any, Any] = {}

    def add(self, op: Any, buffers: Buffers) -> None:
        """An operation on tensors, in these buffers."""
        if op.name == "linalg.fill":
            place = buffers.place(op.results[0])
            self._touch(place[0], "write")
            self._work.append((op.location, lambda: self._write_constant(op, place)))
            return
        generic = structured.read(op)
        places = [buffers.place_of(generic, number) for number in range(len(generic.operands))]
        inputs = len(generic.inputs)
        for place in places[:inputs]:
            if place is not None:
                self._touch(place[0], "read")
        for value in structured.read_anywhere(op):
            self._touch(buffers.place(value)[0], "read")
        if not generic.elementwise:
            for start, place in zip(generic.outputs, places[inputs:], strict=True):
                assert place is not None  # outputs are tensors
                self._start(op, start, place, buffers)
        for place in places[inputs:]:
            assert place is not None
            self._touch(place[0], _written(place))
        anywhere = [(value, buffers.place(value)) for value in structured.read_anywhere(op)]
        self._work.append((op.location, lambda: self._write(generic, places, anywhere)))

    def copy(self, source: Place, target: Place) -> None:
        """A copy of a tensor to a memref, or a part of it."""
        self._touch(source[0], "read")
        self._touch(target[0], _written(target))

        def work() -> None:
            structured.make_copy(self._seen(source), self._seen(target))

        self._work.append((ir.Location.current, work))

    def role_of(self, root: Any) -> str:
        """What the kernel does to a buffer: `in`, `out` or `inout`."""
        touches = [kind for each, kind in self._touched if each == root]
        if "write" not in touches and "part" not in touches:
            return "in"
        return "out" if touches[0] == "write" else "inout"

    def finish(self, outside: Collection[Any], type_of: Callable[[Any], Any]) -> list[Any]:
        """Writes the function. Buffers that the kernel writes and that are not `outside` become its own; the roots of
        the others are returned, in the order of the function's arguments."""
        roots = list(dict.fromkeys(root for root, _ in self._touched))
        own = [r for r in roots if self.role_of(r) == "out" and r not in outside and _is_computed(r)]
        given = [root for root in roots if root not in own and not positions.is_position(root)]
        order = [r for r in given if self.role_of(r) == "in"] + [r for r in given if self.role_of(r) != "in"]
        where = ir.InsertionPoint(self.module.regions[0].blocks[0])
        function, block = new_function(self.name, [type_of(root) for root in order], where)
        for name, attribute in self.attributes.items():
            function.attributes[name] = attribute
        self._memory = dict(zip(order, block.arguments, strict=True))
        with ir.InsertionPoint(block):
            for root in roots:
                if positions.is_position(root):
                    self._memory[root] = positions.again(root, type_of(root))
            for root in own:
                self._memory[root] = dialect("memref").AllocOp(type_of(root), [], []).result
            for location, work in self._work:
                with location:
                    work()
            dialect("func").ReturnOp([])
        return order

    def _touch(self, root: Any, kind: str) -> None:
        self._touched.append((root, kind))

    def _seen(self, place: Place) -> Any:
        return reinterpreted(self._memory[place[0]], place[1])

    def _start(self, op: Any, value: Any, place: Place, buffers: Buffers) -> None:
        """What a reduction starts from: a constant, or a tensor that is there already or is copied."""
        constant = start_of(value)
        if constant is not None:
            self._touch(place[0], "write")
            self._work.append((op.location, lambda: self._write_fill(op, constant, place)))
            return
        if getattr(stripped(value).owner, "name", "") == "tensor.empty":
            raise input_error(op, "what this adds to has no value yet; fill it first (linalg.fill)")
        start = buffers.place(value)
        self._touch(start[0], "read")
        if start != place:
            self._touch(place[0], "write")
            self._work.append(
                (op.location, lambda: _none(structured.make_named("linalg.copy", self._seen(start), self._seen(place))))
            )

    def _write_fill(self, op: Any, constant: Any, place: Place) -> None:
        structured.make_named("linalg.fill", _scalar(op, constant), self._seen(place))

    def _write_constant(self, op: Any, place: Place) -> None:
        scalar = _scalar(op, op.operands[0])
        rank = len(place[1].shape)
        _, block = structured.make([], [self._seen(place)], [ir.AffineMap.get_identity(rank)], [True] * rank)
        with ir.InsertionPoint(block):
            structured.yield_([scalar])

    def _write(self, generic: Generic, places: Sequence[Place | None], anywhere: Sequence[tuple[Any, Place]]) -> None:
        values: dict[Any, Any] = {value: self._seen(place) for value, place in anywhere}
        kept: list[int] = []
        for number, place in enumerate(places):
            if place is None:
                values[generic.body.arguments[number]] = _scalar(generic.op, generic.operands[number])
            else:
                kept.append(number)
        memory = [self._seen(place) for place in places if place is not None]
        inputs = len([number for number in kept if number < len(generic.inputs)])
        maps = [generic.maps[number] for number in kept]
        _, block = structured.make(memory[:inputs], memory[inputs:], maps, generic.parallel)
        for number, argument in zip(kept, block.arguments, strict=True):
            values[generic.body.arguments[number]] = argument
        structured.clone_body(block, generic, values)


def _written(place: Place) -> str:
    """Whether all of a buffer is written, or a part of it, so that the rest stays."""
    root, view = place
    whole = not isinstance(root.type, ir.MemRefType) or math.prod(root.type.shape) == math.prod(view.shape)
    return "write" if whole else "part"


def _none(_: Any) -> None:
    return None


def _is_computed(root: Any) -> bool:
    return not hasattr(root.owner, "operations")


def _scalar(op: Any, constant: Any) -> Any:
    """A constant at the insertion point, given as an attribute or as the value of another constant."""
    if isinstance(constant, ir.Attribute):
        return ir.Operation.create("arith.constant", results=[constant.type], attributes={"value": constant}).result
    if getattr(constant.owner, "name", "") != "arith.constant":
        raise input_error(op, "a scalar that is computed or given at run time; expected a constant")
    return clone(constant.owner, {}).results[0]
