"""pad-operands: operands of a product are copied to aligned rows first, by a kernel of their own.

Expects kernels as `import` leaves them: one function, or a program with a module for each kernel. Options name the
kernel and the order in which A, B or both are to lie. Leaves a program in which, in front of the product, a kernel over
points copies the operand (tile.copy) to a buffer of its own, whose rows start at multiples of 16 bytes and which
consists of whole tiles of `block`, with zeros beyond the operand. The product reads the buffer: its argument has the
operand's sizes, the buffer's strides, and the attribute `tile.padded`, the sizes of the buffer. That attribute promises
zeros up to there; `reveal-padding` makes use of it. The copy's module says in `tile.note` what was done.

Refuses operands that are computed, that are not arguments of the kernel, that have dynamic sizes, that the kernel
writes, or that lack a dimension, and kernels without a product. An operand that is padded in this order already stays
as it is, so a second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, tile
from mlir_gemm.dialect.arguments import argument_attributes, set_argument_attributes
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.products import Factor, Product, the_product
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.outlining import cuts, kernel_modules, programs
from mlir_gemm.dialect.outlining.kernel_functions import new_function
from mlir_gemm.dialect.outlining.padding import buffer_shape, set_padded
from mlir_gemm.dialect.outlining.views import view_of_type
from mlir_gemm.dialect.walk import body, named, users
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Rewrite
from mlir_gemm.spec.attributes import KIND, ROLE

ROW_BYTES = 16
"""What rows of a buffer start at multiples of: the widest access of a thread."""
ORDERS = {"a": ("mk", "km"), "b": ("kn", "nk")}


@dataclass(frozen=True)
class PadOperands(Rewrite):
    """Copy operands of a product to aligned rows."""

    name: ClassVar[str] = "pad-operands"
    a: str = ""
    """The order in which A is to lie, `mk` or `km`; empty to leave A where it is."""
    b: str = ""
    """The order in which B is to lie, `kn` or `nk`; empty to leave B where it is."""
    block: tuple[int, ...] = (1, 1, 1)
    """M, N and K of the tiles of which the buffers hold whole ones."""

    def __post_init__(self) -> None:
        for operand, orders in ORDERS.items():
            given = self.order_of(operand)
            if given and given not in orders:
                raise PassError(f"pass '{self}': {operand}={given}; expected {' or '.join(orders)}")

    def order_of(self, operand: str) -> str:
        """The order that is wanted of an operand."""
        return self.a if operand == "a" else self.b

    def run(self, module: Any) -> None:
        outer, inner = kernel_modules.find_product(module, self.kernel)
        moves = [move for move in self._moves(programs.function_of(inner)) if not move.is_done]
        if not moves:
            return
        if inner is outer:
            inner = kernel_modules.nest(outer)
        for move in moves:
            move.carry_out(outer, inner)

    def refuses(self, function: Any) -> str:
        try:
            self._moves(function)
        except PassError as error:
            return error.message
        return ""

    def _moves(self, function: Any) -> list[_Move]:
        product = the_product(function)
        return [_Move(product, operand, self) for operand in ORDERS if self.order_of(operand)]


class _Move:
    """One operand on its way to a buffer of its own."""

    def __init__(self, product: Product, operand: str, options: PadOperands):
        self.product = product
        self.operand = operand
        self.wanted = options.order_of(operand)
        factor: Factor = product.a if operand == "a" else product.b
        if not factor.plain or len(factor.operands) != 1:
            raise self._refusal("is computed from what is in memory; expected an operand that is read as it is")
        self.number = factor.operands[0]
        self.memory = product.generic.operands[self.number]
        self.function = product.op.operation.parent
        arguments = list(body(self.function).arguments)
        if self.memory not in arguments:
            raise self._refusal("is not an argument of the kernel; expected memory that is passed in")
        if not self.memory.type.has_static_shape:
            raise self._refusal(f"has the type {self.memory.type}; expected constant sizes")
        self.argument = arguments.index(self.memory)
        if any(self.memory in structured.read(use).outputs for use in users(self.memory) if structured.is_generic(use)):
            raise self._refusal("is also written by the kernel; expected memory that is only read")
        self.view = view_of_type(self.memory.type, product.op)
        self.loops = [expression.position for expression in product.generic.maps[self.number].results]
        self.order = self._new_order()
        self.shape = self._new_shape(dict(zip("mnk", options.block, strict=True)))

    @property
    def is_done(self) -> bool:
        """Whether the operand lies in such a buffer already."""
        return buffer_shape(self.function, self.argument) is not None and self.order == list(range(len(self.loops)))

    def _refusal(self, why: str) -> PassError:
        return pass_error(self.product.op, f"operand {self.operand.upper()} of the product {why}")

    def _parts(self) -> dict[str, tuple[int, ...]]:
        return {"m": self.product.m, "n": self.product.n, "k": self.product.k}

    def _new_order(self) -> list[int]:
        """The dimensions of the operand in the order in which they are to lie, outermost first."""
        parts = self._parts()
        ends = [[axis for axis, loop in enumerate(self.loops) if loop in parts[name]] for name in self.wanted]
        if [len(axes) for axes in ends] != [1, 1]:
            raise self._refusal(f"does not have one {' and one '.join(self.wanted)}; expected both dimensions")
        inner = [axes[0] for axes in ends]
        outer = [axis for axis in range(len(self.loops)) if axis not in inner]
        return [*sorted(outer, key=lambda axis: -self.view.strides[axis]), *inner]

    def _new_shape(self, block: dict[str, int]) -> list[int]:
        sizes = [self.view.shape[axis] for axis in self.order]
        width = getattr(self.memory.type.element_type, "width", 0)
        if not width or width % 8 or ROW_BYTES * 8 % width:
            raise self._refusal(f"has the type {self.memory.type}; expected elements of 1, 2, 4, 8 or 16 bytes")
        units = [1] * (len(sizes) - 2) + [block[self.wanted[0]], lcm(block[self.wanted[1]], ROW_BYTES * 8 // width)]
        return [-(-size // unit) * unit for size, unit in zip(sizes, units, strict=True)]

    def carry_out(self, outer: Any, inner: Any) -> None:
        """Writes the copy, and lets the product read it."""
        name = kernel_modules.name_of(inner)
        before = self.memory.type
        element = before.element_type
        target = ir.MemRefType.get(self.shape, element)
        copy = self._write_copy(
            outer, inner, kernel_modules.unused_name(outer, f"{name}_{self.operand}"), before, target
        )
        argument = self._replace_argument()
        cuts.add(inner, copy, self._note(element))
        for run in [each for each in named(outer, "tile.run") if programs.kernel_of(each) == name]:
            buffers = programs.buffers_of(run)
            with ir.InsertionPoint(run), run.location:
                room = dialect("memref").AllocOp(target, [], []).result
                programs.run(copy, [buffers[self.argument], room])
            programs.set_buffers(run, [*buffers[:argument], room, *buffers[argument + 1 :]])

    def _replace_argument(self) -> int:
        """Gives the product the padded buffer as an argument: instead of the old one, unless that has other uses."""
        block, number = body(self.function), self.argument
        op = self.product.op.operation
        others = [use for use in users(self.memory) if use.operation != op]
        if others or list(op.operands).count(self.memory) > 1:
            number = len(block.arguments)
            attributes = [*argument_attributes(self.function), {ROLE: ir.StringAttr.get("in")}]
            op.operands[self.number] = block.add_argument(self.memory.type, op.location)
            set_argument_attributes(self.function, attributes)
        set_padded(self.function, number, self.shape, [self.view.shape[axis] for axis in self.order])
        maps = list(structured.read(op).maps)
        results = [maps[self.number].results[axis] for axis in self.order]
        maps[self.number] = ir.AffineMap.get(maps[self.number].n_dims, 0, results)
        op.attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(map_) for map_ in maps])
        return number

    def _write_copy(self, outer: Any, inner: Any, name: str, source: Any, target: Any) -> str:
        made = kernel_modules.new_module(name, inner, self._note(source.element_type))
        where = ir.InsertionPoint(made.regions[0].blocks[0])
        with self.product.op.location:
            function, block = new_function(name, [source, target], where)
            with ir.InsertionPoint(block):
                place = tile.Place(
                    (constants.index(0),) * len(self.order),
                    tuple(self.order.index(axis) for axis in range(len(self.order))),
                    (True,) * len(self.order) if self._same_sizes() else (False,) * len(self.order),
                )
                tile.copy(block.arguments[1], block.arguments[0], place)
                dialect("func").ReturnOp([])
        function.attributes[KIND] = ir.StringAttr.get("elementwise")
        set_argument_attributes(function, [{ROLE: ir.StringAttr.get(role)} for role in ("in", "out")])
        return name

    def _same_sizes(self) -> bool:
        return [self.view.shape[axis] for axis in self.order] == self.shape

    def _note(self, element: Any) -> str:
        bytes_ = element.width // 8
        was = min((s for s, n in zip(self.view.strides, self.view.shape, strict=True) if s > 1 and n > 1), default=1)
        moved = "" if self.order == sorted(self.order) else f", in the order {self.wanted}"
        zeros = "" if self._same_sizes() else ", with zeros at their ends"
        return (
            f"operand {self.operand.upper()} of a product is re-laid out for it{moved}: its rows are {was * bytes_} "
            f"bytes apart, those of the copy {self.shape[-1] * bytes_}{zeros}"
        )
