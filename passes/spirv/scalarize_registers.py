"""scalarize-registers: vectors in registers become numbers, and what loops and branches carry becomes variables.

Expects a kernel after `linearize-memory`: vectors of constant shape in operations of arith, math and vector, inside
scf.for and scf.if. Leaves none: SPIR-V for shaders has vectors of 2 to 4 only, which compilers take apart anyhow. An
scf.for without iter_args and an scf.if without results read and write variables (memref.alloca in the storage class
Function): upstream's conversion leaves the results of a loop undefined that runs no turn.

Cooperative matrices (gpu.mma_matrix) stay in iter_args, since no memref holds one: `start-results` mends that.

Refuses other operations on vectors, positions that are not constant, and other loops.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.spirv_kernels import as_bits
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.lowering.buffer_units import divided, joined
from mlir_gemm.passes.base import Pass

_WHOLE = ("spirv.", "memref.")
_DYNAMIC = -(1 << 63)


@dataclass(frozen=True)
class ScalarizeRegisters(Pass):
    """Take vectors apart into numbers."""

    name: ClassVar[str] = "scalarize-registers"

    def run(self, module: Any) -> None:
        _ = module.context.dialects["spirv"]  # loads it
        for kernel in named(module, "gpu.func"):
            rewriting = _Rewriting(kernel)
            rewriting.block(body(kernel))
            for operation in reversed(rewriting.done):
                operation.erase()


class _Rewriting:
    """One kernel: the numbers that stand for its vectors so far."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.numbers: dict[Any, list[Any]] = {}
        self.done: list[Any] = []
        """Operations that nothing uses any more once all are rewritten."""

    def block(self, block: Any) -> None:
        """Rewrites the operations of a block, and those in them."""
        for view in in_block(block):
            operation = view.operation
            if operation.name == "scf.for":
                self._loop(operation)
            elif operation.name == "scf.if":
                self._branch(operation)
            elif len(operation.results) == 1 and operation.results[0] in self.numbers:
                pass  # stands for what a loop or a branch carries
            elif operation.name.startswith(_WHOLE):
                pass  # takes or makes a unit of a buffer
            elif any(map(_is_vector, (*operation.operands, *operation.results))):
                with ir.InsertionPoint(operation), operation.location:
                    self._vectors(operation)
                self.done.append(operation)
            elif operation.regions:
                raise pass_error(operation, f"'{operation.name}' in a kernel for SPIR-V; expected scf.for and scf.if")

    def of(self, value: Any) -> list[Any]:
        """The numbers of a value: itself where it is one."""
        return self.numbers[value] if _is_vector(value) else [value]

    def _vectors(self, operation: Any) -> None:
        made = _MADE.get(operation.name, _each if operation.name.startswith(("arith.", "math.")) else None)
        if made is None:
            raise pass_error(operation, f"'{operation.name}' on vectors, which is not known for SPIR-V")
        numbers = made(operation, self.of)
        (result,) = operation.results
        if _is_vector(result):
            assert len(numbers) == prod(ir.VectorType(result.type).shape)
            self.numbers[result] = numbers
        else:
            result.replace_all_uses_with(numbers[0])

    def _loop(self, loop: Any) -> None:
        scf = dialect("scf")
        with ir.InsertionPoint(loop), loop.location:
            starts = list(loop.operands)[3:]
            carried = [[] if _is_matrix(value) else self._variables(value) for value in starts]
            made = scf.ForOp(*list(loop.operands)[:3], [value for value in starts if _is_matrix(value)])
        old, new = body(loop), made.body
        counter, *arguments = old.arguments
        counter.replace_all_uses_with(new.arguments[0])
        matrices = iter(list(new.arguments)[1:])
        with ir.InsertionPoint(new), loop.location:
            for argument, variables in zip(arguments, carried, strict=True):
                if _is_matrix(argument):
                    argument.replace_all_uses_with(next(matrices))
                else:
                    self._stands_for(argument, variables)
        self._moved(old, new, carried)
        self._after(loop, made.operation, carried)

    def _branch(self, branch: Any) -> None:
        scf = dialect("scf")
        if any(_is_matrix(result) for result in branch.results):
            raise pass_error(branch, "a branch that gives cooperative matrices; expected these in loops only")
        with ir.InsertionPoint(branch), branch.location:
            carried = [self._unset(result.type) for result in branch.results]
            both = len(branch.regions[1].blocks) > 0
            made = scf.IfOp(branch.operands[0], has_else=both)
        for old, new in zip(branch.regions, made.operation.regions, strict=True):
            if len(old.blocks):
                self._moved(old.blocks[0], new.blocks[0], carried)
        self._after(branch, made.operation, carried)

    def _moved(self, old: Any, new: Any, carried: list[list[Any]]) -> None:
        """Moves and rewrites the operations of a block, whose scf.yield becomes stores."""
        *operations, last = in_block(old)
        for operation in operations:
            new.append(operation)
        self.block(new)
        with ir.InsertionPoint(new), last.location:
            yielded = list(last.operation.operands)
            values = [number for value in yielded if not _is_matrix(value) for number in self.of(value)]
            for number, variable in zip(values, (each for group in carried for each in group), strict=True):
                _store(number, variable)
            dialect("scf").YieldOp([value for value in yielded if _is_matrix(value)])
        last.operation.erase()

    def _after(self, old: Any, new: Any, carried: list[list[Any]]) -> None:
        """After a loop or a branch its results are what the variables hold."""
        matrices = iter(new.results)
        with ir.InsertionPoint(old), old.location:
            for result, variables in zip(old.results, carried, strict=True):
                if _is_matrix(result):
                    result.replace_all_uses_with(next(matrices))
                else:
                    self._stands_for(result, variables)
        self.done.append(old)

    def _stands_for(self, value: Any, variables: list[Any]) -> None:
        element = getattr(value.type, "element_type", value.type)
        loaded = [_load(variable, element) for variable in variables]
        if _is_vector(value):
            made = ir.Operation.create("builtin.unrealized_conversion_cast", [value.type], loaded)
            value.replace_all_uses_with(made.results[0])
            self.numbers[made.results[0]] = loaded
            self.done.append(made)
        else:
            value.replace_all_uses_with(loaded[0])

    def _variables(self, value: Any) -> list[Any]:
        """Variables that hold the numbers of a value."""
        variables = self._unset(value.type)
        for number, variable in zip(self.of(value), variables, strict=True):
            _store(number, variable)
        return variables

    def _unset(self, type_: Any) -> list[Any]:
        count = prod(ir.VectorType(type_).shape) if isinstance(type_, ir.VectorType) else 1
        element = getattr(type_, "element_type", type_)
        if str(element) == "i1":
            element = ir.IntegerType.get_signless(32)
        space = ir.Attribute.parse("#spirv.storage_class<Function>")
        memory = ir.MemRefType.get([1], element, memory_space=space)
        with ir.InsertionPoint.at_block_begin(body(self.kernel)), self.kernel.location:
            return [dialect("memref").AllocaOp(memory, [], []).result for _ in range(count)]


def _is_vector(value: Any) -> bool:
    return isinstance(value.type, ir.VectorType)


def _is_matrix(value: Any) -> bool:
    return str(value.type).startswith("!gpu.mma_matrix")


def _store(number: Any, variable: Any) -> None:
    if str(number.type) == "i1":
        number = dialect("arith").ExtUIOp(ir.IntegerType.get_signless(32), number).result
    dialect("memref").StoreOp(number, variable, [constants.index(0)])


def _load(variable: Any, element: Any) -> Any:
    loaded = dialect("memref").LoadOp(variable, [constants.index(0)]).result
    if str(element) != "i1":
        return loaded
    arith = dialect("arith")
    return arith.CmpIOp(arith.CmpIPredicate.ne, loaded, arith.ConstantOp(loaded.type, 0).result).result


Of = Callable[[Any], list[Any]]


def _each(operation: Any, of: Of) -> list[Any]:
    """The same operation on each number."""
    if operation.name == "arith.constant":
        return _constants(operation)
    (result,) = operation.results
    type_ = ir.VectorType(result.type)
    given = [of(operand) if _is_vector(operand) else of(operand) * prod(type_.shape) for operand in operation.operands]
    attributes = {each: operation.attributes[each] for each in operation.attributes}
    return [
        ir.Operation.create(operation.name, [type_.element_type], list(operands), attributes).results[0]
        for operands in zip(*given, strict=True)
    ]


def _constants(operation: Any) -> list[Any]:
    attribute, type_ = operation.attributes["value"], ir.VectorType(operation.results[0].type)
    count = prod(type_.shape)
    if attribute.is_splat:
        values = [attribute.get_splat_value()] * count
    else:
        values = [constants.number(type_.element_type, each) for each in attribute]
    return [dialect("arith").ConstantOp(type_.element_type, each).result for each in values]


def _broadcast(operation: Any, of: Of) -> list[Any]:
    numbers = of(operation.operands[0])
    return numbers * (prod(ir.VectorType(operation.results[0].type).shape) // len(numbers))


def _position(operation: Any, shape: list[int]) -> tuple[int, int]:
    """The first number, and how many, of what vector.extract or vector.insert is about."""
    static = list(ir.DenseI64ArrayAttr(operation.attributes["static_position"]))
    if any(each == _DYNAMIC for each in static):
        raise pass_error(operation, f"'{operation.name}' at a position that is not constant")
    first, inside = 0, prod(shape)
    for place, size in zip(static, shape, strict=False):
        inside //= size
        first += place * inside
    return first, inside


def _extract(operation: Any, of: Of) -> list[Any]:
    source = operation.operands[0]
    first, count = _position(operation, list(ir.VectorType(source.type).shape))
    return of(source)[first : first + count]


def _insert(operation: Any, of: Of) -> list[Any]:
    value, target = operation.operands[0], operation.operands[1]
    first, count = _position(operation, list(ir.VectorType(target.type).shape))
    numbers = list(of(target))
    numbers[first : first + count] = of(value)
    return numbers


def _fma(operation: Any, of: Of) -> list[Any]:
    given = [of(operand) for operand in operation.operands]
    return [dialect("math").FmaOp(*operands).result for operands in zip(*given, strict=True)]


def _bitcast(operation: Any, of: Of) -> list[Any]:
    """The same bits as numbers of another type: one for one, or several for one."""
    source, result = (ir.VectorType(each.type).element_type for each in (operation.operands[0], operation.results[0]))
    numbers = of(operation.operands[0])
    if source.width == result.width:
        return [dialect("arith").BitcastOp(result, each).result for each in numbers]
    several = max(source.width, result.width) // min(source.width, result.width)
    if several > 4:
        raise pass_error(operation, f"'{operation.name}' from {source} to {result}; expected at most four for one")
    bits = as_bits(min(source, result, key=lambda type_: type_.width))
    if source.width > result.width:
        return [_bit_cast(each, result) for number in numbers for each in divided(number, bits, several)]
    words = [_bit_cast(number, bits) for number in numbers]
    parts = [words[first : first + several] for first in range(0, len(words), several)]
    return [joined(part, result) for part in parts]


def _bit_cast(number: Any, type_: Any) -> Any:
    """The bits of a number as another type, of as many."""
    return number if number.type == type_ else dialect("arith").BitcastOp(type_, number).result


_MADE: dict[str, Callable[[Any, Of], list[Any]]] = {
    "vector.bitcast": _bitcast,
    "vector.broadcast": _broadcast,
    "vector.extract": _extract,
    "vector.insert": _insert,
    "vector.fma": _fma,
    "vector.from_elements": lambda operation, of: [number for each in operation.operands for number in of(each)],
    "vector.shape_cast": lambda operation, of: of(operation.operands[0]),
}
