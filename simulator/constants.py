"""The values of constants: splats, dense elements, and resources, which come after the module."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.errors import unsupported

_RESOURCE = re.compile(r'dense_resource<(?:"([^"]+)"|([^>]+))>')
_NUMBER = re.compile(r"-?0x[0-9A-Fa-f]+|[-+]?\d[\d.]*(?:[eE][-+]?\d+)?|true|false")
_ALIGNMENT_BYTES = 4
"""A resource's text starts with its alignment, a number of this many bytes."""


def dense_contents(attribute: Any, dtype: Any, operation: Any) -> Any:
    """The elements of an attribute of a shaped type as an array of `dtype`. Raises SimulationError."""
    shape = tuple(ir.ShapedType(attribute.type).shape)
    if isinstance(attribute, ir.DenseElementsAttr):
        if attribute.is_splat:
            value = attribute.get_splat_value().value
            return np.full(shape, np.asarray(value).astype(dtype), dtype)
        if dtype.kind in "iub" or dtype in (
            np.float16,
            np.float32,
            np.float64,
        ):  # these have a buffer
            return np.array(attribute).astype(dtype, copy=False).reshape(shape)
        return _from_text(str(attribute), dtype).reshape(shape)
    found = _RESOURCE.match(str(attribute))
    if found is None:
        raise unsupported(operation, f"the constant {str(attribute)[:60]} is not simulated; expected dense elements")
    return _resource(found[1] or found[2], dtype, math.prod(shape), operation).reshape(shape)


def _from_text(text: str, dtype: Any) -> Any:
    """Elements of a type that NumPy lacks: their text, or their bytes in hexadecimal."""
    inside = text[text.index("<") + 1 : text.rindex(">", 0, text.rindex(":"))]
    if inside.startswith('"0x'):
        return np.frombuffer(bytes.fromhex(inside[3:-1]), dtype).copy()
    words = _NUMBER.findall(inside)
    bits = np.dtype(f"u{dtype.itemsize}")
    values = [
        np.asarray(int(w, 16), bits).view(dtype) if "0x" in w else np.asarray(float(w)).astype(dtype) for w in words
    ]
    return np.array(values, dtype)


def _resource(name: str, dtype: Any, count: int, operation: Any) -> Any:
    """The bytes of a resource: the bindings do not give them, the text of the module does."""
    top = operation.operation
    while top.parent is not None:
        top = top.parent.operation
    text = str(top)
    found = re.search(rf'[\s,{{]"?{re.escape(name)}"?\s*:\s*"0x([0-9A-Fa-f]*)"', text[text.rfind("{-#") :])
    if found is None:
        raise unsupported(operation, f"the resource {name} is not in the module")
    raw = bytes.fromhex(found[1])[_ALIGNMENT_BYTES:]
    if len(raw) != count * dtype.itemsize:
        raise unsupported(operation, f"the resource {name} has {len(raw)} bytes; expected {count * dtype.itemsize}")
    return np.frombuffer(raw, dtype).copy()
