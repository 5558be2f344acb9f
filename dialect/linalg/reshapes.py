"""Reshapes of tensors: collapse_shape and expand_shape keep the row-major order of elements, so a chain of them is
known by the tensor at its root and the sizes at its end.

A size list is described by its cuts: the numbers of elements that its trailing dimensions hold together, such as
{32, 768} for 2x24x32. Collapsing takes cuts away, expanding adds some; dimensions of size 1 make no cut.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.generics import empty, fill, owner_of, scalar_of

NAMES = ("tensor.collapse_shape", "tensor.expand_shape")


def root_of(value: Any) -> Any:
    """The tensor that a chain of reshapes starts from: the value itself if it is not a reshape."""
    owner = owner_of(value)
    while owner is not None and owner.name in NAMES:
        value = owner.operands[0]
        owner = owner_of(value)
    return value


def leaves(value: Any) -> list[Any]:
    """The reshapes of a value, over any chain, that something other than a reshape uses."""
    found: list[Any] = []
    for use in value.uses:
        user = use.owner.operation
        if user.name in NAMES:
            result = user.results[0]
            if any(inner.owner.operation.name not in NAMES for inner in result.uses):
                found.append(result)
            found += leaves(result)
    return found


def cuts(shape: Sequence[int]) -> set[int]:
    """The numbers of elements, above 1 and below all, that trailing dimensions hold."""
    suffix = [math.prod(shape[i:]) for i in range(1, len(shape))]
    return {cut for cut in suffix if 1 < cut < math.prod(shape)}


def chain(found: Iterable[int], size: int) -> bool:
    """Whether cuts of `size` elements can all be made: each divides the next, and the last divides the size."""
    ordered = sorted({*found, size})
    return all(after % before == 0 for before, after in pairwise(ordered))


def sizes_between(found: Iterable[int], size: int) -> list[int]:
    """The sizes, outermost first, that cuts divide `size` elements into."""
    ordered = [1, *sorted(found), size]
    return [after // before for before, after in pairwise(ordered)][::-1]


def groups(fine: Sequence[int], coarse: Sequence[int]) -> list[list[int]] | None:
    """Which dimensions of `fine` each dimension of `coarse` holds, in order; None if it is not a collapse."""
    result: list[list[int]] = []
    position = 0
    for size in coarse:
        group: list[int] = []
        held = 1
        while position < len(fine) and (not group or held != size):
            held *= fine[position]
            group.append(position)
            position += 1
        if not group or held != size:
            return None
        result.append(group)
    if any(fine[i] != 1 for i in range(position, len(fine))):
        return None
    if result:
        result[-1] += range(position, len(fine))
    return result


def reshape(value: Any, shape: Sequence[int]) -> Any:
    """A tensor with other sizes, at the insertion point: by as few operations as do, from the root of `value`.

    Fills and empty tensors are made anew. Raises ValueError where sizes of 0 leave no single answer.
    """
    shape = list(shape)
    root = root_of(value)
    if list(value.type.shape) == shape:
        return value
    old = list(root.type.shape)
    if old == shape:
        return root
    owner = owner_of(root)
    if owner is not None and owner.name == "tensor.empty":
        return empty(shape, root.type.element_type)
    scalar = scalar_of(root)
    if scalar is not None:
        return fill(shape, root.type.element_type, scalar)
    if 0 in old:
        raise ValueError("a tensor without elements is not reshaped")
    for fine, coarse, name in ((old, shape, NAMES[0]), (shape, old, NAMES[1])):
        grouped = groups(fine, coarse)
        if grouped is not None:
            return _reshape_op(name, root, shape, grouped)
    return _in_steps(root, old, shape)


def shorten(value: Any) -> Any | None:
    """The same tensor as a reshape by fewer operations, made before it; None if there is none."""
    owner = owner_of(value)
    assert owner is not None
    with ir.InsertionPoint(owner), owner.location:
        short = reshape(root_of(value), value.type.shape)
    return short if _depth(short) < _depth(value) else None


def _depth(value: Any) -> int:
    owner = owner_of(value)
    return 0 if owner is None or owner.name not in NAMES else 1 + _depth(owner.operands[0])


def _in_steps(root: Any, old: list[int], shape: list[int]) -> Any:
    """Through sizes without 1s that are finer than both, or else coarser than both."""
    size = math.prod(old)
    united = cuts(old) | cuts(shape)
    middle = united if chain(united, size) else cuts(old) & cuts(shape)
    step = sizes_between(middle, size) if size > 1 else []
    plain_old, plain_new = ([s for s in sizes if s != 1] for sizes in (old, shape))
    value = root
    current = old
    for target in (plain_old, step, plain_new, shape):
        if target != current:
            collapsed = groups(current, target)
            grouped = groups(target, current) if collapsed is None else collapsed
            assert grouped is not None
            value = _reshape_op(NAMES[collapsed is None], value, target, grouped)
            current = target
    return value


def _reshape_op(name: str, value: Any, shape: Sequence[int], grouped: list[list[int]]) -> Any:
    index = ir.IntegerType.get_signless(64)
    attributes = {
        "reassociation": ir.ArrayAttr.get(
            [ir.ArrayAttr.get([ir.IntegerAttr.get(index, i) for i in group]) for group in grouped]
        )
    }
    if name == "tensor.expand_shape":
        attributes["static_output_shape"] = ir.DenseI64ArrayAttr.get(list(shape))
    type_ = ir.RankedTensorType.get(list(shape), value.type.element_type)
    return ir.Operation.create(name, results=[type_], operands=[value], attributes=attributes).results[0]
