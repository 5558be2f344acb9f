"""Tensor maps on the host: 128 bytes that the driver encodes for an address, and a launch passes by value.

Those made are kept by address, so that a call with memory seen before only looks them up.
"""

from __future__ import annotations

import ctypes
from typing import Any

from mlir_gemm.errors import ArgumentError, DeviceError
from mlir_gemm.runtime.status import name_of
from mlir_gemm.spec.launch import Launch
from mlir_gemm.spec.tensor_map import ALIGNMENT, TensorMap

MAP_BYTES = 128
HOST_ALIGNMENT = 64
"""Of a map in the host's memory (CUDA driver API, CUtensorMap)."""
MOST_ADDRESSES = 256
"""Addresses that the maps of one memory are kept for; then the oldest goes."""


class Encoded:
    """One map for one address."""

    __slots__ = ("_memory", "address")

    def __init__(self, source: int) -> None:
        """Copies the map at `source`."""
        self._memory = ctypes.create_string_buffer(MAP_BYTES + HOST_ALIGNMENT)
        self.address = -(-ctypes.addressof(self._memory) // HOST_ALIGNMENT) * HOST_ALIGNMENT
        """What the parameter array points to."""
        ctypes.memmove(self.address, source, MAP_BYTES)


class Encoder:
    """Makes one map of a launch for the addresses that its memory comes to have."""

    def __init__(self, gpu: Any, description: TensorMap, launch: Launch) -> None:
        driver = gpu.driver
        self._gpu = gpu
        self._driver = driver
        self._description = description
        self._launch = launch
        self._zero = gpu.zero() if description.is_empty else None
        self._made: dict[int, Encoded] = {}
        # A map of nothing cannot be made. One element that is zero, with everything else out of bounds, reads the same.
        sizes = [1] * len(description.sizes) if description.is_empty else list(description.sizes)
        strides = [ALIGNMENT] * (len(sizes) - 1) if description.is_empty else list(description.strides)
        # Of one dimension there are no distances, but the driver refuses the null pointer that an empty list becomes.
        strides = strides or [ALIGNMENT]
        self._type = getattr(driver.CUtensorMapDataType, description.data_type)
        self._shape = (
            [driver.cuuint64_t(size) for size in reversed(sizes)],
            [driver.cuuint64_t(stride) for stride in reversed(strides)],
            [driver.cuuint32_t(size) for size in reversed(description.box)],
            [driver.cuuint32_t(1)] * len(sizes),
        )
        self._windows = _windows(driver, description) if description.steps else None
        self._options = (
            driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            getattr(driver.CUtensorMapSwizzle, description.driver_swizzle),
            # L2 fetches the lines that a box touches. With 256 bytes it fetches their neighbours, which come anyway:
            # weights read once took 5 to 7 % longer on the H200, rows at odd addresses up to 15 %.
            driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
            driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,  # zeros
        )

    def at(self, address: int) -> Encoded:
        """The map for memory at this address. Raises ArgumentError where there can be none."""
        found = self._made.get(address)
        if found is None:
            found = self._encode(address)
            while len(self._made) >= MOST_ADDRESSES:
                self._made.pop(next(iter(self._made)), None)  # another thread may have been faster
            self._made[address] = found
        return found

    def _encode(self, address: int) -> Encoded:
        start = address + self._description.offset_bytes if self._zero is None else int(self._zero.handle)
        rank = len(self._description.sizes)
        if self._windows is None:
            status, made = self._driver.cuTensorMapEncodeTiled(self._type, rank, start, *self._shape, *self._options)
        else:
            encode = self._driver.cuTensorMapEncodeIm2col
            status, made = encode(self._type, rank, start, *self._shape[:2], *self._windows, *self._options)
        if int(status):
            raise self._refusal(start, status)
        return Encoded(int(made.getPtr()))

    def _refusal(self, start: int, status: Any) -> ArgumentError | DeviceError:
        description, arguments = self._description, self._launch.arguments
        problem = description.problem()
        if problem is None and start % ALIGNMENT:
            problem = (
                f"its first element lies at {start:#x}, {start % ALIGNMENT} bytes past a multiple of {ALIGNMENT}; the "
                f"kernel reads and writes it by the tensor copy engine, which needs {ALIGNMENT}-byte alignment: pass a "
                "copy"
            )
        if description.memory < len(arguments):
            what = f"argument {description.memory} ('{arguments[description.memory].name}')"
            if problem is not None:
                return ArgumentError(f"{what}: {problem}")
        else:
            what = "an intermediate buffer or a constant"
        return DeviceError(
            f"making the tensor map of {what} on {self._gpu} failed: {problem or name_of(self._driver, status)}; sizes "
            f"{description.sizes}, strides of {description.strides_bytes} bytes, box {description.box}, at {start:#x}"
        )


def _windows(driver: Any, description: TensorMap) -> tuple[Any, ...]:
    """What cuTensorMapEncodeIm2col takes in the place of a box and its steps, innermost dimension first."""
    pixels, *_, channels = description.box
    steps = [driver.cuuint32_t(step) for step in (1, *reversed(description.steps), 1)]
    return list(reversed(description.lower)), list(reversed(description.upper)), channels, pixels, steps
