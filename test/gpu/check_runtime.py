"""The runtime on a real GPU: `python test/gpu/check_runtime.py`. Exit status 1 if anything is wrong.

Checks results and refusals with every array library that is installed, on default and other streams, from threads and
in a CUDA graph, and prints what a call costs the host beside `torch.mm`. Needs a GPU, PyTorch, and mlir-gemm installed.
"""

from __future__ import annotations

import importlib
import statistics
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import runtime_maps

import mlir_gemm
from mlir_gemm.runtime.info import describe_devices

SIZE = 256
IN_PLACE = """\
func.func @matmul(%A: memref<256x256xf16>, %B: memref<256x256xf16>, %C: memref<256x256xf32>) {
  linalg.matmul ins(%A, %B : memref<256x256xf16>, memref<256x256xf16>) outs(%C : memref<256x256xf32>)
  return
}
"""
RETURNING = """\
func.func @matmul(%A: tensor<256x256xf16>, %B: tensor<256x256xf16>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x256xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x256xf32>) -> tensor<256x256xf32>
  %D = linalg.matmul ins(%A, %B : tensor<256x256xf16>, tensor<256x256xf16>)
                     outs(%start : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %D : tensor<256x256xf32>
}
"""
_KERNEL = """
  module @main_{number} attributes {{tile.stage = "import"}} {{
    func.func @main_{number}(%a: memref<256x256xf16> {{tile.role = "in"}}, %b: memref<256x256xf16> {{tile.role = "in"}},
                      %d: memref<256x256x{out}> {{tile.role = "out"}}) {{
      %zero = arith.constant 0.0 : f32
      %acc = memref.alloc() : memref<256x256xf32>
      linalg.fill ins(%zero : f32) outs(%acc : memref<256x256xf32>)
      linalg.matmul ins(%a, %b : memref<256x256xf16>, memref<256x256xf16>) outs(%acc : memref<256x256xf32>)
      linalg.generic {{
          indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
          iterator_types = ["parallel", "parallel"]}}
          ins(%acc : memref<256x256xf32>) outs(%d : memref<256x256x{out}>) {{
      ^bb0(%in: f32, %old: {out}):
        %0 = {result}
        linalg.yield %0 : {out}
      }}
      return
    }}
  }}
"""
PROGRAM = (
    """\
module attributes {tile.stage = "import"} {
  memref.global "private" constant @weights : memref<256x256xf16> = dense<0.5>
  func.func @main(%x: memref<256x256xf16> {tile.role = "in"}, %w: memref<256x256xf16> {tile.role = "in"},
                  %r: memref<256x256xf32> {tile.role = "result"}) {
    %t = memref.alloc() : memref<256x256xf16>
    %c = memref.get_global @weights : memref<256x256xf16>
    %0 = memref.extract_aligned_pointer_as_index %x : memref<256x256xf16> -> index
    %1 = memref.extract_aligned_pointer_as_index %w : memref<256x256xf16> -> index
    %2 = memref.extract_aligned_pointer_as_index %t : memref<256x256xf16> -> index
    %3 = memref.extract_aligned_pointer_as_index %c : memref<256x256xf16> -> index
    %4 = memref.extract_aligned_pointer_as_index %r : memref<256x256xf32> -> index
    "tile.run"(%0, %1, %2) {kernel = "main_0"} : (index, index, index) -> ()
    "tile.run"(%2, %3, %4) {kernel = "main_1"} : (index, index, index) -> ()
    return
  }
"""
    + _KERNEL.format(number=0, out="f16", result="arith.truncf %in : f32 to f16")
    + _KERNEL.format(number=1, out="f32", result="arith.addf %in, %in : f32")
    + "}\n"
)
"""(x w) times a constant matrix, twice: two kernels, an intermediate buffer and a constant."""
CALLS, ROUNDS = 2000, 15
DELAY_CYCLES = 20_000_000
"""About 10 ms: long enough that a launch on the wrong stream reads what is not there yet."""

_checks: list[Callable[[], None]] = []


def check(function: Callable[[], None]) -> Callable[[], None]:
    """Adds a function to those that `main` runs."""
    _checks.append(function)
    return function


class MissingLibraryError(Exception):
    """A library is not installed."""


def library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingLibraryError(f"{name} is not installed") from None


def operands() -> tuple[Any, Any, Any]:
    """Small whole numbers, so that every sum is exact in f32 and results compare equal."""
    random = np.random.default_rng(0)
    a, b = (random.integers(-4, 5, (SIZE, SIZE)).astype(np.float16) for _ in "ab")
    return a, b, random.integers(-4, 5, (SIZE, SIZE)).astype(np.float32)


def product(a: Any, b: Any) -> Any:
    return a.astype(np.float32) @ b.astype(np.float32)


def equal(given: Any, expected: Any, what: str) -> None:
    wrong = int((np.asarray(given) != expected).sum())
    if wrong:
        raise AssertionError(f"{what}: {wrong} of {expected.size} elements are wrong")


def in_place() -> mlir_gemm.Kernel:
    return mlir_gemm.compile(IN_PLACE)


def returning() -> mlir_gemm.Kernel:
    return mlir_gemm.compile(RETURNING)


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


def program_result(a: Any, b: Any) -> Any:
    return 2 * (product(a, b).astype(np.float16).astype(np.float32) @ np.full((SIZE, SIZE), 0.5, np.float32))


def small_operands(seed: int = 0) -> tuple[Any, Any]:
    """So small that the sums of the first product are exact in f16, and those of the second in f32."""
    random = np.random.default_rng(seed)
    return random.integers(-2, 3, (SIZE, SIZE)).astype(np.float16), random.integers(-2, 3, (SIZE, SIZE)).astype(
        np.float16
    )


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
    failures: list[str] = []

    def work(seed: int) -> None:
        try:
            a, b = small_operands(seed)
            x, y = torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda()
            with torch.cuda.stream(torch.cuda.Stream()):
                x, y = x.clone(), y.clone()
                for _ in range(100):
                    equal(kernel(x, y).cpu(), program_result(a, b), f"thread {seed}")
        except Exception as problem:
            failures.append(str(problem))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
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
    failures: list[str] = []

    def work(scale: int) -> None:
        try:
            x, y = torch.from_numpy(a * scale).cuda(), torch.from_numpy(b).cuda()
            with torch.cuda.stream(torch.cuda.Stream()):
                x, y = x.clone(), y.clone()
                for _ in range(100):
                    z = torch.zeros(SIZE, SIZE, device="cuda")
                    kernel(x, y, z)
                    equal(z.cpu(), product(a * scale, b), f"thread {scale}")
        except Exception as problem:
            failures.append(str(problem))

    threads = [threading.Thread(target=work, args=(scale,)) for scale in (1, 2, 3, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


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


def refuses(kernel: mlir_gemm.Kernel, given: tuple[Any, ...], message: str) -> None:
    try:
        kernel(*given)
    except mlir_gemm.ArgumentError as problem:
        if message not in str(problem):
            raise AssertionError(f"expected '{message}' in '{problem}'") from None
        print(f"    {problem}")
        return
    raise AssertionError(f"not refused: {message}")


@check
def refusals() -> None:
    torch = library("torch")
    kernel = in_place()
    a = torch.ones(SIZE, SIZE, dtype=torch.float16, device="cuda")
    b, c = a.clone(), torch.zeros(SIZE, SIZE, device="cuda")
    room = torch.zeros(SIZE * SIZE + 8, dtype=torch.float16, device="cuda")
    cases = [
        ((a, b), "argument 2 ('C') is missing"),
        ((a, b, c, c), "argument 3: one too many"),
        ((a, [1.0], c), "argument 1 ('B'): a list given"),
        ((a, b[:128], c), "argument 1 ('B'): shape (128, 256) given"),
        ((a, b.float(), c), "argument 1 ('B'): float32 given"),
        ((a, b.bfloat16(), c), "argument 1 ('B'): bfloat16 given"),
        ((a, b.t(), c), "argument 1 ('B'): strides (1, 256) given"),
        ((a, b.cpu(), c), "argument 1 ('B'): its memory is on the CPU"),
        ((a, room[4 : 4 + SIZE * SIZE].view(SIZE, SIZE), c), "argument 1 ('B'): its memory starts at"),
        ((a, c.view(torch.float16).view(-1)[: SIZE * SIZE].view(SIZE, SIZE), c), "argument 2 ('C'): it is written"),
        ((a, torch._neg_view(b), c), "argument 1 ('B'): a tensor with a pending negation"),
        ((a, b.to_sparse(), c), "argument 1 ('B'): a tensor with layout torch.sparse_coo"),
        ((a, torch.empty_like(b, device="meta"), c), "argument 1 ('B'): its memory is on the CPU"),
    ]
    for warm in (False, True):
        if warm:
            kernel(a, b, torch.zeros_like(c))
        for given, message in cases:
            refuses(kernel, given, message)
    torch.cuda.synchronize()
    equal(c.cpu(), np.zeros((SIZE, SIZE), np.float32), "C after refusals")
    host = np.zeros((SIZE, SIZE), np.float32)
    host.flags.writeable = False
    refuses(kernel, (a, b, host), "argument 2 ('C'): the kernel writes it")
    if torch.cuda.device_count() > 1:
        refuses(kernel, (a, b.to("cuda:1"), c), "argument 1 ('B'): its memory is on cuda:1")
        with torch.cuda.device(1):
            kernel(a, b, c)
            assert torch.cuda.current_device() == 1
        torch.cuda.synchronize(0)
        equal(c.cpu(), np.full((SIZE, SIZE), SIZE, np.float32), "with another GPU current")


@check
def refusals_of_the_driver() -> None:
    from mlir_gemm.runtime import device

    kernel = in_place()
    cases = [
        (kernel.ptx.replace(".version", ".version 99.9 //", 1), "update the driver"),
        (kernel.ptx.replace("ret;", "retreat;", 1), "CUDA_ERROR_INVALID_PTX"),
    ]
    for ptx, message in cases:
        try:
            device.load(ptx, kernel.launch, 0)
        except mlir_gemm.DeviceError as problem:
            print("    " + str(problem).replace("\n", "\n    "))
            assert message in str(problem), problem
        else:
            raise AssertionError(f"not refused: {message}")
    try:
        mlir_gemm.compile(IN_PLACE, device=99)(*operands())
    except mlir_gemm.DeviceError as problem:
        print(f"    {problem}")
    else:
        raise AssertionError("device 99 was not refused")


def median_us(call: Callable[[], Any], synchronize: Callable[[], None]) -> float:
    """Host time of one call in microseconds, with the GPU's queue emptied between rounds: it must never be full."""
    rounds: list[float] = []
    for _ in range(ROUNDS):
        synchronize()
        start = time.perf_counter()
        for _ in range(CALLS // 10):  # far fewer than the queue holds (1024)
            call()
        rounds.append((time.perf_counter() - start) / (CALLS // 10))
    return 1e6 * statistics.median(rounds)


@check
def host_cost() -> None:
    torch = library("torch")
    kernel, maker = in_place(), returning()
    a = torch.ones(SIZE, SIZE, dtype=torch.float16, device="cuda")
    b, c, d = a.clone(), torch.zeros(SIZE, SIZE, device="cuda"), torch.zeros(SIZE, SIZE, device="cuda")
    half = torch.zeros_like(a)
    handle = torch.cuda.current_stream().cuda_stream
    turn = iter(range(10**9))
    calls: dict[str, Callable[[], Any]] = {
        "torch.mm(a, b, out=)": lambda: torch.mm(a, b, out=half),
        "kernel(a, b, c)": lambda: kernel(a, b, c),
        "kernel(a, b, c or d)": lambda: kernel(a, b, d if next(turn) % 2 else c),
        "kernel(a, b, c, stream=handle)": lambda: kernel(a, b, c, stream=handle),
        "torch.mm(a, b)": lambda: torch.mm(a, b),
        "kernel(a, b)": lambda: maker(a, b),
    }
    costs: dict[str, float] = {}
    for name, call in calls.items():
        call(), call()
        costs[name] = median_us(call, torch.cuda.synchronize)
        print(f"    {name:32s} {costs[name]:6.2f} us")
    program = mlir_gemm.compile(PROGRAM)
    two = {
        "torch.mm(torch.mm(a, b), b)": lambda: torch.mm(torch.mm(a, b), b),
        "program(a, b), two kernels": lambda: program(a, b),
    }
    for name, call in two.items():
        call(), call()
        costs[name] = median_us(call, torch.cuda.synchronize)
        print(f"    {name:32s} {costs[name]:6.2f} us")
    costs |= map_costs(torch)
    assert costs["kernel(a, b, c)"] <= costs["torch.mm(a, b, out=)"], "a call costs more than torch.mm"
    assert costs["kernel(a, b)"] <= costs["torch.mm(a, b)"], "a call with a result costs more than torch.mm"


def map_costs(torch: Any) -> dict[str, float]:
    """The same for kernels with two tensor maps; nothing on GPUs before sm_90."""
    if torch.cuda.get_device_capability() < (9, 0):
        return {}
    x, y = (torch.from_numpy(runtime_maps.array()).cuda() for _ in "xy")
    turn = iter(range(10**9))
    plain, overlapped = runtime_maps.writer(), runtime_maps.writer(overlap=True)
    calls: dict[str, Callable[[], Any]] = {
        "maps(x, y)": lambda: runtime_maps.call(plain, x, y),
        "maps(x, y), overlapping": lambda: runtime_maps.call(overlapped, x, y),
        "maps(x, y) and (y, x) in turn": lambda: runtime_maps.call(plain, *((y, x) if next(turn) % 2 else (x, y))),
    }
    costs: dict[str, float] = {}
    for name, call in calls.items():
        call(), call()
        costs[name] = median_us(call, torch.cuda.synchronize)
        print(f"    {name:32s} {costs[name]:6.2f} us")
    return costs


@check
def cache_to_callable() -> None:
    from mlir_gemm.runtime import cache

    in_place()
    times: list[float] = []
    for _ in range(20):
        cache.forget()
        start = time.perf_counter()
        in_place()
        times.append(time.perf_counter() - start)
    print(
        f"    from the disk cache to a callable {1e3 * statistics.median(times):6.2f} ms (MLIR_GEMM_CACHE=off compiles)"
    )


def main() -> int:
    devices = describe_devices()
    if not devices:
        print("no GPU was found")
        return 1
    if int(str(devices[0]["chip"]).removeprefix("sm_")) >= 90:
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
