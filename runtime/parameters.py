"""Kernel parameters in the form that the driver takes: for each step an array of pointers to slots, which hold device
addresses and, after them, the sizes that kernels take. A call writes the addresses, and all steps read the slots. For
a tensor map the pointer is to the map itself, which is another one when its memory is elsewhere."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from mlir_gemm.runtime.tensor_maps import Encoded, Encoder
from mlir_gemm.spec.launch import Launch
from mlir_gemm.spec.tensor_map import TensorMap


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
            (ctypes.c_void_p * len(step.parameters))(*(base + size * index for index in step.memory))
            for step in launch.steps
        ]
        self.addresses = tuple(ctypes.addressof(pointers) for pointers in self._pointers)
        """For each step what `cuLaunchKernel` takes."""
        self.written: list[int] | None = None
        """The passed arguments' addresses that the slots hold, checked; None when they were not."""
        self._view = memoryview(self.slots)
        self._count = count
        buffers = list(enumerate(launch.buffers, start=count))
        self._buffers = tuple((number, buffer.offset or 0) for number, buffer in buffers if not buffer.zeroed)
        self._zeroed = tuple((number, buffer.offset or 0) for number, buffer in buffers if buffer.zeroed)
        self._workspace = self._flags = 0
        passed = sum(argument.role != "result" for argument in launch.arguments)
        moving = range(passed, count + len(launch.buffers))
        maps = [_Map(each, number, self._uses(launch, each)) for number, each in enumerate(launch.tensor_maps)]
        self._maps = [each for each in maps if each.memory not in moving]
        self._moving = [each for each in maps if each.memory in moving]
        self.has_moving_maps = bool(self._moving)
        """Whether there are tensor maps of what each call may have elsewhere: results and intermediate buffers."""

    def contents(self) -> bytes:
        """The contents of the slots. They determine everything that the kernels get, as tensor maps follow from the
        addresses."""
        return self._view.tobytes()

    def write(self, pointers: Sequence[int]) -> None:
        """Sets the arguments' addresses."""
        self.slots[: self._count] = pointers

    def place(self, workspace: int) -> None:
        """Sets the buffers' addresses, from that of the workspace."""
        if workspace != self._workspace:
            for number, offset in self._buffers:
                self.slots[number] = workspace + offset
            self._workspace = workspace

    def place_flags(self, address: int) -> None:
        """Sets the addresses of the buffers that are zero between launches, from that of the memory they lie in."""
        if address != self._flags:
            for number, offset in self._zeroed:
                self.slots[number] = address + offset
            self._flags = address

    def write_maps(self, encoders: Sequence[Encoder]) -> None:
        """Points to the tensor maps for where the passed arguments and the constants are now; `encoders` make them, in
        the order of `Launch.tensor_maps`. Raises ArgumentError for memory that there can be no map of."""
        for each in self._maps:
            each.follow(self.slots[each.memory], encoders)

    def write_moving_maps(self, encoders: Sequence[Encoder]) -> None:
        """The same for results and intermediate buffers."""
        for each in self._moving:
            each.follow(self.slots[each.memory], encoders)

    def _uses(self, launch: Launch, wanted: TensorMap) -> list[tuple[Any, int]]:
        """Where a map is a parameter: a step's pointers, and the place among them."""
        return [
            (pointers, place)
            for pointers, step in zip(self._pointers, launch.steps, strict=True)
            for place, each in enumerate(step.parameters)
            if each == wanted
        ]


class _Map:
    """A tensor map among the parameters."""

    __slots__ = ("_encoded", "_number", "_place", "_uses", "memory")

    def __init__(self, description: TensorMap, number: int, uses: list[tuple[Any, int]]) -> None:
        self.memory = description.memory
        self._number = number
        self._uses = uses
        self._place: int | None = None
        self._encoded: Encoded | None = None
        """What the pointers point to, kept for as long as they do."""

    def follow(self, address: int, encoders: Sequence[Encoder]) -> None:
        """Points to the map for this address."""
        if address == self._place:
            return
        encoded = encoders[self._number].at(address)
        for pointers, place in self._uses:
            pointers[place] = encoded.address
        self._place, self._encoded = address, encoded
