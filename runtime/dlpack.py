"""DLPack tensors read and marked by hand: cuda.core knows neither bf16 nor the 8-bit floating-point types.

A capsule holds a DLManagedTensor, in one of two versions (dlpack.h). What is read here is not taken over: the capsule
frees its tensor when it is dropped, so it must be kept as long as the memory is used.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from mlir_gemm.errors import ArgumentError
from mlir_gemm.spec.element_types import Derived

CODES = Derived(lambda rows: {row.name: (row.dlpack, 8 * row.bytes) for row in rows})
"""DLDataType of each element type: its code and its bits."""
_TYPES = Derived(lambda rows: {(row.dlpack, 8 * row.bytes): row.name for row in rows})
_VERSIONED = b"dltensor_versioned"
_PLAIN = b"dltensor"
_READ_ONLY = 1
"""DLPACK_FLAG_BITMASK_READ_ONLY."""

_api: Any = ctypes.pythonapi
_is_valid = _api.PyCapsule_IsValid
_is_valid.argtypes, _is_valid.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_int
_get_pointer = _api.PyCapsule_GetPointer
_get_pointer.argtypes, _get_pointer.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p


class _Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _VersionedTensor(ctypes.Structure):
    """DLManagedTensorVersioned; the older DLManagedTensor starts with its DLTensor."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


@dataclass(frozen=True)
class Memory:
    """What a capsule says."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    dtype: str
    """By MLIR's name; else DLPack's numbers for it, in words."""
    readonly: bool
    capsule: Any
    """Keeps the memory."""


def read(array: Any, stream: int | None) -> Memory:
    """The memory of anything with `__dlpack__`. Its library orders `stream` after its pending work."""
    try:
        capsule = array.__dlpack__(stream=stream, max_version=(1, 0))
    except TypeError:  # a library from before versions
        capsule = array.__dlpack__(stream=stream)
    tensor, flags = _tensor(capsule)
    if tensor.lanes != 1:
        raise ArgumentError(f"elements of {tensor.lanes} numbers each given; the kernel takes plain numbers")
    code = (int(tensor.code), int(tensor.bits))
    rank: int = tensor.ndim
    return Memory(
        pointer=(tensor.data or 0) + tensor.byte_offset,
        shape=tuple(tensor.shape[:rank]) if rank else (),
        strides=tuple(tensor.strides[:rank]) if rank and tensor.strides else None,
        dtype=_TYPES.get(code, f"DLPack type {code[0]} of {code[1]} bits"),
        readonly=bool(flags & _READ_ONLY),
        capsule=capsule,
    )


def mark(capsule: Any, dtype: str) -> Any:
    """The same capsule with another element type of the same size."""
    tensor, _ = _tensor(capsule)
    tensor.code, tensor.bits = CODES[dtype]
    return capsule


def _tensor(capsule: Any) -> tuple[Any, int]:
    """The DLTensor in a capsule, and its flags."""
    if _is_valid(capsule, _VERSIONED):
        managed = _VersionedTensor.from_address(_get_pointer(capsule, _VERSIONED))
        return managed.tensor, managed.flags
    return _Tensor.from_address(_get_pointer(capsule, _PLAIN)), 0
