"""name-sizes: sizes that are known at run time only get names, and numbers that stand for them during `import`.

Expects a module as a user or a framework wrote it, with straight-line linalg. Where it has dynamic sizes (`?`), each of
an argument gets a symbol (s0, s1, ...), those that operations require to be equal the same one, and all other sizes are
told from these: through tensor.dim, arithmetic that multiplies or divides evenly, reshapes and casts. Leaves a module
of constant sizes in which a prime of its own stands for each symbol (`tile.stand_ins` on the module says which), so
that sizes are equal only if they are for all values of the symbols, and so that slices lie in their tensors;
`free-sizes` undoes this after `import`. What a slice requires of an argument's size is `tile.least` and `tile.most`.
Named operations become linalg.generic on the way. cf.assert goes where it states that two sizes are equal: that is
required of the arguments, and a call that breaks it is told the program's message (`tile.checks` on the argument).
Refuses sizes that are not products of symbols, and dynamic strides, offsets and slices. A module of constant sizes is
left alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import positions, symbols
from mlir_gemm.dialect.arguments import argument_attributes, set_argument_attributes
from mlir_gemm.dialect.bindings import ir, passmanager
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.linalg.named_sizes import NamedSizes
from mlir_gemm.dialect.linalg.number_operands import PURE, NumberOperands, is_number
from mlir_gemm.dialect.linalg.size_arithmetic import broadcasts, is_shaped
from mlir_gemm.dialect.locations import from_mlir, input_error
from mlir_gemm.dialect.symbols import Size
from mlir_gemm.dialect.walk import body, in_block, named, operations
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import CHECKS, LEAST, MOST, STAND_INS

_OF_SIZES = ("tensor.dim", "memref.dim", "arith.index_cast", "affine.apply")
_TIDY = "builtin.module(func.func(linalg-generalize-named-ops,canonicalize,cse))"


@dataclass(frozen=True)
class NameSizes(Pass):
    """Name dynamic sizes and put numbers in their place."""

    name: ClassVar[str] = "name-sizes"
    sizes: str = ""
    """What the symbols are, such as `s0=3,s1=5`: these numbers take their places, and no stand-ins."""

    def run(self, module: Any) -> None:
        if STAND_INS in module.operation.attributes:
            raise input_error(module, f"'{STAND_INS}' on a module: this pass writes that attribute itself")
        function = prepared(module)
        if function is None:
            return
        sizes = NamedSizes(function)
        if sizes.parts:
            part = sizes.parts[0]
            raise input_error(part, f"'{part.name}' of a part of a size known at run time only; expected that "
                              "'expand-open-parts' has made an operation of linalg of it")  # fmt: skip
        stand_ins = sizes.stand_ins()
        for generic in named(function, "linalg.generic"):
            _without_broadcasts(sizes, generic.operation)
        if self.sizes:
            _Rewrite(sizes, self._given(stand_ins)).run()
            return
        _Numbers(sizes).run()
        _note_checks(function, sizes)
        _Rewrite(sizes, stand_ins).run()
        module.operation.attributes[STAND_INS] = symbols.dictionary(stand_ins)

    def _given(self, stand_ins: dict[str, int]) -> dict[str, int]:
        """The option's numbers. Raises PassError where they are not those of the module's symbols."""
        given = dict(re.findall(r"(\w+)=(\d+)(?:,|$)", self.sizes))
        plain = [name for name in stand_ins if name.isidentifier()]
        if set(given) != set(plain) or ",".join(f"{name}={size}" for name, size in given.items()) != self.sizes:
            raise PassError(f"pass '{self}': the module's sizes are {', '.join(plain)}; expected sizes=" +
                            ",".join(f"{name}=16" for name in plain))  # fmt: skip
        return {name: int(size) for name, size in given.items()}


def prepared(module: Any) -> Any | None:
    """The one function of a module with dynamic sizes, with named operations as linalg.generic and sizes asked for in
    front of bodies; None for a module without such a function."""
    functions = [f for f in named(module, "func.func") if len(f.regions[0].blocks)]
    if len(functions) != 1 or not _is_dynamic(functions[0]) or len(functions[0].regions[0].blocks) != 1:
        return None
    if functions[0].operation.parent != module.operation:  # check-module will say so
        return None
    try:
        passmanager.PassManager.parse(_TIDY).run(module.operation)
    except ir.MLIRError as error:
        raise from_mlir(error, "named operations cannot be generalised") from None
    function = named(module, "func.func")[0]
    _take_sizes_out(function)
    return function


def _note_checks(function: Any, sizes: NamedSizes) -> None:
    """Writes down what the program says of sizes of arguments that do not agree, and the least and the most that it can
    do with."""
    least, most = sizes.sums.least, sizes.sums.most
    if not sizes.said and not least and not most:
        return
    attributes = argument_attributes(function)
    for argument, each in zip(body(function).arguments, attributes, strict=True):
        own = sizes.shapes.get(argument, [])
        said = [next((sizes.said[name] for name in size.symbols if name in sizes.said), "") for size in own]
        if any(said):
            each[CHECKS] = ir.ArrayAttr.get([ir.StringAttr.get(text) for text in said])
        needed = [size.number * least.get("*".join(size.symbols), 0) for size in map(sizes.sums.resolved, own)]
        if any(needed):
            each[LEAST] = ir.ArrayAttr.get([ir.StringAttr.get(str(number or "")) for number in needed])
        allowed = [size.number * most["*".join(size.symbols)] if "*".join(size.symbols) in most else None
                   for size in map(sizes.sums.resolved, own)]  # fmt: skip
        if any(number is not None for number in allowed):
            each[MOST] = ir.ArrayAttr.get(
                [ir.StringAttr.get("" if number is None else str(number)) for number in allowed]
            )
    set_argument_attributes(function, attributes)


def _take_sizes_out(function: Any) -> None:
    """Sizes that a body asks for, or converts to an index, are asked for and converted in front of it."""
    for generic in named(function, "linalg.generic"):
        block = body(generic)
        inside = {*block.arguments, *(value for inner in in_block(block) for value in inner.operation.results)}
        for inner in in_block(block):
            op = inner.operation
            if op.name in _OF_SIZES and not any(value in inside for value in op.operands):
                op.move_before(generic.operation)
                inside -= {*op.results}


def _is_dynamic(function: Any) -> bool:
    values = [*body(function).arguments, *(value for op in operations(function) for value in op.operation.results)]
    return any(is_shaped(value) and not value.type.has_static_shape for value in values)


def _without_broadcasts(sizes: NamedSizes, generic: Any) -> None:
    """In a body, the position of a loop, or 0 if a size is 1, is the position: the loop is of that size."""
    for _, _, select in broadcasts(generic, sizes.number):
        select.results[0].replace_all_uses_with(select.operands[2])
    for inner in reversed(in_block(body(generic))[:-1]):
        op = inner.operation
        if op.name in ("arith.select", "arith.cmpi") and not any(list(result.uses) for result in op.results):
            op.erase()


class _Numbers:
    """Sizes that elements are computed with become operands: numbers that the call knows (`tile.position`)."""

    def __init__(self, sizes: NamedSizes) -> None:
        self.sizes = sizes
        self.block = body(sizes.function)
        self.operands = NumberOperands(self.block, self._is_open)
        self.made: dict[Size, Any] = {}

    def run(self) -> None:
        """Rewrites every operation on tensors whose body takes such a size."""
        for operation in [each.operation for each in in_block(self.block) if each.operation.name == "linalg.generic"]:
            used = self.operands.used(operation)
            if not used:
                continue
            if any(isinstance(value.type, ir.MemRefType) for value in operation.operands):
                raise input_error(operation, f"'{operation.name}' on memrefs computes with a size that is open; "
                                  "expected it on tensors")  # fmt: skip
            leaves = dict.fromkeys(leaf for value in used for leaf in self.operands.leaves(value))
            known = [self.sizes.shapes[each] for each in operation.results]
            new = self.operands.rebuild(operation, {leaf: self._number(leaf) for leaf in leaves})
            for result, shape in zip(new.results, known, strict=True):
                self.sizes.shapes[result] = shape

    def _is_open(self, value: Any) -> bool:
        size = self.sizes.number(value)
        return size is not None and not size.is_number

    def _number(self, leaf: Any) -> Any:
        size = self.sizes.number(leaf)
        assert size is not None
        if size not in self.made:
            type_ = ir.RankedTensorType.get([], positions.number())
            with ir.InsertionPoint.at_block_begin(self.block), ir.Location.unknown():
                self.made[size] = positions.make(type_, (), str(size))
            self.sizes.shapes[self.made[size]] = []
        return self.made[size]


class _Rewrite:
    """Puts numbers in the place of the symbols."""

    def __init__(self, sizes: NamedSizes, stand_ins: dict[str, int]) -> None:
        self.sizes = sizes
        self.stand_ins = stand_ins
        self.gone: list[Any] = []

    def run(self) -> None:
        function = self.sizes.function
        for operation in in_block(body(function)):
            self._operation(operation.operation)
        for argument in body(function).arguments:
            if is_shaped(argument):
                argument.set_type(self._type(argument, argument.type))
        for op in reversed(self.gone):
            op.erase()
        self._drop_unused_numbers()
        inputs = [argument.type for argument in body(function).arguments]
        results = [value.type for value in in_block(body(function))[-1].operation.operands]
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))

    def _reshape(self, op: Any, type_: Any) -> None:
        """A tensor.reshape in two steps: to one dimension, and from there."""
        source = op.operands[0]
        before = [size.value(self.stand_ins) for size in self.sizes.shape(source)]
        element, after = type_.element_type, list(type_.shape)
        with ir.InsertionPoint(op), op.location:
            flat = source
            if len(before) != 1:
                flat = _regrouped("tensor.collapse_shape", source, [math.prod(before)], len(before), element)
            found = flat
            if len(after) != 1:
                found = _regrouped("tensor.expand_shape", flat, after, len(after), element)
        op.results[0].replace_all_uses_with(found)
        self.gone.append(op)

    def _drop_unused_numbers(self) -> None:
        """Constants that only made sizes, and comparisons of sizes."""
        for operation in reversed(in_block(body(self.sizes.function))):
            op = operation.operation
            unused = len(op.results) == 1 and not list(op.results[0].uses)
            if unused and op.name.startswith(PURE) and is_number(op.results[0]):
                op.erase()

    def _type(self, value: Any, type_: Any) -> Any:
        shape = [size.value(self.stand_ins) for size in self.sizes.shape(value)]
        if isinstance(type_, ir.RankedTensorType):
            return ir.RankedTensorType.get(shape, type_.element_type, type_.encoding)
        if type_.has_static_shape:
            return type_
        strides, offset = type_.get_strides_and_offset()
        dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
        if type_ == ir.MemRefType.get(list(type_.shape), type_.element_type, memory_space=type_.memory_space):
            return ir.MemRefType.get(shape, type_.element_type, memory_space=type_.memory_space)
        if dynamic in (*strides, offset):
            raise input_error(value.owner, f"'{value.owner.name}' makes {type_}; its strides cannot be told")
        layout = ir.StridedLayoutAttr.get(offset, list(strides))
        return ir.MemRefType.get(shape, type_.element_type, layout, type_.memory_space)

    def _operation(self, op: Any) -> None:
        if op.name in ("cf.assert", "tensor.from_elements"):
            self.gone.append(op)
            return
        if op.name == "tensor.reshape":
            self._reshape(op, self._type(op.results[0], op.results[0].type))
            return
        number = self.sizes.number(op.results[0]) if len(op.results) == 1 else None
        if number is not None and op.name != "arith.constant":
            with ir.InsertionPoint(op), op.location:
                self._replace_number(op, number.value(self.stand_ins), number)
            return
        types = [self._type(value, value.type) if is_shaped(value) else value.type for value in op.results]
        if op.name in ("tensor.cast", "memref.cast"):
            op.results[0].replace_all_uses_with(op.operands[0])
            self.gone.append(op)
        elif (
            len(op.results) == 1
            and is_shaped(op.results[0])
            and any(isinstance(each.type, ir.IndexType) for each in op.operands)
        ):
            self._without_sizes(op, types[0])
        else:
            for value, type_ in zip(op.results, types, strict=True):
                if value.type != type_:
                    value.set_type(type_)

    def _replace_number(self, op: Any, number: int, size: Size) -> None:
        """An index value that only makes sizes goes with them; one that computes anything would need the symbol."""
        for use in op.results[0].uses:
            user = use.owner.operation
            inside = user.parent.operation != self.sizes.function.operation
            if not size.is_number and (inside or not self.sizes.makes_sizes(user)):
                what = "elements do not know a size that is open, so give it as an argument too, or make it constant"
                raise input_error(user, f"'{user.name}' computes with the size {size}; expected numbers: {what}")
        type_ = op.results[0].type
        made = ir.Operation.create(
            "arith.constant", results=[type_], attributes={"value": ir.IntegerAttr.get(type_, number)}
        )
        op.results[0].replace_all_uses_with(made.results[0])
        self.sizes.numbers[made.results[0]] = size  # a slice asks for it
        self.gone.append(op)

    def _without_sizes(self, op: Any, type_: Any) -> None:
        """The same operation with constant sizes instead of operands."""
        attributes = attributes_of(op)
        shape = list(type_.shape)
        operands = [each for each in op.operands if not isinstance(each.type, ir.IndexType)]
        if op.name.endswith("expand_shape"):
            attributes["static_output_shape"] = ir.DenseI64ArrayAttr.get(shape)
        elif "static_sizes" in attributes:
            values = iter([self.sizes.number(each) for each in op.operands if isinstance(each.type, ir.IndexType)])
            marker = ir.ShapedType.get_dynamic_size()
            for name in ("static_offsets", "static_sizes", "static_strides"):
                old = list(ir.DenseI64ArrayAttr(attributes[name]))
                new = [(next(values) or Size()).value(self.stand_ins) if size == marker else size for size in old]
                attributes[name] = ir.DenseI64ArrayAttr.get(new)
        if "operandSegmentSizes" in attributes:
            count = len(list(ir.DenseI32ArrayAttr(attributes["operandSegmentSizes"])))
            segments = [len(operands), *[0] * (count - 1)] if operands else [0] * count
            attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(segments)
        with ir.InsertionPoint(op), op.location:
            new_op = ir.Operation.create(op.name, results=[type_], operands=operands, attributes=attributes)
        op.results[0].replace_all_uses_with(new_op.results[0])
        self.gone.append(op)


def _regrouped(name: str, value: Any, shape: Sequence[int], rank: int, element: Any) -> Any:
    """A tensor collapsed to one dimension, or expanded from one."""
    i64 = ir.IntegerType.get_signless(64)
    group = ir.ArrayAttr.get([ir.IntegerAttr.get(i64, axis) for axis in range(rank)])
    attributes = {"reassociation": ir.ArrayAttr.get([group] if rank else [])}
    if name == "tensor.expand_shape":
        attributes["static_output_shape"] = ir.DenseI64ArrayAttr.get(list(shape))
    type_ = ir.RankedTensorType.get(list(shape), element)
    return ir.Operation.create(name, results=[type_], operands=[value], attributes=attributes).results[0]
