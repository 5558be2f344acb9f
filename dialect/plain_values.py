"""Keeps values of our modules as plain values of the bindings, whoever else uses the bindings in this process.

A value caster, registered for a type, is applied to each value of that type in every context of the process. Numba's
make classes whose `==` writes a comparison into the module, and which do not know the number of an argument.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from mlir_gemm.spec.eight_bit_floats import MLIR_NAMES
from mlir_gemm.spec.element_types import ROWS

Caster = Callable[[Any], Any]

_FLOATS = tuple(row.name for row in ROWS if row.is_float)
_OTHERS = ("index", "i1", "tf32", "complex<f32>", "memref<1xf32>", "tensor<1xf32>", "vector<1xf32>")
TYPES = tuple(dict.fromkeys((*_FLOATS, *MLIR_NAMES, *_OTHERS)))
"""One type of each class that our modules have values of, or may have once an 8-bit float is registered."""

_plain: weakref.WeakSet[Any] = weakref.WeakSet()
"""The contexts whose values no caster changes."""


def keep_plain(context: Any) -> None:
    """Exempts the values of a context from casters."""
    _plain.add(context)


def exempt(ir: Any, native: Any, *, used_before: bool) -> None:
    """Makes casters ask for exemptions: those that will be registered, and with `used_before`, that is where others may
    have used the bindings already, those that were. `native` is the module that `ir` takes its names from."""
    original = native.register_value_caster

    def register_value_caster(*asked: Any, **options: Any) -> Callable[[Caster], Caster]:
        register = original(*asked, **options)

        def decorate(caster: Caster) -> Caster:
            register(_asking(caster))
            return caster

        return decorate

    if used_before:
        for typeid, caster in _registered(ir):
            original(typeid, replace=True)(_asking(caster))
    native.register_value_caster = ir.register_value_caster = register_value_caster


def _asking(caster: Caster) -> Caster:
    def cast(value: Any) -> Any:
        return value if value.context in _plain else caster(value)

    return cast


def _registered(ir: Any) -> list[tuple[Any, Caster]]:
    """The casters that there are. The bindings do not list them: what they make of a value shows them."""
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.create()
        types = [ir.Type.parse(text) for text in TYPES]
        unreal = ir.Operation.create(
            "builtin.unrealized_conversion_cast", results=types, operands=[], ip=ir.InsertionPoint(module.body)
        )
        values = list(unreal.results)
        return [
            (type_.typeid, type(value))
            for type_, value in zip(types, values, strict=True)
            if type(value) is not ir.OpResult
        ]
