"""read-components: a product reads elements with components as they lie, and makes its numbers of them in registers.

Expects a program as `import` leaves it, with a product whose B a kernel in front lays out (`tile.laid_out`). Leaves a
program without that kernel and its buffer: the product's argument is the matrix of the elements, and its B a
`tile.composite` of that. So each component goes through memory once. Where components lie in planes, the product has an
argument for each, and B is made of a `tile.planes` of these; so is an A that a kernel in front puts together from
planes, and a result that kernels after it take apart to planes: these kernels go as well. A product without such an
argument is left alone, so that a second run changes nothing. Refuses a mark on anything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from mlir_gemm.dialect import composites
from mlir_gemm.dialect.arguments import argument_attributes, set_argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.products import Product, the_product
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.outlining import cuts, kernel_modules, laid_out, planes, programs
from mlir_gemm.dialect.outlining.laid_out import LaidOut
from mlir_gemm.dialect.planes import beside, is_planes, plane_of
from mlir_gemm.dialect.walk import body, in_block, named, users
from mlir_gemm.passes.base import Rewrite
from mlir_gemm.spec.attributes import LAID_OUT, STRIDES, SYMBOLS


@dataclass(frozen=True)
class ReadComponents(Rewrite):
    """Let a product read elements with components."""

    name: ClassVar[str] = "read-components"

    def run(self, module: Any) -> None:
        outer, inner = kernel_modules.find_product(module, self.kernel)
        function, name = programs.function_of(inner), kernel_modules.name_of(inner) if inner is not outer else ""
        marked = [number for number, each in enumerate(argument_attributes(function)) if LAID_OUT in each]
        if not marked:
            return
        found = laid_out.of_argument(outer, name, marked[0]) if name else None
        if found is None:
            raise pass_error(function, f"argument {marked[0]} with '{LAID_OUT}', which no kernel lays out of elements "
                             "with components")  # fmt: skip
        product = the_product(function)
        whole, sizes = found.elements(function, marked[0])
        moved = [_Moved(marked[0], (found.run,), found.alloc, found.sources, whole, sizes)]
        if found.in_planes:
            moved += _other_planes(outer, name, function, product, len(found.table))
        run = next(each for each in named(outer, "tile.run") if programs.kernel_of(each) == name)
        buffers = programs.buffers_of(run)
        for each in sorted(moved, key=lambda each: -each.number):
            value = _take(function, each)
            buffers = _exchanged(buffers, each)
            if each.number == marked[0]:
                _make_numbers(function, product, value, found)
        programs.set_buffers(run, buffers)
        for each in moved:
            _drop(outer, inner, each)


@dataclass(frozen=True)
class _Moved:
    """An argument of a product's kernel in whose place others come."""

    number: int
    runs: tuple[Any, ...]
    """The tile.runs that are needed no more."""
    alloc: Any
    buffers: tuple[Any, ...]
    """What it is made of: one buffer, or one for each plane."""
    whole: Any
    """The type of that, or of the planes beside each other."""
    sizes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Attributes that tell its sizes, where these are known at run time only."""


def _other_planes(outer: Any, name: str, function: Any, product: Product, count: int) -> Iterator[_Moved]:
    """A of a product, and its result, where they are nothing but planes beside each other."""
    arguments = list(body(function).arguments)
    read: Any = product.generic.operands[product.a.operands[0]] if product.a.operands else None
    if read in arguments and product.a.plain and len(product.a.operands) == len(users(read)) == 1:
        found = planes.gathered(outer, name, arguments.index(read))
        if found is not None and len(found.buffers) == count:
            yield _Moved(arguments.index(read), found.runs, found.alloc, found.buffers, read.type)
    roles = [ir.StringAttr(each["tile.role"]).value for each in argument_attributes(function)]
    for number in [number for number, role in enumerate(roles) if role == "out"]:
        taken = planes.scattered(outer, name, number, count)
        if taken is not None:
            yield _Moved(number, taken.runs, taken.alloc, taken.buffers, arguments[number].type)


def _exchanged(buffers: list[Any], moved: _Moved) -> list[Any]:
    """The buffers of the kernel's arguments, as `_take` leaves them."""
    rest = buffers[: moved.number], buffers[moved.number + 1 :]
    return [*rest[0], *moved.buffers, *rest[1]] if len(moved.buffers) == 1 else [*rest[0], *rest[1], *moved.buffers]


def _take(function: Any, moved: _Moved) -> Any:
    """Lets the function take what an argument is made of: in its place, or, of planes, after all others. The value that
    stands for the argument."""
    block, attributes = body(function), argument_attributes(function)
    value = argument = block.arguments[moved.number]
    own = attributes[moved.number]
    for name in (LAID_OUT, SYMBOLS, STRIDES):
        own.pop(name, None)
    own.update(moved.sizes)
    if len(moved.buffers) == 1:
        argument.set_type(moved.whole)
    else:
        plane = plane_of(moved.whole, len(moved.buffers))
        made = [block.add_argument(plane, function.location) for _ in moved.buffers]
        with ir.InsertionPoint.at_block_begin(block), function.location:
            value = beside(made)
        argument.replace_all_uses_with(value)
        block.erase_argument(moved.number)
        attributes = [each for each in attributes if each is not own] + [dict(own) for _ in made]
    types = [each.type for each in block.arguments]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, []))
    set_argument_attributes(function, attributes)
    return value


def _make_numbers(function: Any, product: Product, elements: Any, found: LaidOut) -> None:
    """Lets the product take its B from elements."""
    before = elements.owner.operation if is_planes(elements) else None
    point = ir.InsertionPoint(in_block(body(function))[0]) if before is None else ir.InsertionPoint.after(before)
    with point, product.op.operation.location:
        whole = composites.composite(elements, composites.numbers(found.table))
    op, operand = product.op.operation, product.b.operands[0]
    op.operands[operand] = whole
    if found.turned:
        maps = list(product.generic.maps)
        *outer, row, column = maps[operand].results
        maps[operand] = ir.AffineMap.get(maps[operand].n_dims, 0, [*outer, column, row])
        op.attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(map_) for map_ in maps])


def _drop(outer: Any, inner: Any, moved: _Moved) -> None:
    """Takes away the kernels that are needed no more, and their buffer."""
    names = [programs.kernel_of(run) for run in moved.runs]
    for run in moved.runs:
        programs.drop(run)
    if not users(moved.alloc.results[0]):
        moved.alloc.erase()
    for name in names:
        programs.kernel_modules(outer)[name].operation.erase()
    cuts.write(inner, {other: why for other, why in cuts.read(inner).items() if other not in names})
