"""Element types: a row for each, with all that is known of it. Other tables of types are made from the rows.

A row is added here, or from outside the package: `mlir_gemm.register(mlir_gemm.ElementType(...))`, which takes the
8-bit floats of MLIR that are not here. Which types an instruction multiplies is not said here but with the instruction
(`parts/mma/`).

NumPy is imported only when its types are asked for, and `ml_dtypes`, which adds bf16 and the 8-bit ones to it, only for
those.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from mlir_gemm.errors import Error
from mlir_gemm.spec import extensions
from mlir_gemm.spec.eight_bit_floats import MLIR_NAMES, EightBitFloat, format_of

UNSIGNED_BYTE = "ui8"
"""MLIR's i8 has no sign of its own: a kernel that takes i8 takes int8 and uint8. Arrays of uint8 go by this name."""
_BYTE = "UINT8"
"""The driver's name for what a tensor map moves as bytes."""
_ACCUMULATED_BYTES = 4
K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")


@dataclass(frozen=True)
class ElementType:
    """One element type."""

    name: str
    """By which MLIR knows it."""
    common_name: str
    """By which NumPy, PyTorch, CuPy and JAX know it."""
    kind: str
    """`float`, `integer` or `boolean`."""
    bytes: int
    """Of an element in memory."""
    dlpack: int
    """DLPack's code for it (dlpack.h, DLDataTypeCode), as a type of 8 bits for each of `bytes`."""
    tensor_map: str
    """The driver's name for elements that a tensor map moves. It moves bytes, so those that it has no name for go as
    integers of their size."""
    type_string: str = ""
    """How NumPy's array protocols write it; empty where they cannot, and NumPy knows it by `ml_dtypes` only."""
    error: float = 0.0
    """Relative error (Frobenius norm) that is allowed in a result for one rounding to it; integers are exact."""
    taken_as: str = ""
    """Of a type that only arrays have, and no module: the type of the kernels that take them."""

    @property
    def is_float(self) -> bool:
        """Whether its elements are floating-point numbers."""
        return self.kind == "float"

    @property
    def bits(self) -> int:
        """Of an element as a number."""
        return 1 if self.kind == "boolean" else 8 * self.bytes

    @property
    def is_narrow(self) -> bool:
        """Whether sums are kept in a wider type: f32 or i32."""
        return self.kind != "boolean" and self.bytes < _ACCUMULATED_BYTES

    @property
    def format(self) -> EightBitFloat | None:
        """Of an 8-bit float; None of all others."""
        return format_of(self.name)

    def check(self) -> None:
        """Raises Error for a row that cannot be added from outside."""
        for problem in _problems(self):
            raise Error(f"element type '{self.name}': {problem}")


def _float(name: str, common: str, size: int, dlpack: int, moved: str, error: float, text: str = "") -> ElementType:
    return ElementType(name, common, "float", size, dlpack, moved, text, error)


def _integer(name: str, common: str, size: int, moved: str, text: str) -> ElementType:
    return ElementType(name, common, "integer", size, 0, moved, text)


ROWS = (
    _float("f16", "float16", 2, 2, "FLOAT16", 5e-4, "<f2"),
    _float("bf16", "bfloat16", 2, 4, "BFLOAT16", 4e-3),
    _float("f32", "float32", 4, 2, "FLOAT32", 1e-5, "<f4"),
    _float("f64", "float64", 8, 2, "FLOAT64", 1e-12, "<f8"),
    _float("f8E4M3FN", "float8_e4m3fn", 1, 10, _BYTE, 3.2e-2),
    _float("f8E5M2", "float8_e5m2", 1, 12, _BYTE, 6.3e-2),
    _float("f8E4M3FNUZ", "float8_e4m3fnuz", 1, 11, _BYTE, 3.2e-2),
    ElementType("i1", "bool", "boolean", 1, 6, _BYTE, "|b1"),
    _integer("i8", "int8", 1, _BYTE, "|i1"),
    _integer("i16", "int16", 2, "UINT16", "<i2"),
    _integer("i32", "int32", 4, "INT32", "<i4"),
    _integer("i64", "int64", 8, "INT64", "<i8"),
    ElementType(UNSIGNED_BYTE, "uint8", "integer", 1, 1, _BYTE, "|u1", taken_as="i8"),
)
"""Those of the package. The errors of f32 and f64 leave room for the order of a sum."""


class Derived(dict[K, V]):
    """A table made from the rows, which follows what is registered. Entry points are read before it says that it lacks
    something."""

    def __init__(self, make: Callable[[Sequence[ElementType]], Mapping[K, V]]) -> None:
        super().__init__()
        self._make = make
        extensions.on_change(self._follow)
        self._follow()

    def _follow(self) -> None:
        rows = _rows()
        made = self._make(rows)
        if rows != _rows():  # to make it, others were asked, who read entry points: this table has followed them
            return
        self.update(made)
        for key in self.keys() - made.keys():
            del self[key]

    def __missing__(self, key: K) -> V:
        if key in self:
            return self[key]
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        if super().__contains__(key):
            return True
        extensions.registered()
        return super().__contains__(key)

    @overload
    def get(self, key: K, default: None = None, /) -> V | None: ...
    @overload
    def get(self, key: K, default: V, /) -> V: ...
    @overload
    def get(self, key: K, default: T, /) -> V | T: ...
    def get(self, key: K, default: Any = None, /) -> Any:
        try:
            return self[key]
        except KeyError:
            return default


def _rows() -> tuple[ElementType, ...]:
    return *ROWS, *extensions.so_far(ElementType)


def of_modules(rows: Sequence[ElementType]) -> list[ElementType]:
    """The rows of the types that a module may have; the others are for arrays only."""
    return [row for row in rows if not row.taken_as]


TYPES = Derived(lambda rows: {row.name: row for row in of_modules(rows)})
"""The rows of types that a module may have, by their MLIR names, as all tables below."""
ELEMENT_BYTES = Derived(lambda rows: {row.name: row.bytes for row in of_modules(rows)})
ITEM_BYTES = Derived(lambda rows: {row.name: row.bytes for row in rows})
"""The same with types that only arrays have."""
NAMES = Derived(lambda rows: {row.name: row.common_name for row in rows})
"""The names that NumPy, PyTorch, CuPy and JAX share."""
BY_NAME = Derived(lambda rows: {row.common_name: row.name for row in rows})
"""MLIR's names by those."""
TYPE_STRINGS = Derived(lambda rows: {row.name: row.type_string for row in rows if row.type_string})
"""How NumPy's array protocols write types; they have no way to write bf16 and the 8-bit floating-point types."""
FORMATS = Derived(lambda rows: {row.name: row.format for row in rows if row.format is not None})
"""The formats of 8-bit floats."""
_IN_NUMPY = Derived(lambda rows: {row.name: bool(row.type_string) for row in rows})
_TAKEN_AS = Derived(lambda rows: {row.name: row.taken_as for row in rows if row.taken_as})


def numpy_dtype(dtype: str) -> Any:
    """The NumPy type of elements of an MLIR type."""
    name = NAMES[dtype]
    known = name if _IN_NUMPY[dtype] else getattr(importlib.import_module("ml_dtypes"), name)
    return importlib.import_module("numpy").dtype(known)


def accepts(wanted: str, given: str) -> bool:
    """Whether a kernel that takes elements of type `wanted` may be given those of type `given`."""
    return given == wanted or _TAKEN_AS.get(given) == wanted


def spread(memory: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """A view of a flat NumPy array with these sizes and strides, in elements. (NumPy's own `as_strided` does not take
    every type of `ml_dtypes`.)"""
    tricks = importlib.import_module("numpy").lib.stride_tricks
    size = memory.itemsize
    return tricks.as_strided(memory.view(f"u{size}"), shape, tuple(size * step for step in strides)).view(memory.dtype)


def _problems(row: ElementType) -> Iterator[str]:
    """What is wrong with a row from outside, worst first."""
    here = {each.name for each in ROWS}
    form = row.format
    if row.name in here:
        yield "mlir-gemm has it already"
    if form is None:
        known = ", ".join(name for name in MLIR_NAMES if name not in here)
        yield f"MLIR has no such 8-bit float of numbers; expected one of {known} (wider types are all there)"
        return
    if (row.kind, row.bytes, row.tensor_map) != ("float", 1, _BYTE):
        yield f"a {row.kind} of {row.bytes} bytes, moved as {row.tensor_map}; expected a float of 1, moved as {_BYTE}"
    common = f"float8_{row.name[2:].lower()}"
    if row.common_name != common:
        yield f"common name '{row.common_name}'; NumPy knows it as ml_dtypes.{common}"
    if row.type_string or row.taken_as:
        yield f"'{row.type_string or row.taken_as}'; NumPy has no way to write it, and a module may have it itself"
    others = [each for each in _rows() if each.bytes == 1 and each.name != row.name]
    codes = {each.dlpack: each.name for each in others}
    if not 0 <= row.dlpack <= 0xFF or row.dlpack in codes:
        whose = codes.get(row.dlpack, "no type")
        yield f"DLPack's code {row.dlpack} is that of {whose}; expected its own, as dlpack.h has it"
    step = 2.0**-form.mantissa
    if not step / 4 <= row.error <= step:
        yield f"an error of {row.error}; expected {step / 4} to {step}: its mantissa has {form.mantissa} bits"
