"""promote-operands: the operands of a product are staged in shared memory, one k tile at a time.

Expects a k loop (`tile.loop = "k"`) around a product's point nest, which stores `c + a b` (see `product_in`). Leaves a
shared-memory buffer for each factor (`memref.alloc` in memory space 3, before the k loop, with the attribute
`tile.layout`), filled at the head of the k loop, and the nest reading the buffer. The buffer keeps the order in which
the operand lies in memory; of the operands in `turn` its rows run along m or n whatever that is. A factor that is an
element of memory, perhaps extended, is copied as it is (`tile.copy`). One that is computed, say from integers and a
scale, is computed tile by tile: tile.load, arithmetic on vectors, tile.clip where the tile may pass the end of k (zero
there adds nothing to the product), tile.store. So is one of another algebra, where the padding is not zero: infinities
for a minimum of sums. With `layout=swizzle128` each buffer has the widest panels that divide its rows: `swizzle128`,
`swizzle64` or `swizzle32`. Of several products in one k loop those that multiply the same tile share its buffer.
Refuses factors that the loop also writes, or that depend on both m and n, and with
`swizzle128` rows of other than whole 32 bytes. What reads shared memory already is left alone, so a second run changes
nothing. With `operands=a`, or `b`, the other one stays where it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import affine, constants, tile
from mlir_gemm.dialect.attributes import is_layout
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import shared_buffer
from mlir_gemm.dialect.point_nests import vectors
from mlir_gemm.dialect.point_nests.places import Access, access_of, memory_order
from mlir_gemm.dialect.point_nests.product import NestProduct, product_in
from mlir_gemm.dialect.positions import is_position
from mlir_gemm.dialect.rings import PAD, PANELS, SWIZZLE, swizzle_of
from mlir_gemm.dialect.sizes import size_of
from mlir_gemm.dialect.walk import body, defined_within, in_block, named
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass

MOST_PAD = 1024
"""Far beyond any use; it keeps sizes from overflowing."""


@dataclass(frozen=True)
class PromoteOperands(Pass):
    """Stage operands in shared memory."""

    name: ClassVar[str] = "promote-operands"
    layout: str = "pad8"
    """What `tile.layout` says: `padN`, `xor`, `swizzle128` (of narrow rows `swizzle64` or `swizzle32`), or a layout
    that is registered."""
    layout_b: str = "same"
    """The same of B's buffer; `same` as A's."""
    operands: str = "ab"
    """Which are staged: `ab`, `a` or `b`. The other is read from where it lies."""
    turn: str = "none"
    """Operands whose buffers have rows along m and n: `none`, `ab`, `a` or `b`."""

    def __post_init__(self) -> None:
        for name, layout in zip(("layout", "layout_b"), self._layouts(), strict=True):
            padded = re.fullmatch(PAD, layout)
            if padded and int(padded[1]) > MOST_PAD:
                raise PassError(f"pass '{self}': a pad must be from 0 to {MOST_PAD}")
            if not is_layout(layout):
                raise PassError(f"pass '{self}': {name} must be padN, xor, {SWIZZLE} or a registered one")
        if self.operands not in ("ab", "a", "b"):
            raise PassError(f"pass '{self}': operands must be ab, a or b")
        if self.turn not in ("none", "ab", "a", "b"):
            raise PassError(f"pass '{self}': turn must be none, ab, a or b")

    def _layouts(self) -> tuple[str, str]:
        return self.layout, self.layout if self.layout_b == "same" else self.layout_b

    def run(self, module: Any) -> None:
        for loop in named(module, "affine.for"):
            if affine.level_of(loop) == "k":
                _promote(loop, self._layouts(), self.operands, self.turn)


def _promote(k_loop: Any, layouts: tuple[str, str], operands: str, turn: str) -> None:
    stores = [op for op in named(k_loop, "affine.store") if _in_nest(op)]
    products: list[NestProduct] = []
    for store in stores:
        found = product_in(store)
        if found is None:
            raise pass_error(store, "a k loop around something else than a product, c += a * b; it cannot be staged")
        products.append(found)
    written = [affine.access(store)[0] for store in stores]
    staged: dict[Any, Any] = {}
    anchor = in_block(body(k_loop))[0]
    for product in products:
        cores, pads = product.cores(), product.pads()
        sides = (([product.m, product.k], [product.n]), ([product.k, product.n], [product.m]))
        for name, core, pad, (points, others), layout in zip("ab", cores, pads, sides, layouts, strict=True):
            if name not in operands:
                continue
            loads = _loads_of(core, product, others)
            if all(affine.access(load)[0].type.memory_space is not None for load in loads):
                continue
            for load in loads:
                if affine.access(load)[0] in written:
                    raise pass_error(load, "an operand that the k loop also writes cannot be staged")
            turned = name in turn.replace("none", "")
            _stage(k_loop, anchor, product, (core, pad), points, loads, layout, turned, staged)


def _in_nest(store: Any) -> bool:
    return affine.level_of(store.operation.parent) == "point"


def _loads_of(core: Any, product: NestProduct, others: list[Any]) -> list[Any]:
    """The loads that a factor is computed from, in order, each checked not to move with the other factor's loops."""
    loads = [op for op in product.behind(core) if op.operation.name == "affine.load"]
    for load in loads:
        if any(point in others for point in access_of(load, product.points).runs.values()):
            raise pass_error(load, "a factor of a product that depends on both m and n cannot be staged")
    if not loads:
        raise pass_error(product.store, "a factor of a product that is read from no memory cannot be staged")
    return loads


def _stage(
    k_loop: Any, anchor: Any, product: NestProduct, given: tuple[Any, float | int], points: list[Any],
    loads: list[Any], layout: str, turn: bool, staged: dict[Any, Any],
) -> None:  # fmt: skip
    """Stages a factor, or reads what was `staged` of the same tile for a product before it."""
    core, pad = given
    accesses = [access_of(load, product.points) for load in loads]
    for load, access in zip(loads, accesses, strict=True):
        if any(defined_within(value, k_loop) and value != affine.induction_variable(k_loop)
               for start in access.starts for value in start.terms):  # fmt: skip
            raise pass_error(load, "an operand whose tile starts at an index made inside the k loop cannot be staged")
    leading = max(accesses, key=lambda access: len(access.runs))
    across = [point for point in points if point != product.k]
    order = [product.k, *across] if turn else memory_order(leading, points)
    shape = [affine.extent_of(point) for point in order]
    copied = core == loads[0].operation.results[0] and not is_position(leading.memory)
    copied = copied and (pad == 0 or _ends_in_bounds(product, leading))
    runs = tuple((axis, order.index(point)) for axis, point in sorted(leading.runs.items()))
    tile_ = leading.memory, leading.starts, runs, tuple(shape), layout
    if copied and tile_ in staged:
        _read_staged(product, core, loads[0], staged[tile_], order)
        return
    buffer = _make_buffer(k_loop, loads[0], shape, core.type, layout)
    with ir.InsertionPoint(anchor), loads[0].location:
        if copied:
            tile.copy(buffer, leading.memory, leading.along(order))
            staged[tile_] = buffer
        else:
            value = vectors.of_points(product.behind(core), order, core)
            value = _clipped(value, order, product, accesses, pad)
            origin = constants.index(0)
            tile.store(value, buffer, tile.Place.at([origin, origin], 2, in_bounds=True))
    _read_staged(product, core, loads[0], buffer, order)


def _read_staged(product: NestProduct, core: Any, load: Any, buffer: Any, order: list[Any]) -> None:
    """Lets a nest read a factor from its buffer."""
    with ir.InsertionPoint(product.store), load.location:
        identity = ir.AffineMap.get_identity(len(order))
        value = dialect("affine").AffineLoadOp(core.type, buffer, order, identity).result
    product.replace(core, value)


def _ends_in_bounds(product: NestProduct, access: Access) -> bool:
    """Whether a tile never passes the end of k."""
    return all(access.in_bounds[axis] for axis, point in access.runs.items() if point == product.k)


def _clipped(value: Any, order: list[Any], product: NestProduct, accesses: list[Access], pad: float | int) -> Any:
    """`value` with what adds nothing to the product beyond the end of k, where the arithmetic makes anything of
    zeros."""
    along = [(access, axis) for access in accesses for axis, point in access.runs.items() if point == product.k]
    if not along:
        return value
    access, axis = along[0]
    if access.in_bounds[axis]:
        return value
    size = size_of(access.memory, axis)
    bound = constants.index(size) if isinstance(size, int) else size
    neutral = None if pad == 0 else constants.number(value.type.element_type, pad)
    return tile.clip(value, order.index(product.k), access.starts[axis].build(), bound, neutral)


def _make_buffer(k_loop: Any, load: Any, shape: list[int], element: Any, layout: str) -> Any:
    if layout == SWIZZLE:
        layout = _of_panels(load, shape[-1] * element.width // 8)
    with ir.InsertionPoint(k_loop), load.location:
        return shared_buffer(shape, element, layout)


def _of_panels(load: Any, row: int) -> str:
    """The layout of a buffer of rows of this many bytes for the copy engine."""
    layout = swizzle_of(row)
    if layout is None:
        least = min(PANELS.values())
        raise pass_error(load, f"a tile with rows of {row} bytes; the copy engine's layouts have multiples of {least}")
    return layout
