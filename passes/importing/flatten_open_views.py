"""flatten-open-views: a view that flattens two sizes known at run time only is written as one.

Expects a module as torch-mlir (20261001, for one) writes it. Of `x.view(b * t, d)`, with b and t both open, it makes a
tensor.cast of `?x?xD` to `?x1xD`, as if t were 1, and a collapse of the last two dimensions; and it gives what is
computed from that the size b where b * t is meant. The cast may have moved back through elementwise work, or into it:
then a linalg.generic has operands `?x?xD` and a result `?x1xD`; or through an embedding to its indices, `?x?`. Of a
residual, what goes past the views has lost the size too: a cast back to `?x?xD` finds it again, and what is added to it
is checked to have the size 1. Rows that are sliced off a table, as many as t says (`x + table[:t]`), are the first one
then; the check that t is the number of rows tells it. Leaves that work on `?x?xD`, without these checks, and a
tensor.collapse_shape of the first two dimensions; `name-sizes` takes the sizes of new tensors from what is computed
into them where there is one, and checks that operands have the same. Of the rows of a batch of one product, as of an
einsum, the first of two open sizes is lost in the same way, and found again (`dialect/linalg/open_batches.py`); so is
either of two with transposes between the cast and the view (`dialect/linalg/lost_sizes.py`). For t = 1 both say the
same, and for any other t the module as written is wrong, so that nothing else can be meant. Where something else uses
what lies between, or it has an operand whose size is 1, nothing is changed; a module without such views is left alone,
and a second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.lost_sizes import LostSlice, flatten_lost_views, lost_slice
from mlir_gemm.dialect.linalg.open_batches import flatten_batches, is_identity
from mlir_gemm.dialect.walk import named, users
from mlir_gemm.passes.base import Pass

_RANK = 3
_BROKEN, _WHOLE = [[0], [1, 2]], [[0, 1], [2]]
_DYNAMIC = ir.ShapedType.get_dynamic_size


@dataclass(frozen=True)
class FlattenOpenViews(Pass):
    """Flatten two open sizes together."""

    name: ClassVar[str] = "flatten-open-views"

    def run(self, module: Any) -> None:
        flatten_batches(module)
        for collapse in [each.operation for each in named(module, "tensor.collapse_shape")]:
            source = collapse.operands[0]
            if _groups(collapse) != _BROKEN or not _has_lost_a_size(source.type):
                continue  # one of those that an earlier one has taken along is whole already
            narrow = _Narrow()
            if narrow.follow(source) and narrow.open and narrow.is_used_here_only():
                narrow.widen()
        flatten_lost_views(module)


class _Narrow:
    """The elementwise work between where a size is lost and the views, from one view back."""

    def __init__(self) -> None:
        self.generics: list[Any] = []
        self.casts: list[Any] = []
        self.slices: list[LostSlice] = []
        self.open = False
        """Whether the size is there at all: it is one of an operand's."""

    def follow(self, value: Any) -> bool:
        """Takes in what computes a value `?x1xD`; whether all of it can be computed on `?x?xD`."""
        owner = value.owner
        if not isinstance(owner, ir.Operation | ir.OpView):  # an argument of the function
            return False
        op = owner.operation
        if op in self.generics or op in self.casts:
            return True
        if op.name == "tensor.cast":
            self.casts.append(op)
            self.open = True
            return _is_open(op.operands[0].type)
        if op.name != "linalg.generic" or not _is_elementwise(op):
            return False
        self.generics.append(op)
        for operand, attribute in zip(list(op.operands)[:-1], op.attributes["indexing_maps"], strict=False):
            through = _position_of(attribute.value, 1)
            if through is None:
                continue
            shape = ir.ShapedType(operand.type)
            if shape.is_dynamic_dim(through):
                self.open = True
            elif (slice_ := lost_slice(operand, through)) is not None:
                self.slices.append(slice_)
            elif not (_has_lost_a_size(operand.type) and is_identity(attribute.value) and self.follow(operand)):
                return False
        return True

    def is_used_here_only(self) -> bool:
        """Whether what is computed is for views, for casts that find the size again, and for other such elementwise
        work, as of a residual that goes past the views: that is taken in."""
        for op in self.generics:  # which grows meanwhile
            for user in users(op.results[0]):
                if user in self.generics or _is_view(user) or _is_found_again(user):
                    continue
                if user.name != "linalg.generic" or not self.follow(user.results[0]):
                    return False
        return True

    def widen(self) -> None:
        """Computes on `?x?xD`, and makes the views whole."""
        for op in self.generics:
            if any(operand.owner in self.generics for operand in list(op.operands)[:-1]):
                _drop_checks([operand.owner for operand in op.operands if operand.owner in self.casts])
        for slice_ in self.slices:
            slice_.widen(self.generics)
        for cast in self.casts:
            for user in users(cast.results[0]):
                if user in self.generics:
                    _replace_operand(user, cast.results[0], cast.operands[0])
                elif _is_view(user):
                    _flatten(user, cast.operands[0])
            if not users(cast.results[0]):
                cast.erase()
        for op in self.generics:
            wide = _widened(op.results[0].type)
            op.results[0].set_type(wide)
        for op in self.generics:
            self._size(op)
            for user in users(op.results[0]):
                if _is_view(user):
                    _flatten(user, op.results[0])
                elif user.name == "tensor.cast":
                    user.results[0].replace_all_uses_with(op.results[0])
                    user.erase()

    def _size(self, op: Any) -> None:
        """A new tensor for the result, with the size of an operand that has it."""
        inputs = list(op.operands)[:-1]
        maps = [attribute.value for attribute in op.attributes["indexing_maps"]]
        with ir.InsertionPoint(op), op.location:
            sizes = [_size_of(axis, inputs, maps, op) for axis in (0, 1)]
            empty = ir.Operation.create("tensor.empty", [op.results[0].type], sizes)
        op.operands[len(inputs)] = empty.results[0]


def _drop_checks(casts: list[Any]) -> None:
    """Drops checks that what is casted has the size 1 that was lost of the operand beside it. That both have the same
    size, `name-sizes` checks."""
    for cast in casts:
        reshape = cast.operands[0].owner
        if not isinstance(reshape, ir.Operation | ir.OpView) or reshape.name != "tensor.reshape":
            continue
        sizes = reshape.operands[1].owner
        if sizes.name != "tensor.from_elements":
            continue
        size = sizes.operands[1]
        same = [size, *(user.results[0] for user in users(size) if user.name == "arith.index_cast")]
        for compared in [user for value in same for user in users(value) if _compares_with_one(user)]:
            for check in [user for user in users(compared.results[0]) if user.name == "cf.assert"]:
                check.erase()


def _compares_with_one(op: Any) -> bool:
    equal = op.name == "arith.cmpi" and ir.IntegerAttr(op.attributes["predicate"]).value == 0
    return equal and any(constants.integer_of(operand) == 1 for operand in op.operands)


def _size_of(axis: int, inputs: list[Any], maps: list[Any], op: Any) -> Any:
    index = ir.IndexType.get()
    for operand, each in zip(inputs, maps, strict=False):
        through = _position_of(each, axis)
        if through is not None and ir.ShapedType(operand.type).is_dynamic_dim(through):
            number = ir.Operation.create(
                "arith.constant", [index], attributes={"value": ir.IntegerAttr.get(index, through)}
            )
            return ir.Operation.create("tensor.dim", [index], [operand, number.results[0]]).results[0]
    return ir.OpView(op.operands[len(inputs)].owner).operation.operands[0]  # the first size of what it was written to


def _replace_operand(op: Any, old: Any, new: Any) -> None:
    for number, operand in enumerate(op.operands):
        if operand == old:
            op.operands[number] = new


def _is_elementwise(op: Any) -> bool:
    """Whether a linalg.generic computes one new tensor `?x1xD`, an element of it at each point of its loops."""
    if len(op.results) != 1 or not _has_lost_a_size(op.results[0].type):
        return False
    if any("parallel" not in str(each) for each in op.attributes["iterator_types"]):
        return False
    maps = [attribute.value for attribute in op.attributes["indexing_maps"]]
    owner = op.operands[len(op.operands) - 1].owner
    written_to_empty = isinstance(owner, ir.Operation | ir.OpView) and owner.operation.name == "tensor.empty"
    return len(op.operands) == len(maps) and written_to_empty and is_identity(maps[-1])


def _position_of(each: Any, loop: int) -> int | None:
    """The dimension of an operand that a loop walks, if one does."""
    for position, result in enumerate(each.results):
        if isinstance(result, ir.AffineDimExpr) and ir.AffineDimExpr(result).position == loop:
            return position
    return None


def _sizes(type_: Any) -> list[int | None]:
    """The sizes of a tensor with the first two dimensions that a view flattens, and perhaps one more; None for open
    ones. Empty for any other type."""
    shaped = ir.ShapedType(type_)
    if not shaped.has_rank or shaped.rank not in (_RANK - 1, _RANK):
        return []
    return [None if shaped.is_dynamic_dim(axis) else shaped.shape[axis] for axis in range(shaped.rank)]


def _is_open(type_: Any) -> bool:
    sizes = _sizes(type_)
    return sizes[:2] == [None, None] and None not in sizes[2:]


def _has_lost_a_size(type_: Any) -> bool:
    sizes = _sizes(type_)
    return sizes[:2] == [None, 1] and None not in sizes[2:]


def _widened(type_: Any) -> Any:
    shaped = ir.RankedTensorType(type_)
    return ir.RankedTensorType.get([_DYNAMIC(), _DYNAMIC(), *shaped.shape[2:]], shaped.element_type)


def _groups(op: Any) -> list[list[int]]:
    return [[ir.IntegerAttr(axis).value for axis in ir.ArrayAttr(group)] for group in op.attributes["reassociation"]]


def _is_view(user: Any) -> bool:
    return user.name == "tensor.collapse_shape" and _groups(user) in (_BROKEN, _WHOLE)


def _is_found_again(user: Any) -> bool:
    """Whether a size that was lost is there again."""
    return user.name == "tensor.cast" and _is_open(user.results[0].type)


def _flatten(collapse: Any, source: Any) -> None:
    i64 = ir.IntegerType.get_signless(64)
    groups = [ir.ArrayAttr.get([ir.IntegerAttr.get(i64, axis) for axis in group]) for group in _WHOLE]
    with ir.InsertionPoint(collapse), collapse.location:
        flat = ir.Operation.create(
            "tensor.collapse_shape", [collapse.results[0].type], [source], {"reassociation": ir.ArrayAttr.get(groups)}
        )
    collapse.results[0].replace_all_uses_with(flat.results[0])
    collapse.erase()
