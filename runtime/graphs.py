"""The kernels of a program as one CUDA graph: one launch for the host, however many kernels there are.

A launch takes the driver 2 to 3 us, so kernels that take less than that wait for the host. A graph of all of them takes
about as long to launch as one. It holds the parameters by value, so it serves calls with the same addresses: a thread
makes one when it has seen the same addresses a few times, and keeps some. Allocators hand the same memory out again, so
that most programs know a few sets of addresses. Until then, and with other addresses, kernels are launched one by one.

Kernels that take the GPU longer than the host are launched one by one always: the host is ahead then, and the first of
them may overlap with the end of earlier work on the stream, which a graph does not.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from mlir_gemm.errors import DeviceError, TargetError
from mlir_gemm.runtime.parameters import Parameters
from mlir_gemm.runtime.status import checked
from mlir_gemm.spec.kernel_record import KernelRecord, products_of
from mlir_gemm.spec.launch import Launch
from mlir_gemm.tile_model.chips import target

VARIABLE = "MLIR_GEMM_GRAPHS"
"""`always` or `never` decide for every program of two kernels or more; anything else leaves it to `pays`."""
LAUNCH_SECONDS = 3e-6
"""What a kernel's launch costs the host (H200, driver 580.159: 2 to 3 us)."""
SEEN_BEFORE = 4
"""Calls with the same addresses before there is a graph for them: making one takes as long as ten launches or so."""
MOST_GRAPHS = 64
"""Graphs of one thread. When there are more, all are forgotten, and calls must have been seen four times as often:
addresses that never come back cost less and less."""
MOST_SEEN = 1024
"""Sets of addresses that are counted; then all counts are forgotten."""


def pays(launch: Launch, records: Sequence[KernelRecord], chip: Callable[[], str]) -> bool:
    """Whether the launch, whose sizes are numbers, is of several kernels that end sooner than the host launches them.

    The time on the GPU is taken from the operations of products and the bytes of arguments and buffers, at the rates of
    `chip`: the least that it can be.
    """
    launches = sum(not step.is_empty for step in launch.steps)
    wish = os.environ.get(VARIABLE, "")
    if launches < 2 or wish == "never" or any(argument.scalar for argument in launch.arguments):
        return False  # a graph keeps the numbers that it was made with
    if wish == "always":
        return True
    flops = sum(problem.flops for problem in products_of(records).values())
    sizes = [argument.span_bytes for argument in launch.arguments]
    sizes += [len(constant.data) for constant in launch.constants]
    for buffer in launch.buffers:
        assert isinstance(buffer.bytes, int)
        sizes.append(2 * buffer.bytes)  # written, and read again
    try:
        rates = target(chip())
    except TargetError:  # a chip that the table does not have
        return False
    rate = rates.tensor_flops_clock_sm * rates.sms * rates.clock_hz
    return max(flops / rate, sum(sizes) / rates.dram_bytes_s) <= LAUNCH_SECONDS * launches


class Graph:
    """An executable graph of kernels, with their parameters."""

    __slots__ = ("_driver", "handle")

    def __init__(self, driver: Any, handle: Any) -> None:
        self._driver = driver
        self.handle = handle

    def __del__(self) -> None:
        if not sys.is_finalizing():  # a graph that still runs is freed when it has ended
            self._driver.cuGraphExecDestroy(self.handle)


class Graphs:
    """The graphs of one program in one thread, by what the slots of the thread's parameters hold."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        self._made: dict[bytes, Graph] = {}
        self._seen: dict[bytes, int] = {}
        self._wanted = SEEN_BEFORE
        self._is_refused = False
        """Whether the driver would not make one; no other is tried then."""

    def find(self, parameters: Parameters, launch_each: Callable[[Parameters, int], None]) -> Any:
        """The graph for the current contents of the parameters' slots, as the driver takes it; None where there is none
        yet. `launch_each` launches all kernels on a stream."""
        key = parameters.contents()
        made = self._made.get(key)
        if made is not None:
            return made.handle
        if self._is_refused:
            return None
        seen = self._seen.get(key, 0) + 1
        if seen <= self._wanted:
            if len(self._seen) >= MOST_SEEN:
                self._seen.clear()
            self._seen[key] = seen
            return None
        if len(self._made) >= MOST_GRAPHS:
            self._made.clear()
            self._wanted *= 4
        self._seen.pop(key, None)
        try:
            self._made[key] = made = _captured(self._driver, lambda stream: launch_each(parameters, stream))
        except DeviceError:
            self._is_refused = True
            return None
        return made.handle


def _captured(driver: Any, launch_all: Callable[[int], None]) -> Graph:
    """All kernels as a graph, captured from a stream of its own. Raises DeviceError where the driver refuses.

    Nothing runs: a launch on a stream that is captured becomes a node. What else is captured at the time is left alone
    (the mode `relaxed`)."""
    relaxed = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    before = checked(driver, driver.cuThreadExchangeStreamCaptureMode(relaxed), "setting the mode of captures")
    try:
        own = driver.CUstream_flags.CU_STREAM_NON_BLOCKING
        stream = checked(driver, driver.cuStreamCreate(int(own)), "creating a stream")
        try:
            checked(driver, driver.cuStreamBeginCapture(stream, relaxed), "capturing a stream")
            try:
                launch_all(int(stream))
            finally:  # a capture must end, whatever became of the launches
                graph = checked(driver, driver.cuStreamEndCapture(stream), "capturing a stream")
            made = Graph(driver, checked(driver, driver.cuGraphInstantiate(graph, 0), "instantiating a graph"))
            checked(driver, driver.cuGraphDestroy(graph), "freeing a graph")
            return made
        finally:
            driver.cuStreamDestroy(stream)
    finally:
        driver.cuThreadExchangeStreamCaptureMode(before)
