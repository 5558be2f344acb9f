"""What must hold for the tile dialect's operations: rules for `dialect/verifier.py`, each of which gives a reason."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.memory import SHARED, in_shared
from mlir_gemm.dialect.verifier import NUMBERS, TRUTHS, Kind, Rule, at_least, between, counted, is_integer, word
from mlir_gemm.spec.algebra import misfit, parse
from mlir_gemm.spec.threads import UNITS

PLACE = {"dims": NUMBERS, "in_bounds": TRUTHS}
"""Attributes of operations that name a place in memory."""
ALIGNED = {"aligned": at_least(1), "flat": at_least(1)}
"""Of a load or store of a tile: its first element lies at a multiple of this many elements from an aligned address. It
may then start before the memory's first index along its last dimension."""
SCOPE = {"scope": word(*UNITS)}
"""Of operations on tiles that are divided among warps from `distribute` on."""
ORDERS = {"a": ("mk", "km"), "b": ("kn", "nk")}
"""How the operands of a product may be stored."""
_EACH = "one for each dimension of the memory"
MOST_BOX, MOST_AXES, BOX_BYTES = 256, 5, 16
"""Of a tensor map: elements of a box along one dimension, dimensions, and what divides the bytes of a box's rows (CUDA
driver API, cuTensorMapEncodeTiled)."""
MOST_BLOCKS, MOST_WARPS = 16, 32
"""Of a cluster, whose blocks a copy names in 16 bits (PTX, `.multicast::cluster`), and of a block."""
MOST_STAGES = 64
"""Of a buffer: far beyond any use; it keeps sizes from overflowing."""
WARPS, BLOCKS = between(1, MOST_WARPS), between(1, MOST_BLOCKS)
STAGES, PENDING = between(1, MOST_STAGES), between(0, MOST_STAGES)

GLOBAL, IN_SHARED = (None,), (SHARED,)
ANYWHERE = (*GLOBAL, *IN_SHARED)
"""Memory spaces in which an operand may be."""
_PLACES: dict[tuple[int | None, ...], str] = {
    GLOBAL: "in global memory",
    IN_SHARED: "in memory space 3",
    ANYWHERE: "in global memory or memory space 3",
}


def ranked(
    operand: int, name: str, rank: int | None = None, *, static: bool = True, space: tuple[int | None, ...] = ANYWHERE
) -> Rule:
    """An operand is a memref: of this many dimensions and of constant sizes where that is asked for, in one of some
    memory spaces."""
    wanted = " ".join(
        ["a memref", *([f"of {rank} dimensions"] if rank else []), *(["of constant sizes"] if static else []),
         _PLACES[space]]
    )  # fmt: skip

    def rule(op: Any) -> str:
        type_ = op.operands[operand].type
        right = (
            isinstance(type_, ir.MemRefType)
            and rank in (None, type_.rank)
            and (type_.has_static_shape or not static)
            and _space_of(type_) in space
        )
        return "" if right else f"{name} is {type_}; expected {wanted}"

    return rule


def _space_of(type_: Any) -> int | None:
    """The number of a memref's memory space, None where it has none; -1 for a space that is not a number."""
    space = type_.memory_space
    if space is None:
        return None
    return space.value if isinstance(space, ir.IntegerAttr) else -1


def tile(value: Callable[[Any], Any], name: str, rank: int | None = None) -> Rule:
    """A value is a vector, of this many dimensions where that is asked for."""
    wanted = f"a vector of {f'{rank} dimensions' if rank else '1 dimension or more'}, of constant sizes"

    def rule(op: Any) -> str:
        type_ = value(op).type
        right = isinstance(type_, ir.VectorType) and type_.rank == (rank or max(type_.rank, 1)) and not type_.scalable
        return "" if right else f"{name} is {type_}; expected {wanted}"

    return rule


def operand(number: int) -> Callable[[Any], Any]:
    """An operand of an operation."""
    return lambda op: op.operands[number]


def result(op: Any) -> Any:
    """The result of an operation that has one."""
    return op.results[0]


def same_elements(one: Callable[[Any], Any], other: Callable[[Any], Any], names: str) -> Rule:
    """Two shaped values have one element type, of numbers; `names` are theirs, with `and` between them."""

    return lambda op: _elements(one(op).type, other(op).type, names)


def _elements(one: Any, other: Any, names: str) -> str:
    types = one.element_type, other.element_type
    if types[0] != types[1]:
        return f"the elements of {names} are {types[0]} and {types[1]}; expected one type"
    return "" if _are_numbers(types[0]) else f"the elements of {names} are {types[0]}; expected {_NUMBERS}"


_NUMBERS = "integers or floating-point numbers"


def _are_numbers(*types: Any) -> bool:
    """Whether element types are of numbers that have a width."""
    return all(isinstance(type_, ir.IntegerType | ir.FloatType) for type_ in types)


def place(memory: int, first: int, tile_of: Callable[[Any], Any], *, whole: bool = False) -> Rule:
    """The offsets from operand `first` on, `dims` and `in_bounds` have an entry for each dimension of the operand
    `memory`, and each of the tile's dimensions runs along one of them at most; a `whole` tile's each along one."""

    def rule(op: Any) -> str:
        value, of_tile = op.operands[memory], tile_of(op).type
        type_, rank = value.type, of_tile.rank
        offsets = len(op.operands) - first
        described = _memory_of(value)
        axes = described.rank if described is not None else min(max(offsets, rank), MOST_AXES)
        if offsets != axes:
            wanted = axes if described is not None else f"{rank} to {MOST_AXES}"
            return f"has {counted(offsets, 'offset')} in {type_}; expected {wanted}, {_EACH}"
        for name in PLACE:
            if name in op.attributes and len(op.attributes[name]) != axes:
                return f"{name} = {op.attributes[name]}; expected {axes} entries, {_EACH}"
        dims = list(op.attributes["dims"]) if "dims" in op.attributes else []
        along = [dim for dim in dims if dim != -1]
        if len(set(along)) < len(along) or not set(along) <= set(range(rank)):
            return (
                f"dims = {dims} for a tile of {rank} dimensions; expected each of 0 to "
                f"{rank - 1} at most once, and -1 where the tile lies at one index"
            )
        runs = along if "dims" in op.attributes else range(max(rank - axes, 0), rank)
        if whole and any(size > 1 and dim not in runs for dim, size in enumerate(of_tile.shape)):
            return f"moves {of_tile} along {counted(len(runs), 'dimension')} of {type_}; expected {rank}"
        return ""

    return rule


def _memory_of(value: Any) -> Any | None:
    """The type of a memref, or of the one that a tensor map describes, where that is made here."""
    if isinstance(value.type, ir.MemRefType):
        return value.type
    maker = value.owner
    return maker.operands[0].type if getattr(maker, "name", "") == "tile.tensor_map" else None


def product(op: Any) -> str:
    """The operands and the accumulator of a tile.mma fit together, as `a` and `b` name their sides."""
    lhs, rhs, acc = (value.type for value in op.operands)
    orders = [op.attributes[name].value for name in ORDERS]
    sides = {"a": (orders[0], lhs), "b": (orders[1], rhs), "acc": ("mn", acc)}
    seen: dict[str, tuple[str, int]] = {}
    for name, (order, type_) in sides.items():
        for letter, size in zip(order, type_.shape, strict=True):
            whose, known = seen.setdefault(letter, (name, size))
            if known != size:
                shapes = ", ".join(f"{each} is {'x'.join(map(str, t.shape))} ({o})" for each, (o, t) in sides.items())
                return f"{letter} is {known} in {whose} and {size} in {name}: {shapes}; expected the same"
    return _product_types(op, *(type_.element_type for type_ in (lhs, rhs, acc)))


def _product_types(op: Any, lhs: Any, rhs: Any, acc: Any) -> str:
    if not _are_numbers(lhs, rhs, acc):
        return f"multiplies {lhs} by {rhs} into {acc}; expected {_NUMBERS}"
    whole = [isinstance(type_, ir.IntegerType) for type_ in (lhs, rhs, acc)]
    if len(set(whole)) > 1:
        return f"multiplies {lhs} by {rhs} into {acc}; expected all integers, or all floating-point numbers"
    if acc.width < max(lhs.width, rhs.width):
        return f"adds products of {lhs} and {rhs} up in {acc}; expected a type that is not narrower"
    if "unsigned" in op.attributes and not whole[0]:
        return f"unsigned = {op.attributes['unsigned']} for operands of {lhs} and {rhs}, which have signs"
    return _algebra(op, not whole[2])


def _algebra(op: Any, is_float: bool) -> str:
    """The `algebra` of a tile.mma is one, of the accumulator's elements."""
    if "algebra" in op.attributes:
        try:
            found = misfit(parse(op.attributes["algebra"].value), is_float)
        except ValueError as error:
            found = str(error)
        return f"algebra: {found}" if found else ""
    return ""


def dimension(op: Any) -> str:
    """The `dim` of a tile.clip is one of its value's."""
    dim, type_ = op.attributes["dim"].value, op.operands[0].type
    return "" if dim < type_.rank else f"dim = {dim} of {type_}; expected 0 to {type_.rank - 1}"


_TYPED = (ir.IntegerAttr, ir.BoolAttr, ir.FloatAttr)
NUMBER = Kind(lambda attribute: isinstance(attribute, _TYPED), "a number with its type")
"""An element of any type."""


def neutral(op: Any) -> str:
    """The `neutral` of a tile.clip is an element of its value."""
    if "neutral" not in op.attributes:
        return ""
    given, element = op.attributes["neutral"], op.operands[0].type.element_type
    if given.type == element:
        return ""
    return f"neutral = {given} for elements of {element}; expected one of that type"


def barriers(rows: int, columns: int | None = None, at: int = 0) -> Rule:
    """The operand `at` holds barriers: two for each stage of a ring, or so many."""
    shape = f"{rows}x{columns or 'S'}xi64"
    wanted = f"memref<{shape}, 3>{'' if columns else ', for S stages'}"

    def rule(op: Any) -> str:
        value = op.operands[at]
        type_ = value.type
        right = (
            isinstance(type_, ir.MemRefType)
            and type_.has_static_shape
            and type_.rank == 2
            and type_.shape[0] == rows
            and type_.shape[1] == (columns or max(type_.shape[1], 1))
            and _is_dense(type_)
            and is_integer(type_.element_type, 64)
            and in_shared(value)
        )
        return "" if right else f"barriers is {type_}; expected {wanted}"

    return rule


def dense(number: int, name: str) -> Rule:
    """An operand whose bytes are counted has no gaps between its rows."""

    def rule(op: Any) -> str:
        type_ = op.operands[number].type
        return "" if _is_dense(type_) else f"{name} is {type_}; expected rows without gaps between them"

    return rule


def _is_dense(type_: Any) -> bool:
    shape = type_.shape
    return type_.get_strides_and_offset()[0] == [prod(shape[axis + 1 :]) for axis in range(len(shape))]


def positions(op: Any) -> str:
    """What a tile.position gives is a tensor or memory of 64-bit integers, with a size for each that is dynamic."""
    type_ = op.results[0].type
    if not isinstance(type_, ir.RankedTensorType | ir.MemRefType) or not is_integer(type_.element_type, 64):
        return f"result is {type_}; expected a tensor or memref of i64"
    dynamic = sum(type_.is_dynamic_dim(axis) for axis in range(type_.rank))
    given = len(op.operands)
    if "size" in op.attributes:
        return "" if type_.rank == 0 and given < 2 else f"has a size and is {type_}; expected no dimension"
    return "" if dynamic == given else f"has {counted(given, 'size')} for {type_}; expected {dynamic}"


def phases(*values: Callable[[Any], Any]) -> Rule:
    """Values are phases."""

    def rule(op: Any) -> str:
        wrong = next((each(op).type for each in values if not is_integer(each(op).type, 32)), None)
        return "" if wrong is None else f"phase is {wrong}; expected i32"

    return rule


def roles(op: Any) -> str:
    """Each role of a tile.warp_specialize is one block without arguments."""
    for name, region in zip(("producer", "consumer"), op.regions, strict=True):
        blocks = list(region.blocks)
        if len(blocks) != 1:
            return f"{name} has {counted(len(blocks), 'block')}; expected one"
        given = len(blocks[0].arguments)
        if given:
            return f"{name} has {counted(given, 'block argument')}; expected none: tile.enter gives the position"
    return ""


def source(op: Any) -> str:
    """The memory of a copy or store by the copy engine is a memref in global memory, of the same elements, or a tensor
    map."""
    moved, memory = op.operands[0].type, op.operands[1]
    names = ("target", "source") if op.name == "tile.tma_load" else ("value", "memory")
    type_ = _memory_of(memory)
    if type_ is None and str(memory.type) == "!llvm.ptr":
        return "" if _are_numbers(moved.element_type) else f"{names[0]} is {moved}; expected {_NUMBERS}"
    if type_ is None or _space_of(type_) not in GLOBAL:
        return f"{names[1]} is {memory.type}; expected a memref in global memory, or the !llvm.ptr of a tile.tensor_map"
    return _elements(moved, type_, " and ".join(names))


def shared_ring(name: str) -> Rule:
    """What several blocks of a cluster share is shared by a whole `group` of them, as the attribute of that name says,
    and their numbers lie in a cluster."""

    def rule(op: Any) -> str:
        attributes = op.attributes
        count = attributes[name].value if name in attributes else 1
        if "cluster_group" in attributes and attributes["cluster_group"].value != count:
            return f"cluster_group = {attributes['cluster_group'].value} with {name} = {count}; expected the same"
        stride = attributes["stride"].value if "stride" in attributes else 1
        if (count - 1) * stride >= MOST_BLOCKS:
            return f"{name} = {count} with stride = {stride}; expected blocks of one cluster, of at most {MOST_BLOCKS}"
        return ""

    return rule


def columns(op: Any) -> str:
    """What a tile.dsmem_reduce gives is a part of its value's columns, and its scratch holds what each unit gets of the
    others."""
    value, whole, part = (each.type for each in (*op.operands, *op.results))
    parts, rest = divmod(value.shape[1], part.shape[1])
    if value.shape[0] != part.shape[0] or rest or parts < 2:
        return f"gives {part} of {value}; expected all rows, and an equal part of the columns"
    handed, given = (parts - 1) * prod(part.shape), prod(whole.shape[1:])
    if handed != given:
        return (
            f"scratch is {whole}, with {given} elements for each unit; expected {handed}: those of {part} from each of "
            f"{parts - 1} others"
        )
    return ""


def box(op: Any) -> str:
    """The box of a tile.tensor_map has a size for each dimension, and rows that its swizzle takes."""
    memory, attributes = op.operands[0].type, op.attributes
    if "box" not in attributes:
        return f"'box' is missing; expected {NUMBERS.wanted}, one for each dimension of the memory"
    if not 1 <= memory.rank <= MOST_AXES or not _are_numbers(memory.element_type):
        return f"memory is {memory}; expected 1 to {MOST_AXES} dimensions, of {_NUMBERS}"
    sizes = list(attributes["box"])
    if len(sizes) != memory.rank or not all(1 <= size <= MOST_BOX for size in sizes):
        return f"box = {sizes} for {memory}; expected 1 to {MOST_BOX} for each of its {memory.rank} dimensions"
    swizzle, row = attributes["swizzle"].value, sizes[-1] * memory.element_type.width // 8
    if row % BOX_BYTES:
        return f"box = {sizes} has rows of {row} bytes of {memory.element_type}; expected multiples of {BOX_BYTES}"
    if swizzle != "none" and row > int(swizzle):
        return f"box = {sizes} has rows of {row} bytes of {memory.element_type}; expected {swizzle} at most (swizzle)"
    if "element" in attributes and str(memory.element_type) != "f32":
        return f"element = {attributes['element']} for {memory.element_type}; expected it for f32 only"
    pointer = op.results[0].type
    return "" if str(pointer) == "!llvm.ptr" else f"map is {pointer}; expected !llvm.ptr"


def scratch(row: int, flags_of_place: int) -> Rule:
    """Parts of sums and their flags: rows of this many elements for each place, and this many flags."""

    def rule(op: Any) -> str:
        value, partials, flags = (each.type for each in list(op.operands)[:3])
        if partials.shape[2] != row or partials.shape[1] * row % prod(value.shape):
            return (
                f"partials is {partials}; expected a place of rows of {row} elements, which tiles of {value} divide, "
                "for each range of steps"
            )
        wanted = [partials.shape[0], flags_of_place]
        if flags.shape == wanted and is_integer(flags.element_type, 32):
            return ""
        return f"flags is {flags}; expected memref<{wanted[0]}x{wanted[1]}xi32>: {wanted[1]} for each place of partials"

    return rule
