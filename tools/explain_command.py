"""`mlir-gemm explain`: which schedule the model chose for a problem, what it rejected and why."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from mlir_gemm.dialect.parse import new_context, parse_module
from mlir_gemm.pipeline.annotations import written_schedule
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.dynamic_problem import Variant
from mlir_gemm.pipeline.kernel_record import PRODUCT
from mlir_gemm.pipeline.problem import ELEMENT_BYTES, Problem
from mlir_gemm.pipeline.program import kind_of, nested_kernels, outer_function
from mlir_gemm.runtime.device import default_chip
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.explain import explain
from mlir_gemm.tools.files import read_input
from mlir_gemm.tools.usage import UsageError

DEFAULT_TYPES = "f16,f16,f32"
DEFAULT_ORDERS = "mk,kn"


def run(arguments: argparse.Namespace) -> int:
    if (arguments.input is None) == (arguments.mnk is None):
        raise UsageError("name either an INPUT or --mnk M,N,K")
    for option in ("sizes", "divisors"):
        if getattr(arguments, option) is not None and arguments.mnk is not None:
            raise UsageError(f"--{option} goes with an INPUT; --mnk gives all sizes")
    for option in ("types", "batch", "orders"):
        if getattr(arguments, option) is not None and arguments.mnk is None:
            raise UsageError(f"--{option} goes with --mnk; an INPUT has its own")
    chip = target(arguments.chip or default_chip())
    if arguments.mnk:
        print(explain(_problem(arguments), chip, {}))
        return 0
    found = _products(arguments.input, Variant(arguments.sizes or {}, arguments.divisors or {}).checked())
    parts = [
        f"kernel {name}\n{explain(problem, chip, pinned)}" if len(found) > 1 else explain(problem, chip, pinned)
        for name, problem, pinned in found
    ]
    print("\n\n".join(parts) if parts else "no product to choose a schedule for")
    return 0


def _problem(arguments: argparse.Namespace) -> Problem:
    """The problem that the options describe. A, B and a result, which is also what sums are kept in where it can be:
    other types than f32, f64 and i32 are rounded to from f32 (i8 from i32)."""
    types: str = arguments.types or DEFAULT_TYPES
    names = types.split(",")
    unknown = [name for name in names if name not in ELEMENT_BYTES]
    if len(names) != 3 or unknown:
        raise UsageError(f"--types {types}: expected three of {', '.join(ELEMENT_BYTES)}, as in {DEFAULT_TYPES}")
    orders: str = arguments.orders or DEFAULT_ORDERS
    a_order, _, b_order = orders.partition(",")
    if a_order not in ("mk", "km") or b_order not in ("kn", "nk"):
        raise UsageError(f"--orders {orders}: expected mk or km, then kn or nk, as in {DEFAULT_ORDERS}")
    a, b, out = names
    integers = a.startswith("i") and b.startswith("i")
    accumulator = out if out in ("f32", "f64", "i32") else "i32" if integers else "f32"
    sizes: tuple[int, int, int] = arguments.mnk
    m, n, k = sizes
    neighbours = {"a": k if a_order == "mk" else m, "b": n if b_order == "kn" else k, "out": n}
    vectors = {name: _vector(size, type_) for (name, size), type_ in zip(neighbours.items(), (a, b, out), strict=True)}
    return Problem(
        m, n, k, a=a, b=b, acc=accumulator, out=out, reads_c=False, batch=arguments.batch or 1,
        a_order=a_order, b_order=b_order,
        a_vector=vectors["a"], b_vector=vectors["b"], out_vector=vectors["out"],
    )  # fmt: skip


def _vector(neighbours: int, type_: str) -> int:
    """Bits of the widest access that divides a row of this many neighbours, 128 at most."""
    bits = 8 * neighbours * ELEMENT_BYTES[type_]
    return min(128, bits & -bits)


def _products(path: str, variant: Variant) -> list[tuple[str, Problem, Mapping[str, Any]]]:
    """The products of a source file: the kernel's name, the problem, and the schedule fields that it fixes."""
    imported = compile_module(read_input(path), filename=path, until="import").ir("import")
    module = parse_module(imported, path, new_context())  # kept: what is in it dies with it
    with module.context:
        kernels = nested_kernels(module) or [("", module)]
        functions = [(name, outer_function(each)) for name, each in kernels]
        return [
            (name, variant.problem_of(function), written_schedule(function))
            for name, function in functions
            if kind_of(function) == PRODUCT
        ]
