"""split-rows-in-workspace: reductions of few long rows in parts, side by side, which a kernel after them combines.

Expects kernels as `import` leaves them: one function, or a program with a module for each kernel. Options name a
kernel of rows, say how many parts, and how many elements of a row each has; what is left is a reduction of its own.
Leaves a program in which parts are rows of their own, whose results go to a buffer of their own, [parts, rows...],
and a kernel of rows that combines these and does what followed the reduction. All of it has a fixed order: the same
bits in every run. Nothing moves in memory for that: only the arguments' types change. A second run changes nothing.

Refuses kernels with more than one reduction, or along several dimensions, or that need the elements of a row again, and
those whose operands have sizes known at run time only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.arguments import argument_attributes, set_argument_attributes
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.body_cuts import Body
from mlir_gemm.dialect.clone import clone
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.outlining import cuts, kernel_modules, programs
from mlir_gemm.dialect.outlining.kernel_functions import new_function
from mlir_gemm.dialect.outlining.row_kernels import is_rows
from mlir_gemm.dialect.outlining.views import View, memref_type, view_of_type
from mlir_gemm.dialect.reductions import AnyCombination, Choice, combinations_of
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import KIND, ROLE, SPLIT_K_WORKSPACE
from mlir_gemm.spec.kernel_record import ROWS


@dataclass(frozen=True)
class SplitRowsInWorkspace(Pass):
    """Reduce parts of rows side by side."""

    name: ClassVar[str] = "split-rows-in-workspace"
    kernel: str = ""
    """The name of the kernel's module in a program; empty for the only kernel."""
    parts: int = 2
    depth: int = 0
    """Elements of a row in each part; what is left is a reduction of its own. 0: as many as divide a row evenly."""

    def run(self, module: Any) -> None:
        if self.parts < 2 or self.depth < 0:
            raise PassError(f"pass '{self}': expected at least 2 parts, of at least 0 elements")
        inner = _kernel(module, self.kernel)
        function = programs.function_of(inner)
        if SPLIT_K_WORKSPACE in function.attributes:
            return
        division = _Division(function, self.parts, self.depth)
        if inner == module:
            inner = kernel_modules.nest(module)
        division.carry_out(module, inner)


def cannot_split(function: Any, parts: int, depth: int = 0) -> str:
    """Why the rows of a kernel cannot be reduced in parts; empty if they can."""
    try:
        _Division(function, parts, depth)
    except PassError as error:
        return error.message
    return ""


def _kernel(module: Any, name: str) -> Any:
    modules = programs.kernel_modules(module)
    if not name and len(modules) < 2:
        return next(iter(modules.values()), module)
    if name not in modules:
        raise pass_error(module, f"kernel '{name}' is not in the program, which has {', '.join(modules) or 'none'}")
    return modules[name]


class _Division:
    """A reduction, what follows it, and what becomes of both."""

    def __init__(self, function: Any, parts: int, depth: int) -> None:
        self.function, self.parts = function, parts
        self.arguments = list(body(function).arguments)
        if not is_rows(function):
            raise pass_error(function, "only the rows of a kernel of rows are reduced in parts")
        self.work = [op.operation for op in in_block(body(function)) if op.operation.name.startswith("linalg.")]
        generics = [structured.read(op) for op in self.work if op.name not in ("linalg.fill", "linalg.copy")]
        reductions = [generic for generic in generics if not generic.elementwise]
        self.loops = len(generics[0].parallel) - 1
        if len(reductions) != 1 or reductions[0].op != generics[0].op or generics[0].parallel.count(False) != 1:
            raise self._refusal("there is more than one reduction, or one along several dimensions")
        self.reduction: Generic = reductions[0]
        if any(len(generic.parallel) > self.loops for generic in generics[1:]):
            raise self._refusal("the elements of rows are needed again")
        found = combinations_of(self.reduction)
        if found is None or len(found) != 1 or not _is_of_parts(found[0]):
            raise self._refusal("it is not one associative operation")
        self.combination = found[0]
        self.starts = self._starts()
        for memory in self.reduction.inputs:
            if memory not in self.arguments or not memory.type.has_static_shape:
                raise self._refusal("an operand is no argument of constant sizes")
        whole = structured.sizes_of(self.reduction)[self.loops]
        if not depth and whole % parts:
            raise self._refusal(f"{whole} elements do not divide into {parts} parts")
        self.depth = depth or whole // parts
        self.rest = whole - parts * self.depth
        if self.rest < 0:
            raise self._refusal(f"a row of {whole} elements is shorter than {parts} parts of {self.depth}")
        sums = [output.type for output in self.reduction.outputs]
        for map_ in self.reduction.maps[len(self.reduction.inputs) :]:
            if [each.position for each in map_.results] != list(range(len(sums[0].shape))):
                raise self._refusal("its result is not in the order of its rows")
        with function.location:
            self.places = self.parts + bool(self.rest)
            self.partials = [ir.MemRefType.get([self.places, *type_.shape], type_.element_type) for type_ in sums]

    def _refusal(self, why: str) -> PassError:
        return pass_error(self.work[0], f"rows cannot be reduced in parts: {why}")

    def _starts(self) -> list[Any]:
        outputs = list(self.reduction.outputs)
        fills = [op for op in self.work if op.name == "linalg.fill" and op.operands[1] in outputs]
        if [op.operands[1] for op in fills] != outputs:
            raise self._refusal("it starts from what is in memory")
        return fills

    def carry_out(self, outer: Any, inner: Any) -> None:
        """Writes the kernels, and runs them."""
        name = kernel_modules.name_of(inner)
        inputs = [self.arguments.index(memory) for memory in self.reduction.inputs]
        last = kernel_modules.new_module(
            kernel_modules.unused_name(outer, f"{name}_sum"), inner, f"combines the {self.places} parts of each row"
        )
        why = f"rows are reduced in {self.parts} parts side by side, which are combined when all are there"
        cuts.add(last, name, why)
        others = self._write_last(last)
        inner.operation.move_before(last)
        steps = [name]
        if self.rest:
            own = kernel_modules.new_module(
                kernel_modules.unused_name(outer, f"{name}_rest"), inner, f"the last {self.rest} elements of each row"
            )
            self._write_part(own.regions[0].blocks[0], kernel_modules.name_of(own), rest=True)
            steps.append(kernel_modules.name_of(own))
        old = self.function
        self._write_part(ir.InsertionPoint(old), name, rest=False)
        old.operation.erase()
        kernel_modules.add_note(inner, f"rows in {self.parts} parts, each reduced for itself")
        for run in [each for each in named(outer, "tile.run") if programs.kernel_of(each) == name]:
            buffers = programs.buffers_of(run)
            with ir.InsertionPoint.after(run.operation), run.location:
                made = [dialect("memref").AllocOp(type_, [], []).result for type_ in self.partials]
                for kernel in steps:
                    programs.run(kernel, [*(buffers[number] for number in inputs), *made])
                programs.run(kernel_modules.name_of(last), [*made, *(buffers[number] for number in others)])
            programs.drop(run)

    def _write_part(self, where: Any, name: str, rest: bool) -> None:
        """The reduction of all parts, or of the rest."""
        generic, count = self.reduction, len(self.reduction.inputs)
        point = where if isinstance(where, ir.InsertionPoint) else ir.InsertionPoint(where)
        with generic.op.location:
            given = [self._type(number, rest) for number in range(len(generic.inputs))]
            targets = [self._target(output.type, rest) for output in generic.outputs]
            function, block = new_function(name, [*given, *targets], point)
            with ir.InsertionPoint(block):
                inputs, results = list(block.arguments)[:count], list(block.arguments)[count:]
                for value, result in zip(self.combination.neutrals, results, strict=True):
                    neutral = ir.Operation.create("arith.constant", results=[value.type], attributes={"value": value})
                    structured.make_named("linalg.fill", neutral.result, result)
                maps = list(generic.maps)
                if not rest:
                    maps = [*map(self._map, maps[:count]), *map(_with_part, maps[count:])]
                parallel = generic.parallel if rest else (True, *generic.parallel)
                _, inside = structured.make(inputs, results, maps, parallel)
                structured.clone_body(inside, generic, dict(zip(generic.body.arguments, inside.arguments, strict=True)))
                dialect("func").ReturnOp([])
        roles = argument_attributes(self.function)
        own = [roles[self.arguments.index(memory)] for memory in generic.inputs]
        self._describe(function, [*own, *[{ROLE: ir.StringAttr.get("out")} for _ in targets]])

    def _target(self, sums: Any, rest: bool) -> Any:
        """The type of what holds the results of all parts, or of the rest, which lie after these."""
        if not rest:
            return ir.MemRefType.get([self.parts, *sums.shape], sums.element_type)
        first = self.parts * math.prod(sums.shape)
        return memref_type(View(tuple(sums.shape), tuple(View.dense(sums.shape).strides), first), sums.element_type)

    def _describe(self, function: Any, attributes: list[dict[str, Any]]) -> None:
        function.attributes[KIND] = ir.StringAttr.get(ROWS)
        function.attributes[SPLIT_K_WORKSPACE] = constants.integer(self.parts)
        set_argument_attributes(function, attributes)

    def _type(self, number: int, rest: bool) -> Any:
        """The type of an operand of which a row is two dimensions, which part and where in it; or of its rest."""
        memory, map_ = self.reduction.inputs[number], self.reduction.maps[number]
        view = view_of_type(memory.type, self.reduction.op)
        along = [each.position == self.loops for each in map_.results]
        if rest:
            first = [self.parts * self.depth if each else 0 for each in along]
            sizes = [self.rest if each else size for each, size in zip(along, view.shape, strict=True)]
            return memref_type(view.sliced(first, sizes, [1] * len(sizes)), memory.type.element_type)
        shape: list[int] = []
        strides: list[int] = []
        for size, stride, each in zip(view.shape, view.strides, along, strict=True):
            shape += [self.parts, self.depth] if each else [size]
            strides += [self.depth * stride, stride] if each else [stride]
        return memref_type(View(tuple(shape), tuple(strides), view.offset), memory.type.element_type)

    def _map(self, map_: Any) -> Any:
        """The map of an operand over loops with one over parts in front."""
        results: list[Any] = []
        for each in map_.results:
            results += [ir.AffineExpr.get_dim(0)] if each.position == self.loops else []
            results.append(ir.AffineExpr.get_dim(each.position + 1))
        return ir.AffineMap.get(map_.n_dims + 1, 0, results)

    def _write_last(self, made: Any) -> list[int]:
        """The kernel that combines the parts and does what follows; the arguments that it has beside the parts'."""
        generic, outputs = self.reduction, list(self.reduction.outputs)
        rest = [op for op in self.work if op not in (generic.op, *self.starts)]
        used = {value for op in [*self.starts, *rest] for value in op.operands} | set(outputs)
        others = [number for number, argument in enumerate(self.arguments) if argument in used]
        roles = argument_attributes(self.function)
        where = ir.InsertionPoint(made.regions[0].blocks[0])
        with generic.op.location:
            count = len(self.partials)
            types = [*self.partials, *(self.arguments[number].type for number in others)]
            function, block = new_function(kernel_modules.name_of(made), types, where)
            known = dict(zip((self.arguments[n] for n in others), list(block.arguments)[count:], strict=True))
            with ir.InsertionPoint(block):
                for op in in_block(body(self.function)):
                    if op.operation == generic.op:
                        self._combine(list(block.arguments)[:count], [known[output] for output in outputs])
                    elif op.operation.name != "func.return":
                        clone(op, known)
                dialect("func").ReturnOp([])
        given = [{ROLE: ir.StringAttr.get("in")} for _ in self.partials]
        self._describe(function, [*given, *(roles[number] for number in others)])
        return others

    def _combine(self, parts: list[Any], outputs: list[Any]) -> None:
        map_ = self.reduction.maps[-1]
        inputs = ir.AffineMap.get(map_.n_dims, 0, [ir.AffineExpr.get_dim(self.loops), *map_.results])
        maps = [*[inputs for _ in parts], *[map_ for _ in outputs]]
        _, inside = structured.make(parts, outputs, maps, self.reduction.parallel)
        with ir.InsertionPoint(inside):
            arguments = list(inside.arguments)
            structured.yield_(self.combination.join(arguments[len(parts) :], arguments[: len(parts)]))


def _is_of_parts(combination: AnyCombination) -> bool:
    """Whether a kernel can combine what others have combined, by the same operations."""
    if isinstance(combination, Body):
        return combination.neutral is not None and combination.neutral.is_general
    return not isinstance(combination, Choice)


def _with_part(map_: Any) -> Any:
    """The map of the results over the same loops."""
    results = [ir.AffineExpr.get_dim(each.position + 1) for each in map_.results]
    return ir.AffineMap.get(map_.n_dims + 1, 0, [ir.AffineExpr.get_dim(0), *results])
