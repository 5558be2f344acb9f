"""raise-to-tensors: a function that writes memory becomes one that computes tensors.

Expects straight-line linalg.generic operations (after linalg-generalize-named-ops) on tensors or memrefs, with static
views of memrefs, copies, allocations and constant globals around them. Follows what each buffer holds: an operation
that writes a memref gives a new tensor. Leaves `bufferization.to_tensor` for the memref arguments that are read, at the
top, and `bufferization.materialize_in_destination` for those that are written, at the end: of their parts
(memref.subview) where only parts are written, which do not meet. The arguments keep their types. Memref arguments are
taken not to overlap. Refuses memory that is read before it is written, and operations that mix tensors and memrefs. A
second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.clone import clone
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.generics import build, empty, erase_dead, owner_of, read, rebuild
from mlir_gemm.dialect.linalg.memory_parts import part_of, static_subview
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass

_PART = 2
"""Operands of a tensor.insert_slice at constants."""
VIEWS = ("memref.collapse_shape", "memref.expand_shape", "memref.transpose", "memref.subview", "memref.cast")


@dataclass(frozen=True)
class RaiseToTensors(Pass):
    """From memory that is written to tensors that are computed."""

    name: ClassVar[str] = "raise-to-tensors"

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            if len(function.regions[0].blocks):
                _raise(module, function)
        for constant in named(module, "memref.global"):
            constant.operation.erase()


@dataclass
class _Memory:
    """The contents of a function's buffers while its operations are visited in order."""

    held: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """The tensor that each buffer (argument, allocation, global) holds now; absent before anything is written."""
    views: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """The operation that makes each view."""
    written: list[Any] = field(default_factory=list[Any])
    """Arguments written, in the order of their first write."""

    def load(self, value: Any, user: Any) -> Any:
        """The tensor that a memref holds. Refuses memory that nothing has been written to."""
        if value in self.views:
            return _read_view(self.views[value], self.load(self.views[value].operands[0], user))
        if value not in self.held:
            raise pass_error(
                user, f"'{user.name}' reads a memref.alloc before anything is written to it; fill it first"
            )
        return self.held[value]

    def store(self, value: Any, tensor: Any, user: Any) -> None:
        """Makes a memref hold a tensor; through a view, its source holds the rest as before."""
        if value in self.views:
            view = self.views[value]
            source = view.operands[0]
            whole = tensor.type.shape == source.type.shape and view.name in ("memref.subview", "memref.cast")
            self.store(source, tensor if whole else self._inverse(view, tensor, user), user)
            return
        owner = owner_of(value)
        if owner is not None and owner.name == "memref.get_global":
            raise pass_error(user, f"'{user.name}' writes to a constant memref.global")
        self.held[value] = tensor
        if owner is None and value not in self.written:
            self.written.append(value)

    def _inverse(self, view: Any, tensor: Any, user: Any) -> Any:
        source = view.operands[0]
        if view.name == "memref.transpose":
            return _transposed(tensor, _permutation(view), source.type.shape, inverse=True)
        if view.name in ("memref.collapse_shape", "memref.expand_shape"):
            other = "expand" if "collapse" in view.name else "collapse"
            return _reshaped(f"tensor.{other}_shape", view, tensor, source.type.shape)
        if view.name == "memref.cast":
            return tensor
        attributes = {
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, 0, 0, 0]),
            **{name: view.attributes[name] for name in ("static_offsets", "static_sizes", "static_strides")},
        }
        whole = self.load(source, user)
        last = _insertion(whole)
        if last is not None and part_of(last) == part_of(view):
            whole = last.operands[1]  # all that it put there is overwritten
        return ir.Operation.create(
            "tensor.insert_slice", results=[whole.type], operands=[tensor, whole], attributes=attributes
        ).results[0]


def _raise(module: Any, function: Any) -> None:
    block = body(function)
    memory = _Memory()
    inside = in_block(block)
    done = ("bufferization.to_tensor", "bufferization.materialize_in_destination")
    if any(operation.operation.name in done for operation in inside):  # a second run
        return
    with ir.InsertionPoint.at_block_begin(block), function.operation.location:
        for argument in block.arguments:
            if _is_memref(argument):
                memory.held[argument] = _to_tensor(argument)
    for operation in inside[:-1]:
        with ir.InsertionPoint(operation), operation.operation.location:
            _step(module, operation.operation, memory)
    with ir.InsertionPoint(inside[-1]), inside[-1].operation.location:
        for argument in memory.written:
            _hand_over(memory.held[argument], argument)
    for operation in reversed(inside[:-1]):
        if _on_memrefs(operation):
            operation.operation.erase()
    erase_dead(module)


def _is_memref(value: Any) -> bool:
    return isinstance(value.type, ir.MemRefType)


def _on_memrefs(operation: Any) -> bool:
    return any(_is_memref(value) for value in [*operation.operation.operands, *operation.operation.results])


def _to_tensor(memory: Any) -> Any:
    return ir.Operation.create(
        "bufferization.to_tensor",
        results=[_tensor_type(memory)],
        operands=[memory],
        attributes={"restrict": ir.UnitAttr.get(), "writable": ir.UnitAttr.get()},
    ).results[0]


def _hand_over(tensor: Any, memory: Any) -> None:
    """Writes what an argument holds at the end to it: where only parts that do not meet are new, to these."""
    insertions: list[Any] = []
    value = tensor
    while (insertion := _insertion(value)) is not None:
        insertions.append(insertion)
        value = insertion.operands[1]
    start = owner_of(value)
    kept = start is not None and start.name == "bufferization.to_tensor" and start.operands[0] == memory
    places = [part_of(insertion) for insertion in insertions]
    apart = all(one.is_apart(other) for number, one in enumerate(places) for other in places[:number])
    if not insertions or not kept or not apart:
        _materialize(tensor, memory)
        return
    for insertion, place in zip(reversed(insertions), reversed(places), strict=True):
        part = insertion.operands[0]
        _materialize(part, static_subview(memory, *place, list(part.type.shape)))


def _insertion(tensor: Any) -> Any | None:
    """The tensor.insert_slice at constants that makes a tensor, if it is one."""
    owner = owner_of(tensor)
    is_one = owner is not None and owner.name == "tensor.insert_slice" and len(owner.operands) == _PART
    return owner if is_one else None


def _materialize(tensor: Any, memory: Any) -> None:
    ir.Operation.create(
        "bufferization.materialize_in_destination",
        results=[],
        operands=[tensor, memory],
        attributes={"restrict": ir.UnitAttr.get(), "writable": ir.UnitAttr.get()},
    )


def _tensor_type(memory: Any) -> Any:
    return ir.RankedTensorType.get(memory.type.shape, memory.type.element_type)


def _step(module: Any, operation: Any, memory: _Memory) -> None:
    """One operation: what the buffers hold after it. Operations on tensors alone stay."""
    name = operation.name
    if not _on_memrefs(operation) or name == "memref.dealloc" or name == "memref.alloc":
        return
    if name in VIEWS:
        if name == "memref.cast" and operation.operands[0].type.shape != operation.results[0].type.shape:
            raise pass_error(operation, f"'memref.cast' to {operation.results[0].type}; sizes must be static")
        memory.views[operation.results[0]] = operation
    elif name == "memref.get_global":
        memory.held[operation.results[0]] = _constant(module, operation)
    elif name == "memref.copy":
        memory.store(operation.operands[1], memory.load(operation.operands[0], operation), operation)
    elif name == "linalg.generic":
        _generic(operation, memory)
    else:
        raise pass_error(operation, f"'{name}' on memrefs is not understood; expected linalg.generic, copies and views")


def _constant(module: Any, operation: Any) -> Any:
    symbol = ir.FlatSymbolRefAttr(operation.attributes["name"]).value
    for found in named(module, "memref.global"):
        attributes = found.operation.attributes
        if ir.StringAttr(attributes["sym_name"]).value == symbol:
            if "constant" not in attributes or "initial_value" not in attributes:
                break
            value = attributes["initial_value"]
            type_ = _tensor_type(operation.results[0])
            return ir.Operation.create("arith.constant", results=[type_], attributes={"value": value}).results[0]
    raise pass_error(operation, f"@{symbol} is no constant with a value; expected a constant memref.global")


def _generic(operation: Any, memory: _Memory) -> None:
    generic = structured.read(operation)
    if any(isinstance(value.type, ir.RankedTensorType) for value in generic.operands):
        raise pass_error(operation, "an operation on tensors and memrefs at once; expected all of one kind")
    inputs = [memory.load(value, operation) if _is_memref(value) else value for value in generic.inputs]
    outputs: list[Any] = []
    for position, value in enumerate(generic.outputs):
        if generic.reads(len(inputs) + position):
            outputs.append(memory.load(value, operation))
        else:
            outputs.append(empty(value.type.shape, value.type.element_type))
    plain = read(operation)
    new = _on_tensors(generic, inputs, outputs) if plain is None else rebuild(plain, inputs=inputs, outputs=outputs)
    for value, result in zip(generic.outputs, new.results, strict=True):
        memory.store(value, result, operation)


def _on_tensors(generic: structured.Generic, inputs: list[Any], outputs: list[Any]) -> Any:
    """The same operation on tensors, whatever its maps are."""
    new, block = structured.make(inputs, outputs, generic.maps, generic.parallel)
    values: dict[Any, Any] = dict(zip(generic.body.arguments, block.arguments, strict=True))
    with ir.InsertionPoint(block):
        for inner in in_block(generic.body):
            clone(inner, values)
    return new


def _read_view(view: Any, tensor: Any) -> Any:
    """What a view of a buffer shows of the tensor that the buffer holds."""
    result = view.results[0]
    if view.name == "memref.transpose":
        return _transposed(tensor, _permutation(view), result.type.shape, inverse=False)
    if view.name in ("memref.collapse_shape", "memref.expand_shape"):
        return _reshaped(view.name.replace("memref", "tensor"), view, tensor, result.type.shape)
    if view.name == "memref.cast" or result.type.shape == tensor.type.shape:
        return tensor
    if len(view.operands) > 1:
        raise pass_error(view, "'memref.subview' at offsets that are computed; they must be constants")
    here = part_of(view)
    while (insertion := _insertion(tensor)) is not None:
        there, part = part_of(insertion), insertion.operands[0]
        if there == here and part.type.shape == result.type.shape:
            return part
        if not here.is_apart(there):
            break
        tensor = insertion.operands[1]
    attributes = {
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0, 0]),
        **{name: view.attributes[name] for name in ("static_offsets", "static_sizes", "static_strides")},
    }
    return ir.Operation.create(
        "tensor.extract_slice", results=[_tensor_type(result)], operands=[tensor], attributes=attributes
    ).results[0]


def _permutation(view: Any) -> list[int]:
    return [ir.AffineDimExpr(e).position for e in ir.AffineMapAttr(view.attributes["permutation"]).value.results]


def _transposed(tensor: Any, permutation: list[int], shape: Any, *, inverse: bool) -> Any:
    loops = tuple(range(len(permutation)))
    maps = [tuple(permutation.index(i) for i in loops), loops] if not inverse else [tuple(permutation), loops]
    output = empty(shape, tensor.type.element_type)
    return build([tensor], [output], maps, [False] * len(loops), lambda arguments: arguments[:1]).results[0]


def _reshaped(name: str, view: Any, tensor: Any, shape: Any) -> Any:
    attributes = {"reassociation": view.attributes["reassociation"]}
    if name == "tensor.expand_shape":
        attributes["static_output_shape"] = ir.DenseI64ArrayAttr.get(list(shape))
    type_ = ir.RankedTensorType.get(list(shape), tensor.type.element_type)
    return ir.Operation.create(name, results=[type_], operands=[tensor], attributes=attributes).results[0]
