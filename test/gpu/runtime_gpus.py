"""One kernel on two GPUs. `check_runtime.py` runs these checks; with one GPU they are skipped."""

from __future__ import annotations

from typing import Any

import numpy as np
import runtime_maps
from runtime_costs import median_us
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

ROWS_OPEN = """\
func.func @matmul(%a: tensor<?x256xf16>, %b: tensor<256x256xf16>) -> tensor<?x256xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x256xf16>
  %empty = tensor.empty(%m) : tensor<?x256xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x256xf32>) -> tensor<?x256xf32>
  %d = linalg.matmul ins(%a, %b : tensor<?x256xf16>, tensor<256x256xf16>)
                     outs(%start : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %d : tensor<?x256xf32>
}
"""


def _torch() -> Any:
    torch = library("torch")
    if torch.cuda.device_count() < 2:
        raise MissingLibraryError("there is one GPU, two are needed")
    return torch


def _on(torch: Any, ordinal: int, *arrays: Any) -> list[Any]:
    return [torch.from_numpy(array.copy()).to(f"cuda:{ordinal}") for array in arrays]


def both_gpus_in_turn() -> None:
    torch = _torch()
    a, b, c = operands()
    kernel, maker = in_place(), returning()
    for call in range(12):
        ordinal, current = call % 2, call // 2 % 2
        x, y, z = _on(torch, ordinal, a, b, c)
        with torch.cuda.device(current):
            kernel(x, y, z)
            made = maker(x, y)
            assert torch.cuda.current_device() == current
        assert made.get_device() == ordinal
        equal(z.cpu(), c + product(a, b), f"in place on cuda:{ordinal} with cuda:{current} current, call {call}")
        equal(made.cpu(), product(a, b), f"returned on cuda:{ordinal} with cuda:{current} current, call {call}")
    x, y, _ = _on(torch, 0, a, b, c)
    refuses(kernel, (x, y, z), "argument 2 ('C'): its memory is on cuda:1, the kernel runs on cuda:0")
    refuses(kernel, (*_on(torch, 1, a, b), z.to("cuda:0")), "argument 2 ('C'): its memory is on cuda:0")
    refuses(mlir_gemm.compile(PROGRAM, device="cuda:1"), (x, y), "its memory is on cuda:0, the kernel runs on cuda:1")


def streams_of_both_gpus() -> None:
    torch = _torch()
    a, b, _ = operands()
    kernel, maker = in_place(), returning()
    for call in range(6):
        ordinal = call % 2
        on = f"cuda:{ordinal}"
        (source, y), stream = _on(torch, ordinal, a, b), torch.cuda.Stream(on)
        x, z = torch.zeros_like(source), torch.zeros(SIZE, SIZE, device=on)
        torch.cuda.synchronize(ordinal)
        with torch.cuda.stream(stream):
            torch.cuda._sleep(DELAY_CYCLES)
            x.copy_(source)
            kernel(x, y, z)
            made = maker(x, y)
        stream.synchronize()
        equal(z.cpu(), product(a, b), f"in place, on a stream of {on}, call {call}")
        equal(made.cpu(), product(a, b), f"returned, on a stream of {on}, call {call}")
        with torch.cuda.stream(stream):
            torch.cuda._sleep(DELAY_CYCLES)
            z.zero_()
        kernel(x, y, z, stream=stream)
        stream.synchronize()
        equal(z.cpu(), product(a, b), f"on a stream of {on} given, call {call}")


def programs_and_open_sizes_on_both_gpus() -> None:
    torch = _torch()
    program, rows = mlir_gemm.compile(PROGRAM), mlir_gemm.compile(ROWS_OPEN)
    a, b = small_operands()
    for call in range(8):
        ordinal = call % 2
        x, y = _on(torch, ordinal, a, b)
        equal(program(x, y).cpu(), program_result(a, b), f"a program on cuda:{ordinal}, call {call}")
        for count in (1, 37, 256):
            equal(rows(x[:count], y).cpu(), product(a[:count], b), f"{count} rows on cuda:{ordinal}, call {call}")
    print(f"    {rows!r}"[:120])
    equal(program(a, b), program_result(a, b), "NumPy arrays after both")


def tensor_maps_on_both_gpus() -> None:
    torch = _torch()
    if torch.cuda.get_device_capability() < (9, 0):
        raise MissingLibraryError("the copy engine is of sm_90 and later")
    plain, overlapped = runtime_maps.writer(), runtime_maps.writer(overlap=True)
    source = runtime_maps.array(3)
    for call in range(6):
        (x,) = _on(torch, call % 2, source)
        for launcher in (plain, overlapped):
            y = torch.zeros_like(x)
            runtime_maps.call(launcher, x, y)
            runtime_maps.same(y, source)


def threads_on_both_gpus() -> None:
    torch = _torch()
    kernel, program = returning(), mlir_gemm.compile(PROGRAM)

    def work(seed: int) -> None:
        a, b = small_operands(seed)
        x, y = _on(torch, seed % 2, a, b)
        if seed > 1:
            torch.cuda.set_device(1 - seed % 2)  # the other one than that of the arrays
        for _ in range(100):
            equal(kernel(x, y).cpu(), product(a, b), f"thread {seed}")
            equal(program(x, y).cpu(), program_result(a, b), f"a program in thread {seed}")

    in_four_threads(work)


def graphs_on_both_gpus() -> None:
    torch = _torch()
    a, b, _ = operands()
    kernel = in_place()
    for ordinal in (1, 0):
        x, y = _on(torch, ordinal, a, b)
        z = torch.zeros(SIZE, SIZE, device=x.device)
        kernel(x, y, z)
        z.zero_()
        with torch.cuda.device(ordinal):
            graph = torch.cuda.CUDAGraph()
            # PyTorch keeps the stream of its first capture, on whatever GPU that was.
            with torch.cuda.graph(graph, stream=torch.cuda.Stream()):
                kernel(x, y, z)
            for _ in range(3):
                graph.replay()
        torch.cuda.synchronize(ordinal)
        equal(z.cpu(), 3 * product(a, b), f"three replays on cuda:{ordinal}")


def other_libraries_on_both_gpus() -> None:
    torch = _torch()
    a, b, c = operands()
    kernel, maker = in_place(), returning()

    class Bare:
        def __init__(self, tensor: Any) -> None:
            self.tensor = tensor
            self.__cuda_array_interface__ = tensor.__cuda_array_interface__

    for call in range(4):
        x, y, z = _on(torch, call % 2, a, b, c)
        kernel(a, Bare(y), Bare(z))  # NumPy's is copied to where the others are
        equal(z.cpu(), c + product(a, b), f"through __cuda_array_interface__, call {call}")
        made = maker(Bare(x), Bare(y))
        assert made.__dlpack_device__() == (2, call % 2), f"call {call} gave {made.__dlpack_device__()}"
        equal(torch.from_dlpack(made).cpu(), product(a, b), f"returned through DLPack, call {call}")
        del made
    cupy = library("cupy")
    for call in range(4):
        with cupy.cuda.Device(call % 2):
            x, y = cupy.asarray(a), cupy.asarray(b)
        made = maker(x, y)
        assert made.device.id == call % 2
        np.testing.assert_array_equal(made.get(), product(a, b))


def host_cost_on_both_gpus() -> None:
    torch = _torch()
    kernel = in_place()
    given = [
        (torch.ones(SIZE, SIZE, dtype=torch.float16, device=on), torch.ones(SIZE, SIZE, dtype=torch.float16, device=on),
         torch.zeros(SIZE, SIZE, device=on))
        for on in ("cuda:0", "cuda:1")
    ]  # fmt: skip
    halves = [torch.zeros_like(each[0]) for each in given]
    for ordinal, current in ((0, 0), (1, 1), (1, 0)):
        a, b, c = given[ordinal]
        half = halves[ordinal]
        with torch.cuda.device(current):
            for name, call in (
                ("torch.mm(a, b, out=)", lambda: torch.mm(a, b, out=half)),  # noqa: B023 - called in this turn
                ("kernel(a, b, c)", lambda: kernel(a, b, c)),  # noqa: B023
            ):
                call(), call()
                cost = median_us(call, lambda: torch.cuda.synchronize(ordinal))  # noqa: B023
                print(f"    {name:22s} on cuda:{ordinal}, cuda:{current} current {cost:6.2f} us")


CHECKS = (
    both_gpus_in_turn,
    streams_of_both_gpus,
    programs_and_open_sizes_on_both_gpus,
    tensor_maps_on_both_gpus,
    threads_on_both_gpus,
    graphs_on_both_gpus,
    other_libraries_on_both_gpus,
    host_cost_on_both_gpus,
)
