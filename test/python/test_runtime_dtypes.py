"""Element types at the runtime's border: NumPy, `ml_dtypes`, PyTorch's names, and DLPack."""

from __future__ import annotations

import ctypes
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from mlir_gemm.errors import ArgumentError
from mlir_gemm.runtime import arguments, arrays, dlpack, results
from mlir_gemm.runtime.device import Gpu
from mlir_gemm.spec.element_types import ITEM_BYTES, NAMES, numpy_dtype, spread
from mlir_gemm.spec.launch import Argument

BEYOND_NUMPY = ("bf16", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ")


@pytest.mark.parametrize("dtype", NAMES)
def test_numpy_arrays_of_every_type_are_known(dtype: str) -> None:
    array = np.zeros((2, 3), numpy_dtype(dtype))
    assert array.itemsize == ITEM_BYTES[dtype]
    view = arrays.view(array, "numpy", None, 0)
    assert (view.dtype, view.shape, view.strides) == (dtype, (2, 3), (3, 1))


def test_the_types_beyond_numpy_are_those_of_ml_dtypes() -> None:
    names = (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fnuz)
    assert [numpy_dtype(dtype) for dtype in BEYOND_NUMPY] == [np.dtype(each) for each in names]


def test_i8_takes_int8_and_uint8() -> None:
    wanted = (Argument("a", (2,), "i8", "in"),)
    for dtype in ("int8", "uint8"):
        arguments.check([arrays.view(np.zeros(2, dtype), "numpy", None, 0)], wanted, 0)
    with pytest.raises(ArgumentError, match=r"bool given, the kernel takes int8 or uint8 \(i8\)"):
        arguments.check([arrays.view(np.zeros(2, "bool"), "numpy", None, 0)], wanted, 0)
    with pytest.raises(ArgumentError, match=r"uint8 given, the kernel takes float8_e5m2 \(f8E5M2\)"):
        view = arrays.view(np.zeros(2, "uint8"), "numpy", None, 0)
        arguments.check([view], (Argument("a", (2,), "f8E5M2", "in"),), 0)


@pytest.mark.parametrize("dtype", [dtype for dtype in NAMES if dtype not in BEYOND_NUMPY])
def test_dlpack_is_read(dtype: str) -> None:
    array = np.ones((4, 6), numpy_dtype(dtype))[:, ::2]
    found = dlpack.read(array, None)
    assert (found.pointer, found.shape, found.strides, found.dtype) == (array.ctypes.data, (4, 3), (6, 2), dtype)
    assert not found.readonly
    array.flags.writeable = False
    assert dlpack.read(array, None).readonly


def test_dlpack_of_an_older_library() -> None:
    class Older:
        def __init__(self, array: Any) -> None:
            self.array = array

        def __dlpack__(self, *, stream: Any = None) -> Any:
            return self.array.__dlpack__(stream=stream)

    array = np.ones((2, 3), np.float32)
    found = dlpack.read(Older(array), None)
    assert (found.pointer, found.shape, found.dtype) == (array.ctypes.data, (2, 3), "f32")


@pytest.mark.parametrize("version", [None, (1, 0)])
@pytest.mark.parametrize("dtype", BEYOND_NUMPY)
def test_dlpack_is_marked_for_what_numpy_has_not(dtype: str, version: Any) -> None:
    array = np.zeros((2, 3), f"u{ITEM_BYTES[dtype]}")
    capsule = dlpack.mark(array.__dlpack__(max_version=version), dtype)

    class Exporter:
        def __dlpack__(self, **_: Any) -> Any:
            return capsule

    assert dlpack.read(Exporter(), None).dtype == dtype


def test_types_that_no_kernel_takes_are_named() -> None:
    found = dlpack.read(np.zeros(3, np.complex64), None)
    assert found.dtype == "DLPack type 5 of 64 bits"


class OnHost(Gpu):
    """A GPU whose memory is the host's."""

    def allocate(self, size: int, stream: int) -> Any:
        memory = ctypes.create_string_buffer(size)
        memory.handle = ctypes.addressof(memory)  # type: ignore[attr-defined]
        return memory


@pytest.mark.parametrize("dtype", [dtype for dtype in NAMES if dtype != "ui8"])
def test_results_of_every_type(dtype: str) -> None:
    result = results.DeviceArray(OnHost(0, None, 0), Argument("r", (2, 3), dtype, "result"), 0)
    assert result.dtype == NAMES[dtype]
    if dtype in BEYOND_NUMPY:
        assert not hasattr(result, "__cuda_array_interface__")
    else:
        typestr = result.__cuda_array_interface__["typestr"]
        assert np.dtype(typestr) == numpy_dtype(dtype)


@pytest.mark.parametrize("dtype", NAMES)
def test_spread(dtype: str) -> None:
    memory = np.zeros(10, numpy_dtype(dtype))
    view = spread(memory, (2, 3), (6, 1))
    view[...] = np.ones((2, 3)).astype(view.dtype)
    assert memory.astype(np.float32).tolist() == [1, 1, 1, 0, 0, 0, 1, 1, 1, 0]
