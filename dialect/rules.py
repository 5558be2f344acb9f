"""What must hold for the tile dialect's operations: rules for `dialect/verifier.py`, each of which gives a reason."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.memory import in_shared
from mlir_gemm.dialect.verifier import NUMBERS, TRUTHS, Rule, counted, word

PLACE = {"dims": NUMBERS, "in_bounds": TRUTHS}
"""Attributes of operations that name a place in memory."""
SCOPE = {"scope": word("warp", "warpgroup")}
"""Of operations on tiles that are divided among warps from `distribute` on."""
ORDERS = {"a": ("mk", "km"), "b": ("kn", "nk")}
"""How the operands of a product may be stored."""
_EACH = "one for each dimension of the memory"
MOST_BOX = 256
"""Elements of a box of a tensor map along one dimension."""


def ranked(operand: int, name: str, rank: int | None = None, *, static: bool = True, shared: bool = False) -> Rule:
    """An operand is a memref: of so many dimensions, of constant sizes, in shared memory, where that is asked for."""
    wanted = " ".join(
        ["a memref", *([f"of {rank} dimensions"] if rank else []), *(["of constant sizes"] if static else []),
         *(["in memory space 3"] if shared else [])]
    )  # fmt: skip

    def rule(op: Any) -> str:
        value = op.operands[operand]
        type_ = value.type
        right = (
            isinstance(type_, ir.MemRefType)
            and rank in (None, type_.rank)
            and (type_.has_static_shape or not static)
            and (not shared or in_shared(value))
        )
        return "" if right else f"{name} is {type_}; expected {wanted}"

    return rule


def tile(value: Callable[[Any], Any], name: str, rank: int | None = None) -> Rule:
    """A value is a vector, of so many dimensions where that is asked for."""

    def rule(op: Any) -> str:
        type_ = value(op).type
        right = isinstance(type_, ir.VectorType) and rank in (None, type_.rank)
        return "" if right else f"{name} is {type_}; expected a vector{f' of {rank} dimensions' if rank else ''}"

    return rule


def operand(number: int) -> Callable[[Any], Any]:
    """An operand of an operation."""
    return lambda op: op.operands[number]


def result(op: Any) -> Any:
    """The result of an operation that has one."""
    return op.results[0]


def same_elements(one: Callable[[Any], Any], other: Callable[[Any], Any], names: str) -> Rule:
    """Two shaped values have one element type; `names` are theirs, with `and` between them."""

    def rule(op: Any) -> str:
        types = one(op).type.element_type, other(op).type.element_type
        return (
            "" if types[0] == types[1] else f"the elements of {names} are {types[0]} and {types[1]}; expected one type"
        )

    return rule


def place(memory: int, first: int, tile_of: Callable[[Any], Any], *, whole: bool = False) -> Rule:
    """The offsets from operand `first` on, `dims` and `in_bounds` have an entry for each dimension of the operand
    `memory`, and each of the tile's dimensions runs along one of them at most; a `whole` tile's each along one."""

    def rule(op: Any) -> str:
        type_, of_tile = op.operands[memory].type, tile_of(op).type
        rank = of_tile.rank
        offsets = len(op.operands) - first
        axes = type_.rank if isinstance(type_, ir.MemRefType) else offsets
        if offsets != axes:
            return f"has {counted(offsets, 'offset')} in {type_}; expected {axes}, {_EACH}"
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
        runs = len(along) if "dims" in op.attributes else axes
        if whole and runs < rank:
            return f"writes {of_tile} along {counted(runs, 'dimension')} of {type_}; expected {rank}"
        return ""

    return rule


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
    whole = [isinstance(type_, ir.IntegerType) for type_ in (lhs, rhs, acc)]
    if len(set(whole)) > 1:
        return f"multiplies {lhs} by {rhs} into {acc}; expected all integers, or all floating-point numbers"
    if acc.width < max(lhs.width, rhs.width):
        return f"adds products of {lhs} and {rhs} up in {acc}; expected a type that is not narrower"
    if "unsigned" in op.attributes and not whole[0]:
        return f"unsigned = {op.attributes['unsigned']} for operands of {lhs} and {rhs}, which have signs"
    return ""


def dimension(op: Any) -> str:
    """The `dim` of a tile.clip is one of its value's."""
    dim, type_ = op.attributes["dim"].value, op.operands[0].type
    return "" if dim < type_.rank else f"dim = {dim} of {type_}; expected 0 to {type_.rank - 1}"


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
            and columns in (None, type_.shape[1])
            and _is_integer(type_.element_type, 64)
            and in_shared(value)
        )
        return "" if right else f"barriers is {type_}; expected {wanted}"

    return rule


def _is_integer(type_: Any, bits: int) -> bool:
    return isinstance(type_, ir.IntegerType) and type_.is_signless and type_.width == bits


def phases(*values: Callable[[Any], Any]) -> Rule:
    """Values are phases."""

    def rule(op: Any) -> str:
        wrong = next((each(op).type for each in values if not _is_integer(each(op).type, 32)), None)
        return "" if wrong is None else f"phase is {wrong}; expected i32"

    return rule


def roles(op: Any) -> str:
    """Each role of a tile.specialize is one block without arguments."""
    for name, region in zip(("producer", "consumer"), op.regions, strict=True):
        blocks = list(region.blocks)
        if len(blocks) != 1:
            return f"{name} has {counted(len(blocks), 'block')}; expected one"
        given = len(blocks[0].arguments)
        if given:
            return f"{name} has {counted(given, 'block argument')}; expected none: tile.enter gives the position"
    return ""


def source(op: Any) -> str:
    """The memory of a copy or store by the copy engine is a memref, of the same elements, or a tensor map."""
    moved, type_ = op.operands[0].type, op.operands[1].type
    names = ("target", "source") if op.name == "tile.copy_bulk" else ("value", "memory")
    if str(type_) == "!llvm.ptr":
        return ""
    if not isinstance(type_, ir.MemRefType):
        return f"{names[1]} is {type_}; expected a memref, or the !llvm.ptr of a tile.tensor_map"
    types = moved.element_type, type_.element_type
    if types[0] == types[1]:
        return ""
    return f"the elements of {' and '.join(names)} are {types[0]} and {types[1]}; expected one type"


def columns(op: Any) -> str:
    """What a tile.cluster_sum gives is a part of its value's columns, and its scratch holds what each unit gets of the
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
    sizes = list(attributes["box"])
    if len(sizes) != memory.rank or not all(1 <= size <= MOST_BOX for size in sizes):
        return f"box = {sizes} for {memory}; expected 1 to {MOST_BOX} for each of its {memory.rank} dimensions"
    swizzle, row = attributes["swizzle"].value, sizes[-1] * memory.element_type.width // 8
    if swizzle != "none" and row > int(swizzle):
        return f"box = {sizes} has rows of {row} bytes of {memory.element_type}; expected {swizzle} at most (swizzle)"
    if "element" in attributes and str(memory.element_type) != "f32":
        return f"element = {attributes['element']} for {memory.element_type}; expected it for f32 only"
    pointer = op.results[0].type
    return "" if str(pointer) == "!llvm.ptr" else f"map is {pointer}; expected !llvm.ptr"


def scratch(row: int, flags_of_place: int) -> Rule:
    """Parts of sums and their flags: rows of so many elements for each place, and so many flags."""

    def rule(op: Any) -> str:
        value, parts, flags = (each.type for each in list(op.operands)[:3])
        if parts.shape[2] != row or parts.shape[1] * row % prod(value.shape):
            return (
                f"parts is {parts}; expected a place of rows of {row} elements, which tiles of {value} divide, for "
                "each range of steps"
            )
        wanted = [parts.shape[0], flags_of_place]
        if flags.shape == wanted and _is_integer(flags.element_type, 32):
            return ""
        return f"flags is {flags}; expected memref<{wanted[0]}x{wanted[1]}xi32>: {wanted[1]} for each place of parts"

    return rule
