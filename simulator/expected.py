"""What a function should compute, in float64, and how far a result may be from it.

The module's source is evaluated as it is written (`simulator.reference`), so the reference knows nothing of tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlir_gemm.dialect import symbols
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.dialect.walk import body
from mlir_gemm.errors import Error
from mlir_gemm.pipeline.program import outer_function
from mlir_gemm.pipeline.runner import run_passes
from mlir_gemm.simulator.errors import SimulationError
from mlir_gemm.simulator.reference import evaluate_all
from mlir_gemm.spec.attributes import ALGEBRA, STAND_INS
from mlir_gemm.spec.element_types import Derived, numpy_dtype, of_modules
from mlir_gemm.spec.kernel_record import KernelRecord
from mlir_gemm.spec.launch import Argument

Array = NDArray[Any]

TOLERANCE = Derived(lambda rows: {row.name: row.error for row in of_modules(rows)})
"""Relative error (Frobenius norm) allowed in an output of each type: f16 rounds to 11 bits, f32 carries the order of
the sums. Integers are exact."""
_OF_NUMBERS = ("func.func(linalg-generalize-named-ops)", "raise-to-tensors", "expand-complex", "expand-algebras")
"""Passes after which there are no complex numbers and no algebras, which are not evaluated as such."""
_NAMED = ("flatten-open-views", "expand-open-parts")
"""Passes before sizes get names."""
LARGE = 1 << 35
"""Floating-point operations beyond which one kernel's source is evaluated only once: it takes seconds."""
_PRECISION = {"tf32": 1e-3, "f16": 2e-2, "f8": 1e-2}
"""The same where the schedule allows less than full precision: operands with 11 bits; sums in f16; sums of products of
8-bit floats."""


def reference(source: str, arguments: Sequence[Array], *, rounded: bool = False) -> list[Array]:
    """The function's arguments as they are after it has run, then its results: float64, or integers of their types.

    `arguments` are in the function's order and stay unchanged; those beyond the source's own, which stand for results,
    are left out. With `rounded`, values are rounded to narrow types where the source says so; otherwise nothing is.
    Raises Error for an operation that is not known.
    """
    if "complex<" in source or ALGEBRA in source:
        source = str(run_passes(source, _OF_NUMBERS))
    module = parse_module(source, "-", new_context())
    with module.context:
        count = len(body(outer_function(module)).arguments)
    given = list(arguments[:count])
    try:
        memory, results, _ = evaluate_all(module, given, exact=not rounded)
    except SimulationError:
        sized = at_sizes(source, given)
        if sized == source:
            raise
        memory, results, _ = evaluate_all(sized, given, exact=not rounded)
    return [*map(np.asarray, memory), *results]


def at_sizes(source: str, arguments: Sequence[Array]) -> str:
    """A module whose sizes are known at run time only, with those of these arguments, as the compiler understands it:
    torch-mlir writes casts of sizes that do not hold, and of two sizes that are equal only one. The same text where
    `name-sizes` does not take it."""
    try:
        named = parse_module(str(run_passes(source, [*_NAMED, "name-sizes"])), "-", new_context())
        attributes = named.operation.attributes
        if STAND_INS not in attributes:
            return source
        stand_ins = symbols.integers(attributes[STAND_INS])
        types = [argument.type for argument in body(outer_function(named)).arguments]
        found: dict[str, int] = {}
        for array, type_ in zip(arguments, types, strict=True):
            dims = list(ir.ShapedType(type_).shape) if isinstance(type_, ir.ShapedType) else []
            for dim, size in zip(dims, array.shape, strict=True):
                found.update({name: size for name, prime in stand_ins.items() if dim == prime and name.isidentifier()})
        sizes = ",".join(f"{name}={size}" for name, size in found.items())
        return str(run_passes(source, [*_NAMED, f"name-sizes{{sizes={sizes}}}"]))
    except Error:
        return source


def relative_error(actual: Array, expected: Array) -> float:
    """|actual - expected| / |expected| in the Frobenius norm. Where both are infinite or NaN alike there is no error;
    other infinite or NaN results count as infinitely wrong."""
    got, wanted = actual.astype(np.float64), np.asarray(expected).astype(np.float64)
    alike = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    difference = float(np.linalg.norm(np.where(alike, 0.0, got - np.where(alike, got, wanted))))
    size = float(np.linalg.norm(np.where(np.isfinite(wanted), wanted, 0.0)))
    error = difference / size if size else difference
    return error if np.isfinite(error) else float("inf")


def _rounding(exactly: Array, argument: Argument) -> float:
    """The relative error of exact numbers of an argument once they are rounded to its type."""
    if argument.role == "in" or not np.issubdtype(np.asarray(exactly).dtype, np.floating):
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        return relative_error(np.asarray(exactly).astype(numpy_dtype(argument.dtype)), exactly)


def limits(
    arguments: Sequence[Argument],
    kernels: Sequence[KernelRecord],
    source: str,
    given: Sequence[Array],
    expected: Sequence[Array],
) -> list[float]:
    """The relative error allowed in each argument. Those that are only read must not change. Where the source itself
    rounds in between, such as between two products, a result may be off by about what that makes; and where exact
    results themselves, rounded to their type, are off by more than usual, as those below its normal numbers are, by
    about that."""
    loosest = max((_PRECISION.get(k.schedule.precision, 0.0) for k in kernels if k.schedule is not None), default=0.0)
    flops = sum(kernel.problem.flops for kernel in kernels if kernel.problem is not None)
    once = len(kernels) == 1 and flops > LARGE
    rounded = expected if once else reference(source, given, rounded=True)
    found: list[float] = []
    for argument, exactly, roughly in zip(arguments, expected, rounded, strict=True):
        own = 2 * max(relative_error(roughly, exactly), _rounding(exactly, argument))
        allowed = max(TOLERANCE[argument.dtype], loosest, own if np.isfinite(own) else 0.0)
        found.append(0.0 if argument.role == "in" else allowed)
    return found
