"""narrow-maxima: the greatest and least of numbers that are extended are found before they are.

Expects kernels of rows on tiles (tensorize-rows). Where a tile.clip, or a maximum or minimum, takes what arith.extf
gives of tiles of 16 bits, it takes the tiles themselves, and what it gives is extended: the same number, as extending
keeps numbers and their order. Two pairs of 16 bits are compared by one instruction, and only the greatest is extended.
A clip is changed so only where all that is made of it is a maximum or minimum.

Leaves what is needed extended for something else besides, and other types. A second run changes nothing.
"""

from __future__ import annotations

from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.walk import named, users
from mlir_gemm.passes.base import Pass

EXTREMA = ("arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf")
CLIP, EXTENSION, NEUTRAL = "tile.clip", "arith.extf", "neutral"
NARROW = ("f16", "bf16")


class NarrowMaxima(Pass):
    """Find maxima of extended numbers before they are extended."""

    name: ClassVar[str] = "narrow-maxima"

    def run(self, module: Any) -> None:
        for operation in named(module, CLIP, *EXTREMA):
            sources = _sources(operation)
            if sources is not None:
                _narrow(operation, sources)


def _sources(operation: Any) -> list[Any] | None:
    """The tiles of 16 bits of which an operation takes what they are extended to; None where it takes others."""
    is_clip = operation.name == CLIP
    if is_clip and not all(user.name in EXTREMA for user in users(operation.results[0])):
        return None
    given = list(operation.operands)[:1] if is_clip else list(operation.operands)
    found: list[Any] = []
    for value in given:
        owner = value.owner
        is_tile = isinstance(value.type, ir.VectorType)
        if not is_tile or getattr(owner, "name", "") != EXTENSION or str(_element(owner.operands[0])) not in NARROW:
            return None
        found.append(owner.operands[0])
    if len({str(source.type) for source in found}) != 1 or (is_clip and not _is_exact(operation, _element(found[0]))):
        return None
    return found


def _element(value: Any) -> Any:
    return value.type.element_type


def _is_exact(clip: Any, type_: Any) -> bool:
    """Whether what stands in for elements beyond a row is the same number in another type."""
    number = ir.FloatAttr(clip.attributes[NEUTRAL]).value if NEUTRAL in clip.attributes else 0.0
    return ir.FloatAttr.get(type_, number).value == number


def _narrow(operation: Any, sources: list[Any]) -> None:
    type_, attributes = sources[0].type, dict(attributes_of(operation))
    if NEUTRAL in attributes:
        attributes[NEUTRAL] = ir.FloatAttr.get(type_.element_type, ir.FloatAttr(attributes[NEUTRAL]).value)
    operands = [*sources, *list(operation.operands)[len(sources) :]]
    with ir.InsertionPoint(operation), operation.location:
        made = ir.Operation.create(operation.name, results=[type_], operands=operands, attributes=attributes)
        wide = ir.Operation.create(EXTENSION, results=[operation.results[0].type], operands=[made.results[0]])
    operation.results[0].replace_all_uses_with(wide.results[0])
    operation.erase()
