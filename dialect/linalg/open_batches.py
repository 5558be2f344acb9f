"""Products of a batch of one whose rows are of two sizes known at run time only, as torch-mlir writes an einsum.

Of `einsum("btd,edh->bteh")` PyTorch makes a batch of one product of b * t rows, a view. torch-mlir (20261001, for one)
writes that view of `?x?xD` as a tensor.cast to `1x?xD`, as if b were 1, and checks that b is 1. The cast may have
become part of elementwise work in front of it, through transposes of what comes after both sizes. Here the work is
done on both sizes, which are then flattened, and the check is dropped: PyTorch leaves no size open that must be 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg.computed_reads import size_of
from mlir_gemm.dialect.walk import named, users

_CHECK = "mismatching contracting dimension"
"""What torch-mlir's check says of batches that differ."""


def flatten_batches(module: Any) -> None:
    """Makes the rows of such products those of both sizes; a second run changes nothing."""
    for each in named(module, "linalg.batch_matmul"):
        work = _Work()
        left = each.operation.operands[0]
        if _has_lost_the_first(left.type) and work.follow(left, each.operation) and work.wide:
            work.widen()
            _flatten(each.operation, work.whole[left])
            work.drop()


@dataclass
class _Work:
    """What computes `1x?x...` from `?x?x...`, from a product back."""

    found: list[Any] = field(default_factory=list[Any])
    """Casts, views, transposes and elementwise operations, each after the one that uses it."""
    wide: list[Any] = field(default_factory=list[Any])
    """Values that have both sizes."""
    whole: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """For each value what takes its place."""

    def follow(self, value: Any, user: Any) -> bool:
        """Takes in what computes a value; whether all of it can be computed with both sizes, and is used by `user`
        alone."""
        op = getattr(value.owner, "operation", None)
        if op is None or users(value) != [user]:
            return False
        self.found.append(op)
        if op.name == "tensor.cast":
            self.wide.append(op.operands[0])
            return _is_open(op.operands[0].type)
        if op.name == "tensor.collapse_shape":
            groups = [[int(axis) for axis in group] for group in op.attributes["reassociation"]]
            return groups[:2] == [[0], [1]] and self._goes_on(op.operands[0], op)
        if op.name == "linalg.transpose":
            order = list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))
            return order[:2] == [0, 1] and self._goes_on(op.operands[0], op)
        return op.name == "linalg.generic" and self._takes_apart(op)

    def _goes_on(self, value: Any, user: Any) -> bool:
        return _has_lost_the_first(value.type) and self.follow(value, user)

    def _takes_apart(self, op: Any) -> bool:
        """Whether elementwise work has operands of both sizes, and others that the first is no matter to."""
        maps = [attribute.value for attribute in op.attributes["indexing_maps"]]
        new = getattr(op.operands[len(maps) - 1].owner, "name", "") == "tensor.empty"
        if len(op.results) != 1 or not new or not is_identity(maps[-1]):
            return False
        if any("parallel" not in str(each) for each in op.attributes["iterator_types"]):
            return False
        for operand, map_ in zip(list(op.operands)[:-1], maps, strict=False):
            dims = [each.position for each in map_.results if isinstance(each, ir.AffineDimExpr)]
            if 0 not in dims:
                continue
            if dims[:2] != [0, 1] or not (_is_open(operand.type) or self._goes_on(operand, op)):
                return False
            if _is_open(operand.type):
                self.wide.append(operand)
        return True

    def widen(self) -> None:
        """Computes all of it with both sizes, and drops the checks that the first is 1."""
        _drop_checks([size for value in self.wide for size in _first_sizes(value)])
        for op in reversed(self.found):
            with ir.InsertionPoint(op), op.location:
                self.whole[op.results[0]] = self._whole(op)

    def _whole(self, op: Any) -> Any:
        inputs = [self.whole.get(operand, operand) for operand in op.operands]
        if op.name == "tensor.cast":
            return inputs[0]
        type_ = _widened(op.results[0].type)
        if op.name == "tensor.collapse_shape":
            groups = {"reassociation": op.attributes["reassociation"]}
            return ir.Operation.create(op.name, [type_], inputs, groups).results[0]
        taken = next(each for each in inputs if _is_open(each.type))
        empty = ir.Operation.create("tensor.empty", [type_], [size_of(taken, axis).build() for axis in (0, 1)])
        made = op.clone()
        for number, each in enumerate([*inputs[:-1], empty.results[0]]):
            made.operands[number] = each
        made.results[0].set_type(type_)
        return made.results[0]

    def drop(self) -> None:
        """Erases what nothing uses any more."""
        for op in self.found:
            op.erase()


def _flatten(product: Any, rows: Any) -> None:
    """Gives a product the rows of both sizes."""
    type_, marker = rows.type, ir.ShapedType.get_dynamic_size()
    tensor, element = dialect("tensor"), type_.element_type
    width = type_.shape[2]
    with ir.InsertionPoint(product), product.location:
        flat = ir.RankedTensorType.get([marker, width], element)
        collapsed = tensor.CollapseShapeOp(flat, rows, [[0, 1], [2]]).result
        one = ir.RankedTensorType.get([1, marker, width], element)
        count = size_of(collapsed, 0).build()
        product.operands[0] = tensor.ExpandShapeOp(one, collapsed, [[0, 1], [2]], [count], [1, marker, width]).result


def _first_sizes(value: Any) -> list[Any]:
    """Values that say the first size of a tensor."""
    zero = [user.results[0] for user in users(value) if user.name == "tensor.dim"
            and constants.integer_of(user.operands[1]) == 0]  # fmt: skip
    op = getattr(value.owner, "operation", None)
    if op is None:
        return zero
    if op.name == "tensor.expand_shape" and [int(axis) for axis in op.attributes["reassociation"][0]] == [0]:
        return [*zero, op.operands[1], *_first_sizes(op.operands[0])]
    if op.name == "linalg.transpose" and ir.DenseI64ArrayAttr(op.attributes["permutation"])[0] == 0:
        return [*zero, *_first_sizes(op.operands[0])]
    if op.name == "tensor.reshape" and op.operands[1].owner.name == "tensor.from_elements":
        return [*zero, op.operands[1].owner.operation.operands[0]]
    if op.name == "tensor.empty":
        return [*zero, op.operands[0]]
    return [*zero, *_first_sizes(op.operands[len(op.operands) - 1])] if op.name == "linalg.generic" else zero


def _drop_checks(sizes: list[Any]) -> None:
    """Drops the checks of products that a size is 1."""
    known = [
        size.owner.operation.operands[0] for size in sizes if getattr(size.owner, "name", "") == "arith.index_cast"
    ]
    same = [*sizes, *known]
    same += [user.results[0] for size in same for user in users(size) if user.name == "arith.index_cast"]
    for compared in [user for value in same for user in users(value) if _compares_with_one(user)]:
        for check in users(compared.results[0]):
            if check.name == "cf.assert" and ir.StringAttr(check.attributes["msg"]).value == _CHECK:
                check.erase()


def _compares_with_one(op: Any) -> bool:
    equal = op.name == "arith.cmpi" and ir.IntegerAttr(op.attributes["predicate"]).value == 0
    return equal and any(constants.integer_of(operand) == 1 for operand in op.operands)


def _sizes(type_: Any) -> list[int | None]:
    """The sizes of a tensor, None for open ones; none of another type."""
    if not isinstance(type_, ir.RankedTensorType):
        return []
    shaped = ir.RankedTensorType(type_)
    return [None if shaped.is_dynamic_dim(axis) else shaped.shape[axis] for axis in range(shaped.rank)]


def _is_open(type_: Any) -> bool:
    sizes = _sizes(type_)
    return sizes[:2] == [None, None] and None not in sizes[2:]


def _has_lost_the_first(type_: Any) -> bool:
    sizes = _sizes(type_)
    return sizes[:2] == [1, None] and None not in sizes[2:]


def is_identity(map_: Any) -> bool:
    """Whether the first loops walk the dimensions in order."""
    return list(map_.results) == [ir.AffineDimExpr.get(loop) for loop in range(len(map_.results))]


def _widened(type_: Any) -> Any:
    shaped, marker = ir.RankedTensorType(type_), ir.ShapedType.get_dynamic_size()
    return ir.RankedTensorType.get([marker, marker, *shaped.shape[2:]], shaped.element_type)
