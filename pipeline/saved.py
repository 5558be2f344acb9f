"""The source of text that was saved after a stage: the function of each kernel as it was before `tile`.

From `tile` on, a kernel's function carries it as the attribute `tile.reference`. It says what the kernel computes,
where the IR itself says how: `run` compares results with it, and asks it which tiles a block is to write.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from mlir_gemm.dialect import symbols
from mlir_gemm.dialect.arguments import argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.outlining import kernel_modules, programs
from mlir_gemm.dialect.parse import COMPILER, parse_module
from mlir_gemm.dialect.walk import body, in_block
from mlir_gemm.dialect.zero_marks import ZERO_MARKS, promised_zeros
from mlir_gemm.pipeline import annotations
from mlir_gemm.pipeline.dynamic_problem import Variant
from mlir_gemm.pipeline.program import nested_kernels, outer_function
from mlir_gemm.spec.attributes import DIVISORS, JOINED, PROBLEM, REFERENCE, ROWS, SCHEDULE, STAGE, SYMMETRIC
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.stages import ALL_STAGES, place_of
from mlir_gemm.spec.zeros import SYMMETRIC_MATRIX, text_of

_LAST_WHOLE = "parallelize"
"""The last stage whose IR computes whole tiles, which can be evaluated without rounding."""
_DECISIONS = (PROBLEM, SCHEDULE, ROWS)
"""Attributes that stay on the function, and so need not be in the reference too."""


def stage_of(text: str) -> str | None:
    """The stage after which text was saved; None for a source. Of a program whose kernels stand at different stages,
    the earliest. Raises InputError."""
    if STAGE not in text:
        return None
    with COMPILER:
        module = parse_module(text, "-", new_context())
        found = [annotations.module_string(each, STAGE) for each in (module, *_kernels(module))]
    return min((stage for stage in found if stage in ALL_STAGES), key=place_of, default=None)


def computed_by(text: str) -> str:
    """What saved text computes, as the text of a module saved after `select` (or earlier, as far as it is); a source
    as it is. Text without a reference, which an earlier version saved, is given back as it is while tiles are whole.
    Raises InputError.
    """
    if STAGE not in text:
        return text
    with COMPILER:
        module = parse_module(text, "-", new_context())
        with module.context, ir.Location.unknown():
            kernels = _kernels(module) or [module]
            restored = [_restore(kernel) for kernel in kernels]
            if not any(restored):
                return text
            stages = [annotations.module_string(kernel, STAGE) for kernel in kernels]
            module.operation.attributes[STAGE] = ir.StringAttr.get(
                min((stage for stage in stages if stage in ALL_STAGES), key=place_of, default="select")
            )
        return str(module)


def is_decided(stage: str) -> bool:
    """Whether text that was saved after a stage (empty for a source) is already for certain sizes."""
    return stage in ALL_STAGES and place_of(stage) >= place_of("select")


def divisors_of(module: Any) -> dict[str, int]:
    """What sizes known at run time only must be multiples of for the decisions in saved text to be valid."""
    found: dict[str, int] = {}
    for kernel in _kernels(module) or [module]:
        attributes = outer_function(kernel).operation.attributes
        if DIVISORS in attributes:
            for name, number in symbols.integers(attributes[DIVISORS]).items():
                found[name] = math.lcm(number, found.get(name, 1))
    return found


def divisors_in(text: str) -> dict[str, int]:
    """The same of text; none for a source. Raises InputError."""
    if DIVISORS not in text:
        return {}
    with COMPILER:
        return divisors_of(parse_module(text, "-", new_context()))


def promises_in(text: str) -> dict[int, str]:
    """What text promises of its function's arguments, by their number: `symmetric`, or where a matrix is zero, as
    conditions on its columns k and rows m (`spec/zeros.py`). Raises InputError."""
    if not any(name in text for name in (SYMMETRIC, *ZERO_MARKS)):
        return {}
    found: dict[int, str] = {}
    with COMPILER:
        module = parse_module(text, "-", new_context())
        with module.context:
            function = outer_function(module)
            for number, (argument, given) in enumerate(
                zip(body(function).arguments, argument_attributes(function), strict=True)
            ):
                zeros = text_of(promised_zeros(function, argument, given))
                if zeros or SYMMETRIC in given:
                    found[number] = zeros or SYMMETRIC_MATRIX
    return found


def problems_at(text: str, sizes: Mapping[str, int]) -> dict[str, Problem | None]:
    """What each kernel of saved text, by its name, computes when its sizes are these; None where it is not a product.
    Raises Error."""
    with COMPILER:
        module = parse_module(computed_by(text), "-", new_context())
        with module.context, ir.Location.unknown():
            functions = [outer_function(kernel) for kernel in _kernels(module) or [module]]
            at = Variant(sizes, divisors_of(module))
            found = [at.problem_of(each) if annotations.written_problem(each) else None for each in functions]
            return {
                ir.StringAttr(f.attributes["sym_name"]).value: each for f, each in zip(functions, found, strict=True)
            }


def _kernels(module: Any) -> list[Any]:
    return [kernel for _, kernel in nested_kernels(module)]


def _restore(kernel: Any) -> bool:
    """Replaces the contents of a kernel's module by its reference; whether it has one."""
    function = outer_function(kernel)
    attributes = function.operation.attributes
    joined = [each.value for each in attributes[JOINED]] if JOINED in attributes else []
    if REFERENCE not in attributes:
        stage = annotations.module_string(kernel, STAGE)
        if stage in ALL_STAGES and place_of(stage) > place_of(_LAST_WHOLE):
            raise input_error(
                function,
                f"the text was saved after '{stage}', and its function has no {REFERENCE}, which 'tile' writes and "
                "results are compared with; save it again from the source",
            )
        return False
    if not isinstance(attributes[REFERENCE], ir.StringAttr):
        raise input_error(function, f"'{REFERENCE}' is {attributes[REFERENCE]}; expected the text of a function")
    held = parse_module(attributes[REFERENCE].value, REFERENCE, kernel.context)
    decided = {name: attributes[name] for name in _DECISIONS if name in attributes}
    for operation in in_block(body(kernel)):
        operation.operation.erase()
    end = ir.InsertionPoint(body(kernel))
    for operation in in_block(body(held)):
        operation.operation.clone(end)
    restored = outer_function(kernel).operation.attributes
    for name, value in decided.items():
        restored[name] = value
    for name, text in reversed(list(zip(joined[::2], joined[1::2], strict=True))):
        _take_apart(kernel, name, text)
    around = kernel.operation.attributes
    if "gpu.container_module" in around:
        del around["gpu.container_module"]
    around[STAGE] = ir.StringAttr.get("select")
    return True


def _take_apart(kernel: Any, name: str, text: str) -> None:
    """Makes a kernel that had joined another one a kernel of its own again, which runs after it."""
    made = kernel_modules.new_module(name, kernel, "")
    made.move_after(kernel.operation)
    made.attributes[STAGE] = ir.StringAttr.get("select")
    held = parse_module(text, REFERENCE, kernel.context)
    for operation in in_block(body(held)):
        operation.operation.clone(ir.InsertionPoint(body(made)))
    outer = kernel.operation.parent
    count, own = len(body(outer_function(made)).arguments), kernel_modules.name_of(kernel)
    for run in [run for run in programs.runs_of(outer_function(outer)) if programs.kernel_of(run) == own]:
        buffers = programs.buffers_of(run)
        with ir.InsertionPoint.after(run.operation):
            programs.run(name, buffers[len(buffers) - count :])
        programs.set_buffers(run, buffers[: len(buffers) - count])
