"""Memory that is zero between the launches of a kernel, which leave it so: flags by which its blocks wait for others.

Launches that may run at the same time must not share it. Those on one stream run one after another, so each stream has
its own; and so has each capture of a stream into a graph, because graphs may be launched on any stream. The memory is
kept as long as the process lives, since a graph may hold its address: some kilobytes for each.
"""

from __future__ import annotations

import threading
from typing import Any

from mlir_gemm.runtime.status import checked

_NOT_CAPTURING = 0
"""CU_STREAM_CAPTURE_STATUS_NONE."""


class Flags:
    """The flags of one launch on one GPU, whose context is current when they are asked for."""

    def __init__(self, driver: Any, size: int) -> None:
        self._driver = driver
        self._size = size
        self._made: dict[tuple[int, int], int] = {}
        self._lock = threading.Lock()

    def at(self, stream: int) -> int:
        """The address of those for what is launched on a stream now."""
        driver = self._driver
        status, capturing = driver.cuStreamIsCapturing(stream)
        if int(status) or int(capturing) != _NOT_CAPTURING:
            checked(driver, (status, capturing), "asking whether a stream is captured")
            # The driver tells no number of a stream that is captured. Several may be captured into one graph.
            key = stream, int(driver.cuStreamGetCaptureInfo(stream)[2])
        else:
            # Handles may come back, and mean another stream in each thread; these numbers do not.
            key = int(checked(driver, driver.cuStreamGetId(stream), "asking for the number of a stream")), 0
        address = self._made.get(key)
        if address is None:
            with self._lock:
                address = self._made.get(key)
                if address is None:
                    address = self._made[key] = self._make()
        return address

    def _make(self) -> int:
        """Allocated and cleared beside whatever is being captured."""
        driver = self._driver
        relaxed = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        before = checked(driver, driver.cuThreadExchangeStreamCaptureMode(relaxed), "setting the mode of captures")
        try:
            memory = checked(driver, driver.cuMemAlloc(self._size), "allocating flags")
            own = driver.CUstream_flags.CU_STREAM_NON_BLOCKING
            stream = checked(driver, driver.cuStreamCreate(int(own)), "creating a stream")
            try:
                checked(driver, driver.cuMemsetD8Async(memory, 0, self._size, stream), "clearing flags")
                checked(driver, driver.cuStreamSynchronize(stream), "clearing flags")
            finally:
                driver.cuStreamDestroy(stream)
        finally:
            driver.cuThreadExchangeStreamCaptureMode(before)
        return int(memory)
