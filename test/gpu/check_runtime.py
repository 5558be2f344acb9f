"""The runtime on a real GPU: `python test/gpu/check_runtime.py`. Exit status 1 if anything is wrong.

Checks results and refusals with every array library that is installed, on default and other streams, from threads and
in a CUDA graph, with two GPUs on both of them, and prints what a call costs the host beside `torch.mm`. Needs a GPU,
PyTorch, and mlir-gemm installed.
"""

from __future__ import annotations

import argparse
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import runtime_costs
import runtime_gpus
import runtime_gradients
import runtime_maps
import runtime_refusals
from runtime_products import (
    DELAY_CYCLES,
    PROGRAM,
    SIZE,
    MissingLibraryError,
    equal,
    in_four_threads,
    in_place,
    library,
    operands,
    product,
    program_result,
    returning,
    small_operands,
)
from runtime_refusals import refuses

import mlir_gemm
from mlir_gemm.runtime.info import describe_devices
from mlir_gemm.tile_model.chips import target

_checks: list[Callable[[], None]] = []


def check(function: Callable[[], None]) -> Callable[[], None]:
    """Adds a function to those that `main` runs."""
    _checks.append(function)
    return function


@check
def numpy_arrays() -> None:
    a, b, c = operands()
    expected = c + product(a, b)
    assert in_place()(a, b, c) is None
    equal(c, expected, "in place")
    result = returning()(a, b)
    assert isinstance(result, np.ndarray)
    equal(result, product(a, b), "returned")


@check
def torch_tensors() -> None:
    torch = library("torch")
    a, b, c = operands()
    kernel, maker = in_place(), returning()
    x, y, z = (torch.from_numpy(array.copy()).cuda() for array in (a, b, c))
    for call in range(1, 4):  # the first goes the long way, the others the short one
        kernel(x, y, z)
        equal(z.cpu(), c + call * product(a, b), f"in place, call {call}")
        made = maker(x, y)
        assert isinstance(made, torch.Tensor) and made.is_cuda
        equal(made.cpu(), product(a, b), f"returned, call {call}")
    other = torch.zeros_like(z)
    kernel(x, y, other)
    equal(other.cpu(), product(a, b), "another C")
    numbers = b.copy()
    kernel(x, numbers, other)
    equal(other.cpu(), 2 * product(a, b), "B from NumPy among tensors")


@check
def torch_streams() -> None:
    torch = library("torch")
    a, b, _ = operands()
    kernel, maker = in_place(), returning()
    source, y = torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda()
    torch.cuda.synchronize()
    for call in range(3):
        for how in ("current", "object", "handle"):
            stream = torch.cuda.Stream()
            x, z = torch.zeros_like(source), torch.zeros(SIZE, SIZE, device="cuda")
            torch.cuda.synchronize()
            with torch.cuda.stream(stream):
                torch.cuda._sleep(DELAY_CYCLES)
                x.copy_(source)
                if how == "current":
                    kernel(x, y, z)
                    made = maker(x, y)
            if how != "current":
                given = stream if how == "object" else stream.cuda_stream
                kernel(x, y, z, stream=given)
                made = maker(x, y, stream=given)
            stream.synchronize()
            equal(z.cpu(), product(a, b), f"in place, stream as {how}, call {call}")
            equal(made.cpu(), product(a, b), f"returned, stream as {how}, call {call}")


@check
def programs() -> None:
    kernel = mlir_gemm.compile(PROGRAM)
    assert len(kernel.launch.steps) == 2 and len(kernel.launch.buffers) == 1 and len(kernel.launch.constants) == 1
    a, b = small_operands()
    equal(kernel(a, b), program_result(a, b), "NumPy")
    torch = library("torch")
    x, y = torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda()
    for call in range(4):
        equal(kernel(x, y).cpu(), program_result(a, b), f"PyTorch, call {call}")
    stream = torch.cuda.Stream()
    for call in range(3):
        source = torch.from_numpy(a).cuda()
        late = torch.zeros_like(source)
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(DELAY_CYCLES)
            late.copy_(source)
            made = [kernel(late, y) for _ in range(3)] if call % 2 else [kernel(late, y, stream=stream)]
        if call == 2:  # PyTorch's current stream is another one than that of the call
            with torch.cuda.stream(stream):
                torch.cuda._sleep(DELAY_CYCLES)
            made = [kernel(late, y, stream=stream.cuda_stream)]
            torch.empty(kernel.launch.workspace_bytes, dtype=torch.uint8, device="cuda").fill_(255)
        stream.synchronize()
        for each in made:
            equal(each.cpu(), program_result(a, b), f"on a stream, call {call}")


@check
def programs_in_threads_and_graphs() -> None:
    torch = library("torch")
    kernel = mlir_gemm.compile(PROGRAM)

    def work(seed: int) -> None:
        a, b = small_operands(seed)
        x, y = torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda()
        with torch.cuda.stream(torch.cuda.Stream()):
            x, y = x.clone(), y.clone()
            for _ in range(100):
                equal(kernel(x, y).cpu(), program_result(a, b), f"thread {seed}")

    in_four_threads(work)
    a, b = small_operands(9)
    x, y = torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda()
    kernel(x, y)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        made = kernel(x, y)
    x.copy_(y)
    for _ in range(2):
        graph.replay()
    torch.cuda.synchronize()
    equal(made.cpu(), program_result(b, b), "a graph")


@check
def programs_with_other_libraries() -> None:
    cupy = library("cupy")
    kernel = mlir_gemm.compile(PROGRAM)
    a, b = small_operands()
    for stream in (cupy.cuda.Stream.null, cupy.cuda.Stream(non_blocking=True)):
        with stream:
            made = kernel(cupy.asarray(a), cupy.asarray(b))
            equal(made.get(), program_result(a, b), "CuPy")


@check
def torch_threads() -> None:
    torch = library("torch")
    a, b, _ = operands()
    kernel = in_place()

    def work(number: int) -> None:
        scale = number + 1
        x, y = torch.from_numpy(a * scale).cuda(), torch.from_numpy(b).cuda()
        with torch.cuda.stream(torch.cuda.Stream()):
            x, y = x.clone(), y.clone()
            for _ in range(100):
                z = torch.zeros(SIZE, SIZE, device="cuda")
                kernel(x, y, z)
                equal(z.cpu(), product(a * scale, b), f"thread {scale}")

    in_four_threads(work)


@check
def a_thread_without_a_context() -> None:
    a, b, c = operands()
    kernel = in_place()
    expected = c + product(a, b)
    thread = threading.Thread(target=kernel, args=(a, b, c))
    thread.start()
    thread.join()
    equal(c, expected, "in a thread that never used the GPU")


@check
def torch_graph() -> None:
    torch = library("torch")
    a, b, _ = operands()
    kernel = in_place()
    x, y = torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda()
    z = torch.zeros(SIZE, SIZE, device="cuda")
    kernel(x, y, z)
    z.zero_()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel(x, y, z)
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    equal(z.cpu(), 3 * product(a, b), "three replays")


@check
def cupy_arrays() -> None:
    cupy = library("cupy")
    a, b, c = operands()
    kernel, maker = in_place(), returning()
    x, y, z = map(cupy.asarray, (a, b, c))
    kernel(x, y, z)
    equal(z.get(), c + product(a, b), "in place")
    made = maker(x, y)
    assert isinstance(made, cupy.ndarray)
    equal(made.get(), product(a, b), "returned")
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        x, y, z = map(cupy.asarray, (a, b, c))
        kernel(x, y, z)
        made = maker(x, y)
        equal(z.get(), c + product(a, b), "in place on a stream")
        equal(made.get(), product(a, b), "returned on a stream")
    z = cupy.asarray(c)
    cupy.cuda.Device().synchronize()
    kernel(x, y, z, stream=stream)
    stream.synchronize()
    equal(z.get(), c + product(a, b), "on a stream given")


@check
def numba_arrays() -> None:
    library("numba")
    cuda = library("numba.cuda")
    a, b, c = operands()
    kernel, maker = in_place(), returning()
    x, y, z = map(cuda.to_device, (a, b, c))
    kernel(x, y, z)
    equal(z.copy_to_host(), c + product(a, b), "in place")
    made = maker(x, y)
    equal(cuda.as_cuda_array(made).copy_to_host(), product(a, b), "returned")
    stream = cuda.stream()
    x, y, z = (cuda.to_device(array, stream=stream) for array in (a, b, c))
    kernel(x, y, z, stream=stream)
    equal(z.copy_to_host(stream=stream), c + product(a, b), "on a stream")


@check
def jax_arrays() -> None:
    import os

    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax = library("jax")
    if not any(device.platform == "gpu" for device in jax.devices()):
        raise MissingLibraryError("jax sees no GPU")
    a, b, _ = operands()
    x, y = jax.numpy.asarray(a), jax.numpy.asarray(b)
    made = returning()(x, y)
    equal(np.asarray(jax.dlpack.from_dlpack(made)), product(a, b), "returned, through DLPack")
    refuses(in_place(), (x, y, jax.numpy.zeros((SIZE, SIZE))), "argument 2 ('C'): the kernel writes it")


@check
def results_through_the_protocols() -> None:
    torch, cupy = library("torch"), library("cupy")
    a, b, _ = operands()

    class Bare:
        def __init__(self, array: Any) -> None:
            self.array = array
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    made = returning()(Bare(cupy.asarray(a)), Bare(cupy.asarray(b)))
    equal(torch.from_dlpack(made).cpu(), product(a, b), "to PyTorch through DLPack")
    equal(cupy.asarray(made).get(), product(a, b), "to CuPy through __cuda_array_interface__")
    stream = cupy.cuda.Stream(non_blocking=True)
    made = returning()(Bare(cupy.asarray(a)), Bare(cupy.asarray(b)), stream=stream)
    equal(torch.from_dlpack(made).cpu(), product(a, b), "made on another stream")
    del made, stream


def main() -> int:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    devices = describe_devices()
    if not devices:
        print("no GPU was found")
        return 1
    _checks.extend((*runtime_refusals.CHECKS, *runtime_gradients.CHECKS, *runtime_costs.CHECKS, *runtime_gpus.CHECKS))
    if "cp.async.bulk.tensor" in target(str(devices[0]["chip"])).capabilities:
        _checks.extend(runtime_maps.CHECKS)
    for device in devices:
        print(device)
    failed: list[str] = []
    for function in _checks:
        print(function.__name__)
        try:
            function()
        except MissingLibraryError as reason:
            print(f"    skipped: {reason}")
        except Exception:
            failed.append(function.__name__)
            print("    FAILED\n" + traceback.format_exc())
    print(f"{len(_checks) - len(failed)} of {len(_checks)} checks passed" + (f"; failed: {failed}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
