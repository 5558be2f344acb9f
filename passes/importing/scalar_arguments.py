"""scalar-arguments: arguments of the function that are numbers become operands of the operations that use them.

Expects a function as a user wrote it, whose loops are linalg already (raise-loops), with arguments of the types f16,
bf16, f32, f64, i1, i8, i16, i32, i64 or index. Leaves in the place of each a memref, or a tensor where tensors are
computed, of rank 0 that is marked `tile.scalar`, index as i64; every linalg.generic that uses the number, as an
operand, in its body or through arithmetic in front of it, reads that instead, and computes the arithmetic in its body.
Offsets of slices read it by tensor.extract. Such an argument is passed to kernels by value (`pass-scalars`). Named
operations of a function with numbers become linalg.generic. Refuses other types and other uses. A function without such
arguments is left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.arguments import argument_attributes, set_argument_attributes
from mlir_gemm.dialect.bindings import dialect, ir, passmanager
from mlir_gemm.dialect.linalg.number_operands import PURE, NumberOperands, is_number
from mlir_gemm.dialect.locations import from_mlir, input_error
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import SCALAR, STAGE

TYPES = ("f16", "bf16", "f32", "f64", "i1", "i8", "i16", "i32", "i64", "index")
"""Numbers that a kernel takes by value."""
_NAMED = "builtin.module(func.func(linalg-generalize-named-ops))"


@dataclass(frozen=True)
class ScalarArguments(Pass):
    """Make operands of arguments that are numbers."""

    name: ClassVar[str] = "scalar-arguments"

    def run(self, module: Any) -> None:
        if STAGE in module.operation.attributes:
            return
        for function in [each for each in in_block(body(module)) if each.operation.name == "func.func"]:
            if len(function.regions[0].blocks) != 1:
                continue
            if any(SCALAR in each for each in argument_attributes(function)):
                raise input_error(function, f"'{SCALAR}' on an argument: this pass writes that attribute itself")
            if any(is_number(argument) for argument in body(function).arguments):
                _Function(module, function).run()


def _generalised(module: Any, function: Any) -> Any:
    """The function with linalg.generic in the place of named operations."""
    name = ir.StringAttr(function.attributes["sym_name"]).value
    try:
        passmanager.PassManager.parse(_NAMED).run(module.operation)
    except ir.MLIRError as error:
        raise from_mlir(error, "named operations cannot be generalised") from None
    functions = named(module, "func.func")
    return next(each for each in functions if ir.StringAttr(each.attributes["sym_name"]).value == name)


class _Function:
    """A function whose numbers become memory."""

    def __init__(self, module: Any, function: Any) -> None:
        self.function = _generalised(module, function)
        self.block = body(self.function)
        self.attributes = argument_attributes(self.function)
        self.numbers = [argument for argument in self.block.arguments if is_number(argument)]
        for argument in self.numbers:
            if str(argument.type) not in TYPES:
                raise input_error(
                    self.function, f"argument {argument.arg_number} has type {argument.type}; expected a tensor, a "
                    f"memref, or a number of one of {', '.join(TYPES)}",
                )  # fmt: skip
        self.operands = NumberOperands(self.block, lambda value: value in self.numbers)
        self.on_memrefs = self._kind()
        self.memory = {argument: self._added(argument) for argument in self.numbers}

    def _kind(self) -> bool:
        """Whether operations that use a number are on memrefs; all must be of one kind."""
        using = [op for op in self._generics() if self.operands.used(op)]
        kinds = {any(isinstance(value.type, ir.MemRefType) for value in op.operands) for op in using}
        if len(kinds) > 1:
            raise input_error(
                using[0], "an argument that is a number is used by operations on tensors and by others on memrefs; "
                "expected all of one kind",
            )  # fmt: skip
        return kinds == {True}

    def _added(self, argument: Any) -> Any:
        """A new argument at the end, for now, that holds the number."""
        element = ir.IntegerType.get_signless(64) if isinstance(argument.type, ir.IndexType) else argument.type
        type_ = ir.MemRefType.get([], element) if self.on_memrefs else ir.RankedTensorType.get([], element)
        return self.block.add_argument(type_, argument.location)

    def run(self) -> None:
        """Rewrites the function."""
        for op in self._generics():
            if self.operands.used(op):
                self.operands.rebuild(op, self.memory)
        self._drop_unused()
        for argument in self.numbers:
            self._extract(argument)
        self._exchange()

    def _generics(self) -> list[Any]:
        return [each.operation for each in in_block(self.block) if each.operation.name == "linalg.generic"]

    def _drop_unused(self) -> None:
        for operation in reversed(in_block(self.block)[:-1]):
            op = operation.operation
            if op.name.startswith(PURE) and not any(list(result.uses) for result in op.results):
                op.erase()

    def _extract(self, argument: Any) -> None:
        """What is left, offsets of slices, reads the number in front of everything."""
        uses = [use.owner for use in argument.uses]
        if not uses:
            return
        whole = isinstance(argument.type, ir.IndexType | ir.IntegerType)
        if self.on_memrefs or not whole or not all(_makes_offsets(op.operation) for op in uses):
            raise input_error(
                uses[0], f"'{uses[0].operation.name}' uses argument {argument.arg_number}, a number ({argument.type}); "
                "expected it in linalg operations, in arithmetic for these, or as an offset of a slice of tensors",
            )  # fmt: skip
        with ir.InsertionPoint.at_block_begin(self.block), self.function.operation.location:
            memory = self.memory[argument]
            found = ir.Operation.create("tensor.extract", [memory.type.element_type], [memory]).results[0]
            if isinstance(argument.type, ir.IndexType):
                found = dialect("arith").IndexCastOp(argument.type, found).result
        argument.replace_all_uses_with(found)

    def _exchange(self) -> None:
        """Puts the memory in the place of the numbers, and marks it."""
        attributes = self.attributes
        count = len(attributes)
        for argument in self.numbers:
            new = self.memory[argument]
            argument.set_type(new.type)
            new.replace_all_uses_with(argument)
            attributes[argument.arg_number][SCALAR] = ir.UnitAttr.get()
        while len(self.block.arguments) > count:
            self.block.erase_argument(count)
        types = [argument.type for argument in self.block.arguments]
        results = [value.type for value in in_block(self.block)[-1].operation.operands]
        self.function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, results))
        set_argument_attributes(self.function, attributes)


def _makes_offsets(op: Any) -> bool:
    """Whether an operation cuts tensors at an offset, or computes one."""
    slices: Sequence[str] = ("tensor.extract_slice", "tensor.insert_slice")
    return op.name in slices or op.name.startswith("arith.")
