"""Views of two sizes known at run time only as one, of which torch-mlir (20261001, for one) has lost a size.

Of a view of `?x8x?xD`, transposed to `8x?x?xD`, as `8x(b*t)xD`, as an einsum with a batch takes it, it makes a
tensor.cast of one of both sizes to 1, the transpose, and a collapse in which the 1 belongs to whatever stands beside
it; and it checks sizes as if that were so. Here both sizes are flattened to one, and the checks are dropped: what is
multiplied must have equal sizes all the same, which `name-sizes` requires of the arguments.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg.computed_reads import size_of
from mlir_gemm.dialect.walk import in_block, named, users

CHECK = "mismatching contracting dimension"
"""What torch-mlir's check says of batches that differ."""


def flatten_lost_views(module: Any) -> None:
    """Makes such views whole; a second run changes nothing."""
    for each in [each.operation for each in named(module, "tensor.collapse_shape")]:
        chain = _Chain.of(each)
        if chain is not None:
            chain.flatten()


@dataclass
class _Chain:
    """A cast, transposes and a collapse, each of them used by the next alone."""

    collapse: Any
    cast: Any
    transposes: list[Any] = field(default_factory=list[Any])
    """From the cast on."""

    @staticmethod
    def of(collapse: Any) -> _Chain | None:
        """The chain that ends in a collapse, where a size is lost in it and can be told."""
        value, user, transposes = collapse.operands[0], collapse, list[Any]()
        while getattr(value.owner, "name", "") == "linalg.transpose" and users(value) == [user]:
            user = value.owner.operation
            transposes.insert(0, user)
            value = user.operands[0]
        if getattr(value.owner, "name", "") != "tensor.cast" or users(value) != [user]:
            return None
        chain = _Chain(collapse, value.owner.operation, transposes)
        before, after = _sizes(chain.cast.operands[0].type), _sizes(value.type)
        lost = [(one, other) for one, other in zip(before, after, strict=True) if one != other]
        return chain if lost == [(None, 1)] and before.count(None) == 2 and chain._is_told() else None

    def _order(self) -> list[int]:
        """For each dimension in front of the collapse, which of the cast's it is."""
        order = list(range(len(_sizes(self.cast.operands[0].type))))
        for each in self.transposes:
            permutation: list[int] = list(ir.DenseI64ArrayAttr(each.attributes["permutation"]))
            order = [order[axis] for axis in permutation]
        return order

    def _shape(self) -> list[int | None]:
        before = _sizes(self.cast.operands[0].type)
        return [before[axis] for axis in self._order()]

    def _is_told(self) -> bool:
        """Whether both sizes lie beside each other, and are one of the result's, with nothing else in another place."""
        shape = self._shape()
        first, last = (axis for axis, size in enumerate(shape) if size is None)
        if any(size != 1 for size in shape[first + 1 : last]):
            return False
        together = [size for axis, size in enumerate(shape) if size != 1 and axis != last]
        return together == [size for size in _sizes(self.collapse.results[0].type) if size != 1]

    def flatten(self) -> None:
        """Writes the view of both sizes."""
        wide, type_ = self.cast.operands[0], self.collapse.results[0].type
        _drop_checks(wide)
        tensor, marker = dialect("tensor"), ir.ShapedType.get_dynamic_size()
        with ir.InsertionPoint(self.collapse), self.collapse.location:
            for each in self.transposes:
                wide = _transposed(wide, list(ir.DenseI64ArrayAttr(each.attributes["permutation"])))
            groups = _groups(self._shape(), merged=True)
            sizes = [size for size in _sizes(type_) if size != 1]
            shape = [marker if size is None else size for size in sizes]
            flat = tensor.CollapseShapeOp(ir.RankedTensorType.get(shape, type_.element_type), wide, groups).result
            if len(type_.shape) > len(shape):
                count = size_of(flat, sizes.index(None)).build()
                apart = _groups(_sizes(type_), merged=False)
                flat = tensor.ExpandShapeOp(type_, flat, apart, [count], list(type_.shape)).result
        self.collapse.results[0].replace_all_uses_with(flat)
        for op in (self.collapse, *reversed(self.transposes), self.cast):
            op.erase()


@dataclass(frozen=True)
class LostSlice:
    """Rows of a table, of which torch-mlir has left the first one."""

    op: Any
    axis: int
    """The dimension of the table that has lost its size."""
    size: Any
    """How many rows are meant: an index value."""

    def widen(self, readers: list[Any]) -> None:
        """Gives some operations that read the slice all the rows that are meant."""
        old = self.op.results[0]
        shape = [ir.ShapedType.get_dynamic_size() if axis == self.axis else size
                 for axis, size in enumerate(old.type.shape)]  # fmt: skip
        type_ = ir.RankedTensorType.get(shape, old.type.element_type)
        attributes = {name: self.op.attributes[name] for name in ("static_offsets", "static_strides")}
        attributes["static_sizes"] = ir.DenseI64ArrayAttr.get(shape)
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, 0, 1, 0])
        for reader in [user for user in users(old) if user in readers]:
            with ir.InsertionPoint(reader), reader.location:
                operands = [self.op.operands[0], self.size]
                new = ir.Operation.create("tensor.extract_slice", [type_], operands, attributes).results[0]
            for number, operand in enumerate(reader.operands):
                if operand == old:
                    reader.operands[number] = new
        if not users(old):
            self.op.erase()


def lost_slice(value: Any, axis: int) -> LostSlice | None:
    """A slice of one row at the start of a dimension, of which a check in front of what reads it says that it has as
    many rows as another tensor: `table[:t]`, of which torch-mlir (20261001) takes t for 1. None for any other value."""
    op = getattr(value.owner, "operation", None)
    if op is None or op.name != "tensor.extract_slice" or len(op.operands) > 1:
        return None
    table = op.operands[0].type
    places = [list(ir.DenseI64ArrayAttr(op.attributes[f"static_{each}"])) for each in ("offsets", "sizes", "strides")]
    if table.rank != value.type.rank or [each[axis] for each in places] != [0, 1, 1] or table.shape[axis] <= 1:
        return None
    if any(table.is_dynamic_dim(each) for each in range(table.rank)):
        return None
    for check in in_block(op.block):
        if check.operation.name != "cf.assert" or ir.StringAttr(check.operation.attributes["msg"]).value != _BROADCAST:
            continue
        compared = getattr(check.operation.operands[0].owner, "operation", None)
        if compared is None or not _is_equal(compared):
            continue
        for size, other in (compared.operands, reversed(list(compared.operands))):
            is_size = getattr(size.owner, "name", "") == "tensor.dim"
            if is_size and isinstance(other.type, ir.IndexType) and _is_cut_at(other, table.shape[axis]):
                return LostSlice(op, axis, other)
    return None


def _is_cut_at(value: Any, end: int) -> bool:
    """Whether an index is computed as the end of a slice of so many elements: at most that, and at least 0."""
    names = list[str]()
    while (op := getattr(value.owner, "operation", None)) is not None and op.name in _ENDS:
        names.append(op.name)
        numbers = [constants.integer_of(each) for each in op.operands]
        if op.name == "arith.minsi":
            return end in numbers
        value = op.operands[0] if numbers[0] is None else op.operands[1]
    return False


_BROADCAST = "mismatched size for broadcast"
_ENDS = ("arith.minsi", "arith.maxsi", "arith.index_cast")


def _groups(shape: list[int | None], *, merged: bool) -> list[list[int]]:
    """The dimensions that become one, each of size 1 with the one before it; with `merged` both open ones too."""
    found = list[list[int]]()
    for axis, size in enumerate(shape):
        first = not found or (len(found) == 1 and all(shape[each] == 1 for each in found[0]))
        again = merged and size is None and None in shape[:axis]
        if not found:
            found.append([axis])
        elif first or size == 1 or again:
            found[-1].append(axis)
        else:
            found.append([axis])
    return found


def _transposed(value: Any, order: list[int]) -> Any:
    sizes = [size_of(value, axis) for axis in order]
    shape = [value.type.shape[axis] for axis in order]
    type_ = ir.RankedTensorType.get(shape, value.type.element_type)
    open_ = [size.build() for axis, size in zip(order, sizes, strict=True) if value.type.is_dynamic_dim(axis)]
    start = ir.Operation.create("tensor.empty", [type_], open_).results[0]
    return dialect("linalg").transpose(value, outs=[start], permutation=order)


def _drop_checks(wide: Any) -> None:
    """Drops the checks of products that one of the open sizes of a tensor is 1, or that of a batch."""
    sizes = [size for axis in range(len(wide.type.shape)) if wide.type.is_dynamic_dim(axis)
             for size in _told(wide, axis)]  # fmt: skip
    sizes += [user.results[0] for size in sizes for user in users(size) if user.name == "arith.index_cast"]
    for compared in [user for size in sizes for user in users(size) if _is_equal(user)]:
        for check in users(compared.results[0]):
            if check.name == "cf.assert" and ir.StringAttr(check.attributes["msg"]).value == CHECK:
                check.erase()


def _told(value: Any, axis: int) -> list[Any]:
    """Values that are a size of a tensor: of what it is a view of with the same size too."""
    found = [user.results[0] for user in users(value) if user.name == "tensor.dim"
             and constants.integer_of(user.operands[1]) == axis]  # fmt: skip
    op = getattr(value.owner, "operation", None)
    if op is None or op.name != "tensor.expand_shape":
        return found
    for number, group in enumerate(op.attributes["reassociation"]):
        axes = [int(each) for each in group]
        if axes == [axis]:
            place = sum(value.type.is_dynamic_dim(each) for each in range(axis))
            return [*found, op.operands[1 + place], *_told(op.operands[0], number)]
    return found


def _is_equal(op: Any) -> bool:
    return op.name == "arith.cmpi" and ir.IntegerAttr(op.attributes["predicate"]).value == 0


def _sizes(type_: Any) -> list[int | None]:
    """The sizes of a tensor, None for open ones."""
    return [None if type_.is_dynamic_dim(axis) else type_.shape[axis] for axis in range(len(type_.shape))]
