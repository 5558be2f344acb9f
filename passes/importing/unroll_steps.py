"""unroll-steps: loops and branches around operations on whole tensors or memrefs become straight-line code.

Expects a function as a user wrote it. A loop (affine.for, scf.for, and scf.parallel without results) that holds
operations of linalg or tensor, or copies, becomes its body once for each iteration, with numbers for its induction
variable; what it carries from one iteration to the next, tensors too, is handed on. Bounds and steps are constants, or
computed from the numbers of loops around. A branch (scf.if, affine.if) whose condition is then known leaves the side
that is taken. Index arithmetic and offsets of slices become constants. Leaves at most 1024 operations of linalg.
Refuses loops whose number of iterations is not known, and more operations; branches that stay are refused by
`check-module`. Loops over elements stay, and a function without such loops or branches is left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir, passmanager
from mlir_gemm.dialect.clone import clone
from mlir_gemm.dialect.locations import from_mlir, input_error
from mlir_gemm.dialect.loop_nests.loops import LOOPS, Indices, read_loop
from mlir_gemm.dialect.loop_nests.statements import holds_others
from mlir_gemm.dialect.walk import body, in_block, named, operations
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import STAGE

MOST = 1024
"""Operations of linalg after unrolling: each may be a kernel, which takes about 0.2 s to compile."""
_BRANCHES = ("scf.if", "affine.if")
_FOLD = "builtin.module(func.func(canonicalize,cse))"


@dataclass(frozen=True)
class UnrollSteps(Pass):
    """Unroll loops around operations on tensors."""

    name: ClassVar[str] = "unroll-steps"

    def run(self, module: Any) -> None:
        if STAGE in module.operation.attributes:
            return
        functions = [f for f in named(module, "func.func") if len(f.regions[0].blocks) == 1]
        if not any(_steps(function) or named(function, *_BRANCHES) for function in functions):
            return
        _fold(module)
        while loops := [loop for function in named(module, "func.func") for loop in _steps(function)]:
            _unroll(loops[0])
            _fold(module)


def _fold(module: Any) -> None:
    """Index arithmetic on constants, branches on them, and slices at them."""
    try:
        passmanager.PassManager.parse(_FOLD).run(module.operation)
    except ir.MLIRError as error:
        raise from_mlir(error, "the loops cannot be simplified") from None


def _steps(function: Any) -> list[Any]:
    """The outermost loops of a function that hold operations on whole tensors or memrefs."""
    if len(function.regions[0].blocks) != 1:
        return []
    return [each.operation for each in in_block(body(function)) if each.operation.name in LOOPS and holds_others(each)]


def _unroll(op: Any) -> None:
    if op.name in ("scf.forall", "affine.parallel") or (op.name == "scf.parallel" and len(op.results)):
        raise input_error(op, f"'{op.name}' around operations on tensors or memrefs; expected scf.for or affine.for")
    indices = Indices({})
    loops = read_loop(op, indices)
    total = _count(op)
    for loop in loops:
        if loop.extent is not None:
            raise input_error(
                op, f"how often '{op.name}' runs around operations on tensors or memrefs is known at run time only; "
                "expected constant bounds",
            )  # fmt: skip
        total *= loop.trips
    if total + _count(op.parent) > MOST:
        raise input_error(
            op, f"'{op.name}' makes {total} operations of linalg when it is unrolled; at most {MOST} are compiled as "
            "one program: call the kernel of its body in a loop",
        )  # fmt: skip
    carried = list(op.operands)[-len(op.results) :] if len(op.results) else []
    variables = list(body(op).arguments)[: len(loops)]
    points: list[list[int]] = [[]]
    for loop in loops:
        points = [[*point, number] for point in points for number in range(loop.trips)]
    for point in points:
        carried = _iteration(op, variables, indices, dict(zip(loops, point, strict=True)), carried)
    for result, value in zip(op.results, carried, strict=True):
        result.replace_all_uses_with(value)
    op.erase()


def _count(op: Any) -> int:
    """Operations of linalg in an operation."""
    return sum(each.operation.name.startswith("linalg.") and len(each.operation.regions) for each in operations(op))


def _iteration(op: Any, variables: list[Any], indices: Indices, at: dict[Any, int], carried: list[Any]) -> list[Any]:
    """One iteration of a loop in front of it; what it hands on."""
    values: dict[Any, Any] = {}
    with ir.InsertionPoint(op), op.location:
        for variable in variables:
            index = indices.known[variable]
            number = index.constant + sum(step * at[loop] for loop, step in index.terms.items())
            made = ir.Operation.create(
                "arith.constant", [variable.type], [], {"value": ir.IntegerAttr.get(variable.type, number)}
            )
            values[variable] = made.results[0]
        values.update(zip(list(body(op).arguments)[len(variables) :], carried, strict=True))
        *inside, last = in_block(body(op))
        for inner in inside:
            clone(inner, values)
    return [values.get(value, value) for value in last.operation.operands] if carried else []
