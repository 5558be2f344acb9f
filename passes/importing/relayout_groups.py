"""relayout-groups: a product reads or writes rows where its groups of dimensions lie in different orders.

Expects one function on tensors. A contraction has groups of dimensions for m, n and k. Where an operand's neighbours
lie along one dimension of m (or n), and the result's along another one of that group, as in `A[a, k, b] B[j, k] ->
C[j, b, a]`, a tile has neighbours of only one of them: of the other each element costs a sector of memory. Where that
is predicted to be faster, leaves one of the two laid out anew by an elementwise copy, whose `tile.note` says what was
compared: the operand in the order of the result, or, marked `tile.apart`, the result, which the product then leaves in
the operand's order. A second run changes nothing.

The prediction counts memory traffic alone, as every chip has it: a copy reads and writes its tensor and takes a launch;
in place each element is a sector; and tiles that are small, because a group is interrupted, cost by their number.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.generics import fill
from mlir_gemm.dialect.linalg.products import Factor, Product, product_of
from mlir_gemm.dialect.outlining.kernels import Kernel
from mlir_gemm.dialect.outlining.spaces import Strides
from mlir_gemm.dialect.outlining.tensors import place_in_tensors, start_of
from mlir_gemm.dialect.walk import named
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.importing.copy_operands import has_one_k, laid_out, order_in, rebuilt
from mlir_gemm.spec.attributes import APART, NOTE
from mlir_gemm.spec.element_types import ELEMENT_BYTES

SECTOR = 32
"""Bytes that an access to a single element of memory moves."""
LAUNCH = 6_000_000
"""Bytes that memory moves in the time of a launch: 2 us at 3 TB/s."""
WORTH = 0.9
"""A copy must save this much of the traffic: it takes memory too, and the prediction is rough."""
TILE, SIDE = 10_000, 128
"""Bytes that memory moves in the time that a chip takes for a tile of up to SIDE x SIDE results of a short k: 0.4 us on
each of 132 processors. 7,056 tiles of 24 x 96 took 136 us on an H200, 62,208 of 24 x 48 about 400."""


@dataclass(frozen=True)
class RelayoutGroups(Pass):
    """Lay out operands or results of contractions anew where that saves memory traffic."""

    name: ClassVar[str] = "relayout-groups"

    def run(self, module: Any) -> None:
        ops = [each.operation for each in named(module, "linalg.generic", "linalg.matmul")]
        for op in [op for op in ops if len(op.results) == 1 and product_of(op) is not None]:
            product = product_of(op)
            assert product is not None
            clash = None if product.is_pointwise else _clash(product, "A") or _clash(product, "B")
            if clash is not None:
                clash.resolve()


@dataclass(frozen=True)
class _Clash:
    """An operand whose neighbours lie along another loop of the result than the result's own."""

    product: Product
    name: str
    """Of the operand, `A` or `B`."""
    memory: tuple[int, ...]
    """The loops of the operand longer than 1 in the order of its memory, outermost first."""
    result: Any
    """What leaves the kernel: the product's result, or what elementwise operations have made of it."""
    dims: tuple[int, ...]
    """The loop that each dimension of that runs along."""

    @property
    def side(self) -> Factor:
        return self.product.a if self.name == "A" else self.product.b

    @property
    def own(self) -> tuple[int, ...]:
        """The loops that only this operand and the result have."""
        return self.product.m if self.name == "A" else self.product.n

    @property
    def others(self) -> tuple[int, ...]:
        """The loops that only the other operand and the result have."""
        return self.product.n if self.name == "A" else self.product.m

    def size(self, loops: Collection[int]) -> int:
        """Points of some loops."""
        sizes = structured.sizes_of(self.product.generic)
        return prod(sizes[loop] for loop in loops)

    def like_the_result(self) -> list[int]:
        """The operand's loops in an order of which the result's rows are rows."""
        run = _run(self.dims, self.own, self.size)
        outer = [loop for loop in self.dims if loop in (*self.product.batch, *self.own) and loop not in run]
        rest = self.product.b if self.name == "A" else self.product.a
        known = rest if has_one_k(self.product, (rest,)) else self.side
        return [*outer, *order_in(self.product, known), *run]

    def like_the_operand(self) -> list[int]:
        """The result's loops in an order of which the operand's rows are rows."""
        run = _run(self.memory, self.own, self.size)
        other = self.product.b if self.name == "A" else self.product.a
        lies = [loop for loop in _memory_order(self.product, other) if loop in self.others]
        rest = [loop for loop in self.others if loop not in lies]
        batch = [loop for loop in self.dims if loop in self.product.batch]
        units = [loop for loop in self.own if loop not in self.memory]
        return [*batch, *units, *(loop for loop in self.memory if loop in self.own and loop not in run),
                *rest, *lies, *run]  # fmt: skip

    def tiles(self, order: Sequence[int]) -> int:
        """Tiles of the result, about, where it lies in an order of loops."""
        run = self.size(_run(order, self.own, self.size))
        along, longest = 1, 1
        for loop in order:
            along = along * self.size([loop]) if loop in self.others else 1
            longest = max(longest, along)
        return self.size(order) // (run * longest) * -(-run // SIDE) * -(-longest // SIDE)

    def resolve(self) -> None:
        """Does what is predicted to move the least."""
        operand, result = self.size(self.memory), self.size(self.dims)
        bytes_ = [_bytes_of(self.product.generic.operands[self.side.operands[0]]), _bytes_of(self.result)]
        wanted = self.like_the_operand()
        costs = {
            "in place": SECTOR * operand + TILE * self.tiles(self.dims),
            f"operand {self.name} laid out anew": 2 * bytes_[0] * operand + LAUNCH + TILE * self.tiles(self.dims),
            "the result laid out anew": 2 * bytes_[1] * result + LAUNCH + TILE * self.tiles(wanted),
        }
        if not self.can_turn():
            costs.popitem()
        chosen = min(costs, key=lambda each: costs[each])
        if costs[chosen] > WORTH * costs["in place"]:
            return
        shown = ", ".join(f"{name} as long as {cost / 1e6:.0f} MB" for name, cost in costs.items())
        if chosen == "the result laid out anew":
            note = "the result of a product leaves it in the order of an operand, and is laid out anew"
            self.turn_result(wanted, f"{note}: {_WHY} ({shown})")
        else:
            note = f"operand {self.name} of a product is laid out anew, in the order of its result"
            self.turn_operand(f"{note}: {_WHY} ({shown})")

    def turn_operand(self, note: str) -> None:
        """Lets the product read a copy of the operand."""
        loops = self.like_the_result()
        with ir.InsertionPoint(self.product.op), self.product.op.location:
            copy = laid_out(self.product, self.side, loops, note)
            new = rebuilt(self.product, {self.name: (self.side, copy, loops)})
        self.product.op.results[0].replace_all_uses_with(new.results[0])
        self.product.op.erase()

    def can_turn(self) -> bool:
        """Whether the result can be computed in another order."""
        op = self.result.owner.operation
        start = op.operands[len(op.operands) - 1]
        return op != self.product.op or start_of(start) is not None

    def turn_result(self, wanted: list[int], note: str) -> None:
        """Lets the product's kernel leave its result in another order, and copies it."""
        op, type_ = self.result.owner.operation, ir.RankedTensorType(self.result.type)
        places = [self.dims.index(loop) for loop in wanted]
        generic = structured.read(op)
        with ir.InsertionPoint(op), op.location:
            shape = [type_.shape[place] for place in places]
            if op == self.product.op:
                start = fill(shape, type_.element_type, _scalar(start_of(generic.outputs[0]), type_.element_type))
            else:
                start = dialect("tensor").EmptyOp(shape, type_.element_type).result
            last = generic.maps[-1]
            turned = ir.AffineMap.get(last.n_dims, 0, [last.results[place] for place in places])
            new, block = structured.make(generic.inputs, [start], [*generic.maps[:-1], turned], generic.parallel)
            structured.clone_body(block, generic, dict(zip(generic.body.arguments, block.arguments, strict=True)))
            empty = dialect("tensor").EmptyOp(type_.shape, type_.element_type).result
            count = len(places)
            maps = [ir.AffineMap.get(count, 0, [ir.AffineDimExpr.get(place) for place in places]),
                    ir.AffineMap.get_identity(count)]  # fmt: skip
            copy, block = structured.make([new.results[0]], [empty], maps, [True] * count)
            with ir.InsertionPoint(block):
                structured.yield_([block.arguments[0]])
        copy.attributes[NOTE], copy.attributes[APART] = ir.StringAttr.get(note), ir.UnitAttr.get()
        self.result.replace_all_uses_with(copy.results[0])
        op.erase()


_WHY = "their groups of dimensions lie in different orders"


def _clash(product: Product, name: str) -> _Clash | None:
    """What is to be resolved about an operand, if anything."""
    side = product.a if name == "A" else product.b
    own = product.m if name == "A" else product.n
    if len(side.operands) != 1 or len(own) < 2:
        return None
    memory = _memory_order(product, side)
    result, dims = _leaves(product)
    sizes = structured.sizes_of(product.generic)
    rows = [loop for loop in dims if sizes[loop] > 1]
    if not memory or not rows or memory[-1] == rows[-1] or memory[-1] not in own or rows[-1] not in own:
        return None
    return _Clash(product, name, tuple(memory), result, tuple(dims))


def _memory_order(product: Product, side: Factor) -> list[int]:
    """The loops longer than 1 of an operand, outermost first; nothing where its neighbours are not in a row."""
    if not side.operands:
        return []
    statement = Kernel().seed(product.op, place_in_tensors)
    access = statement.accesses[side.operands[0]]
    sizes = structured.sizes_of(product.generic)
    loops = [loop for loop in range(len(sizes)) if sizes[loop] != 1]  # those of a seed are numbered in order
    strides: Strides = access.strides if access is not None and not access.windows else {}
    order = sorted(strides, key=lambda number: -strides[number])
    return [loops[number] for number in order] if order and strides[order[-1]] == 1 else []


def _leaves(product: Product) -> tuple[Any, list[int]]:
    """What becomes of a product's result by elementwise operations alone, and the loop of each of its dimensions."""
    value = product.op.results[0]
    dims: list[int] = [each.position for each in product.generic.maps[-1].results]
    while True:
        uses = list(value.uses)
        op = uses[0].owner.operation if len(uses) == 1 else None
        if op is None or not structured.is_generic(op) or len(op.results) != 1 or structured.is_free(op):
            return value, dims
        generic, number = structured.read(op), uses[0].operand_number
        if not generic.elementwise or number >= len(generic.inputs) or APART in op.attributes:
            return value, dims
        seen, written = ([getattr(each, "position", -1) for each in map_.results]
                         for map_ in (generic.maps[number], generic.maps[-1]))  # fmt: skip
        if not sorted(seen) == sorted(written) == list(range(len(dims))):
            return value, dims
        dims = [dims[seen.index(loop)] for loop in written]
        value = op.results[0]


def _run(order: Sequence[int], own: Collection[int], size: Any) -> list[int]:
    """The innermost loops of an order that are an operand's own, as far as no other loop comes between."""
    found: list[int] = []
    for loop in reversed(order):
        if loop not in own and size([loop]) > 1:
            break
        if loop in own:
            found.insert(0, loop)
    return found


def _scalar(constant: Any, element: Any) -> Any:
    """What a tensor is filled with as a value, at the insertion point; it may be given as an attribute."""
    return dialect("arith").ConstantOp(element, constant).result if isinstance(constant, ir.Attribute) else constant


def _bytes_of(value: Any) -> int:
    return ELEMENT_BYTES.get(str(value.type.element_type), 4)
