"""The data of constants that stand in a module, as bytes: dense attributes and dense resources of every type.

The bindings show the elements of most types; those of bf16 and the 8-bit types, and resources, are read off the text.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, cast

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.deferred_package import later
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.spec.element_types import numpy_dtype

with later("numpy"):  # an eighth of the time of a module without constants
    import numpy as np

_RESOURCE = re.compile(r'dense_resource<"?([^">]+)"?>')
_BLOB = re.compile(r'([\w$.-]+|"[^"]*"): "0x([0-9A-Fa-f]*)"')
_BLOB_HEADER = 4
"""A resource's text starts with its alignment, in 4 bytes."""
_HEX = re.compile(r'dense<"0x([0-9A-Fa-f]*)">')
_NUMBER = re.compile(r"0x[0-9A-Fa-f]+|[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")


class ConstantData:
    """Reads the constants of one module."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def of(self, declared: Any) -> bytes:
        """The elements of a memref.global in row-major order, little-endian, i1 in a byte each. Raises InputError."""
        attributes = declared.operation.attributes
        type_ = ir.MemRefType(ir.TypeAttr(attributes["type"]).value)
        if "initial_value" not in attributes or isinstance(attributes["initial_value"], ir.UnitAttr):
            raise input_error(declared, "a constant without a value")
        return self._checked(declared, attributes["initial_value"], type_)

    def of_tensor(self, constant: Any) -> np.ndarray[Any, np.dtype[Any]]:
        """The elements of an arith.constant that is a tensor, in its shape. Raises InputError."""
        type_ = ir.RankedTensorType(constant.operation.results[0].type)
        data = self._checked(constant, constant.operation.attributes["value"], type_)
        return np.frombuffer(data, numpy_dtype(str(type_.element_type))).reshape(type_.shape)

    def _checked(self, declared: Any, value: Any, type_: Any) -> bytes:
        element = str(type_.element_type)
        data = self._bytes(declared, value, element)
        size = int(np.prod(type_.shape, dtype=np.int64)) * numpy_dtype(element).itemsize
        if len(data) != size:
            raise input_error(declared, f"a constant of {len(data)} bytes for {type_}, which takes {size}")
        return data

    @cached_property
    def _resources(self) -> dict[str, bytes]:
        text = str(self._module)
        tail = text[text.rfind("\n{-#") :]
        return {found[1].strip('"'): bytes.fromhex(found[2])[_BLOB_HEADER:] for found in _BLOB.finditer(tail)}

    def _bytes(self, declared: Any, value: Any, element: str) -> bytes:
        try:
            return memoryview(value).tobytes()
        except (TypeError, ValueError, BufferError):
            text = str(value)
        resource = _RESOURCE.match(text)
        if resource:
            if resource[1] not in self._resources:
                raise input_error(declared, f"the data of the resource '{resource[1]}' is not in the module")
            return self._resources[resource[1]]
        whole = _HEX.match(text)
        data = bytes.fromhex(whole[1]) if whole else _numbers(text[len("dense<") : text.rindex("> :")], element)
        if getattr(value, "is_splat", False) and len(data) == numpy_dtype(element).itemsize:
            data *= int(np.prod(ir.ShapedType(value.type).shape, dtype=np.int64))
        return data


def _numbers(text: str, element: str) -> bytes:
    """Numbers as MLIR prints them; 0x... are the bits of what has no decimal form."""
    dtype = numpy_dtype(element)
    bits = np.dtype(f"u{dtype.itemsize}")
    found = [
        np.array(int(number, 16), bits) if number.startswith("0x") else np.array(float(number), dtype).view(bits)
        for number in cast("list[str]", _NUMBER.findall(text))
    ]
    return np.array(found, bits).tobytes()
