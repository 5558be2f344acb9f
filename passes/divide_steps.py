"""divide-steps: the k of a product in parts, which are multiplied side by side, and added up by a kernel behind.

Expects kernels as `import` leaves them: one function, or a program with a module for each kernel. Options name the
kernel and say how many parts. Leaves a program in which the product is a batch of products, one for each part of k,
whose sums go to a buffer of their own, [parts, m, n] in the type of the accumulator. A kernel over points behind it
adds them up, the first part first, so that the result has the same bits in every run, and does what followed the
product. Nothing moves in memory for that: only the arguments' types change. Both functions say `tile.divided`, and a
second run changes nothing.

It is for products of few tiles and a long k: with parts there are tiles for all SMs. Refuses products that are
a batch already, that start from what is in memory, or whose operands are computed, read otherwise too, padded or of
sizes that are known at run time only; a k that does not divide; and more than one elementwise operation behind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.arguments import argument_attributes, set_argument_attributes
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.products import Factor, Product, the_product
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.outlining import kernel_modules, padding, programs
from mlir_gemm.dialect.outlining.kernel_functions import new_function
from mlir_gemm.dialect.outlining.views import memref_type, view_of_type
from mlir_gemm.dialect.walk import body, in_block, named, users
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.describe_arguments import ROLE
from mlir_gemm.passes.outline_kernels import KIND

DIVIDED = "tile.divided"
"""On a product's function, and on that of the kernel behind: in how many parts its k is multiplied."""


@dataclass(frozen=True)
class DivideSteps(Pass):
    """Multiply parts of k side by side."""

    name: ClassVar[str] = "divide-steps"
    kernel: str = ""
    """The name of the product's module in a program; empty for the only product."""
    parts: int = 2

    def run(self, module: Any) -> None:
        if self.parts < 1:
            raise PassError(f"pass 'divide-steps': parts={self.parts}; expected at least 1")
        outer, inner = kernel_modules.find_product(module, self.kernel)
        function = programs.function_of(inner)
        if self.parts == 1 or DIVIDED in function.attributes:
            return
        division = _Division(function, self.parts)
        if inner is outer:
            inner = kernel_modules.nest(outer)
        division.carry_out(outer, inner)


def cannot_divide(function: Any, parts: int) -> str:
    """Why the k of a kernel's product cannot be multiplied in parts; empty if it can."""
    try:
        _Division(function, parts)
    except PassError as error:
        return error.message
    return ""


class _Division:
    """A product, what follows it, and what becomes of both."""

    def __init__(self, function: Any, parts: int):
        self.function, self.parts = function, parts
        self.product: Product = the_product(function)
        generic = self.product.generic
        if self.product.batch or any(len(each) != 1 for each in (self.product.m, self.product.n, self.product.k)):
            raise self._refusal("is one of a batch, or has no m, n or k of its own")
        self.loops = (self.product.m[0], self.product.n[0], self.product.k[0])
        for operand, factor in (("A", self.product.a), ("B", self.product.b)):
            why = self._unfit(factor)
            if why:
                raise self._refusal(f"has an operand {operand} that {why}")
        depth = structured.sizes_of(generic)[self.loops[2]]
        if depth % parts:
            raise self._refusal(f"has a k of {depth}, which does not divide into {parts} parts")
        self.sums = self.product.accumulator
        if not self._starts_from_zero():
            raise self._refusal("starts from what is in memory, which every part would add")
        self.behind = self._behind()
        with self.product.op.location:
            self.partial = ir.MemRefType.get([parts, *self.sums.type.shape], self.sums.type.element_type)

    def _refusal(self, why: str) -> PassError:
        return pass_error(self.product.op, f"the steps of a product cannot be divided: it {why}")

    def _unfit(self, factor: Factor) -> str:
        """Why an operand cannot be read in parts; empty if it can."""
        memory = self.product.generic.operands[factor.operands[0]]
        arguments = list(body(self.function).arguments)
        if not factor.plain or len(factor.operands) != 1:
            return "is computed from what is in memory"
        if memory not in arguments:
            return "is no argument of the kernel"
        if not memory.type.has_static_shape:
            return "has sizes known at run time only"
        if len(list(users(memory))) > 1 or list(self.product.op.operands).count(memory) > 1:
            return "the kernel reads twice"
        if padding.buffer_shape(self.function, arguments.index(memory)) is not None:
            return "is padded"
        return ""

    def _starts_from_zero(self) -> bool:
        fills = [op.operation for op in in_block(body(self.function)) if op.operation.name == "linalg.fill"]
        own = [fill for fill in fills if fill.operands[-1] == self.sums]
        return len(own) == 1 and _is_zero(own[0].operands[0])

    def _behind(self) -> Generic | None:
        """The elementwise operation behind the product; None where its sums are the result."""
        others = [op.operation for op in in_block(body(self.function))
                  if structured.is_generic(op) and op.operation != self.product.op.operation]  # fmt: skip
        arguments = list(body(self.function).arguments)
        if not others and self.sums in arguments:
            return None
        if len(others) != 1 or self.sums in arguments:
            raise self._refusal("is followed by more than one operation, or none")
        behind = structured.read(others[0])
        read = [operand for operand in behind.operands if operand != self.sums]
        once = len(read) == len(behind.operands) - 1
        if (
            not behind.elementwise
            or not once
            or self.sums in behind.outputs
            or any(each not in arguments for each in read)
        ):
            raise self._refusal("is followed by something else than an elementwise operation on arguments")
        return behind

    def carry_out(self, outer: Any, inner: Any) -> None:
        """Writes both kernels, and runs them."""
        name = kernel_modules.name_of(inner)
        note = f"k in {self.parts} parts, each multiplied for itself and added up by a kernel behind"
        arguments = list(body(self.function).arguments)
        numbers = [arguments.index(self.product.generic.operands[number]) for number in self._operands()]
        finish, others = self._write_sum(outer, inner, kernel_modules.unused_name(outer, f"{name}_sum"))
        self._write_product(numbers)
        kernel_modules.add_note(inner, note)
        for run in [each for each in named(outer, "tile.run") if programs.kernel_of(each) == name]:
            buffers = programs.buffers_of(run)
            with ir.InsertionPoint.after(run.operation), run.location:
                room = dialect("memref").AllocOp(self.partial, [], []).result
                programs.run(name, [*(buffers[number] for number in numbers), room])
                programs.run(finish, [room, *(buffers[number] for number in others)])
            programs.drop(run)

    def _operands(self) -> list[int]:
        """The numbers of A and B among the product's operands."""
        return [factor.operands[0] for factor in (self.product.a, self.product.b)]

    def _write_product(self, numbers: list[int]) -> None:
        """The product of all parts, in place of the kernel's function. `numbers` are those of the arguments A and B."""
        old, generic = self.function, self.product.generic
        name = ir.StringAttr(old.attributes["sym_name"]).value
        attributes = {key: value for key, value in attributes_of(old).items() if key.startswith("tile.")}
        roles = argument_attributes(old)
        operands, element = self._operands(), self.sums.type.element_type
        with self.product.op.location:
            types = [self._divided_type(number) for number in operands]
            function, block = new_function(name, [*types, self.partial], ir.InsertionPoint(old))
            with ir.InsertionPoint(block):
                *given, partial = block.arguments
                zero = dialect("arith").ConstantOp(element, constants.zero_of(element)).result
                structured.make_named("linalg.fill", zero, partial)
                inputs = [given[operands.index(number)] for number in range(len(generic.inputs))]
                maps = [_with_parts(map_, self.loops[2]) for map_ in generic.maps[:-1]]
                maps.append(_behind_parts(generic.maps[-1]))
                _, inside = structured.make(inputs, [partial], maps, [True, *generic.parallel])
                structured.clone_body(inside, generic, dict(zip(generic.body.arguments, inside.arguments, strict=True)))
                dialect("func").ReturnOp([])
        old.operation.erase()
        for key, value in attributes.items():
            function.attributes[key] = value
        function.attributes[DIVIDED] = constants.integer(self.parts)
        attributes_in = [roles[number] for number in numbers]
        set_argument_attributes(function, [*attributes_in, {ROLE: ir.StringAttr.get("out")}])

    def _divided_type(self, number: int) -> Any:
        """The type of an operand whose k is two dimensions: which part, and where in it."""
        memory, loops = self.product.generic.operands[number], self.product.generic.maps[number].results
        view = view_of_type(memory.type, self.product.op)
        groups: list[list[int]] = []
        shape: list[int] = []
        for size, loop in zip(view.shape, loops, strict=True):
            sizes = [self.parts, size // self.parts] if loop.position == self.loops[2] else [size]
            groups.append(list(range(len(shape), len(shape) + len(sizes))))
            shape += sizes
        return memref_type(view.expanded(groups, shape), memory.type.element_type)

    def _write_sum(self, outer: Any, inner: Any, name: str) -> tuple[str, list[int]]:
        """The kernel behind, and the numbers of the arguments that it has beside the parts' sums."""
        arguments, roles = list(body(self.function).arguments), argument_attributes(self.function)
        used = [self.sums] if self.behind is None else [each for each in self.behind.operands if each != self.sums]
        others = [number for number, argument in enumerate(arguments) if argument in used]
        note = f"adds up the {self.parts} parts of a product"
        made = kernel_modules.new_module(name, inner, note)
        inner.operation.move_before(made)
        where = ir.InsertionPoint(made.regions[0].blocks[0])
        with self.product.op.location:
            types = [arguments[number].type for number in others]
            function, block = new_function(name, [self.partial, *types], where)
            partial, *given = block.arguments
            memory = dict(zip((arguments[number] for number in others), given, strict=True))
            with ir.InsertionPoint(block):
                self._add_up(partial, memory)
                dialect("func").ReturnOp([])
        function.attributes[KIND] = ir.StringAttr.get("points")
        function.attributes[DIVIDED] = constants.integer(self.parts)
        set_argument_attributes(function, [{ROLE: ir.StringAttr.get("in")}, *(roles[number] for number in others)])
        return name, others

    def _add_up(self, partial: Any, memory: dict[Any, Any]) -> None:
        """The elementwise operation that reads all parts, at the insertion point."""
        behind = self.behind
        if behind is None:
            target = memory[self.sums]
            identity = ir.AffineMap.get_identity(len(target.type.shape))
            maps = [_of_part(identity, part) for part in range(self.parts)]
            _, block = structured.make([partial] * self.parts, [target], [*maps, identity], [True] * identity.n_dims)
            with ir.InsertionPoint(block):
                structured.yield_([self._total(list(block.arguments)[: self.parts])])
            return
        first = behind.operands.index(self.sums)
        inputs, maps = list[Any](), list[Any]()
        for number, operand in enumerate(behind.inputs):
            if operand == self.sums:
                inputs += [partial] * self.parts
                maps += [_of_part(behind.maps[number], part) for part in range(self.parts)]
            else:
                inputs.append(memory[operand])
                maps.append(behind.maps[number])
        outputs = [memory[operand] for operand in behind.outputs]
        maps += behind.maps[len(behind.inputs) :]
        _, block = structured.make(inputs, outputs, maps, behind.parallel)
        arguments = list(block.arguments)
        with ir.InsertionPoint(block):
            total = self._total(arguments[first : first + self.parts])
        rest = [*arguments[:first], total, *arguments[first + self.parts :]]
        structured.clone_body(block, behind, dict(zip(behind.body.arguments, rest, strict=True)))

    def _total(self, values: list[Any]) -> Any:
        """The sum of numbers in order."""
        is_float = isinstance(values[0].type, ir.FloatType)
        add = dialect("arith").AddFOp if is_float else dialect("arith").AddIOp
        total = values[0]
        for value in values[1:]:
            total = add(total, value).result
        return total


def _is_zero(value: Any) -> bool:
    owner = value.owner
    if getattr(owner, "name", "") != "arith.constant":
        return False
    return owner.operation.attributes["value"].value == 0


def _with_parts(map_: Any, depth: int) -> Any:
    """The map of an operand over loops with one over parts in front: along k it has two dimensions."""
    results = list[Any]()
    for each in map_.results:
        if each.position == depth:
            results.append(ir.AffineExpr.get_dim(0))
        results.append(ir.AffineExpr.get_dim(each.position + 1))
    return ir.AffineMap.get(map_.n_dims + 1, 0, results)


def _behind_parts(map_: Any) -> Any:
    """The map of the sums over the same loops."""
    results = [ir.AffineExpr.get_dim(each.position + 1) for each in map_.results]
    return ir.AffineMap.get(map_.n_dims + 1, 0, [ir.AffineExpr.get_dim(0), *results])


def _of_part(map_: Any, part: int) -> Any:
    """The map of one part's sums, from that of the sums."""
    return ir.AffineMap.get(map_.n_dims, 0, [ir.AffineExpr.get_constant(part), *map_.results])
