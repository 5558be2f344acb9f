"""Calls that the runtime must refuse, with a message, before anything is launched. `check_runtime.py` runs them."""

from __future__ import annotations

from typing import Any

import numpy as np
from runtime_products import IN_PLACE, SIZE, equal, in_place, library, operands

import mlir_gemm


def refuses(kernel: mlir_gemm.Kernel, given: tuple[Any, ...], message: str) -> None:
    try:
        kernel(*given)
    except mlir_gemm.ArgumentError as problem:
        if message not in str(problem):
            raise AssertionError(f"expected '{message}' in '{problem}'") from None
        print(f"    {problem}")
        return
    raise AssertionError(f"not refused: {message}")


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


CHECKS = (refusals, refusals_of_the_driver)
