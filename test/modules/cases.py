"""The modules beside this file: what they take, and what they compute, in NumPy and float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any
TOLERANCE = {"f16": 2e-3, "bf16": 1.5e-2, "f32": 1e-5, "f64": 1e-13, "i8": 0.0}
"""Relative error of a result, in the Frobenius norm, by the type that the module computes in. PyTorch rounds to it
after each operation, the reference never."""


@dataclass(frozen=True)
class Case:
    """One module."""

    name: str
    """The file, without `.mlir`."""
    dtype: str
    """Element type of all inputs: f16, bf16, f32, f64 or i8."""
    shapes: tuple[tuple[int, ...], ...]
    reference: Callable[..., Array | tuple[Array, ...]]
    """From the inputs in float64 to the result, or the results."""

    @property
    def tolerance(self) -> float:
        return TOLERANCE[self.dtype]


def linear(x: Array, w: Array, b: Array = 0.0) -> Array:
    return x @ w.T + b


def erf(x: Array) -> Array:
    return np.vectorize(math.erf, otypes=[np.float64])(x)


def gelu(x: Array) -> Array:
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def gelu_tanh(x: Array) -> Array:
    # torch-mlir writes 0.797724 where PyTorch has the square root of 2 / pi, 0.797885.
    return 0.5 * x * (1 + np.tanh(0.797724 * (x + 0.044715 * x**3)))


def silu(x: Array) -> Array:
    return x / (1 + np.exp(-x))


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def mlp(activation: Callable[[Array], Array]) -> Callable[..., Array]:
    return lambda x, w1, b1, w2, b2: linear(activation(linear(x, w1, b1)), w2, b2)


def scores(q: Array, k: Array) -> Array:
    return 0.25 * q @ np.swapaxes(k, -1, -2)


def _constant_weights(x: Array) -> Array:
    weight = (np.arange(7 * 12) * 37 % 29 - 14) / 8
    return linear(x, weight.reshape(7, 12), np.arange(7) / 4 - 1)


def _einsum(text: str) -> Callable[..., Array]:
    return lambda x, y: np.einsum(text, x, y)


MLP = ((2, 5, 24), (40, 24), (40,), (24, 40), (24,))
HEADS = ((2, 3, 9, 16), (2, 3, 11, 16), (2, 3, 11, 16))

CASES = (
    Case("linear_f16", "f16", ((2, 5, 24), (40, 24)), linear),
    Case("linear_bf16", "bf16", ((2, 5, 24), (40, 24)), linear),
    Case("linear_f32", "f32", ((2, 5, 24), (40, 24)), linear),
    Case("linear_bias_f16", "f16", ((2, 5, 24), (41, 24), (41,)), linear),
    Case("linear_bias_bf16", "bf16", ((10, 24), (40, 24), (40,)), linear),
    Case("linear_bias_f32", "f32", ((10, 23), (40, 23), (40,)), linear),
    Case("linear_constant_weights", "f32", ((3, 12),), _constant_weights),
    Case("mlp_relu", "f16", MLP, mlp(lambda x: np.maximum(x, 0))),
    Case("mlp_gelu_erf", "f16", MLP, mlp(gelu)),
    Case("mlp_gelu_tanh", "f32", MLP, mlp(gelu_tanh)),
    Case("mlp_silu", "bf16", MLP, mlp(silu)),
    Case(
        "swiglu", "f16", ((2, 5, 24), (48, 24), (48, 24), (24, 48)),
        lambda x, gate, up, down: linear(silu(linear(x, gate)) * linear(x, up), down),
    ),
    Case("addmm", "f32", ((17, 33), (17, 40), (40, 33)), lambda c, a, b: 0.5 * c + 2 * a @ b),
    Case("addmm_row_f16", "f16", ((32,), (16, 40), (40, 32)), lambda c, a, b: c + 0.5 * a @ b),
    Case("bmm", "f16", ((3, 9, 24), (3, 24, 17)), np.matmul),
    Case("matmul_broadcast_batch", "f32", ((2, 3, 5, 16), (16, 12)), np.matmul),
    Case(
        "qkv", "f16", ((2, 5, 24), (32, 24), (32, 24), (32, 24)),
        lambda x, q, k, v: (linear(x, q), linear(x, k), linear(x, v)),
    ),
    Case(
        "grouped_heads", "f16", ((2, 5, 24), (48, 24), (16, 24), (16, 24)),
        lambda x, q, k, v: (linear(x, q), linear(x, k), linear(x, v)),
    ),
    Case("attention_products", "f16", HEADS, lambda q, k, v: scores(q, k) @ v),
    Case("attention_softmax", "f32", HEADS, lambda q, k, v: softmax(scores(q, k)) @ v),
    Case("lora", "f16", ((10, 24), (40, 24), (24, 4), (4, 40)), lambda x, w, a, b: linear(x, w) + 2 * (x @ a @ b)),
    Case("residual_scale", "f16", ((2, 5, 24), (24, 24), (2, 5, 24)), lambda x, w, r: r + 0.5 * linear(x, w)),
    Case("transposed_a", "f16", ((40, 17), (40, 32)), lambda a, b: a.T @ b),
    Case("transposed_b", "f16", ((17, 40), (32, 40)), lambda a, b: a @ b.T),
    Case("transposed_both", "f32", ((40, 17), (33, 40)), lambda a, b: a.T @ b.T),
    Case("einsum_abc_cd", "f16", ((3, 5, 16), (16, 24)), _einsum("abc,cd->abd")),
    Case("einsum_abcd_cdef", "f32", ((2, 3, 4, 5), (4, 5, 6, 7)), _einsum("abcd,cdef->abef")),
    Case("einsum_permuted", "f32", ((3, 5, 16), (16, 9)), _einsum("abc,cd->dab")),
    Case("einsum_batched", "bf16", ((3, 7, 16), (3, 16, 11)), _einsum("bij,bjk->bik")),
    Case("einsum_shared_batch_last", "f32", ((4, 6, 3), (6, 5, 3)), _einsum("ijb,jkb->ikb")),
    Case(
        "conv_1x1", "f32", ((2, 12, 5, 6), (16, 12, 1, 1), (16,)),
        lambda x, w, b: np.einsum("nchw,oc->nohw", x, w[:, :, 0, 0]) + b[:, None, None],
    ),
    Case("matvec", "f32", ((33, 40), (40,)), np.matmul),
    Case("vecmat", "f16", ((40,), (40, 33)), np.matmul),
    Case("int8", "i8", ((24, 32), (32, 16)), np.matmul),
    Case("matmul_f64", "f64", ((17, 20), (20, 9)), np.matmul),
    Case("two_products", "f16", ((16, 24), (24, 32), (32, 8)), lambda a, b, c: a @ b @ c),
    Case("scaled_rows", "f16", ((10, 24), (10, 1), (40, 24)), lambda x, s, w: linear(x * s, w)),
    Case("dynamic_batch", "f16", ((6, 24), (40, 24), (40,)), linear),
)  # fmt: skip
"""All modules."""
BATCHES = (1, 6, 0, 16, 17, 64, 131)
"""Values of the first input's first size with which a module of `DYNAMIC` runs."""
DYNAMIC = ("dynamic_batch",)
"""Modules in which that size is known only at run time."""
