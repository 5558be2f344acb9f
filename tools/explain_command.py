"""`mlir-gemm explain`: what the model decides for a problem, what it rejects and why."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial
from typing import Any

from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.errors import Error
from mlir_gemm.pipeline import annotations
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.dynamic_problem import Variant, symbols_in
from mlir_gemm.pipeline.program import is_program, kind_of, note_of, outer_function
from mlir_gemm.pipeline.runner import Runner
from mlir_gemm.pipeline.selecting import before_choices, row_choices, tuned_passes
from mlir_gemm.pipeline.selection.select_rewrite import is_divisible, refused
from mlir_gemm.pipeline.undecided import Undecided, kernels_before_select, undecided
from mlir_gemm.runtime.own_chip import default_chip
from mlir_gemm.runtime.tuned_files import database
from mlir_gemm.spec.attributes import CHIP
from mlir_gemm.spec.element_types import ELEMENT_BYTES, TYPES
from mlir_gemm.spec.kernel_record import PRODUCT, ROWS, KernelRecord
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.beside import beside
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.decisions import Decisions, decide
from mlir_gemm.tile_model.explain import explain
from mlir_gemm.tile_model.rewriting import Refuses
from mlir_gemm.tile_model.tuned import Database
from mlir_gemm.tools.files import read_input
from mlir_gemm.tools.json_output import beside_data, choice_data, kernel_data, text_of
from mlir_gemm.tools.report import kernel_rows, table
from mlir_gemm.tools.terminal import say
from mlir_gemm.usage import UsageError

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
    wanted = Schedule.parse(arguments.schedule or "")
    others = [target(name.strip()) for name in arguments.beside.split(",")] if arguments.beside else []
    if arguments.mnk:
        problem, chip = _problem(arguments), target(arguments.chip or default_chip())
        known = None if wanted else database(arguments.tuned)
        entry = known.find(problem, chip) if known else None
        fixed = Schedule.parse(entry.schedule) if entry else wanted
        if arguments.json:
            beside_it = [beside_data(problem, other, fixed) for other in others]
            print(text_of([choice_data(problem, chip, fixed) | ({"tuned": str(entry)} if entry else {}), *beside_it]))
        else:
            print(_tuned(str(entry) if entry else "") + explain(problem, chip, fixed))
            if others:
                print("\n" + beside(problem, [chip, *others], fixed))
        return 0
    known = None if wanted else database(arguments.tuned)
    module, found = _kernels(arguments, read_input(arguments.input), wanted, known)
    if arguments.json:
        print(text_of(_data(module, found, others)))
        return 0
    with module.context:
        parts = [
            (f"kernel {each.name}\n" if len(found) > 1 else "")
            + _tuned(note_of(each.module))
            + _launched(note_of(each.module))
            + explain(*_asked(each))
            + _beside(each, others)
            for each in found
        ]
    if is_program(module) and (note := _program_note(arguments, module, wanted, known)):
        parts.insert(0, f"note      {note}")
    parts += [table(kernel_rows(each, None)) for each in _rows(module)]
    say("\n\n".join(parts) if parts else "no product to choose a schedule for, and no rows to divide")
    return 0


def _program_note(arguments: argparse.Namespace, module: Any, wanted: Mapping[str, Any], known: Database | None) -> str:
    """What is noted of a program once all kernels are decided: the order in which they run too."""
    variant = {"hints": arguments.sizes, "divisors": arguments.divisors}
    try:
        return compile_module(str(module), until="select", schedule=wanted, tuned=known, **variant).note
    except Error:
        return note_of(module)  # what cannot be is said of its kernel


def _beside(each: Undecided, others: list[Target]) -> str:
    """What is chosen for other chips, in a column each."""
    problem, chip, pinned, refuses, divisible = _asked(each)
    return "\n\n" + beside(problem, [chip, *others], pinned, refuses, divisible) if others else ""


def _tuned(note: str) -> str:
    """A line for a schedule that was found by measuring: all its fields count as pinned."""
    return f"{note}; --tuned off asks the model\n" if note.startswith("tuned for") else ""


def _launched(note: str) -> str:
    """Whether a product is launched at once with others of the same A, whose tiles it has then, and why."""
    return "".join(f"note      {each}\n" for each in note.split("; ") if "launched at once" in each)


def _data(module: Any, found: list[Undecided], others: list[Target]) -> list[dict[str, Any]]:
    """The same as data, for each product, on other chips too, and each kernel of rows."""
    products: list[dict[str, Any]] = []
    with module.context:
        for each in found:
            kernel = {"kernel": each.name, "kind": PRODUCT}
            tuned = {"tuned": note_of(each.module)} if _tuned(note_of(each.module)) else {}
            products.append(kernel | choice_data(*_asked(each)) | tuned)
            problem, _, pinned, refuses, divisible = _asked(each)
            products += [kernel | beside_data(problem, other, pinned, refuses, divisible) for other in others]
    return [*products, *({"kernel": each.name} | kernel_data(each) for each in _rows(module))]


def _problem(arguments: argparse.Namespace) -> Problem:
    """The problem that the options describe. A, B and a result. Sums are kept in the result's type where that is f32,
    f64 or i32; other types are rounded to from f32 (i8 from i32)."""
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
    integers = not TYPES[a].is_float and not TYPES[b].is_float
    accumulator = out if out in ("f32", "f64", "i32") else "i32" if integers else "f32"
    sizes: tuple[int, int, int] = arguments.mnk
    m, n, k = sizes
    neighbours = {"a": k if a_order == "mk" else m, "b": n if b_order == "kn" else k, "out": n}
    vectors = {name: _vector(size, type_) for (name, size), type_ in zip(neighbours.items(), (a, b, out), strict=True)}
    a_memory = b_memory = ""
    if a.startswith("f8") and b.startswith("f8") and not _is_f8(arguments):  # as modules have it: multiplied as f16
        a, b, a_memory, b_memory = "f16", "f16", a, b
    return Problem(
        m, n, k, a=a, b=b, acc=accumulator, out=out, reads_c=False, batch=arguments.batch or 1,
        a_order=a_order, b_order=b_order,
        a_vector=vectors["a"], b_vector=vectors["b"], out_vector=vectors["out"],
        a_memory=a_memory, b_memory=b_memory,
    )  # fmt: skip


def _is_f8(arguments: argparse.Namespace) -> bool:
    """Whether 8-bit floats are to be multiplied as such."""
    return Schedule.parse(arguments.schedule or "").get("precision") == "f8"


def _vector(neighbours: int, type_: str) -> int:
    """Bits of the widest access that divides a row of this many neighbours, 128 at most."""
    bits = 8 * neighbours * ELEMENT_BYTES[type_]
    return min(128, bits & -bits)


def decisions_of(arguments: argparse.Namespace, source: str, wanted: Mapping[str, Any]) -> dict[str, Decisions]:
    """What the model has to decide of each product of a source, by the names of their kernels; the only product's is
    empty. `arguments` are those of a command: input, chip, sizes, divisors."""
    module, found = _kernels(arguments, source, wanted)
    with module.context:
        return {each.name: decide(*_asked(each)) for each in found}


def _asked(each: Undecided) -> tuple[Problem, Target, dict[str, Any], Refuses, bool]:
    """What the model is asked of a product."""
    function = each.function
    return each.problem(), each.target, each.pinned(), partial(refused, function), is_divisible(function)


def _kernels(
    arguments: argparse.Namespace, source: str, wanted: Mapping[str, Any], known: Database | None = None
) -> tuple[Any, list[Undecided]]:
    """A source as a module, which must be kept alive, and its products. `known` are schedules that were measured."""
    compilation = compile_module(
        source,
        filename=arguments.input,
        chip=arguments.chip if arguments.chip is not None or CHIP in source else default_chip(),
        entry=arguments.entry,
        until="import",
    )
    variant = Variant(arguments.sizes or {}, arguments.divisors or {}).checked()
    module = parse_module(compilation.ir("import"), arguments.input, new_context(), own=True)
    with module.context:
        _check_symbols(arguments, outer_function(module))
    with module.context:
        chip = target(annotations.module_string(module, CHIP) or "")
    Runner().run(module, before_choices(wanted, variant, tuned_passes(known, chip)), stage="select")
    with module.context:
        return module, undecided(module)


def _rows(module: Any) -> list[KernelRecord]:
    """The kernels of rows of a module, divided."""
    Runner().run(module, row_choices(), stage="select")
    found: list[KernelRecord] = []
    with module.context:
        for kernel in kernels_before_select(module):
            if kind_of(kernel.function) == ROWS:
                attributes = kernel.function.attributes
                name = kernel.name or annotations.from_attribute(attributes["sym_name"])
                problem = annotations.written_row_problem(kernel.function)
                schedule = annotations.written_rows(kernel.function)
                found.append(KernelRecord(name, ROWS, None, None, None, row_problem=problem, rows=schedule))
    return found


def _check_symbols(arguments: argparse.Namespace, function: Any) -> None:
    symbols = symbols_in(function)
    for option in ("sizes", "divisors"):
        for name in getattr(arguments, option) or ():
            if name not in symbols:
                known = ", ".join(symbols) or "none"
                raise UsageError(f"--{option} {name}: the sizes of this module that are known at run time: {known}")
