"""Types of elements by their names, numbers as MLIR reads them, and the line of the user's that is traced."""

from __future__ import annotations

import inspect
import math
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from mlir_gemm.errors import InputError, Location
from mlir_gemm.spec.element_types import TYPES

TRUTH = "i1"
_HERE = str(Path(__file__).parent)
_COMPLEX = {"complex32": "complex<f16>", "complex64": "complex<f32>", "complex128": "complex<f64>"}
"""MLIR's names of the complex types of NumPy and PyTorch."""


def is_complex(type_: str) -> bool:
    """Whether elements of a type are complex numbers."""
    return type_.startswith("complex<")


def part_of(type_: str) -> str:
    """The type of the parts of a complex type."""
    return type_.removeprefix("complex<").removesuffix(">")


def is_float(type_: str) -> bool:
    """Whether elements of a type are floating-point numbers, complex ones among them."""
    return is_complex(type_) or TYPES[type_].is_float


def element_name(dtype: Any) -> str:
    """MLIR's name of an element type, from any of its names or from a type of NumPy's or PyTorch's."""
    name = getattr(dtype, "__name__", None) or getattr(dtype, "name", None) or str(dtype)
    name = str(name).removeprefix("torch.")
    if name in _COMPLEX:
        return _COMPLEX[name]
    found = TYPES.get(name) or next((row for row in TYPES.values() if row.common_name == name), None)
    if found is None or (name == "bool" and TRUTH not in TYPES):
        refuse(f"'{name}' is not an element type; expected {', '.join(TYPES)}")
    return found.name


def refuse(message: str) -> NoReturn:
    """Raises InputError at the line of the function that is traced."""
    raise InputError(message, place_of_user())


def place_of_user() -> Location | None:
    """The line outside this package that runs; None where there is none."""
    frame: FrameType | None = inspect.currentframe()
    while frame is not None and (frame.f_code.co_filename.startswith(_HERE) or "/numpy/" in frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return None
    return Location(frame.f_code.co_filename, frame.f_lineno, _column(frame))


def _column(frame: FrameType) -> int:
    places = list(frame.f_code.co_positions())
    column = places[frame.f_lasti // 2][2] if frame.f_lasti // 2 < len(places) else None
    return 1 + (column or 0)


def location() -> str:
    """The line of the user that runs, as MLIR writes it after an operation; empty where there is none."""
    place = place_of_user()
    return f' loc("{_quoted(place.file)}":{place.line}:{place.column})' if place else ""


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def literal(number: float, type_: str) -> str:
    """A number as MLIR reads it: those that no decimal writes, by their bits."""
    if math.isfinite(number):
        return f"{number!r}" if "." in repr(number) or "e" not in repr(number) else repr(number).replace("e", ".0e")
    bits = {"f64": (11, 52), "f32": (8, 23), "f16": (5, 10), "bf16": (8, 7)}.get(type_)
    if bits is None:
        refuse(f"{type_} has no {number}")
    exponent, fraction = bits
    value = ((1 << exponent) - 1) << fraction
    value |= (1 << (fraction - 1)) if math.isnan(number) else (1 << (exponent + fraction)) if number < 0 else 0
    return f"0x{value:0{(1 + exponent + fraction) // 4}X}"
