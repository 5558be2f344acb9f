"""split-k-in-workspace: the k of a product in slices, which are multiplied side by side, and added up by kernels
after.

Expects kernels as `import` leaves them: one function, or a program with a module for each kernel. Options name the
kernel, say how many slices, and how many elements of k each has; what is left of k is a product of its own, in front.
Leaves a program in which the product is a batch of products, one for each slice of k, whose sums go to a buffer of
their own, [slices, m, n] in the type of the accumulator. Elementwise kernels after it add them up in a tree of fixed
shape (`spec/sum_tree.py`), up to 44 at a time and the first slice first, so that the result has the same bits in every
run; the last one does what followed the product. Nothing moves in memory for that: only the arguments' types change.
All functions say `tile.split_k_workspace`, and a second run changes nothing.

With slices there are tiles for all SMs where a result has few, and no sum is so long that digits are lost. Refuses
products that start from what is in memory, whose operands are read otherwise too, of sizes known at run time only, or
computed from positions; a k that does not divide; and more than one elementwise operation after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, windows
from mlir_gemm.dialect.arguments import argument_attributes, set_argument_attributes
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.products import Product, the_product
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.outlining import cuts, kernel_modules, padding, programs
from mlir_gemm.dialect.outlining.kernel_functions import new_function
from mlir_gemm.dialect.outlining.partial_sums import Partial, Term, write_level, write_total
from mlir_gemm.dialect.outlining.views import View, memref_type, view_of_type
from mlir_gemm.dialect.walk import body, in_block, named, users
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Rewrite
from mlir_gemm.spec import sum_tree
from mlir_gemm.spec.attributes import KIND, MASKED, ROLE, SCHEDULE, SPLIT_K_WORKSPACE, ZEROS
from mlir_gemm.spec.kernel_record import REDUCTION


@dataclass(frozen=True)
class SplitKInWorkspace(Rewrite):
    """Multiply slices of k side by side."""

    name: ClassVar[str] = "split-k-in-workspace"
    slices: int = 2
    depth: int = 0
    """Elements of k in each slice; what is left is a product of its own. 0: as many as divide k evenly."""
    by_warps: bool = False
    """A warp multiplies each element of a slice, by ordinary arithmetic, and not a block with a schedule."""

    def run(self, module: Any) -> None:
        if self.slices < 1:
            raise PassError(f"pass 'split-k-in-workspace': slices={self.slices}; expected at least 1")
        if self.depth < 0:
            raise PassError(f"pass 'split-k-in-workspace': depth={self.depth}; expected at least 0")
        outer, inner = kernel_modules.find_product(module, self.kernel)
        function = programs.function_of(inner)
        if self.slices == 1 or SPLIT_K_WORKSPACE in function.attributes:
            return
        division = _Division(function, self.slices, self.depth, self.by_warps)
        if inner is outer:
            inner = kernel_modules.nest(outer)
        division.carry_out(outer, inner)

    def refuses(self, function: Any) -> str:
        try:
            _Division(function, self.slices, self.depth)
        except PassError as error:
            return error.message
        return ""


class _Division:
    """A product, what follows it, and what becomes of both."""

    def __init__(self, function: Any, slices: int, depth: int, by_warps: bool = False):
        self.function, self.slices, self.by_warps = function, slices, by_warps
        self.product: Product = the_product(function)
        generic = self.product.generic
        if any(len(each) != 1 for each in (self.product.m, self.product.n, self.product.k)):
            raise self._refusal("has no m, n or k of its own")
        self.k = self.product.k[0]
        for number in range(len(generic.inputs)):
            why = self._unfit(number)
            if windows.is_windows(generic.inputs[number]):
                why = "is read by windows, whose k is not one row of memory"
            if why:
                raise self._refusal(f"has an operand {self._name(number)} that {why}")
        if any(each.operation.name == "linalg.index" for each in in_block(generic.body)):
            raise self._refusal("computes what it multiplies from where it stands")
        whole = structured.sizes_of(generic)[self.k]
        if not depth and whole % slices:
            raise self._refusal(f"has a k of {whole}, which does not divide into {slices} slices")
        self.depth = depth or whole // slices
        self.rest = whole - slices * self.depth
        if self.rest < 0:
            raise self._refusal(f"has a k of {whole}, which is less than {slices} slices of {self.depth}")
        self.sums = self.product.accumulator
        if not self._starts_from_zero():
            raise self._refusal("starts from what is in memory, which every slice would add")
        self.behind = self._behind()
        with self.product.op.location:
            self.partial = ir.MemRefType.get([slices, *self.sums.type.shape], self.sums.type.element_type)

    def _refusal(self, why: str) -> PassError:
        return pass_error(self.product.op, f"the steps of a product cannot be divided: it {why}")

    def _name(self, number: int) -> str:
        return "A" if number in self.product.a.operands else "B"

    def _unfit(self, number: int) -> str:
        """Why an operand cannot be read in slices; empty if it can."""
        memory = self.product.generic.operands[number]
        if memory not in list(body(self.function).arguments):
            return "is no argument of the kernel"
        if not memory.type.has_static_shape:
            return "has sizes known at run time only"
        if len(list(users(memory))) > 1 or list(self.product.op.operands).count(memory) > 1:
            return "the kernel reads twice"
        return ""

    def _starts_from_zero(self) -> bool:
        fills = [op.operation for op in in_block(body(self.function)) if op.operation.name == "linalg.fill"]
        own = [fill for fill in fills if fill.operands[-1] == self.sums]
        return len(own) == 1 and _is_zero(own[0].operands[0])

    def _behind(self) -> Generic | None:
        """The elementwise operation after the product; None where its sums are the result."""
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
        """Writes the kernels, and runs them."""
        name = kernel_modules.name_of(inner)
        note = f"k in {self.slices} slices, each multiplied for itself and added up by a kernel after it"
        arguments = list(body(self.function).arguments)
        numbers = [arguments.index(memory) for memory in self.product.generic.inputs]
        types = [self.partial]
        steps: list[tuple[str, list[int], list[int]]] = []  # a kernel, its buffers by `types`, its arguments
        if self.rest:
            types.append(self.sums.type)
            steps.append((self._write_rest(outer, inner, name, numbers), [1], numbers))
        steps.append((name, [0], numbers))
        terms = self._write_levels(outer, inner, name, types, steps)
        finish, others = self._write_sum(outer, inner, kernel_modules.unused_name(outer, f"{name}_sum"), types, terms)
        self._write_product(numbers)
        kernel_modules.add_note(inner, note)
        for run in [each for each in named(outer, "tile.run") if programs.kernel_of(each) == name]:
            buffers = programs.buffers_of(run)
            with ir.InsertionPoint.after(run.operation), run.location:
                made = [dialect("memref").AllocOp(type_, [], []).result for type_ in types]
                for kernel, own, given in steps:
                    programs.run(kernel, [*(buffers[number] for number in given), *(made[each] for each in own)])
                summed = [made[each] for each in dict.fromkeys(term.buffer for term in terms)]
                programs.run(finish, [*summed, *(buffers[number] for number in others)])
            programs.drop(run)

    def _write_levels(
        self, outer: Any, inner: Any, name: str, types: list[Any], steps: list[tuple[str, list[int], list[int]]]
    ) -> list[Term]:
        """The levels of the tree before the last; what the last one adds up, in order."""
        count, source, left = self.slices, 0, list[Term]()
        for level in sum_tree.levels(self.slices):
            shape = [level.groups, *self.sums.type.shape]
            note = f"adds up {level.groups * level.fan} sums of slices, {level.fan} at a time"
            made = self._points_module(outer, inner, kernel_modules.unused_name(outer, f"{name}_add"), note)
            with self.product.op.location:
                types.append(ir.MemRefType.get(shape, self.sums.type.element_type))
                self._finish(write_level(made, self.sums.type, level), ["in", "out"])
            steps.append((kernel_modules.name_of(made), [source, len(types) - 1], []))
            left += [Term(source, place) for place in range(level.groups * level.fan, count)]
            count, source = level.groups, len(types) - 1
        rest = [Term(1, None)] if self.rest else []
        return [*(Term(source, place) for place in range(count)), *left, *rest]

    def _points_module(self, outer: Any, inner: Any, name: str, note: str) -> Any:
        made = kernel_modules.new_module(name, inner, note)
        inner.operation.move_before(made)
        return made

    def _finish(self, function: Any, roles: list[Any]) -> None:
        """Says what an elementwise kernel is."""
        function.attributes[KIND] = ir.StringAttr.get("elementwise")
        function.attributes[SPLIT_K_WORKSPACE] = constants.integer(self.slices)
        given = [{ROLE: ir.StringAttr.get(role)} if isinstance(role, str) else role for role in roles]
        set_argument_attributes(function, given)

    def _write_product(self, numbers: list[int]) -> None:
        """The product of all slices, in place of the kernel's function. `numbers` are those of the arguments."""
        old, generic = self.function, self.product.generic
        maps = [self._with_parts(number) for number in range(len(generic.inputs))]
        maps.append(_behind_parts(generic.maps[-1]))
        attributes = _kept(old)
        with self.product.op.location:
            types = [self._divided_type(number) for number in range(len(generic.inputs))]
            name = ir.StringAttr(old.attributes["sym_name"]).value
            where = ir.InsertionPoint(old)
            function = self._product_function(name, where, [*types, self.partial], maps, [True, *generic.parallel])
        self._describe(function, attributes, numbers)
        if self.by_warps:
            function.attributes[KIND] = ir.StringAttr.get(REDUCTION)
            if SCHEDULE in function.attributes:
                del function.attributes[SCHEDULE]
        for place, number in enumerate(numbers):
            self._keep_padding(function, place, number)
        old.operation.erase()

    def _write_rest(self, outer: Any, inner: Any, name: str, numbers: list[int]) -> str:
        """The product of what is left of k, in a kernel of its own; its name."""
        generic = self.product.generic
        own = kernel_modules.unused_name(outer, f"{name}_rest")
        made = kernel_modules.new_module(own, inner, f"the last {self.rest} of k, which are in no slice")
        attributes = _kept(self.function)
        with self.product.op.location:
            types = [self._rest_type(number) for number in range(len(generic.inputs))]
            where = ir.InsertionPoint(made.regions[0].blocks[0])
            function = self._product_function(own, where, [*types, self.sums.type], generic.maps, generic.parallel)
        self._describe(function, attributes, numbers)
        return own

    def _product_function(self, name: str, where: Any, types: list[Any], maps: Any, parallel: Any) -> Any:
        """A function with the product on other operands and loops."""
        generic, element = self.product.generic, self.sums.type.element_type
        function, block = new_function(name, types, where)
        with ir.InsertionPoint(block):
            *inputs, target = block.arguments
            zero = dialect("arith").ConstantOp(element, constants.zero_of(element)).result
            structured.make_named("linalg.fill", zero, target)
            _, inside = structured.make(inputs, [target], maps, parallel)
            structured.clone_body(inside, generic, dict(zip(generic.body.arguments, inside.arguments, strict=True)))
            dialect("func").ReturnOp([])
        return function

    def _describe(self, function: Any, attributes: dict[str, Any], numbers: list[int]) -> None:
        """Says of a product's function what was said of the whole product's."""
        for key, value in attributes.items():
            function.attributes[key] = value
        function.attributes[SPLIT_K_WORKSPACE] = constants.integer(self.slices)
        roles = argument_attributes(self.function)
        given = [{key: value for key, value in roles[number].items() if key != padding.PADDED} for number in numbers]
        set_argument_attributes(function, [*given, {ROLE: ir.StringAttr.get("out")}])

    def _keep_padding(self, function: Any, place: int, number: int) -> None:
        """What lies beyond the ends of rows that do not run along k is the same zeros."""
        buffer = padding.buffer_shape(self.function, number)
        loops = self.product.generic.maps[place].results
        if buffer is None or loops[0].position != self.k:
            return
        attributes = argument_attributes(function)
        attributes[place][padding.PADDED] = ir.DenseI64ArrayAttr.get([self.slices, self.depth, *buffer[1:]])
        set_argument_attributes(function, attributes)

    def _divided_type(self, number: int) -> Any:
        """The type of an operand whose k is two dimensions: which slice, and where in it."""
        memory, view, loops = self._operand(number)
        shape: list[int] = []
        strides: list[int] = []
        axes = self._axes(number)
        for axis in axes:
            size, stride, along = view.shape[axis], view.strides[axis], loops[axis].position == self.k
            if axes != sorted(axes) and size == 1:  # in front of all others, and as far apart as these reach
                stride = max(n * step for n, step in zip(view.shape, view.strides, strict=True))
            shape += [self.slices, self.depth] if along else [size]
            strides += [self.depth * stride, stride] if along else [stride]
        return memref_type(View(tuple(shape), tuple(strides), view.offset), memory.type.element_type)

    def _with_parts(self, number: int) -> Any:
        """The map of an operand over loops with one over slices in front."""
        map_ = self.product.generic.maps[number]
        results = list[Any]()
        for axis in self._axes(number):
            position = map_.results[axis].position
            results += [ir.AffineExpr.get_dim(0)] if position == self.k else []
            results.append(ir.AffineExpr.get_dim(position + 1))
        return ir.AffineMap.get(map_.n_dims + 1, 0, results)

    def _axes(self, number: int) -> list[int]:
        """The order of an operand's dimensions: after k there are none of one element, which would hide that its
        neighbours lie along k."""
        _, view, loops = self._operand(number)
        axes = range(len(loops))
        own = body(self.function).arguments
        place = list(own).index(self.product.generic.operands[number])
        last = [axis for axis in axes if loops[axis].position == self.k]
        if not last or padding.buffer_shape(self.function, place) is not None:
            return list(axes)
        behind = [axis for axis in axes if axis > last[0]]
        if any(view.shape[axis] > 1 for axis in behind):
            return list(axes)
        return [*behind, *(axis for axis in axes if axis <= last[0])]

    def _rest_type(self, number: int) -> Any:
        """The type of an operand after all slices."""
        memory, view, loops = self._operand(number)
        along = [loop.position == self.k for loop in loops]
        first = [self.slices * self.depth if each else 0 for each in along]
        sizes = [self.rest if each else size for each, size in zip(along, view.shape, strict=True)]
        return memref_type(view.sliced(first, sizes, [1] * len(sizes)), memory.type.element_type)

    def _operand(self, number: int) -> tuple[Any, View, Any]:
        """An operand, how it lies, and the loop of each of its dimensions."""
        memory = self.product.generic.operands[number]
        return memory, view_of_type(memory.type, self.product.op), self.product.generic.maps[number].results

    def _write_sum(
        self, outer: Any, inner: Any, name: str, types: list[Any], terms: list[Term]
    ) -> tuple[str, list[int]]:
        """The last kernel, and the numbers of the arguments that it has beside the slices' sums."""
        arguments, roles = list(body(self.function).arguments), argument_attributes(self.function)
        used = [self.sums] if self.behind is None else [each for each in self.behind.operands if each != self.sums]
        others = [number for number, argument in enumerate(arguments) if argument in used]
        made = self._points_module(outer, inner, name, f"adds up the {self.slices} slices of a product")
        why = f"k is multiplied in {self.slices} slices side by side, which are added up when all are there"
        cuts.add(made, kernel_modules.name_of(inner), why)
        buffers = list(dict.fromkeys(term.buffer for term in terms))
        where = ir.InsertionPoint(made.regions[0].blocks[0])
        with self.product.op.location:
            given = [*(types[each] for each in buffers), *(arguments[number].type for number in others)]
            function, block = new_function(name, given, where)
            partials = dict(zip(buffers, block.arguments, strict=False))
            memory = dict(zip((arguments[each] for each in others), list(block.arguments)[len(buffers) :], strict=True))
            with ir.InsertionPoint(block):
                write_total([Partial(partials[term.buffer], term.place) for term in terms], self.sums, self.behind,
                            memory)  # fmt: skip
                dialect("func").ReturnOp([])
        self._finish(function, [*["in"] * len(buffers), *(roles[number] for number in others)])
        return name, others


def _kept(function: Any) -> dict[str, Any]:
    """What the product's function says that holds of its slices too."""
    given = attributes_of(function).items()
    return {key: value for key, value in given if key.startswith("tile.") and key not in (ZEROS, MASKED)}


def _is_zero(value: Any) -> bool:
    owner = value.owner
    if getattr(owner, "name", "") != "arith.constant":
        return False
    return owner.operation.attributes["value"].value == 0


def _behind_parts(map_: Any) -> Any:
    """The map of the sums over the same loops."""
    results = [ir.AffineExpr.get_dim(each.position + 1) for each in map_.results]
    return ir.AffineMap.get(map_.n_dims + 1, 0, [ir.AffineExpr.get_dim(0), *results])
