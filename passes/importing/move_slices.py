"""move-slices: where only a part of a result is read, only that part is computed.

Expects a module as `unfold-windows` takes it: linalg.generic on tensors, and parts of tensors as tensor.extract_slice
at constant places, or as generics that read at places known at run time only. Of `norm(x)[:, -1] @ w` one row of each
batch is normed: the slice is taken of x, in front of all that works on rows alone. What computes the result does so for
the indices that are read, if all that read it read the same part; so does what computes its operands, as long as
nothing else reads more of those. Sums along other dimensions, products among them, are computed for fewer results.
Memory that is read in parts is then that of arguments, or of what others read whole.

Leaves a slice where it is along a dimension of which numbers are broadcast that are sums (a part of each row of a norm:
rows are read whole for that), where readers read several parts or the whole, where the result is returned, and where
the slice would start at a place in memory that is not aligned and known at run time only, or, of a product's operand,
in the middle of its rows. So are those of more than half of a product's results: its rows would lie apart, and fill
fewer tiles. Where one operation cannot be done for a part, none after it is: they are one kernel. A second run changes
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, ClassVar

from mlir_gemm.dialect import symbols
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.generics import (
    ONE,
    Generic,
    build,
    empty,
    erase_dead,
    inline,
    owner_of,
    read,
)
from mlir_gemm.dialect.linalg.open_slices import is_aligned_view, starts_open
from mlir_gemm.dialect.linalg.reshapes import NAMES, reshape
from mlir_gemm.dialect.linalg.spans import Span, Spans, before, cut, filled_with, shift_positions, slice_of, whole
from mlir_gemm.dialect.linalg.structured import FREE
from mlir_gemm.dialect.walk import in_block, named
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import STAND_INS

MOST = 2
"""Times the results that a product must have of those that are read, for these to be multiplied alone."""


@dataclass(frozen=True)
class MoveSlices(Pass):
    """Compute only the part of a result that is read."""

    name: ClassVar[str] = "move-slices"

    def run(self, module: Any) -> None:
        attributes = module.operation.attributes
        stand_ins = symbols.integers(attributes[STAND_INS]) if STAND_INS in attributes else {}
        while any(_move(each.operation, stand_ins) for each in named(module, "tensor.extract_slice", "linalg.generic")):
            erase_dead(module)
        erase_dead(module)  # slices that turned out not to be views


def _move(op: Any, stand_ins: Mapping[str, int]) -> bool:
    """Whether a slice, and all like it of the same tensor, are now taken of what the tensor was computed from."""
    found = slice_of(op)
    if found is None:
        return False
    tensor, spans = found
    owner = owner_of(tensor)
    if owner is None or owner.name not in ("linalg.generic", *NAMES) or spans == whole(tensor.type.shape):
        return False
    slices = [_slice_that_reads(use.owner.operation) for use in tensor.uses]
    if any(each is None or slice_of(each) != found for each in slices):
        return False
    part = _Part(stand_ins, max(span.step for span in spans), slices)
    part.find(tensor, spans)
    return part.computes() and part.rewrite(tensor, spans)


def _slice_that_reads(op: Any) -> Any | None:
    """An operation, or the generic around it."""
    return op.parent.operation if op.name == "tensor.extract" else op


@dataclass
class _Part:
    """What is computed for a part of a tensor, from its end to where the part is that of something else."""

    stand_ins: Mapping[str, int]
    step: int
    """The largest step that the source has; others arise where slices pass reshapes, and must go there too."""
    slices: list[Any]
    wanted: dict[Any, Spans] = field(default_factory=dict[Any, Spans])
    inside: list[Any] = field(default_factory=list[Any])
    """Operations that are to be done for a part, last first."""
    leaves: list[tuple[Any, Spans]] = field(default_factory=list[tuple[Any, Spans]])
    """Parts of tensors that are as they were."""
    several: set[Any] = field(default_factory=set[Any])
    """Tensors of which more than one part is wanted."""
    blocked: bool = False
    """Whether some operation cannot be done for the part, though nothing else is read of it."""

    def find(self, tensor: Any, spans: Spans) -> None:
        """Walks from the last operation to the first; each is seen after all that read it."""
        self.wanted[tensor] = spans
        owner = owner_of(tensor)
        assert owner is not None
        before_it = in_block(owner.block)
        last = next(number for number, each in enumerate(before_it) if each.operation == owner)
        known = set[Any]()
        for each in reversed(before_it[: last + 1]):
            op = each.operation
            if not any(result in self.wanted and filled_with(result) is None for result in op.results):
                continue
            taken, read_elsewhere = self._takes(op, known), self._read_elsewhere(op, known)
            if taken:
                self.inside.append(op)
                known |= set() if read_elsewhere else {op}
            elif not read_elsewhere:
                self.blocked |= op.name.startswith("linalg.")
        made = {result for op in self.inside for result in op.results}
        self.leaves += [each for each in self.wanted.items() if each[0] not in made]

    def _read_elsewhere(self, op: Any, known: set[Any]) -> bool:
        readers = [use.owner.operation for result in op.results for use in result.uses]
        slices = [_slice_that_reads(each) for each in readers]
        return not all(each in known or part in self.slices for each, part in zip(readers, slices, strict=True))

    def _takes(self, op: Any, known: set[Any]) -> bool:
        """Whether an operation is done for the part only; then its operands' parts are wanted."""
        if any(result in self.several for result in op.results):
            return False
        if op.name in NAMES:
            spans = before(op, self.wanted[op.results[0]], exact=not self.stand_ins)
            return spans is not None and self._want(op.operands[0], spans)
        if self._read_elsewhere(op, known) or op.name != "linalg.generic":
            return False
        generic = read(op, free=True)
        loops = None if generic is None else self.loops(generic)
        if generic is None or loops is None or not self._may_run(generic, loops):
            return False
        for position, (value, map_) in enumerate(zip(generic.operands, generic.maps, strict=True)):
            is_read = position < len(generic.inputs) or generic.reads(position)
            if is_read and isinstance(value.type, ir.RankedTensorType):
                self._want(value, _along(map_, loops))
        return True

    def _want(self, value: Any, spans: Spans) -> bool:
        """Notes that a part of a tensor is read; where another part of it is too, both are slices of it."""
        if self.wanted.setdefault(value, spans) != spans:
            self.leaves.append((value, spans))
            self.several.add(value)
        return True

    def loops(self, generic: Generic) -> list[Span] | None:
        """Over what the loops of a generic are to run; None where its results are wanted in parts that differ."""
        found = [Span(0, size) for size in generic.sizes]
        results = [(map_, self.wanted.get(result))
                   for result, map_ in zip(generic.results, generic.output_maps, strict=True)]  # fmt: skip
        for map_, spans in results:
            for loop, span in zip(map_, spans or (), strict=False):
                if loop != ONE:
                    found[loop] = span
        same = all(spans is None or _along(map_, found) == spans for map_, spans in results)
        return found if same else None

    def _may_run(self, generic: Generic, loops: list[Span]) -> bool:
        """Whether a generic computes the same over spans of its loops."""
        names = {each.operation.name for each in in_block(generic.block)}
        parts = [loop for loop, span in enumerate(loops) if not span.is_all(generic.sizes[loop])]
        if names & set(FREE) or any(generic.reductions[loop] for loop in parts):
            return False
        if "linalg.index" in names and (self.stand_ins or not all(span.is_number for span in loops)):
            return False  # no position is the number that stands for a size
        tensors = [(value, map_) for value, map_ in zip(generic.inputs, generic.maps, strict=False)
                   if isinstance(value.type, ir.RankedTensorType)]  # fmt: skip
        if generic.parallel:
            return not any(_is_reduced(value) for value, map_ in tensors for loop in parts if loop not in map_)
        ends = [loops[map_[-1]] for _, map_ in tensors if map_ and map_[-1] in parts]
        is_less = len(tensors) < 2 or MOST * prod(span.size for span in loops) <= prod(generic.sizes)
        return is_less and all(span.size == 1 or span.start == 0 for span in ends)

    def computes(self) -> bool:
        """Whether what can be done for the part is more than moving and filling."""
        return not self.blocked and any(
            op.name == "linalg.generic" and len(in_block(op.regions[0].blocks[0])) > 1 for op in self.inside
        )

    def rewrite(self, tensor: Any, spans: Spans) -> bool:
        """Computes the part in front of the first slice, unless a part of what is in memory is no view."""
        order = in_block(self.slices[0].block)
        first = min(self.slices, key=lambda op: next(n for n, each in enumerate(order) if each.operation == op))
        with ir.InsertionPoint(first), first.location:
            by_position = first.name == "linalg.generic"
            new = {leaf: cut(*leaf, by_position=by_position) for leaf in self.leaves}
            if not all(self._is_view(made) for made in new.values()):
                return False
            for op in reversed(self.inside):
                with op.location:
                    made = self._reshaped(op, new) if op.name in NAMES else self._computed(op, new)
                new |= {(old, self.wanted[old]): value for old, value in zip(op.results, made, strict=True)
                        if old in self.wanted}  # fmt: skip
            for each in self.slices:
                result = each.results[0]
                result.replace_all_uses_with(reshape(new[tensor, spans], result.type.shape))
        return True

    def _is_view(self, made: Any) -> bool:
        op = owner_of(made)
        if op is None or op.name != "tensor.extract_slice" or len(op.operands) > 1:
            return True
        found = slice_of(op)
        steps = [span.step for span in found[1] if span.size > 1] if found else []
        return max(steps, default=1) <= self.step and (
            not starts_open(op, self.stand_ins) or is_aligned_view(op, self.stand_ins)
        )

    def _reshaped(self, op: Any, new: Mapping[tuple[Any, Spans], Any]) -> list[Any]:
        old = op.results[0]
        source = op.operands[0]
        spans = before(op, self.wanted[old], exact=not self.stand_ins)
        assert spans is not None  # it was asked when the operation was taken
        return [reshape(new[source, spans], [span.size for span in self.wanted[old]])]

    def _computed(self, op: Any, new: Mapping[tuple[Any, Spans], Any]) -> list[Any]:
        generic = read(op, free=True)
        assert generic is not None  # as above
        loops = self.loops(generic)
        assert loops is not None
        operands = list[Any]()
        for position, (value, map_) in enumerate(zip(generic.operands, generic.maps, strict=True)):
            spans = _along(map_, loops)
            if not isinstance(value.type, ir.RankedTensorType):
                operands.append(value)
            elif position < len(generic.inputs) or generic.reads(position):
                operands.append(new[value, spans])
            else:
                operands.append(empty([span.size for span in spans], value.type.element_type))
        count = len(generic.inputs)
        made = build(operands[:count], operands[count:], generic.maps, generic.reductions,
                     lambda arguments: inline(generic, arguments))  # fmt: skip
        shift_positions(made, loops)
        return list(made.results)


def _along(map_: tuple[int, ...], loops: list[Span]) -> Spans:
    """The part of an operand that loops run over."""
    return tuple(Span(0, 1) if loop == ONE else loops[loop] for loop in map_)


def _is_reduced(value: Any) -> bool:
    """Whether a tensor is computed from sums, through reshapes and elementwise operations."""
    todo, seen = [value], set[Any]()
    while todo:
        owner = owner_of(todo.pop())
        if owner is None or owner in seen or owner.name not in ("linalg.generic", *NAMES):
            continue
        seen.add(owner)
        generic = read(owner)
        if generic is not None and not generic.parallel:
            return True
        todo += owner.operands
    return False
