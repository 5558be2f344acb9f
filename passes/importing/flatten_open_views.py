"""flatten-open-views: a view that flattens two sizes known at run time only is written as one.

Expects a module as torch-mlir (20261001, for one) writes it. Of `x.view(b * t, d)`, with b and t both open, it makes a
tensor.cast of `?x?xD` to `?x1xD`, as if t were 1, and a collapse of the last two dimensions; and it gives what is
computed from that the size b where b * t is meant. Leaves a tensor.collapse_shape of the first two dimensions;
`name-sizes` takes the sizes of new tensors from what is computed into them where there is one. For t = 1 both say the
same, and for any other t the module as written is wrong, so that nothing else can be meant. A module without such casts
is left alone; a second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import named, users
from mlir_gemm.passes.base import Pass

_RANK = 3


@dataclass(frozen=True)
class FlattenOpenViews(Pass):
    """Flatten two open sizes together."""

    name: ClassVar[str] = "flatten-open-views"

    def run(self, module: Any) -> None:
        for cast in named(module, "tensor.cast"):
            if _drops_a_size(cast.operation):
                for collapse in [user for user in users(cast.operation.results[0]) if _is_flat(user)]:
                    _flatten(collapse, cast.operation.operands[0])


def _drops_a_size(op: Any) -> bool:
    """Whether a cast says that the second of two open sizes, of three, is 1."""
    before, after = (ir.ShapedType(value.type) for value in (op.operands[0], op.results[0]))
    if not before.has_rank or not after.has_rank or before.rank != _RANK or after.rank != _RANK:
        return False
    opened = before.is_dynamic_dim(0) and before.is_dynamic_dim(1) and not before.is_dynamic_dim(2)
    return opened and not after.is_dynamic_dim(1) and after.shape[1] == 1


def _groups(op: Any) -> list[list[int]]:
    return [[ir.IntegerAttr(axis).value for axis in ir.ArrayAttr(group)] for group in op.attributes["reassociation"]]


def _is_flat(user: Any) -> bool:
    return user.name == "tensor.collapse_shape" and _groups(user) == [[0], [1, 2]]


def _flatten(collapse: Any, source: Any) -> None:
    i64 = ir.IntegerType.get_signless(64)
    groups = [ir.ArrayAttr.get([ir.IntegerAttr.get(i64, axis) for axis in group]) for group in ([0, 1], [2])]
    with ir.InsertionPoint(collapse), collapse.location:
        flat = ir.Operation.create(
            "tensor.collapse_shape", [collapse.results[0].type], [source], {"reassociation": ir.ArrayAttr.get(groups)}
        )
    collapse.results[0].replace_all_uses_with(flat.results[0])
    collapse.erase()
