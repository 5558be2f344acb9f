"""Products of warp tiles on opaque fragments: matrices of which only the driver, or the instruction, knows which lane
holds which element (gpu.mma_matrix).

An accumulator is a grid of fragments, which loops carry. The fragments of A and B are loaded just before they are used,
transposed where they are stored as km or nk, through whatever memref they are in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect import constants, indexing, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import has_rows
from mlir_gemm.dialect.walk import body, in_block
from mlir_gemm.lowering.products import is_plain
from mlir_gemm.spec.attributes import LEVEL
from mlir_gemm.spec.threads import LANES

Shape = tuple[int, int, int]
SUBGROUP = "subgroup"
"""On a load or a store of fragments: the lanes of a subgroup, where these are fewer than a warp's."""


ELEMENTWISE = {
    "arith.addf": "ADDF", "arith.subf": "SUBF", "arith.mulf": "MULF", "arith.divf": "DIVF", "arith.negf": "NEGATEF",
    "arith.truncf": "TRUNCF", "arith.extf": "EXTF", "arith.addi": "ADDI", "arith.subi": "SUBI", "arith.muli": "MULI",
}  # fmt: skip
"""Arithmetic that may be done to whole fragments, and gpu.subgroup_mma_elementwise's names for it."""


@dataclass(frozen=True)
class Fragments:
    """What an operation on opaque fragments has, and its name in messages."""

    name: str
    shape: Shape
    """M, N and K of the operation."""
    shapes: tuple[Shape, ...]
    """All that it has, for messages."""
    row_bits: int = 128
    """Rows in memory start at multiples of this."""
    parts: int = 1
    """Subgroups that a warp tile is divided among, along N."""
    part: Any = None
    """The number of the running one, an index value, where there are several."""
    elementwise: bool = False
    """Whether arithmetic on whole fragments is allowed (`ELEMENTWISE`)."""

    def expected(self) -> str:
        """What sizes must be, for messages."""
        every = ", ".join(map(shown, self.shapes))
        return f"expected multiples of the instruction's {shown(self.shape)} ({self.name} has {every})"

    def grid_of(self, value: Any) -> tuple[int, int]:
        """Rows and columns of the fragments of an accumulator that a subgroup has."""
        m, n = value.type.shape
        return m // self.shape[0], n // (self.shape[1] * self.parts)

    def column(self, value: Any, at: int) -> Any:
        """A column of an accumulator, counted from the first of the running subgroup's."""
        if self.parts == 1:
            return at
        return indexing.add(indexing.mul(self.part, value.type.shape[1] // self.parts), at)

    def mark(self, access: Any) -> None:
        """Says on a load or a store that subgroups of a part of a warp have a fragment each."""
        if self.parts > 1:
            access.operation.attributes[SUBGROUP] = constants.integer(LANES // self.parts)

    def check(self, product: Any) -> None:
        """Refuses a product of other sizes, or of operands whose rows are not where fragments are loaded from."""
        lhs, rhs, acc = product.operation.operands
        unit = (self.shape[0], self.shape[1] * self.parts, self.shape[2])
        sizes = (*acc.type.shape, depth_of(product))
        if any(size % part for size, part in zip(sizes, unit, strict=True)):
            among = f", of each of {self.parts} subgroups" if self.parts > 1 else ""
            raise pass_error(product, f"a product of {shown(sizes)}; {self.expected()}{among}")
        for operand in (lhs, rhs):
            self.check_rows(product, operand)

    def check_rows(self, operation: Any, memory: Any) -> None:
        """Refuses a memref whose rows are not where fragments are loaded from or stored to."""
        if not has_rows(memory.type, self.row_bits):
            raise pass_error(
                operation,
                f"{memory.type} in {self.name}; expected rows of consecutive elements, a constant multiple of "
                f"{self.row_bits} bits apart",
            )


@dataclass
class Rewriter:
    """Rewrites the operations of a kernel one after another; accumulators are kept as grids of fragments."""

    kind: Fragments
    flow: dict[Any, None]
    fragments: dict[Any, list[list[Any]]] = field(default_factory=dict[Any, list[list[Any]]])
    old: list[Any] = field(default_factory=list[Any])

    def rewrite(self, operation: Any) -> None:
        """Rewrites one operation of the accumulator; anything else stays."""
        name = operation.operation.name
        handlers = {
            "tile.mma": self._product,
            "scf.for": self._loop,
            "arith.constant": self._constant,
            "tile.load": self._load,
            "tile.store": self._store,
            "vector.extract_strided_slice": self._slice,
        }
        if not self._concerns(operation):
            for region in operation.operation.regions:
                for inner in [op for block in region.blocks for op in in_block(block)]:
                    self.rewrite(inner)
            return
        if self.kind.elementwise:
            handlers |= dict.fromkeys(ELEMENTWISE, self._elementwise)
        if name not in handlers:
            raise pass_error(
                operation, f"'{name}' on an accumulator that is held in {self.kind.name} fragments is not supported"
            )
        self.old.append(operation)  # before what is inside it: erasing goes backwards, users first
        with ir.InsertionPoint(operation), operation.location:
            handlers[name](operation)

    def erase_old(self) -> None:
        """Erases what was replaced, users first. Not earlier: a new value may take the address of an erased one, and
        would then be mistaken for it."""
        for operation in reversed(self.old):
            operation.operation.erase()

    def _concerns(self, operation: Any) -> bool:
        op = operation.operation
        values = [*op.operands, *op.results]
        return any(value in self.flow or value in self.fragments for value in values)

    def _product(self, product: Any) -> None:
        lhs, rhs, acc = product.operation.operands
        (m, _), (rows, columns, depth) = acc.type.shape, self.kind.shape
        swap_a, swap_b = tile.order_of(product, "a") == "km", tile.order_of(product, "b") == "nk"
        unsigned = ir.StringAttr(product.operation.attributes["unsigned"]).value if (
            "unsigned" in product.operation.attributes) else ""  # fmt: skip
        grid = [list(row) for row in self._of(acc)]
        for step in range(0, depth_of(product), depth):
            a = [
                load(lhs, (rows, depth), "AOp", (row, step), swapped=swap_a, unsigned="a" in unsigned)
                for row in range(0, m, rows)
            ]
            for j in range(len(grid[0])):
                at = (step, self.kind.column(acc, j * columns))
                b = load(rhs, (depth, columns), "BOp", at, swapped=swap_b, unsigned="b" in unsigned)
                self.kind.mark(b.owner)
                for i, row in enumerate(grid):
                    sums = dialect("gpu").SubgroupMmaComputeOp(a[i], b, row[j], a_transpose=swap_a, b_transpose=swap_b)
                    row[j] = sums.result
        self.fragments[product.operation.results[0]] = grid

    def _loop(self, loop: Any) -> None:
        """Rebuilds an scf.for that carries accumulators to carry their fragments."""
        old = loop.operation
        (*bounds,) = list(old.operands)[:3]
        carried = list(old.operands)[3:]
        inits = [fragment for value in carried for fragment in self._flat(value)]
        new = dialect("scf").ForOp(*bounds, inits)
        if LEVEL in old.attributes:
            new.operation.attributes[LEVEL] = old.attributes[LEVEL]
        self._bind(body(loop).arguments[1:], list(new.body.arguments)[1:])
        *inside, terminator = in_block(body(loop))
        for operation in inside:
            new.body.append(operation)
        body(loop).arguments[0].replace_all_uses_with(new.body.arguments[0])
        for operation in inside:
            self.rewrite(operation)
        yielded = [fragment for value in terminator.operation.operands for fragment in self._flat(value)]
        with ir.InsertionPoint(new.body):
            dialect("scf").YieldOp(yielded)
        self._bind(old.results, list(new.results))
        terminator.operation.erase()

    def _flat(self, value: Any) -> list[Any]:
        if value not in self.flow and value not in self.fragments:
            return [value]
        return [fragment for row in self._of(value) for fragment in row]

    def _of(self, value: Any) -> list[list[Any]]:
        if value not in self.fragments:
            raise pass_error(value, "an accumulator that comes from elsewhere than a constant, tile.load or tile.mma")
        return self.fragments[value]

    def _bind(self, old: Any, new: list[Any]) -> None:
        """Gives each old loop value its share of the new ones."""
        for value in old:
            if value not in self.flow:
                value.replace_all_uses_with(new.pop(0))
                continue
            rows, columns = self.kind.grid_of(value)
            self.fragments[value] = [[new.pop(0) for _ in range(columns)] for _ in range(rows)]

    def _constant(self, constant: Any) -> None:
        value = constant.operation.results[0]
        rows, columns = self.kind.grid_of(value)
        element = constants.splat_of(value)
        if element is None:
            raise pass_error(constant, "a constant matrix that is not the same everywhere is not supported here")
        scalar = dialect("arith").ConstantOp(value.type.element_type, element).result
        type_ = fragment_type(self.kind.shape[:2], value.type.element_type, "COp")
        fragment = dialect("gpu").SubgroupMmaConstantMatrixOp(type_, scalar).res
        self.fragments[value] = [[fragment] * columns for _ in range(rows)]

    def _elementwise(self, operation: Any) -> None:
        op = operation.operation
        result, gpu = op.results[0], dialect("gpu")
        kind = getattr(gpu.MMAElementwiseOp, ELEMENTWISE[op.name])
        type_ = fragment_type(self.kind.shape[:2], result.type.element_type, "COp")
        grids = [self._of(operand) for operand in op.operands]
        self.fragments[result] = [
            [gpu.SubgroupMmaElementwiseOp(type_, list(given), kind).res for given in zip(*rows, strict=True)]
            for rows in zip(*grids, strict=True)
        ]

    def _load(self, operation: Any) -> None:
        memory, *offsets = operation.operation.operands
        value = operation.operation.results[0]
        self._check_access(operation, memory)
        rows, columns = self.kind.grid_of(value)
        m, n, _ = self.kind.shape
        loaded = [
            [load(memory, (m, n), "COp", (i * m, self.kind.column(value, j * n)), offsets) for j in range(columns)]
            for i in range(rows)
        ]
        for each in (fragment for row in loaded for fragment in row):
            self.kind.mark(each.owner)
        self.fragments[value] = loaded

    def _store(self, store: Any) -> None:
        value, memory, *offsets = store.operation.operands
        self._check_access(store, memory)
        m, n, _ = self.kind.shape
        for i, row in enumerate(self._of(value)):
            for j, fragment in enumerate(row):
                indices = _indices((i * m, self.kind.column(value, j * n)), offsets)
                made = dialect("gpu").SubgroupMmaStoreMatrixOp(fragment, memory, indices, _lead(memory))
                self.kind.mark(made)

    def _slice(self, slice_: Any) -> None:
        offsets = [ir.IntegerAttr(o).value for o in slice_.attributes["offsets"]]
        result, source = slice_.operation.results[0], slice_.operation.operands[0]
        rows, columns = self.kind.grid_of(result)
        unit = self.kind.shape[:2]
        whole = self.kind.parts > 1 and result.type.shape[1] != source.type.shape[1]
        if whole or any(number % size for number, size in zip([*offsets, *result.type.shape], 2 * unit, strict=True)):
            raise pass_error(
                slice_,
                f"{shown(result.type.shape)} elements of an accumulator at {offsets}; {self.kind.expected()}",
            )
        top, left = offsets[0] // unit[0], offsets[1] // unit[1]
        self.fragments[result] = [row[left : left + columns] for row in self._of(source)[top : top + rows]]

    def _check_access(self, operation: Any, memory: Any) -> None:
        if not is_plain(operation):
            raise pass_error(
                operation,
                f"{self.kind.name} moves whole fragments, row by row: expected a tile along both dimensions of a "
                "matrix, in order, and surely within it (in_bounds)",
            )
        self.kind.check_rows(operation, memory)


def depth_of(product: Any) -> int:
    """The k of a product."""
    return product.operation.operands[0].type.shape[0 if tile.order_of(product, "a") == "km" else 1]


def shown(sizes: Iterable[int]) -> str:
    """Sizes as messages have them."""
    return "x".join(map(str, sizes))


def fragment_type(shape: tuple[int, int], element: Any, role: str, unsigned: bool = False) -> Any:
    """The type of a fragment. Bytes are signed or not; other elements are as they are."""
    name = str(element)
    if name == "i8":
        name = "ui8" if unsigned else "si8"
    return ir.Type.parse(f'!gpu.mma_matrix<{shown(shape)}x{name}, "{role}">')


def load(
    memory: Any,
    shape: tuple[int, int],
    role: str,
    at: tuple[Any, Any],
    offsets: Sequence[Any] = (),
    swapped: bool = False,
    unsigned: bool = False,
) -> Any:
    """A fragment whose first element is `at`, stored with its dimensions swapped or not."""
    type_ = fragment_type(shape, memory.type.element_type, role, unsigned)
    indices = _indices((at[1], at[0]) if swapped else at, offsets)
    return dialect("gpu").SubgroupMmaLoadMatrixOp(type_, memory, indices, _lead(memory), transpose=swapped).res


def _lead(memory: Any) -> Any:
    strides, _ = memory.type.get_strides_and_offset()
    return ir.IntegerAttr.get(ir.IndexType.get(), strides[-2])


def _indices(at: tuple[Any, Any], offsets: Sequence[Any]) -> list[Any]:
    if not offsets:
        return [constants.index(position) if isinstance(position, int) else position for position in at]
    return [indexing.add(offset, position) for position, offset in zip(at, offsets, strict=True)]
