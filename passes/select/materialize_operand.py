"""materialize-operand: a computed operand of a product is computed once, by a kernel of its own, and read from memory.

Expects kernels as `import` leaves them: one function, or a program with a module for each kernel. Options name the
kernel, and `a`, `b` or both. Leaves a program in which, in front of the product, an elementwise kernel computes the
operand into a buffer of its own, in the order of the largest of what it is computed from, and the product reads the
buffer. Arguments that only the operand was computed from are those of the new kernel. Its module says in `tile.note`
what was done.

A prologue computes an element again for each block tile that it belongs to, and keeps operands from the copy engine: a
product of many rows is faster on a buffer. Refuses operands that are computed from other than arguments of the kernel,
from memory that the kernel writes, from dynamic sizes, or from several operands of which none has all dimensions, and
from positions in bodies (linalg.index; those that are operands, tile.position, are made again in the new kernel). An
operand that is read as it is stays so: a second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from mlir_gemm.dialect import positions
from mlir_gemm.dialect.arguments import argument_attributes, set_argument_attributes
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import clone, clone_slice
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.products import Factor, Product, the_product
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.outlining import cuts, kernel_modules, programs
from mlir_gemm.dialect.outlining.kernel_functions import new_function
from mlir_gemm.dialect.outlining.views import view_of_type
from mlir_gemm.dialect.walk import body, in_block, named, users
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Rewrite
from mlir_gemm.spec.attributes import KIND, ROLE
from mlir_gemm.spec.kernel_record import ELEMENTWISE


@dataclass(frozen=True)
class MaterializeOperand(Rewrite):
    """Compute an operand of a product once, in front of it."""

    name: ClassVar[str] = "materialize-operand"
    a: bool = False
    b: bool = False

    def run(self, module: Any) -> None:
        outer, inner = kernel_modules.find_product(module, self.kernel)
        for operand in self._operands():
            computed = _Computed.of(programs.function_of(inner), operand)
            if computed is None:
                continue
            if inner is outer:
                inner = kernel_modules.nest(outer)
            computed.carry_out(outer, inner)

    def _operands(self) -> str:
        return "a" * self.a + "b" * self.b

    def refuses(self, function: Any) -> str:
        try:
            for operand in self._operands():
                _Computed.of(function, operand)
        except PassError as error:
            return error.message
        return ""


@dataclass(frozen=True)
class _Computed:
    """An operand that is computed from what is in memory."""

    function: Any
    product: Product
    operand: str
    value: Any
    """What is multiplied, a value in the product's body."""
    inputs: tuple[int, ...]
    """The numbers of the product's operands that it is computed from, the one with all dimensions first."""

    @staticmethod
    def of(function: Any, operand: str) -> _Computed | None:
        """An operand, `a` or `b`, of a kernel's product; None for one that is read as it is."""
        product = the_product(function)
        factor: Factor = product.a if operand == "a" else product.b
        if factor.plain:
            return None
        made = _Computed(function, product, operand, factor.core, factor.operands)
        made._check()
        return made

    def _refusal(self, why: str) -> PassError:
        return pass_error(self.product.op, f"operand {self.operand.upper()} of the product {why}")

    def _check(self) -> None:
        if not self.inputs:
            raise self._refusal("is computed from no memory; expected an argument of the kernel")
        arguments = list(body(self.function).arguments)
        for number in self.inputs:
            memory = self._memory(number)
            if positions.is_position(memory) and memory.type.has_static_shape and number != self.inputs[0]:
                continue
            if memory not in arguments or not isinstance(memory.type, ir.MemRefType):
                raise self._refusal("is computed from what is no argument of the kernel")
            if not memory.type.has_static_shape:
                raise self._refusal(f"is computed from {memory.type}; expected constant sizes")
            if any(memory in structured.read(use).outputs for use in users(memory) if structured.is_generic(use)):
                raise self._refusal("is computed from memory that the kernel also writes")
            if not set(self._loops(number)) <= set(self._loops(self.inputs[0])):
                raise self._refusal("is computed from several operands, none of which has all its dimensions")
        if any(op.operation.name == "linalg.index" for op in in_block(self.product.generic.body)):
            raise self._refusal("is computed from where it stands")

    def _memory(self, number: int) -> Any:
        return self.product.generic.operands[number]

    def _is_position(self, number: int) -> bool:
        return positions.is_position(self._memory(number))

    def _loops(self, number: int) -> list[int]:
        """The loops along the dimensions of an operand."""
        return [expression.position for expression in self.product.generic.maps[number].results]

    def carry_out(self, outer: Any, inner: Any) -> None:
        """Writes the kernel that computes the operand, and lets the product read what it leaves."""
        name = kernel_modules.name_of(inner)
        arguments = list(body(self.function).arguments)
        read = [arguments.index(self._memory(number)) for number in self.inputs if not self._is_position(number)]
        shape = [structured.sizes_of(self.product.generic)[loop] for loop in self._loops(self.inputs[0])]
        buffer = ir.MemRefType.get(shape, self.value.type)
        kernel = self._write_kernel(outer, inner, kernel_modules.unused_name(outer, f"{name}_{self.operand}"), buffer)
        cuts.add(inner, kernel, self._note())
        self._read_buffer(buffer)
        kept, place = self._drop_arguments()
        for run in [each for each in named(outer, "tile.run") if programs.kernel_of(each) == name]:
            buffers = programs.buffers_of(run)
            with ir.InsertionPoint(run), run.location:
                room = dialect("memref").AllocOp(buffer, [], []).result
                programs.run(kernel, [*(buffers[number] for number in read), room])
            given = [buffers[number] for number in kept]
            programs.set_buffers(run, [*given[:place], room, *given[place:]])

    def _write_kernel(self, outer: Any, inner: Any, name: str, buffer: Any) -> str:
        made = kernel_modules.new_module(name, inner, self._note())
        where = ir.InsertionPoint(made.regions[0].blocks[0])
        loops, generic = self._loops(self.inputs[0]), self.product.generic
        maps = [[loops.index(loop) for loop in self._loops(number)] for number in self.inputs]
        places = [self._memory(number).type for number in self.inputs if self._is_position(number)]
        types = [self._memory(number).type for number in self.inputs if not self._is_position(number)]
        count = len(loops)
        if len(self.inputs) == 1 and view_of_type(types[0], self.product.op).is_dense:  # one loop over all elements
            types = [ir.MemRefType.get([prod(types[0].shape)], types[0].element_type)]
            buffer = ir.MemRefType.get(types[0].shape, buffer.element_type)
            maps, count = [[0]], 1
        with self.product.op.location:
            function, block = new_function(name, [*types, buffer], where)
            affine = [ir.AffineMap.get(count, 0, [ir.AffineDimExpr.get(loop) for loop in map_]) for map_ in maps]
            with ir.InsertionPoint(block):
                *inputs, target = list(block.arguments)
                made_here, given = iter([positions.make(type_) for type_ in places]), iter(inputs)
                inputs = [next(made_here if self._is_position(number) else given) for number in self.inputs]
                _, inside = structured.make(
                    inputs, [target], [*affine, ir.AffineMap.get_identity(count)], [True] * count
                )
                dialect("func").ReturnOp([])
            with ir.InsertionPoint(inside):
                values = {
                    generic.body.arguments[number]: argument
                    for number, argument in zip(self.inputs, inside.arguments, strict=False)
                }
                self._clone_constants(values)
                structured.yield_(clone_slice([self.value], generic.body, values))
        function.attributes[KIND] = ir.StringAttr.get(ELEMENTWISE)
        set_argument_attributes(function, [{ROLE: ir.StringAttr.get(role)} for role in ("in",) * len(types) + ("out",)])
        return name

    def _clone_constants(self, values: dict[Any, Any]) -> None:
        """Constants around the product that its body uses."""
        for constant in structured.captured(self.product.generic):
            clone(constant.owner, values)

    def _read_buffer(self, buffer: Any) -> None:
        """Replaces the product by one that reads the buffer, a new last argument."""
        generic = self.product.generic
        argument = body(self.function).add_argument(buffer, self.product.op.location)
        kept = [number for number in range(len(generic.inputs)) if number not in self._only_inputs()]
        inputs = [*(self._memory(number) for number in kept), argument]
        maps = [*(generic.maps[number] for number in kept), generic.maps[self.inputs[0]]]
        with ir.InsertionPoint(generic.op), generic.op.location:
            outputs = generic.maps[len(generic.inputs) :]
            _, block = structured.make(inputs, list(generic.outputs), [*maps, *outputs], generic.parallel)
        old, new = list(generic.body.arguments), list(block.arguments)
        values = {old[number]: new[place] for place, number in enumerate(kept)}
        values[self.value] = new[len(kept)]
        values.update(zip(old[len(generic.inputs) :], new[len(inputs) :], strict=True))
        with ir.InsertionPoint(block):
            structured.yield_(clone_slice(generic.yielded, generic.body, values))
        left = [self._memory(number) for number in self.inputs if self._is_position(number)]
        generic.op.operation.erase()
        for memory in dict.fromkeys(left):
            if not any(True for _ in memory.uses):
                memory.owner.erase()

    def _only_inputs(self) -> list[int]:
        """Of the inputs of the operand those that the rest of the body does not read."""
        found: set[Any] = set()
        pending = list(self.product.generic.yielded)
        while pending:
            value = pending.pop()
            if value == self.value or value in found:
                continue
            found.add(value)
            if not hasattr(value.owner, "operations"):
                pending += value.owner.operation.operands
        return [number for number in self.inputs if self.product.generic.body.arguments[number] not in found]

    def _drop_arguments(self) -> tuple[list[int], int]:
        """Drops the arguments that nothing reads any more, and puts the last one, the buffer, in the place of the first
        of them, or leaves it; the numbers of those that were there and stay, and where the buffer comes among them."""
        block = body(self.function)
        *old, buffer = list(block.arguments)
        unread = [number for number, argument in enumerate(old) if not any(True for _ in argument.uses)]
        attributes = [*argument_attributes(self.function), {}]
        into = unread.pop(0) if unread else len(old)
        if into < len(old):
            old[into].set_type(buffer.type)
            buffer.replace_all_uses_with(old[into])
            unread.append(len(old))
        attributes[into] = {ROLE: ir.StringAttr.get("in")}
        for number in reversed(unread):
            block.erase_argument(number)
            del attributes[number]
        types = [argument.type for argument in block.arguments]
        self.function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, []))
        set_argument_attributes(self.function, attributes)
        kept = [number for number in range(len(old)) if number not in (*unread, into)]
        return kept, sum(number < into for number in kept)

    def _note(self) -> str:
        read = [number for number in self.inputs if not self._is_position(number)]
        types = " and ".join(str(self._memory(number).type.element_type) for number in read)
        once = f"operand {self.operand.upper()} of a product is computed here, from {types} to {self.value.type}, once"
        return f"{once}: each tile of the product would compute its part again"
