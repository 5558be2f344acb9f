"""Scatters that combine updates with what is there (`index_put(accumulate=True)`, `scatter_add`, `index_add`, the
gradient of an embedding), as operations of linalg, in an order that is the same from run to run.

Of few places each combines all updates, those of other places being neutral. Of more, updates of the same place are a
chain: each names the one before it. By steps, of which each takes four links of the chain, every update combines with
it those before it, and the last update of a place has them all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.scatters import Scatter, filled, loop_map

_FEW_PLACES = 64
"""Places of which each reads all updates: as much as the steps of a chain of some thousands."""
_LINKS = 4
_ROUNDED = ("arith.addf", "arith.mulf")


def combined(scatter: Scatter) -> Any:
    """What a scatter that combines makes, at the insertion point."""
    if scatter.places <= _FEW_PLACES:
        return _at_each_place(scatter, _places_of(scatter))
    scatter.check_work(
        scatter.count, f"{scatter.places} places, compared with each other", scatter.count * _width(scatter),
        "give fewer at a time, such as a batch's",
    )  # fmt: skip
    scatter.check_work(
        scatter.places, f"{scatter.places} places", scatter.places * _width(scatter), "give fewer at a time"
    )
    places = _places_of(scatter)
    last, before, values = _last(scatter, places), _before(scatter, places), scatter.updates
    reached = 1
    while reached < scatter.count:
        reached *= _LINKS
        values = _step(scatter, values, before)
        before = _linked(scatter, before) if reached < scatter.count else before
    return _with_last(scatter, last, values)


def _width(scatter: Scatter) -> int:
    size = 1
    for axis, each in enumerate(scatter.whole):
        size *= 1 if axis in scatter.dimensions else each
    return size


def _i32() -> Any:
    return ir.IntegerType.get_signless(32)


def _number(value: int) -> Any:
    return dialect("arith").ConstantOp(_i32(), ir.IntegerAttr.get(_i32(), value)).result


def _places_of(scatter: Scatter) -> Any:
    """For each update the number of its place, after checking it."""
    arith, columns = dialect("arith"), scatter.columns()
    start = dialect("tensor").EmptyOp([scatter.count], _i32()).result
    made, block = structured.make(columns, [start], [loop_map(1, [0])] * (len(columns) + 1), [True])
    with ir.InsertionPoint(block):
        found: Any = None
        for number, axis in enumerate(scatter.dimensions):
            index = block.arguments[number]
            scatter.check(index, number)
            here = index
            if index.type.width != 32:
                here = (arith.TruncIOp if index.type.width > 32 else arith.ExtSIOp)(_i32(), index).result
            if found is not None:
                here = arith.AddIOp(arith.MulIOp(found, _number(scatter.whole[axis])).result, here).result
            found = here
        structured.yield_([found])
    return made.results[0]


def _at_each_place(scatter: Scatter, places: Any) -> Any:
    """Each element combined with all updates, of which those of other places are neutral."""
    arith, rank = dialect("arith"), len(scatter.whole)
    maps = [loop_map(rank + 1, [rank]), loop_map(rank + 1, _of_update(scatter, rank)),
            loop_map(rank + 1, list(range(rank)))]  # fmt: skip
    inputs = [places, scatter.updates]
    made, block = structured.make(inputs, [scatter.original], maps, [*[True] * rank, False])
    with ir.InsertionPoint(block):
        here: Any = None
        for axis in scatter.dimensions:
            index = arith.IndexCastOp(_i32(), dialect("linalg").IndexOp(axis).result).result
            size = _number(scatter.whole[axis])
            here = index if here is None else arith.AddIOp(arith.MulIOp(here, size).result, index).result
        place, update, old = block.arguments
        same = _is_equal(place, here)
        neutral = arith.ConstantOp(update.type, _neutral(scatter.combine, update.type)).result
        chosen = arith.SelectOp(same, update, neutral).result
        structured.yield_([_combine(scatter, old, chosen)])
    return made.results[0]


def _of_update(scatter: Scatter, loop: int) -> list[int | None]:
    """The loop along each dimension of the updates, where `loop` is that over them, and others are the original's."""
    rest = [None if axis in scatter.dimensions else axis for axis in range(len(scatter.whole))]
    return [loop, *rest][: ir.ShapedType(scatter.updates.type).rank]


def _neutral(name: str, type_: Any) -> Any:
    """The number that changes no other one."""
    if isinstance(type_, ir.FloatType):
        infinity = float("inf")
        number = {"arith.addf": -0.0, "arith.mulf": 1.0, "arith.maximumf": -infinity, "arith.minimumf": infinity}[name]
        return ir.FloatAttr.get(type_, number)
    top = (1 << (type_.width - 1)) - 1
    number = {"muli": 1, "maxsi": -top - 1, "minsi": top, "minui": -1, "andi": -1}.get(name.removeprefix("arith."), 0)
    return ir.IntegerAttr.get(type_, number)


def _latest(places: Any, others: int, is_hit: Callable[[Any, Any, tuple[Any, Any]], Any], own: bool) -> Any:
    """For each of so many `others` the number of the last update that `is_hit` takes, -1 for none: from a number of the
    place of the other one, which is an update's `own` or its number itself, that of an update, and both numbers."""
    start = filled(_number(-1), [others])
    maps = [*([loop_map(2, [0])] if own else []), loop_map(2, [1]), loop_map(2, [0])]
    made, block = structured.make([places] * (2 if own else 1), [start], maps, [True, False])
    arith = dialect("arith")
    with ir.InsertionPoint(block):
        here, update = (arith.IndexCastOp(_i32(), dialect("linalg").IndexOp(loop).result).result for loop in (0, 1))
        *mine, place, old = block.arguments
        hit = is_hit(mine[0] if own else here, place, (here, update))
        structured.yield_([arith.MaxSIOp(old, arith.SelectOp(hit, update, _number(-1)).result).result])
    return made.results[0]


def _last(scatter: Scatter, places: Any) -> Any:
    """The number of the last update of each place."""
    return _latest(places, scatter.places, lambda here, place, _: _is_equal(here, place), own=False)


def _before(scatter: Scatter, places: Any) -> Any:
    """For each update the one before it of the same place."""
    arith = dialect("arith")

    def is_hit(mine: Any, place: Any, numbers: tuple[Any, Any]) -> Any:
        here, update = numbers
        earlier = arith.CmpIOp(arith.CmpIPredicate.slt, update, here).result
        return arith.AndIOp(_is_equal(mine, place), earlier).result

    return _latest(places, scatter.count, is_hit, own=True)


def _is_equal(one: Any, other: Any) -> Any:
    arith = dialect("arith")
    return arith.CmpIOp(arith.CmpIPredicate.eq, one, other).result


def _is_there(number: Any) -> Any:
    arith = dialect("arith")
    return arith.CmpIOp(arith.CmpIPredicate.sge, number, _number(0)).result


def _index(number: Any) -> Any:
    """A number of an update as an index, 0 where there is none."""
    arith = dialect("arith")
    return arith.IndexCastOp(ir.IndexType.get(), arith.MaxSIOp(number, _number(0)).result).result


def _next(before: Any, number: Any) -> Any:
    """The update before one, -1 where that is none itself."""
    arith = dialect("arith")
    found = dialect("tensor").ExtractOp(before, [_index(number)]).result
    return arith.SelectOp(_is_there(number), found, _number(-1)).result


def _linked(scatter: Scatter, before: Any) -> Any:
    """For each update the one that is four links before it."""
    start = dialect("tensor").EmptyOp([scatter.count], _i32()).result
    made, block = structured.make([before], [start], [loop_map(1, [0])] * 2, [True])
    with ir.InsertionPoint(block):
        number = block.arguments[0]
        for _ in range(_LINKS - 1):
            number = _next(before, number)
        structured.yield_([number])
    return made.results[0]


def _step(scatter: Scatter, values: Any, before: Any) -> Any:
    """Every update combined with the three before it in its chain."""
    shape = list(ir.ShapedType(values.type).shape)
    rank = len(shape)
    start = dialect("tensor").EmptyOp(shape, _sum_type(scatter)).result
    identity = ir.AffineMap.get_identity(rank)
    made, block = structured.make([values, before], [start], [identity, loop_map(rank, [0]), identity], [True] * rank)
    with ir.InsertionPoint(block):
        rest = [dialect("linalg").IndexOp(axis).result for axis in range(1, rank)]
        found, number = _wide(scatter, block.arguments[0]), block.arguments[1]
        for link in range(_LINKS - 1):
            number = _next(before, number) if link else number
            earlier = _wide(scatter, dialect("tensor").ExtractOp(values, [_index(number), *rest]).result)
            both = _combine(scatter, found, earlier)
            found = dialect("arith").SelectOp(_is_there(number), both, found).result
        structured.yield_([found])
    return made.results[0]


def _with_last(scatter: Scatter, last: Any, values: Any) -> Any:
    """Each element combined with what the last update of its place has; what was there where there is none."""
    arith, tensor, rank = dialect("arith"), dialect("tensor"), len(scatter.whole)
    type_ = ir.RankedTensorType(scatter.original.type)
    sizes = [scatter.whole[axis] for axis in scatter.dimensions]
    if len(sizes) > 1:
        shaped = ir.RankedTensorType.get(sizes, _i32())
        last = tensor.ExpandShapeOp(shaped, last, [list(range(len(sizes)))], [], sizes).result
    identity = ir.AffineMap.get_identity(rank)
    maps = [loop_map(rank, list(scatter.dimensions)), identity, identity]
    empty = tensor.EmptyOp(list(type_.shape), type_.element_type).result
    made, block = structured.make([last, scatter.original], [empty], maps, [True] * rank)
    with ir.InsertionPoint(block):
        number, old = list(block.arguments)[:2]
        rest = [constants.index(0) if axis in scatter.dimensions else dialect("linalg").IndexOp(axis).result
                for axis in range(rank)]  # fmt: skip
        at = [_index(number), *rest][: ir.ShapedType(values.type).rank]
        new = _wide(scatter, tensor.ExtractOp(values, at).result)
        both = _combine(scatter, _wide(scatter, old), new)
        if both.type != old.type:
            both = arith.TruncFOp(old.type, both).result
        structured.yield_([arith.SelectOp(_is_there(number), both, old).result])
    return made.results[0]


def _sum_type(scatter: Scatter) -> Any:
    """The type in which updates are combined: f32 for sums and products of narrower ones, rounded once."""
    element = ir.ShapedType(scatter.original.type).element_type
    is_narrow = scatter.combine in _ROUNDED and element.width < 32
    return ir.F32Type.get() if is_narrow else element


def _wide(scatter: Scatter, value: Any) -> Any:
    wide = _sum_type(scatter)
    return value if value.type == wide else dialect("arith").ExtFOp(wide, value).result


def _combine(scatter: Scatter, left: Any, right: Any) -> Any:
    return ir.Operation.create(scatter.combine, [left.type], [left, right]).results[0]
