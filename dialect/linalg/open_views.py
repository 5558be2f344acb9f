"""Slices of dimensions whose sizes are known at run time only that are views of memory: they start at a constant place,
or at an aligned one that sizes say, and have constant steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mlir_gemm.dialect import symbols
from mlir_gemm.dialect.linalg.size_arithmetic import product
from mlir_gemm.dialect.linalg.size_sums import SizeSums
from mlir_gemm.dialect.symbols import Size
from mlir_gemm.errors import InputError

_PASSED_ON = ("arith.maxsi", "arith.subi", "arith.select", "arith.index_cast", "arith.minsi")
"""What torch-mlir computes of a slice's end until it is a number of elements."""
_LEAST_TABLE = 128
"""The least constant size of a dimension of which a slice takes as many as a size says: a prime below it stands for
that size."""
_MOST_TRIES = 1000


class _Reach(NamedTuple):
    """A dimension of a slice: `start + (size - 1) * step` is below `whole`."""

    whole: Size
    start: Size
    size: Size
    step: int

    def fits(self, numbers: Mapping[str, int]) -> bool:
        """Whether it is for these values of the symbols."""
        return self.start.value(numbers) + (self.size.value(numbers) - 1) * self.step < self.whole.value(numbers)


class OpenViews:
    """The slices of a function that are views, and what they say of the numbers that stand for sizes."""

    def __init__(self, sums: SizeSums) -> None:
        self.sums = sums
        self.strides: dict[Any, list[Size]] = {}
        self.reaches: list[_Reach] = []
        self.starts: list[int] = []

    def bounded(self, value: Any, left: Size, right: Size, *, least: bool) -> Size | None:
        """The smaller one of two sizes, or the larger one where it is not the `least`; `value` is that. What is cut off
        at the end of a table, as in `table[:t]`, is required to be within the table."""
        for cut, end in ((left, right), (right, left)):
            is_end = least and end.is_number and not cut.is_number and _ends_table(value, end.number)
            if is_end and self.sums.at_most(cut, end.number):
                return cut
        return self.sums.bounded(left, right, least=least)

    def add(self, op: Any, source: Sequence[Size], starts: Sequence[Size | None], sizes: Sequence[Size],
            steps: Sequence[int]) -> bool:  # fmt: skip
        """Whether a slice of a tensor is a view: it starts at a number of elements that no size changes, or at an
        aligned address for all sizes (`x[:, -1]` of rows of whole vectors), and lies in the tensor for all sizes, or
        for those that are large enough, which a call is then required to give."""
        begins = [start for start in starts if start is not None]
        if len(begins) < len(starts) or min(steps, default=1) < 1:
            return False
        strides = self.strides.get(op.operands[0]) or [product(source[axis + 1 :]) for axis in range(len(source))]
        strides = [self.sums.resolved(each) for each in strides]
        first = [self.sums.product(each, begin) for each, begin in zip(strides, begins, strict=True)]
        if not _is_place(first, op.results[0].type.element_type):
            return False
        if all(self.sums.resolved(size).is_number for size in sizes) and not all(each.is_number for each in strides):
            return False  # memory of constant sizes has constant strides
        reaches = [_Reach(*each) for each in zip(source, begins, sizes, steps, strict=True)]
        tables = [each.whole.number for each in reaches if each.whole.is_number and not each.size.is_number]
        if min(tables, default=_LEAST_TABLE) < _LEAST_TABLE or not all(self.sums.lies_in(*each) for each in reaches):
            return False
        if len(op.results[0].type.shape) == len(source):
            own = [each.times(Size(step)) for each, step in zip(strides, steps, strict=True)]
            self.strides[op.results[0]] = own
        self.reaches += reaches
        self.starts.append(sum(each.number if each.is_number else 0 for each in first))
        return True

    def stand_ins(self, least: int, names: Sequence[str], others: Sequence[int]) -> dict[str, int]:
        """A prime for each name from `least` on that divides none of the `others`, such that slices lie in what they
        are slices of, for which some are smaller. Raises InputError where they cannot."""
        others = [*others, *self.starts]
        found = dict(zip(names, symbols.primes_above(least, len(names), others), strict=True))
        resolved = self.sums.resolved
        reaches = [_Reach(resolved(whole), resolved(start), resolved(size), step)
                   for whole, start, size, step in self.reaches]  # fmt: skip
        for _ in range(_MOST_TRIES):
            wrong = next((reach for reach in reaches if not reach.fits(found)), None)
            if wrong is None:
                return found
            side = wrong.size if wrong.whole.is_number else wrong.whole
            name = max(side.symbols, key=lambda each: found[each])
            found[name] = _moved(wrong, found, name, others)
        raise InputError("slices of sizes known at run time only that do not all lie in their tensors for any sizes; "
                         "make some of these sizes constant")  # fmt: skip


def _is_place(first: Sequence[Size], element: Any) -> bool:
    """Whether the distances along each dimension are together a place at which memory may start: a number, or one
    product of sizes that is an aligned address."""
    moved = [each for each in first if each.number]
    if all(each.is_number for each in moved):
        return True
    return len(moved) == 1 and symbols.is_aligned(moved[0], element)


def _ends_table(value: Any, size: int) -> bool:
    """Whether an index says where in a dimension of this constant size a slice ends, or how much it takes."""
    for use in value.uses:
        user = use.owner.operation
        if user.name in _PASSED_ON and any(_ends_table(each, size) for each in user.results):
            return True
        if user.name == "tensor.extract_slice" and size in list(user.operands[0].type.shape):
            return size >= _LEAST_TABLE
    return False


def _moved(reach: _Reach, found: Mapping[str, int], name: str, others: Sequence[int]) -> int:
    """A prime for a symbol that no other one has with which a slice lies in its tensor: the next one, or the one before
    where the tensor's size is constant."""
    taken = [*others, *(number for other, number in found.items() if other != name)]
    if not reach.whole.is_number:
        rest = reach.whole.value(found) // found[name]
        needed = -(-(reach.start.value(found) + (reach.size.value(found) - 1) * reach.step + 1) // rest)
        return symbols.primes_above(max(needed, found[name] + 1), 1, taken)[0]
    allowed = (reach.whole.number - reach.start.value(found) - 1) // reach.step + 1
    most = allowed // (reach.size.value(found) // found[name])
    return max(symbols.primes_above(_LEAST_TABLE // 2, most, taken, below=most + 1), default=found[name])
