"""Deciding which buffer each tensor of a function is computed into."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.memory_parts import Part, part_of
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.outlining.kernels import Kernel, Place, Statement
from mlir_gemm.dialect.outlining.spaces import Access
from mlir_gemm.dialect.outlining.tensors import (
    before_reshape,
    is_start_of,
    place_in_tensors,
    place_of_tensor,
    start_of,
    stripped,
)
from mlir_gemm.dialect.outlining.views import View, given_view, view_of_type

Groups = dict[int, list[Any]]
"""The operations of each kernel in order, by its number."""


@dataclass
class Buffers:
    """The places of tensors that do not get a row-major buffer of their own."""

    groups: Groups
    known: dict[Any, Place] = field(default_factory=dict[Any, Place])
    """By the tensor as it is computed: the memory that it is for, and how it lies in it."""
    late: list[tuple[Any, Any]] = field(default_factory=list[tuple[Any, Any]])
    """(tensor, memory): what is copied at the end."""

    def place(self, value: Any) -> Place:
        """The buffer of a tensor and how it lies there."""
        return place_of_tensor(value, self.known)

    def place_of(self, generic: Generic, number: int) -> Place | None:
        """`kernels.PlaceOf` with these buffers."""
        return place_in_tensors(generic, number, self.known)

    def give(self, value: Any, memory: Any) -> None:
        """Says that a tensor is for `memory`, a memref: computes it there, or copies it at the end."""
        base = stripped(value)
        if getattr(base.owner, "name", "") == "tensor.empty":
            return  # it has no value, or no elements
        root = root_of_part(memory)
        view = _seen_before(value, given_view(memory.type, base.owner))
        if not view_of_type(memory.type, base.owner).is_injective:
            raise input_error(base.owner, f"a result goes to {memory.type}, where elements share places")
        gaps = view is not None and not view.is_dense and _is_read(base)  # its readers count on a row-major buffer
        if view is None or gaps or base in self.known or not self._is_free(base, memory, view):
            self.late.append((value, memory))
        else:
            self.known[base] = (root, view)

    def _is_free(self, base: Any, memory: Any, view: View) -> bool:
        """Whether nothing needs what is in `memory`, or a part of it, once `base` is written there."""
        root = root_of_part(memory)
        part = part_of(memory.owner) if root != memory and memory.owner.operands[0] == root else None
        numbers = {op: number for number, ops in self.groups.items() for op in ops}
        writer = base.owner.operation
        if self._reads_beside(base, root, numbers):
            return False
        for number, ops in self.groups.items():
            for op in ops:
                own = number == numbers[writer]  # a kernel sees an argument at one place only
                if not _reads(op, root, None if own else part):
                    continue
                if number > numbers[writer]:
                    return False
                if own and not self._reads_only_there(ops, op, base, (root, view)):
                    return False
        return True

    def _reads_beside(self, base: Any, root: Any, numbers: dict[Any, int]) -> bool:
        """Whether a kernel would read one part of a memref and write another: `base`, or one that has its place."""
        own = self.groups[numbers[base.owner.operation]]
        for other, (memory, _) in self.known.items():
            if memory != root or not hasattr(other.owner, "operation") or other.owner.operation not in numbers:
                continue
            theirs = self.groups[numbers[other.owner.operation]]
            if own is not theirs and (_takes(own, other) or _takes(theirs, base)):
                return True
        return False

    def _reads_only_there(self, ops: list[Any], reader: Any, base: Any, place: Place) -> bool:
        """Whether an operation of the same kernel reads each element at the latest when it is overwritten."""
        writer = base.owner.operation
        if ops.index(reader) > ops.index(writer):
            return False
        known = {**self.known, base: place}
        kernel = kernel_of(ops, lambda generic, number: place_in_tensors(generic, number, known))
        by_op: dict[Any, Statement] = {each.generic.op: each for each in kernel.statements}
        number: int = len(by_op[writer].generic.inputs) + base.result_number
        written: Access | None = by_op[writer].accesses[number]
        statement = by_op[reader]
        if any(place_of_tensor(value)[0] == place[0] for value in structured.read_anywhere(reader)):
            return False  # at any place
        reads = list(zip(statement.roots, statement.accesses, strict=True))[: len(statement.generic.inputs)]
        starts = [start for start in statement.starts if start is not None]
        if not statement.generic.elementwise and any(root == place[0] for root, _ in reads):
            return False  # a reduction reads its inputs while other elements are written already
        return all(access == written for root, access in [*reads, *starts] if root == place[0])


def root_of_part(memory: Any) -> Any:
    """The memref argument of which another memref is a part, or the argument itself."""
    while getattr(memory.owner, "name", "") == "memref.subview":
        memory = memory.owner.operands[0]
    return memory


def kernel_of(ops: list[Any], place_of: Callable[[Generic, int], Place | None]) -> Kernel:
    """The operations of one kernel in common loops; the first is the seed."""
    kernel = Kernel()
    kernel.seed(ops[0], place_of)
    for op in ops[1:]:
        kernel.join(op, place_of)
    return kernel


def _reads(op: Any, memory: Any, part: Part | None) -> bool:
    """Whether an operation takes what a memref argument, or a part of it, holds at the start."""
    if not structured.is_generic(op):
        return False
    generic = structured.read(op)
    operands = [*(generic.inputs if generic.elementwise else generic.operands), *structured.read_anywhere(op)]
    tensors = [value for value in operands if hasattr(value.type, "encoding")]
    return any(place_of_tensor(value)[0] == memory and not _is_apart(value, part) for value in tensors)


def _takes(ops: list[Any], tensor: Any) -> bool:
    """Whether one of these operations reads a tensor, or a view of it."""
    found = [value for op in ops for value in (*op.operands, *structured.read_anywhere(op))]
    return any(hasattr(value.type, "encoding") and place_of_tensor(value)[0] == tensor for value in found)


def _is_apart(value: Any, part: Part | None) -> bool:
    """Whether a tensor is a slice of a whole argument that does not meet a part of it."""
    owner = value.owner
    if part is None or getattr(owner, "name", "") != "tensor.extract_slice" or len(owner.operands) > 1:
        return False
    whole = getattr(owner.operands[0].owner, "name", "") == "bufferization.to_tensor"
    return whole and part_of(owner).is_apart(part)


def _seen_before(value: Any, view: View) -> View | None:
    """The view that a tensor must have before it was reshaped, for it to have `view` in the end."""
    seen: View | None = view
    while seen is not None and getattr(value.owner, "name", "") in ("tensor.collapse_shape", "tensor.expand_shape"):
        seen = before_reshape(value.owner, seen)
        value = value.owner.operands[0]
    return seen


def _is_read(value: Any) -> bool:
    """Whether an operation computes something from a tensor or a view of it."""
    for use in value.uses:
        user = use.owner.operation
        if user.name == "tensor.extract":
            return True
        if user.name in ("tensor.collapse_shape", "tensor.expand_shape", "tensor.extract_slice"):
            if _is_read(user.results[0]):
                return True
        elif user.name.startswith("linalg.") and not _is_mere_start(value, use):
            return True
    return False


def leaves(value: Any, inside: list[Any]) -> bool:
    """Whether a tensor, or a view of it, is used other than as a mere start by an operation that is not `inside`."""
    for use in value.uses:
        user = use.owner.operation
        if user.name == "tensor.extract":
            user = user.parent.operation
            if user not in inside:
                return True
        elif user.name.startswith("tensor.") and user.name != "tensor.empty":
            if leaves(user.results[0], inside):
                return True
        elif user not in inside and not _is_mere_start(value, use):
            return True
    return False


def _is_mere_start(value: Any, use: Any) -> bool:
    op = use.owner.operation
    if not is_start_of(value, use):
        return False
    return op.name == "linalg.fill" or structured.read(op).elementwise or start_of(value) is not None
