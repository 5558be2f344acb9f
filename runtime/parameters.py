"""Kernel parameters in the form that the driver takes: for each step an array of pointers to slots, which hold device
addresses and, behind them, the sizes that kernels take. A call writes the addresses, and all steps read the slots."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from mlir_gemm.pipeline.launch import Launch


class Parameters:
    """The parameters of all steps of a launch."""

    def __init__(self, launch: Launch, constants: Sequence[int] = ()) -> None:
        count = len(launch.arguments)
        fixed = [*constants, *launch.values]
        self.slots = (ctypes.c_uint64 * (count + len(launch.buffers) + len(fixed)))()
        """One slot for each number of memory (arguments, intermediate buffers, constants), then one for each size."""
        self.slots[count + len(launch.buffers) :] = fixed
        base, size = ctypes.addressof(self.slots), ctypes.sizeof(ctypes.c_uint64)
        self._pointers = [
            (ctypes.c_void_p * len(step.parameters))(*(base + size * index for index in step.parameters))
            for step in launch.steps
        ]
        self.addresses = tuple(ctypes.addressof(pointers) for pointers in self._pointers)
        """For each step what `cuLaunchKernel` takes."""
        self.written: list[int] | None = None
        """The passed arguments' addresses that the slots hold, checked; None when they were not."""
        self._count = count
        self._buffers = tuple((number, buffer.offset or 0) for number, buffer in enumerate(launch.buffers, start=count))
        self._workspace = 0

    def write(self, pointers: Sequence[int]) -> None:
        """Sets the arguments' addresses."""
        self.slots[: self._count] = pointers

    def place(self, workspace: int) -> None:
        """Sets the buffers' addresses, from that of the workspace."""
        if workspace != self._workspace:
            for number, offset in self._buffers:
                self.slots[number] = workspace + offset
            self._workspace = workspace
