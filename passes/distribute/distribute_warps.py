"""distribute-warps: block tiles of the accumulator are divided among warps.

Expects an scf.forall mapped to blocks, with tile.mma on whole block tiles. Everything that a product's result flows
through (the accumulator's constants, loads, loops, arithmetic and stores) becomes one warp's part: vectors shrink from
the block tile to the warp tile, loads and stores move to the warp's offsets and carry `scope = "warp"`, and the
operands of tile.mma become subviews of the warp's rows and columns, in a loop over steps of the warp tile's K
(`tile.loop = "warp_k"`). Copies between global and shared memory stay block-wide. With `unit=warpgroup` four warps
share such a tile (`scope = "warpgroup"`), with `unit=wave` two; where roles are specialised, a ring's stage is released
by as many warps as compute, and one more warpgroup fills it. A second run changes nothing.
Refuses tiles that the warp tile does not divide, and anything but loops and elementwise arithmetic on the accumulator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing, tile
from mlir_gemm.dialect.accumulator_flow import flow_of, is_elementwise, separate_constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import subview
from mlir_gemm.dialect.walk import body, in_block, is_within, named, users
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import LEVEL, PING_PONG, SCOPE, WARPS
from mlir_gemm.spec.threads import UNITS

_TILE_WORK = ("tile.load", "tile.store", "tile.mma", "tile.mma_wait", "tile.store_partials", "tile.fix_up")


@dataclass(frozen=True)
class DistributeWarps(Pass):
    """Divide accumulator tiles among warps."""

    name: ClassVar[str] = "distribute-warps"
    warp: tuple[int, int, int] = (64, 32, 16)
    """Warp tile (M, N, K)."""
    unit: str = "warp"
    """Among what: `warp`, `wave` (two warps) or `warpgroup` (four)."""

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise PassError(f"pass '{self}': unit must be one of {', '.join(UNITS)}")

    def run(self, module: Any) -> None:
        for forall in named(module, "scf.forall"):
            products = named(forall, "tile.mma")
            if products and not any(SCOPE in op.operation.attributes for op in products):
                _distribute(forall, products, self.warp, self.unit)


def with_fills(root: Any, flow: dict[Any, None], shape: tuple[int, ...]) -> dict[Any, None]:
    """`flow`, and the constants of the accumulator's shape that are stored in `root`, or from which alone is computed
    what is stored: these fill a result in memory."""
    found = dict(flow)
    for store in named(root, "tile.store"):
        value = store.operands[0]
        made = _of_constants(value) if value not in flow and tuple(value.type.shape) == shape else None
        found.update(dict.fromkeys(made or ()))
    return found


def _of_constants(value: Any) -> list[Any] | None:
    """A tile and those that it is computed from, where these are constants in the end; None where they are not."""
    if constants.splat_of(value) is not None:
        return [value]
    owner = value.owner
    if hasattr(owner, "operations") or not is_elementwise(owner):
        return None
    parts = [_of_constants(each) for each in owner.operation.operands]
    whole = [each for part in parts if part is not None for each in part]
    return None if None in parts else [*whole, value]


def _check_flow(forall: Any, product: Any, flow: dict[Any, None], block: tuple[int, ...]) -> None:
    """Refuses an accumulator that goes through anything that cannot be divided among warps."""
    for value in flow:
        if tuple(value.type.shape) != block:
            raise pass_error(product, f"the accumulator flows into a {value.type}; expected tiles of {block} only")
        owner = value.owner
        maker = owner.owner.operation if hasattr(owner, "operations") else owner.operation
        if maker.name != "arith.constant" and not is_within(maker, forall):
            raise pass_error(
                maker, f"'{maker.name}' gives an accumulator from outside its block loop; expected it inside"
            )
        spread = maker.name == "vector.broadcast" and not isinstance(maker.operands[0].type, ir.VectorType)
        for operation in [*([] if spread else [maker]), *users(value)]:
            name = operation.operation.name
            loop = name == "scf.for" or (name == "scf.yield" and operation.parent.operation.name == "scf.for")
            if not (loop or name in _TILE_WORK or name.startswith(("arith.", "math."))):
                raise pass_error(operation, f"'{name}' on an accumulator cannot be divided among warps")


def _distribute(forall: Any, products: list[Any], warp: tuple[int, int, int], unit: str) -> None:
    block = tuple(products[0].operation.results[0].type.shape)
    for size, part, axis in zip(block, warp, "MN", strict=False):
        if size % part:
            raise pass_error(products[0], f"a warp tile of {part} does not divide the block tile of {size} in {axis}")
    separate_constants([product.operation.results[0] for product in products])
    flow = with_fills(forall, flow_of(products), block)
    _check_flow(forall, products[0], flow, block)
    with ir.InsertionPoint(in_block(body(forall))[0]), forall.location:
        units = (block[0] // warp[0]) * (block[1] // warp[1])
        consumers = constants.number_of(forall, PING_PONG, 1)
        row, column = _warp_position(block[1] // warp[1], warp, unit, units if consumers > 1 else None)
    for operation in _sources_and_stores(forall, flow):
        _narrow(operation, row, column, warp, unit)
    for value in flow:
        value.set_type(ir.VectorType.get(list(warp[:2]), value.type.element_type))
    for product in products:
        _split_product(product, row, column, warp, unit)
    for ring in named(forall, "tile.ring", "tile.order_barrier", "tile.transpose"):
        ring.operation.attributes["consumers"] = constants.integer(units * UNITS[unit])
    for number in named(forall, "tile.consumer_id"):
        with ir.InsertionPoint(number), number.location:
            consumer = indexing.div(tile.unit_id(unit), units)
        number.operation.results[0].replace_all_uses_with(consumer)
        number.operation.erase()
    warps = UNITS[unit] * units * consumers + UNITS["warpgroup"] * bool(named(forall, "tile.warp_specialize"))
    forall.operation.attributes[WARPS] = constants.integer(warps)


def _warp_position(across: int, warp: tuple[int, int, int], unit: str, units: int | None) -> tuple[Any, Any]:
    """Where the warp's tile starts in the block tile; warps are numbered along N first."""
    number = tile.unit_id(unit)
    if units is not None:  # of those that take the same tile
        number = indexing.rem(number, units)
    down, along = indexing.div(number, across), indexing.rem(number, across)
    return indexing.mul(down, warp[0]), indexing.mul(along, warp[1])


def _sources_and_stores(forall: Any, flow: dict[Any, None]) -> list[Any]:
    """The constants, loads and stores of the accumulator: what must change besides its type."""
    found = [value.owner for value in flow if getattr(value.owner, "name", "") in ("arith.constant", "tile.load")]
    return [*found, *(op for op in named(forall, "tile.store") if op.operands[0] in flow)]


def _narrow(operation: Any, row: Any, column: Any, warp: tuple[int, int, int], unit: str) -> None:
    old = operation.operation
    if old.name == "arith.constant":
        element = constants.splat_of(old.results[0])
        if element is None:
            raise pass_error(operation, "a constant matrix that is not the same everywhere is not supported here")
        type_ = ir.VectorType.get(list(warp[:2]), old.results[0].type.element_type)
        old.attributes["value"] = ir.DenseElementsAttr.get_splat(type_, element)
        return
    place = tile.place_of(old)
    first = len(old.operands) - len(place.offsets)
    with ir.InsertionPoint(old), old.location:
        for position, dim in enumerate(place.dims, first):
            if dim >= 0:
                old.operands[position] = indexing.add(old.operands[position], (row, column)[dim])
    old.attributes[SCOPE] = ir.StringAttr.get(unit)


def _split_product(product: Any, row: Any, column: Any, warp: tuple[int, int, int], unit: str) -> None:
    """One block-wide product as a loop over the warp tile's K."""
    lhs, _, acc = product.operation.operands
    depth = lhs.type.shape[tile.order_of(product, "a").index("k")]
    k = warp[2]
    if depth % k:
        raise pass_error(product, f"a warp tile of {k} does not divide the block tile of {depth} in K")
    with ir.InsertionPoint(product), product.location:
        if depth == k:
            result = _warp_product(product, acc, (row, column, constants.index(0)), warp, unit)
        else:
            bounds = [constants.index(value) for value in (0, depth, k)]
            loop = dialect("scf").ForOp(*bounds, [acc])
            loop.operation.attributes[LEVEL] = ir.StringAttr.get("warp_k")
            with ir.InsertionPoint(loop.body):
                step, carried = loop.body.arguments
                dialect("scf").YieldOp([_warp_product(product, carried, (row, column, step), warp, unit)])
            result = loop.results[0]
    product.operation.results[0].replace_all_uses_with(result)
    product.operation.erase()


def _warp_product(product: Any, acc: Any, at: tuple[Any, Any, Any], warp: tuple[int, int, int], unit: str) -> Any:
    """The product of one warp's rows and columns, `at` (m, n, k) in the block's tiles."""
    starts, sizes = dict(zip("mnk", at, strict=True)), dict(zip("mnk", warp, strict=True))
    parts = {
        name: subview(memory, [starts[axis] for axis in order], [sizes[axis] for axis in order])
        for name, memory in zip("ab", product.operation.operands, strict=False)
        for order in (tile.order_of(product, name),)
    }
    attributes = attributes_of(product)
    new = tile.mma(parts["a"], parts["b"], acc)
    for name, attribute in attributes.items():
        new.attributes[name] = attribute
    new.attributes[SCOPE] = ir.StringAttr.get(unit)
    return new.results[0]
