"""Memory for the intermediate buffers of programs, kept between calls so that a call need not allocate it.

What is on one stream runs in order, so all programs that a GPU runs on a stream may have their buffers in the same
memory. A call takes a block of its stream, and gives it back when everything is launched: calls of several threads on
one stream, whose launches may mix, have a block each. A stream is known by its handle, as in PyTorch's allocator.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from mlir_gemm.runtime.status import checked

if TYPE_CHECKING:
    from mlir_gemm.runtime.device import Gpu

MOST_KEPT = 32 * 2**20
"""Bytes of the largest block, as of cuBLAS's workspace in PyTorch on sm_90. Programs that need more take as long on the
GPU as to make no matter of what the host takes."""
_LEGACY_STREAM = 1
"""How `cuMemAllocAsync` names the default stream, whose handle is 0 in a launch."""

Block = tuple[int, int]
"""Address and size."""


class Workspaces:
    """The blocks of one GPU, whose context is current when they are asked for."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        self._free: dict[int, list[Block]] = {}

    def take(self, size: int, stream: int) -> Block:
        """A block of at least this size for launches on a stream that is not captured."""
        free = self._free.get(stream)
        if free is None:
            free = self._free.setdefault(stream, [])
        try:
            block = free.pop()  # one thread gets it
        except IndexError:
            return self._allocate(size, stream)
        return block if block[1] >= size else self._larger(block, size, stream)

    def give(self, block: Block, stream: int) -> None:
        """Takes back what `take` gave, when everything that uses it is on the stream."""
        self._free[stream].append(block)

    def _larger(self, block: Block, size: int, stream: int) -> Block:
        driver, on = self._driver, self._driver.CUstream(stream or _LEGACY_STREAM)
        checked(driver, driver.cuMemFreeAsync(block[0], on), "freeing a workspace")
        return self._allocate(size, stream)

    def _allocate(self, size: int, stream: int) -> Block:
        driver, on = self._driver, self._driver.CUstream(stream or _LEGACY_STREAM)
        size = 1 << (size - 1).bit_length()  # few sizes: the next program finds it large enough
        return int(checked(driver, driver.cuMemAllocAsync(size, on), "allocating a workspace")), size


@functools.cache
def workspaces_of(gpu: Gpu) -> Workspaces:
    """Those of a GPU, for as long as the process lives."""
    return Workspaces(gpu.driver)
