"""Launches of several kernels, or of one with intermediate buffers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mlir_gemm.errors import DeviceError
from mlir_gemm.runtime.dependent_launch import MOST_STREAMS
from mlir_gemm.runtime.graphs import Graphs
from mlir_gemm.runtime.parameters import Parameters
from mlir_gemm.runtime.status import name_of
from mlir_gemm.runtime.workspaces import MOST_KEPT, workspaces_of

if TYPE_CHECKING:
    from mlir_gemm.runtime.device import LoadedKernel


class Streams(dict[int, Any]):
    """Streams by their handles as the bindings take them at once: a number they would wrap at every call (0.1 us)."""

    def __init__(self, driver: Any) -> None:
        super().__init__()
        self._driver = driver

    def __missing__(self, handle: int) -> Any:
        if len(self) >= MOST_STREAMS:
            self.clear()
        made = self[handle] = self._driver.CUstream(handle)
        return made


class ProgramLaunches:
    """Launches all steps of a loaded program on a stream, for parameters whose arguments and results are written.

    A program of short kernels is one launch of a graph (`graphs`), and intermediate buffers lie in memory that is kept
    (`workspaces`). While the caller captures the stream, neither is done: the caller's graph owns what it uses.
    """

    def __init__(self, loaded: LoadedKernel, streams: Streams, allocate: Callable[[], Any], as_graph: bool) -> None:
        """`allocate` gives a tensor for the intermediate buffers, to be reused in the order of the current stream."""
        driver = loaded.gpu.driver
        self._loaded = loaded
        self._streams = streams
        self._allocate = allocate
        self._as_graph = as_graph
        self._size = loaded.launch.workspace_bytes
        self._keeps = 0 < self._size <= MOST_KEPT
        self._workspaces = workspaces_of(loaded.gpu)
        self._is_capturing, self._launch_graph = driver.cuStreamIsCapturing, driver.cuGraphLaunch
        self._launch_kernel, self._launch_overlapped = driver.cuLaunchKernel, driver.cuLaunchKernelEx
        self._steps = tuple(
            (number, function, loaded.configurations[number], loaded.shape(number))
            for number, function in enumerate(loaded.functions)
            if function is not None
        )
        self._flags = loaded.flags
        self._has_moving_maps = Parameters(loaded.launch, loaded.constants).has_moving_maps
        self._threads = threading.local()

    def start(self, parameters: Parameters, stream: int) -> None:
        """Launches everything. Raises DeviceError where the driver refuses it."""
        is_own = False
        if self._keeps or self._as_graph:
            status, capturing = self._is_capturing(self._streams[stream])
            is_own = not status and not capturing
        if is_own and self._keeps:
            block = self._workspaces.take(self._size, stream)
            try:
                parameters.place(block[0])
                self._start_placed(parameters, stream, is_own)
            finally:
                self._workspaces.give(block, stream)
            return
        workspace = self._allocate() if self._size else None  # kept until everything is launched
        if workspace is not None:
            parameters.place(workspace.data_ptr())
        self._start_placed(parameters, stream, is_own)

    def _start_placed(self, parameters: Parameters, stream: int, is_own: bool) -> None:
        """The same once the intermediate buffers have their places."""
        if self._flags is not None:
            parameters.place_flags(self._flags.at(stream))
        if self._has_moving_maps:
            parameters.write_moving_maps(self._loaded.encoders)
        graph = self._graphs().find(parameters, self._launch_each) if is_own and self._as_graph else None
        if graph is None:
            self._launch_each(parameters, stream)
            return
        (status,) = self._launch_graph(graph, self._streams[stream])
        if status:
            gpu = self._loaded.gpu
            raise DeviceError(
                f"launching the graph of {len(self._steps)} kernels on {gpu} failed: {name_of(gpu.driver, status)}"
            )

    def _launch_each(self, parameters: Parameters, stream: int) -> None:
        addresses, on = parameters.addresses, self._streams[stream]
        for number, function, overlapped, shape in self._steps:
            if overlapped is None:
                (status,) = self._launch_kernel(function, *shape, on, addresses[number], 0)
            else:
                (status,) = self._launch_overlapped(overlapped[stream], function, addresses[number], 0)
            if status:
                self._loaded.refuse(number, status)

    def _graphs(self) -> Graphs:
        """Those of this thread: no two threads may launch one at the same time."""
        try:
            return self._threads.graphs
        except AttributeError:
            made = self._threads.graphs = Graphs(self._loaded.gpu.driver)
            return made
