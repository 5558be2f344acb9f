"""group-kernels: decides which operations share a kernel.

Expects one function on tensors: linalg.generic, linalg.matmul and linalg.fill, reshapes, slices, constants. Leaves on
every linalg operation that computes something `tile.kernel`, a number; those with the same number become one kernel,
and kernels run in the order of their numbers. Fills that others only start from have none: they go with what they
start.

Each product seeds a kernel. An elementwise operation joins the last kernel that it can: it must take each element of
that product's (or of another member's) result once, in any shape or order, and what else it reads must not depend on
that kernel; it must read no more than eight tensors element by element, and have no `tile.apart`. Everything else is a
kernel by itself, and so is a reduction that is not a product; where one might expect it to join, `tile.note` says why
it does not. A second run chooses the same.

Refuses operations that it does not know.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.products import product_of, why_no_product
from mlir_gemm.dialect.locations import input_error, location_of, pass_error
from mlir_gemm.dialect.outlining.kernels import Kernel
from mlir_gemm.dialect.outlining.tensors import is_start_of, place_in_tensors
from mlir_gemm.dialect.reductions import why_uncombined
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import APART, KERNEL, NOTE

VIEWS = (
    "tensor.collapse_shape", "tensor.expand_shape", "tensor.extract_slice", "bufferization.to_tensor", "tile.windows",
)  # fmt: skip
"""Operations whose results are in the buffer of their operand."""
BESIDE = (
    "arith.constant", "tensor.empty", "tile.position", "bufferization.materialize_in_destination", "memref.subview",
    "func.return",
)  # fmt: skip
"""Other operations that compute nothing."""


MOST_READ = 8
"""Tensors as large as its result that an operation may read and still join a product."""


@dataclass
class _Group:
    """The members of one kernel."""

    kernel: Kernel
    members: list[Any]
    needs: list[_Group] = field(default_factory=list["_Group"])

    def depends_on(self, other: _Group) -> bool:
        """Whether this one runs after another, or is it."""
        return self is other or any(each.depends_on(other) for each in self.needs)


@dataclass(frozen=True)
class GroupKernels(Pass):
    """Choose what is computed by one kernel."""

    name: ClassVar[str] = "group-kernels"

    def run(self, module: Any) -> None:
        for function in named(module, "func.func"):
            if len(function.regions[0].blocks):
                _mark(_groups(function))


def _mark(groups: list[_Group]) -> None:
    done: list[_Group] = []

    def visit(group: _Group) -> None:
        if group in done:
            return
        for each in group.needs:
            visit(each)
        done.append(group)

    for group in groups:
        visit(group)
    i64 = ir.IntegerType.get_signless(64)
    for number, group in enumerate(done):
        for member in group.members:
            member.attributes[KERNEL] = ir.IntegerAttr.get(i64, number)


def _groups(function: Any) -> list[_Group]:
    groups: list[_Group] = []
    of: dict[Any, _Group] = {}
    for operation in in_block(body(function)):
        _check(operation)
        op = operation.operation
        if not op.name.startswith("linalg.") or (op.name == "linalg.fill" and _only_starts(op.results[0])):
            continue
        needs = _needs(op, of)
        group = _joined(op, needs) if structured.is_generic(op) and structured.read(op).elementwise else None
        if group is None:
            group = _Group(_seeded(op), [op])
            groups.append(group)
        group.needs += [each for each in needs if each is not group and each not in group.needs]
        for result in op.results:
            of[result] = group
    return groups


_ALONG_ROWS = "sums, products, maxima, minima, and, or, xor, argmax"
"""What kernels of rows combine (`dialect/reductions.py`), in words."""


def _seeded(op: Any) -> Kernel:
    kernel = Kernel()
    if structured.is_generic(op):
        kernel.seed(op, place_in_tensors)
        if kernel.product is None and not structured.read(op).elementwise:
            why = f"it is no product of two operands, as {why_no_product(op)}"
            order = why_uncombined(structured.read(op)) if structured.is_generic(op) else ""
            other = f"; nor is its body known to give the same in any order: {order}" if order else ""
            _note(op, f"one thread computes each result: {why}, nor what is combined along rows: {_ALONG_ROWS}{other}")
        elif kernel.product is not None and kernel.product.is_pointwise:
            _note(op, "this product has neither M nor N: it is a sum for each element, which tiles do not help")
    return kernel


def _joined(op: Any, needs: list[_Group]) -> _Group | None:
    """The group that an elementwise operation has become part of, None if it can be part of none."""
    if APART in op.attributes:
        return None
    reasons: list[str] = []
    whole = _read_whole(op)
    if whole > MOST_READ:
        _note(op, f"it reads {whole} tensors element by element: no thread of a product has room for as many")
        return None
    for group in reversed(needs):
        product = group.kernel.product
        if product is None or product.is_pointwise:
            continue
        reason = _why_not(op, group, needs)
        if reason is None:
            group.members.append(op)
            return group
        where = location_of(product.op)
        reasons.append(f"it cannot be fused with the product{f' at {where}' if where else ''}: {reason}")
    if reasons:
        _note(op, "; ".join(reasons))
    return None


def _why_not(op: Any, group: _Group, needs: list[_Group]) -> str | None:
    if any(each is not group and each.depends_on(group) for each in needs):
        return "another of its operands is computed from that product by another kernel"
    trial = group.kernel.copy()
    reason = trial.join(op, place_in_tensors)
    if reason is None:
        group.kernel.become(trial)
    return reason


def _read_whole(op: Any) -> int:
    """How many operands with all of its loops an elementwise operation reads."""
    generic = structured.read(op)
    return sum(len(map_.results) == len(generic.parallel) for map_ in generic.maps[: len(generic.inputs)])


def _needs(op: Any, of: dict[Any, _Group]) -> list[_Group]:
    """The groups whose results an operation uses, in the order of their making."""
    found: list[_Group] = []
    for value in map(source_of, structured.sources(op)):
        if value in of and of[value] not in found:
            found.append(of[value])
    return found


def source_of(value: Any) -> Any:
    """The tensor in whose buffer another one is."""
    while getattr(value.owner, "name", "") in VIEWS:
        value = value.owner.operands[0]
    return value


def _only_starts(value: Any) -> bool:
    """Whether a tensor is used only as what something starts from, perhaps in another shape."""
    for use in value.uses:
        user = use.owner.operation
        if user.name in ("tensor.collapse_shape", "tensor.expand_shape"):
            if not _only_starts(user.results[0]):
                return False
        elif not is_start_of(value, use):
            return False
    return True


def _note(op: Any, text: str) -> None:
    if NOTE not in op.attributes:
        op.attributes[NOTE] = ir.StringAttr.get(text)


def _check(operation: Any) -> None:
    op = operation.operation
    if op.name == "tensor.insert_slice":
        raise input_error(op, "this writes to a part of its memory (through a memref.subview); expected whole memrefs "
                          "to be written: make the part an argument of its own, with strides")  # fmt: skip
    if op.name not in (*VIEWS, *BESIDE, "linalg.fill", "linalg.generic", "linalg.matmul"):
        raise input_error(op, f"'{op.name}' is not understood here; expected linalg.generic, linalg.fill, reshapes, "
                          "slices and constants of tensors")  # fmt: skip
    for value in [*op.operands, *op.results]:
        if isinstance(value.type, ir.ShapedType) and not value.type.has_static_shape:
            raise input_error(op, f"'{op.name}' works on {value.type}; sizes must be static")
    if not structured.is_generic(op):
        return
    generic = structured.read(op)
    if len(op.results) != len(generic.outputs):
        raise pass_error(op, f"'{op.name}' on memrefs; expected tensors")
    for inner in in_block(generic.body):
        if not inner.operation.name.startswith(("arith.", "math.", "linalg.yield", *structured.FREE)):
            raise input_error(inner, f"'{inner.operation.name}' inside a linalg.generic; only arith and math "
                              "operations can be compiled")  # fmt: skip
    if generic.elementwise and any(generic.reads(number) for number in range(len(generic.inputs), len(op.operands))):
        raise pass_error(
            op, "an elementwise linalg.generic that reads what its result starts from; take it as an input"
        )
    if product_of(op) is None:
        list(structured.captured(generic))


def mark_of(op: Any) -> int | None:
    """The number of an operation's kernel."""
    attributes = op.operation.attributes
    return ir.IntegerAttr(attributes[KERNEL]).value if KERNEL in attributes else None
