"""What was decided is in the IR: the schedule, the problem, the chip and the stage, as attributes."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from mlir_gemm.dialect.arguments import argument_attributes, set_argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.locations import input_error, location_of
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.dialect.walk import body, named
from mlir_gemm.errors import Location, ScheduleError
from mlir_gemm.spec.attributes import CHIP, JOINED, KIND, NAME, PROBLEM, ROWS, SCHEDULE, STAGE
from mlir_gemm.spec.kernel_record import ROWS as KIND_OF_ROWS
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.rows import RowProblem, RowSchedule
from mlir_gemm.spec.schedule import FIELDS, Schedule

Written = TypeVar("Written")


_WHERE_THERE = (
    "a_channels",
    "b_channels",
    "b_matrices",
    "beside",
    "composite",
    "dense",
    "laid_out",
    "open_rows",
    "pair",
    "planes",
    "updated",
)
"""Fields of a problem that are written only where they say something."""


def to_attribute(value: Any) -> Any:
    """A field of a schedule or problem as an attribute: integers, booleans, strings, and tiles as arrays."""
    if isinstance(value, bool):
        return ir.BoolAttr.get(value)
    if isinstance(value, int):
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
    if isinstance(value, tuple):
        return ir.ArrayAttr.get([to_attribute(each) for each in cast("tuple[Any, ...]", value)])
    return ir.StringAttr.get(value)


def from_attribute(attribute: Any) -> Any:
    """The inverse of `to_attribute`; the text of an attribute of another kind."""
    if isinstance(attribute, ir.BoolAttr | ir.IntegerAttr | ir.StringAttr):
        return attribute.value
    if isinstance(attribute, ir.ArrayAttr):
        return tuple(from_attribute(each) for each in attribute)
    if isinstance(attribute, ir.DenseI64ArrayAttr):
        return tuple(attribute)
    return str(attribute)


def to_dictionary(value: Any) -> Any:
    """A dataclass as a dictionary attribute."""
    fields = dataclasses.asdict(value)
    return dictionary({name: each for name, each in fields.items() if each or name not in _WHERE_THERE})


def dictionary(fields: Mapping[str, Any]) -> Any:
    """Fields of a schedule or problem as a dictionary attribute."""
    return ir.DictAttr.get({name: to_attribute(field) for name, field in fields.items()})


def read_dictionary(operation: Any, name: str) -> dict[str, Any] | None:
    """A dictionary attribute of an operation as a dict, None if it has none. Raises InputError for another kind."""
    if name not in operation.attributes:
        return None
    attribute = operation.attributes[name]
    if not isinstance(attribute, ir.DictAttr):
        raise input_error(
            operation, f"'{name}' is {attribute}; expected a dictionary such as {{block = [128, 128, 64]}}"
        )
    return {each.name: from_attribute(each.attr) for each in (attribute[i] for i in range(len(attribute)))}


def written_schedule(function: Any) -> dict[str, Any]:
    """The schedule fields that stand on a function, checked, in their usual order. Raises ScheduleError."""
    fields = Schedule.check_fields(read_dictionary(function, SCHEDULE) or {}, location_of(function))
    known = {name: fields[name] for name in FIELDS if name in fields}
    return {**known, **{name: value for name, value in fields.items() if "." in name}}


def written_problem(function: Any) -> Problem | None:
    """The problem of a product that stands on its function, if one does."""
    return None if _is_rows(function) else _written(function, Problem)


def problems_beside(function: Any) -> tuple[tuple[str, Problem], ...]:
    """The products that have become a part of a kernel (`join-launches`), by name."""
    found = [each.value for each in function.attributes[JOINED]] if JOINED in function.attributes else []
    products: list[tuple[str, Problem]] = []
    for name, text in zip(found[::2], found[1::2], strict=True) if PROBLEM in function.attributes else ():
        held = parse_module(text, JOINED, function.context, own=True) if PROBLEM in text else None
        problem = written_problem(named(held, "func.func")[0]) if held is not None else None
        products += [(name, problem)] if problem is not None else []
    return tuple(products)


def written_row_problem(function: Any) -> RowProblem | None:
    """The problem of a kernel of rows that stands on its function, if one does."""
    return _written(function, RowProblem) if _is_rows(function) else None


def _is_rows(function: Any) -> bool:
    return KIND in function.attributes and from_attribute(function.attributes[KIND]) == KIND_OF_ROWS


def _written(function: Any, kind: Callable[..., Written]) -> Written | None:
    fields = read_dictionary(function, PROBLEM)
    try:
        return kind(**fields) if fields else None
    except TypeError as error:
        said = str(error).partition(" ")[2]
        raise input_error(function, f"'{PROBLEM}' is not what `select` writes: {said}") from None


def written_rows(function: Any) -> RowSchedule | None:
    """How the rows of a kernel are divided, if that stands on its function. Raises ScheduleError."""
    fields = read_dictionary(function, ROWS)
    if not fields:
        return None
    try:
        return RowSchedule.make(fields)
    except ScheduleError as error:
        raise ScheduleError(error.message, location_of(function)) from None


def decided_rows(function: Any) -> RowSchedule:
    """The same from `select` on. Raises InputError where it is missing."""
    rows = written_rows(function)
    if rows is None:
        raise input_error(function, f"a kernel of rows without {ROWS}, which 'select' writes")
    return rows


def module_string(module: Any, name: str) -> str | None:
    """A string attribute of the module, or None. Raises InputError for another kind."""
    attributes = module.operation.attributes
    if name not in attributes:
        return None
    if not isinstance(attributes[name], ir.StringAttr):
        raise input_error(module.operation, f"'{name}' is {attributes[name]}; expected a string")
    return attributes[name].value


def mark(module: Any, stage: str, chip: str) -> None:
    """Writes on a module how far it is, and for which chip."""
    with module.context:
        module.operation.attributes[STAGE] = ir.StringAttr.get(stage)
        module.operation.attributes[CHIP] = ir.StringAttr.get(chip)


def name_arguments(module: Any, source: str) -> None:
    """Records the names that arguments have in the source text, which the parser itself forgets."""
    for function in named(module, "func.func"):
        if not len(function.regions[0].blocks):
            continue
        attributes = argument_attributes(function)
        places = [location_of(argument.location) for argument in body(function).arguments]
        last = max((place.line for place in places if place is not None), default=0)
        lines = source.split("\n", last)  # what comes later may hold megabytes of weights
        for place, each in zip(places, attributes, strict=True):
            name = _name_at(lines, place)
            if name and NAME not in each:
                each[NAME] = ir.StringAttr.get(name)
        set_argument_attributes(function, attributes)


def _name_at(lines: list[str], location: Location | None) -> str | None:
    if location is None or not 0 < location.line <= len(lines):
        return None
    found = re.match(r"%([A-Za-z_][\w$.-]*)", lines[location.line - 1][location.column - 1 :])
    return found[1] if found else None
