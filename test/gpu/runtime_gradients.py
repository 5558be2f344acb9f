"""Gradients that would be lost, tensors whose memory does not hold their values, and Numba's compiler in the same
process. `check_runtime.py` runs these checks."""

from __future__ import annotations

from typing import Any

import numpy as np
from runtime_products import SIZE, MissingLibraryError, equal, in_place, library, operands, product, returning
from runtime_refusals import refuses

LOST = "argument 1 ('B'): it needs a gradient"
PENDING = "argument 1 ('B'): a tensor with a pending negation or conjugate"


def gradients() -> None:
    torch = library("torch")
    a, b, _ = operands()
    for warm in (False, True):
        kernel = returning()
        x, w = (torch.from_numpy(array).cuda() for array in (a, b))
        if warm:
            kernel(x, w), kernel(x, w)
        weight = torch.nn.Parameter(w.clone())
        refuses(kernel, (x, weight), LOST)
        refuses(kernel, (x, weight * 2), LOST)
        for mode in (torch.no_grad(), torch.inference_mode()):
            with mode:
                equal(kernel(x, weight).cpu(), product(a, b), "without grad mode")
        equal(kernel(x, weight.detach()).cpu(), product(a, b), "detached")
        with torch.autograd.forward_ad.dual_level():
            refuses(kernel, (x, torch.autograd.forward_ad.make_dual(w, torch.ones_like(w))), LOST)
            equal(kernel(x, w).cpu(), product(a, b), "without a tangent")


def gradients_through_a_function() -> None:
    torch = library("torch")
    a, b, _ = operands()
    kernel = returning()

    class Product(torch.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(ctx: Any, x: Any, w: Any) -> Any:
            ctx.save_for_backward(x)
            return kernel(x, w)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return None, kernel(x.t().contiguous(), grad.half())

    x = torch.from_numpy(a).cuda()
    weight = torch.nn.Parameter(torch.from_numpy(b).cuda())
    for _ in range(3):
        weight.grad = None
        Product.apply(x, weight).sum().backward()
        equal(weight.grad.float().cpu(), product(a.T, np.ones((SIZE, SIZE), np.float16)), "the gradient")


def negated_and_conjugated() -> None:
    torch = library("torch")
    a, b, c = operands()
    kernel = in_place()
    x, w, z = (torch.from_numpy(array).cuda() for array in (a, b, c))
    pairs = torch.stack((w, w), -1).float()
    complex_ = torch.view_as_complex(pairs)
    for warm in (False, True):
        if warm:
            kernel(x, w, torch.zeros_like(z))
        for mode in (torch.no_grad(), torch.enable_grad()):
            with mode:
                refuses(kernel, (x, torch._neg_view(w), z), PENDING)
                refuses(kernel, (x, complex_.conj().imag, z), PENDING)
                refuses(kernel, (x, complex_.conj(), z), PENDING)
                refuses(kernel, (x, complex_, z), "argument 1 ('B'): complex64 given")
    kernel(x, torch._neg_view(w).clone(), z)
    equal(z.cpu(), c - product(a, b), "after .clone()")


def numba_compiler_in_the_same_process() -> None:
    numba = library("numba_cuda_mlir.cuda")
    pathfinder = library("cuda.pathfinder")

    @numba.jit
    def add(a: Any, b: Any) -> None:
        i = numba.grid(1)
        if i < a.size:
            a[i] = a[i] + b[i]

    a, b, c = operands()
    x, y = (numba.to_device(np.full(1000, value, np.float32)) for value in (1, 2))
    try:
        add[8, 128](x, y)
    except pathfinder.DynamicLibNotFoundError as problem:
        raise MissingLibraryError(f"Numba's compiler needs more: {str(problem).splitlines()[0]}") from None
    equal(x.copy_to_host(), np.full(1000, 3, np.float32), "Numba's kernel")
    expected = c + product(a, b)
    in_place()(a, b, c)
    equal(c, expected, "ours after it")


CHECKS = (gradients, gradients_through_a_function, negated_and_conjugated, numba_compiler_in_the_same_process)
