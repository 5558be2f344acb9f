"""mma-to-wmma: products of warp tiles become WMMA operations on fragments, of the shape `instruction`.

Expects a kernel function in which the accumulator is a warp tile (after `distribute-warps`, and `wmma-epilogue` if
there is arithmetic on it). Leaves gpu.subgroup_mma operations: the accumulator as one fragment for each m x n part,
carried by the loops; the fragments of A (m x k) and B (k x n) loaded just before they are used, transposed where they
are stored as km or nk. Reads the operands through whatever memref they are in. Refuses anything else that touches the
accumulator, and types, shapes, sizes and row strides that WMMA does not have; also loads and stores that would need a
guard for each lane (without `in_bounds`), or that broadcast or transpose.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing, tile
from mlir_gemm.dialect.accumulator_flow import flow_of, separate_constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import has_rows
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import PassError
from mlir_gemm.lowering.products import check_warp_product, is_plain
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.distribute.distribute_warps import with_fills
from mlir_gemm.spec.attributes import LEVEL

Shape = tuple[int, int, int]

SHAPES: tuple[Shape, ...] = ((16, 16, 16), (32, 8, 16), (8, 32, 16))
"""M, N and K of the operations on f16 (PTX ISA, "wmma.mma")."""
ROW_BITS = 128
"""Rows in memory start at multiples of this (PTX: `wmma.load` and `wmma.store`)."""


@dataclass(frozen=True)
class MmaToWmma(Pass):
    """Lower tile.mma to WMMA."""

    name: ClassVar[str] = "mma-to-wmma"
    instruction: Shape = SHAPES[0]
    """M, N and K of wmma.mma."""

    def run(self, module: Any) -> None:
        if self.instruction not in SHAPES:
            raise PassError(f"pass 'mma-to-wmma': instruction={_shown(self.instruction)}; WMMA has {_all()}")
        for kernel in named(module, "gpu.func"):
            products = named(kernel, "tile.mma")
            if products:
                _check(products, self.instruction)
                shape = tuple(products[0].operation.results[0].type.shape)
                separate_constants([product.operation.results[0] for product in products])
                rewriter = _Rewriter(self.instruction, with_fills(kernel, flow_of(products), shape))
                for operation in in_block(body(kernel)):
                    rewriter.rewrite(operation)
                rewriter.erase_old()


def _check(products: list[Any], shape: Shape) -> None:
    for product in products:
        check_warp_product(product)
        lhs, rhs, acc = product.operation.operands
        types = [str(t.element_type) for t in (lhs.type, rhs.type, acc.type)]
        if types != ["f16", "f16", "f32"]:
            raise pass_error(
                product,
                f"WMMA has no product of {types[0]} and {types[1]} into {types[2]}; supported: f16, f16 into f32",
            )
        sizes = (*acc.type.shape, _depth(product))
        if any(size % unit for size, unit in zip(sizes, shape, strict=True)):
            raise pass_error(product, f"a product of {_shown(sizes)}; {_expected(shape)}")
        for operand in (lhs, rhs):
            _check_rows(product, operand)


@dataclass
class _Rewriter:
    """Rewrites the operations of a kernel one after another; accumulators are kept as grids of fragments."""

    shape: Shape
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
        if name not in handlers:
            raise pass_error(operation, f"'{name}' on an accumulator that is held in WMMA fragments is not supported")
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
        (m, n), (rows, columns, depth) = acc.type.shape, self.shape
        swap_a, swap_b = tile.order_of(product, "a") == "km", tile.order_of(product, "b") == "nk"
        grid = [list(row) for row in self._of(acc)]
        for step in range(0, _depth(product), depth):
            a = [_load(lhs, (rows, depth), "AOp", (row, step), swapped=swap_a) for row in range(0, m, rows)]
            for j, column in enumerate(range(0, n, columns)):
                b = _load(rhs, (depth, columns), "BOp", (step, column), swapped=swap_b)
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
            rows, columns = self._grid_of(value)
            self.fragments[value] = [[new.pop(0) for _ in range(columns)] for _ in range(rows)]

    def _constant(self, constant: Any) -> None:
        value = constant.operation.results[0]
        rows, columns = self._grid_of(value)
        element = constants.splat_of(value)
        if element is None:
            raise pass_error(constant, "a constant matrix that is not the same everywhere is not supported here")
        scalar = dialect("arith").ConstantOp(value.type.element_type, element).result
        type_ = _fragment_type(self.shape[:2], value.type.element_type, "COp")
        fragment = dialect("gpu").SubgroupMmaConstantMatrixOp(type_, scalar).res
        self.fragments[value] = [[fragment] * columns for _ in range(rows)]

    def _load(self, load: Any) -> None:
        memory, *offsets = load.operation.operands
        value = load.operation.results[0]
        _check_access(load, memory)
        rows, columns = self._grid_of(value)
        m, n, _ = self.shape
        self.fragments[value] = [
            [_load(memory, (m, n), "COp", (i * m, j * n), offsets) for j in range(columns)] for i in range(rows)
        ]

    def _store(self, store: Any) -> None:
        value, memory, *offsets = store.operation.operands
        _check_access(store, memory)
        m, n, _ = self.shape
        for i, row in enumerate(self._of(value)):
            for j, fragment in enumerate(row):
                indices = _indices((i * m, j * n), offsets)
                dialect("gpu").SubgroupMmaStoreMatrixOp(fragment, memory, indices, _lead(memory))

    def _slice(self, slice_: Any) -> None:
        offsets = [ir.IntegerAttr(o).value for o in slice_.attributes["offsets"]]
        result = slice_.operation.results[0]
        rows, columns = self._grid_of(result)
        unit = self.shape[:2]
        if any(number % size for number, size in zip([*offsets, *result.type.shape], 2 * unit, strict=True)):
            raise pass_error(
                slice_,
                f"{_shown(result.type.shape)} elements of an accumulator at {offsets}; {_expected(self.shape)}",
            )
        top, left = offsets[0] // unit[0], offsets[1] // unit[1]
        source = self._of(slice_.operation.operands[0])
        self.fragments[result] = [row[left : left + columns] for row in source[top : top + rows]]

    def _grid_of(self, value: Any) -> tuple[int, int]:
        """Rows and columns of the fragments of an accumulator."""
        m, n = value.type.shape
        return m // self.shape[0], n // self.shape[1]


def _check_access(operation: Any, memory: Any) -> None:
    if not is_plain(operation):
        raise pass_error(
            operation,
            "WMMA moves whole fragments, row by row: expected a tile along both dimensions of a matrix, in order, and "
            "surely within it (in_bounds)",
        )
    _check_rows(operation, memory)


def _check_rows(operation: Any, memory: Any) -> None:
    """Refuses a memref whose rows are not where WMMA can read them."""
    if not has_rows(memory.type, ROW_BITS):
        raise pass_error(
            operation,
            f"{memory.type} in WMMA; expected rows of consecutive elements, a constant multiple of {ROW_BITS} bits "
            "apart",
        )


def _depth(product: Any) -> int:
    """The k of a product."""
    return product.operation.operands[0].type.shape[0 if tile.order_of(product, "a") == "km" else 1]


def _shown(sizes: Iterable[int]) -> str:
    return "x".join(map(str, sizes))


def _all() -> str:
    return ", ".join(map(_shown, SHAPES))


def _expected(shape: Shape) -> str:
    return f"expected multiples of the instruction's {_shown(shape)} (WMMA has {_all()})"


def _fragment_type(shape: tuple[int, int], element: Any, role: str) -> Any:
    return ir.Type.parse(f'!gpu.mma_matrix<{_shown(shape)}x{element}, "{role}">')


def _lead(memory: Any) -> Any:
    strides, _ = memory.type.get_strides_and_offset()
    return ir.IntegerAttr.get(ir.IndexType.get(), strides[-2])


def _indices(at: tuple[int, int], offsets: Sequence[Any]) -> list[Any]:
    if not offsets:
        return [constants.index(position) for position in at]
    return [indexing.add(offset, position) for position, offset in zip(at, offsets, strict=True)]


def _load(
    memory: Any,
    shape: tuple[int, int],
    role: str,
    at: tuple[int, int],
    offsets: Sequence[Any] = (),
    swapped: bool = False,
) -> Any:
    """A fragment whose first element is `at`, stored with its dimensions swapped or not."""
    type_ = _fragment_type(shape, memory.type.element_type, role)
    indices = _indices((at[1], at[0]) if swapped else at, offsets)
    return dialect("gpu").SubgroupMmaLoadMatrixOp(type_, memory, indices, _lead(memory), transpose=swapped).res
