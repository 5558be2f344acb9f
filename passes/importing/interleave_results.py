"""interleave-results: a product stores its result beside another one's, where a kernel after it would put both there.

Expects a program as `outline-kernels` leaves it. Where a kernel does nothing but put two matrices beside each other,
element by element, of which the later one is a product's result that nothing else reads, leaves a program without that
kernel: the product's epilogue reads the other matrix, and stores both numbers of an element, as one whole number of
twice their bits, to the buffer that the kernel would have written; where that rounds f32 to them, so does the epilogue.
So the result goes through memory once. Takes results of 16-bit floating-point numbers. A second run changes nothing.
Refuses nothing: any other kernel is left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.arguments import argument_attributes, set_argument_attributes
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.products import product_of
from mlir_gemm.dialect.outlining import cuts, planes, programs
from mlir_gemm.dialect.walk import body, in_block, named, users
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import ROLE

_BITS = 16
"""Of numbers, two of which are stored as one. Pairs of 32 bits take an epilogue more time than a kernel of its own (161
us for 88, tf32 4096^3 on an H100, 2026-11-28-h100-composite-kernels.txt)."""


@dataclass(frozen=True)
class InterleaveResults(Pass):
    """Let a product store its result beside another one's."""

    name: ClassVar[str] = "interleave-results"

    def run(self, module: Any) -> None:
        while any(self._join_one(module, run.operation) for run in named(module, "tile.run")):
            pass

    @staticmethod
    def _join_one(module: Any, run: Any) -> bool:
        found = _found(module, run)
        if found is not None:
            _join(module, run, found)
        return found is not None


@dataclass(frozen=True)
class _Found:
    """A kernel that puts two matrices beside each other, and the product whose result is the later one."""

    target: Any
    """The buffer that holds both."""
    sources: tuple[Any, ...]
    """Their buffers, as they lie there."""
    product: Any
    """The tile.run of the product."""
    number: int
    """The product's argument that is its result."""
    element: Any
    """The type of the numbers that are stored."""

    @property
    def result(self) -> Any:
        return programs.buffers_of(self.product)[self.number]

    @property
    def other(self) -> Any:
        return next(buffer for buffer in self.sources if buffer != self.result)


def _found(module: Any, run: Any) -> _Found | None:
    name, modules = programs.kernel_of(run), programs.kernel_modules(module)
    if name not in modules or len(programs.buffers_of(run)) != 3:
        return None
    function = programs.function_of(modules[name])
    roles = _roles(function)
    if roles.count("out") != 1:
        return None
    target = programs.buffers_of(run)[roles.index("out")]
    sources = planes.put_beside(module, run, target, narrowed=True)
    if sources is None or len(sources) != 2:
        return None
    runs = [each.operation for each in named(module, "tile.run")]
    makers = [_maker(module, runs, buffer) for buffer in sources]
    if None in makers or any(runs.index(maker) > runs.index(run) for maker, _ in filter(None, makers)):
        return None
    maker, number = max(filter(None, makers), key=lambda each: runs.index(each[0]))
    element = body(function).arguments[roles.index("out")].type.element_type
    found = _Found(target, sources, maker, number, element)
    return found if _can_store_both(module, runs, run, found) else None


def _maker(module: Any, runs: list[Any], buffer: Any) -> tuple[Any, int] | None:
    """The only tile.run that writes a buffer, and the argument that it is; None where there is not one."""
    found: list[tuple[Any, int]] = []
    for run in runs:
        function = programs.function_of(programs.kernel_modules(module)[programs.kernel_of(run)])
        found += [(run, number) for number, (role, each) in
                  enumerate(zip(_roles(function), programs.buffers_of(run), strict=True))
                  if each == buffer and role == "out"]  # fmt: skip
    return found[0] if len(found) == 1 else None


def _roles(function: Any) -> list[str]:
    attributes = argument_attributes(function)
    return [ir.StringAttr(each[ROLE]).value if ROLE in each else "" for each in attributes]


def _can_store_both(module: Any, runs: list[Any], run: Any, found: _Found) -> bool:
    """Whether the product runs once, nothing but the kernel reads its result, and that is a dense matrix of numbers of
    which two are one whole number."""
    name = programs.kernel_of(found.product)
    function = programs.function_of(programs.kernel_modules(module)[name])
    argument = body(function).arguments[found.number]
    products = [product for product in map(product_of, structured_of(function)) if product is not None]
    once = [programs.kernel_of(each) for each in runs].count(name) == 1
    mine = [each for each in runs if found.result in programs.buffers_of(each)]
    between = runs[runs.index(found.product) + 1 : runs.index(run)]
    unread = all(found.target not in programs.buffers_of(each) for each in (*between, found.product))
    given = isinstance(found.result.owner, ir.Block)
    return (
        once and mine == [found.product, run] and unread and not given
        and len(products) == 1 and not products[0].is_pointwise
        and found.other not in programs.buffers_of(found.product)
        and argument.type.has_static_shape and argument.type.layout == ir.MemRefType.get(
            argument.type.shape, argument.type.element_type).layout
        and isinstance(found.element, ir.FloatType) and found.element.width == _BITS
        and [user.operation.name for user in users(argument)] in (["linalg.generic"], ["linalg.generic", "linalg.fill"])
    )  # fmt: skip


def structured_of(function: Any) -> list[Any]:
    """The linalg.generics of a function."""
    return [op.operation for op in in_block(body(function)) if structured.is_generic(op.operation)]


def _join(module: Any, run: Any, found: _Found) -> None:
    modules, gone = programs.kernel_modules(module), programs.kernel_of(run)
    name = programs.kernel_of(found.product)
    kernel, other = modules[name], found.other
    later = _kernel_of_other(module, found.product, other)
    _store_both(programs.function_of(kernel), found)
    buffers = programs.buffers_of(found.product)
    buffers[found.number] = found.target
    alloc = found.result.owner.operation
    programs.drop(run)
    programs.set_buffers(found.product, [*buffers, other])
    if not users(alloc.results[0]):
        alloc.erase()
    for each in modules.values():
        cuts.write(each, {own: why for own, why in cuts.read(each).items() if own != gone})
    cuts.add(kernel, later, "its result is stored beside this product's")
    modules[gone].operation.erase()


def _kernel_of_other(module: Any, product: Any, other: Any) -> str:
    """The name of the kernel that makes the other matrix."""
    runs = [each.operation for each in named(module, "tile.run")]
    maker = _maker(module, runs, other)
    assert maker is not None and runs.index(maker[0]) < runs.index(product)
    return programs.kernel_of(maker[0])


def _store_both(function: Any, found: _Found) -> None:
    """Lets a product's function take the other matrix as its last argument, and store pairs."""
    block, attributes = body(function), argument_attributes(function)
    argument = block.arguments[found.number]
    type_, shape = argument.type, list(argument.type.shape)
    whole = ir.IntegerType.get_signless(2 * _BITS)
    other = block.add_argument(type_, function.location)
    with ir.InsertionPoint.at_block_begin(block), function.location:
        own = dialect("memref").AllocOp(type_, [], []).result
    argument.replace_all_uses_with(own)
    argument.set_type(ir.MemRefType.get(shape, whole))
    first, second = (own if buffer == found.result else other for buffer in found.sources)
    identity = ir.AffineMap.get_identity(len(shape))
    with ir.InsertionPoint(in_block(block)[-1]), function.location:
        _, inner = structured.make([first, second], [argument], [identity] * 3, [True] * len(shape))
        with ir.InsertionPoint(inner):
            low, high, _ = inner.arguments
            structured.yield_([_pair(low, high, whole, found.element)])
    attributes.append({ROLE: ir.StringAttr.get("in")})
    types = [each.type for each in block.arguments]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, []))
    set_argument_attributes(function, attributes)


def _pair(first: Any, second: Any, whole: Any, element: Any) -> Any:
    """Two numbers, as a type has them, as one whole number, the first in its lower half."""
    arith, bits = dialect("arith"), ir.IntegerType.get_signless(_BITS)
    narrow = [each if each.type == element else arith.TruncFOp(element, each).result for each in (first, second)]
    low, high = (arith.ExtUIOp(whole, arith.BitcastOp(bits, each).result).result for each in narrow)
    by = arith.ConstantOp(whole, ir.IntegerAttr.get(whole, bits.width)).result
    return arith.OrIOp(low, arith.ShLIOp(high, by).result).result
