"""The modules beside this file: what they take, and what they compute. `export.py` has the same in PyTorch."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import formulas as f

Array = Any
TOLERANCE = {"f16": 2e-3, "bf16": 1.5e-2, "f32": 1e-5}
"""Relative error of a result, in the Frobenius norm, by the type of the first floating-point input."""


@dataclass(frozen=True)
class Case:
    """One module. An input is a type and a shape: `f32 2x9x16`; an integer's type ends with what it stays below, as in
    `i64<20 3x5`; `+f32 4` are positive numbers. `i1` are truth values."""

    name: str
    inputs: tuple[str, ...]
    reference: Callable[..., Array | tuple[Array, ...]]
    """From the inputs, floating-point ones in float64, to the results."""
    open: tuple[tuple[int, int], ...] = ()
    """Sizes that are known at run time only: numbers of an input and of its dimension."""
    sizes: tuple[int, ...] = (1, 19)
    """What all open sizes are also called with."""

    @property
    def tolerance(self) -> float:
        found = [text.lstrip("+").split()[0] for text in self.inputs]
        return TOLERANCE[next((each for each in found if each in TOLERANCE), "f32")]

    def shape(self, number: int) -> tuple[int, ...]:
        """The shape of an input."""
        text = self.inputs[number].split()
        return tuple(int(size) for size in text[1].split("x")) if len(text) > 1 else ()

    def dtype(self, number: int) -> str:
        """The type of an input, as MLIR writes it."""
        return self.inputs[number].lstrip("+").split()[0].partition("<")[0]

    def made(self, number: int, rng: np.random.Generator, sizes: dict[tuple[int, int], int] | None = None) -> Array:
        """An input in float64, or int64, or bool; with other sizes where these are open."""
        shape = [(sizes or {}).get((number, axis), size) for axis, size in enumerate(self.shape(number))]
        text = self.inputs[number].split()[0]
        if text == "i1":
            return rng.random(shape) > 0.5
        if "<" in text:
            return rng.integers(0, int(text.partition("<")[2]), shape)
        values = 0.5 * rng.standard_normal(shape)
        return np.abs(values) + 0.5 if text.startswith("+") else values


QKV = ("f32 2x3x9x16",) * 3
IMAGE = "f32 2x4x8x9"
NORM = ("f32 4", "+f32 4", "f32 4", "f32 4")
MLP = ("f32 2x5x24", "f32 40x24", "f32 40", "f32 24x40", "f32 24")
ATTENTION = ("f32 2x5x24", *("f32 24x24",) * 4)
BOTH = ((0, 0), (0, 1))

CASES = (
    # Positions
    Case("tril", ("f32 9x13",), np.tril),
    Case("triu_batch", ("f16 2x9x13",), lambda x: np.triu(x, 1)),
    Case("add_arange", ("f32 9x13",), lambda x: x + np.arange(13)),
    Case("argmax", ("f32 9x13",), lambda x: x.argmax(-1)),
    Case("eye", ("f32 9x13",), lambda x: x),
    Case("causal_attention", QKV, f.causal),
    Case("alibi", ("f32 2x3x9x16",) * 2, f.alibi),
    Case("sliding_window", ("f32 2x9x16",) * 2, f.window),
    Case("rope", ("f32 2x3x9x16",), f.rope),
    Case("complex_rope", ("f32 2x7x3x8", "f32 7x4"), f.complex_rope),
    Case("one_hot", ("i64<10 7",), lambda i: np.eye(10, dtype=np.int64)[i]),
    # Gathers, pieces, caches
    Case("embedding", ("i64<20 3x5", "f32 20x16"), lambda i, w: w[i]),
    Case("embedding_linear", ("i64<20 3x5", "f16 20x16", "f16 24x16"), lambda i, w, u: f.linear(w[i], u)),
    Case("gather", ("f32 6x9", "i64<9 6x4"), lambda x, i: np.take_along_axis(x, i, 1)),
    Case("index_select", ("f32 6x9", "i64<9 4"), lambda x, i: x[:, i]),
    Case("cross_entropy", ("f32 7x10", "i64<10 7"), f.cross_entropy),
    Case("cat", ("f32 6x9", "f32 6x4"), lambda a, b: np.concatenate([a, b], 1)),
    Case("stack", ("f32 6x9", "f32 6x9"), lambda a, b: np.stack([a, b], 1)),
    Case("pad", ("f32 6x9",), lambda x: np.pad(x, ((0, 3), (1, 2)))),
    Case("pad_reflect", ("f32 6x9",), lambda x: np.pad(x, ((0, 0), (1, 2)), mode="reflect")),
    Case("slice_product", ("f32 6x9", "f32 5x8"), lambda x, w: x[:, 2:7] @ w),
    Case("roll", ("f32 6x9",), lambda x: np.roll(x, 2, 1)),
    Case("flip", ("f32 6x9",), lambda x: x[:, ::-1]),
    Case("cache_put", ("f32 2x9x16", "f32 2x16", "i64<9 2"), f.with_rows_at),
    Case("embedding_gradient", ("f32 3x14x16", "i64<90 3x14"), f.embedding_gradient),
    Case("put_added", ("f16 20x16", "i64<20 3x5", "f16 3x5x16"), f.with_rows_added),
    Case("cache_row", ("f32 2x9x16", "f32 2x1x16"), lambda c, x: f.with_row(c, x, 4)),
    Case("upsample", ("f32 2x3x4x5",), lambda x: x.repeat(2, 2).repeat(2, 3)),
    Case("unfold", ("f32 1x2x6x7",), f.unfold),
    Case("max_pool", ("f32 2x4x8x8",), lambda x: f.max_pool(x, 2, 2, 0)),
    Case("max_pool_places", ("f32 2x4x8x8",), f.max_pool_places),
    Case("max_pool_padded", ("f32 2x4x8x8",), lambda x: f.max_pool(x, 3, 2, 1)),
    Case("avg_pool", ("f32 2x4x8x8",), lambda x: f.windows(x, (2, 2), 2, 1).mean((-1, -2))),
    # Products of f16 and bf16 that are written as multiplications and sums
    Case("mul_sum_f16", ("f16 6x16", "f16 8x16"), f.linear),
    Case("mul_sum_bf16", ("bf16 6x16", "bf16 8x16"), f.linear),
    Case("bilinear_f16", ("f16 5x6", "f16 5x7", "f16 8x6x7", "f16 8"),
         lambda x, y, w, b: np.einsum("bi,oij,bj->bo", x, w, y) + b),
    # Convolutions
    Case("conv2d", (IMAGE, "f32 6x4x3x3", "f32 6"), lambda x, w, b: f.convolution(x, w, b, padding=1)),
    Case("conv2d_f16", ("f16 2x4x8x9", "f16 6x4x3x3", "f16 6"), lambda x, w, b: f.convolution(x, w, b, padding=1)),
    Case("conv2d_stride", (IMAGE, "f32 6x4x3x3"), lambda x, w: f.convolution(x, w, stride=2, padding=1)),
    Case("conv2d_dilation", (IMAGE, "f32 6x4x3x3"), lambda x, w: f.convolution(x, w, dilation=2)),
    Case("conv2d_groups", (IMAGE, "f32 6x2x3x3"), lambda x, w: f.convolution(x, w, padding=1, groups=2)),
    Case("conv2d_depthwise", (IMAGE, "f32 4x1x3x3"), lambda x, w: f.convolution(x, w, padding=1, groups=4)),
    Case("conv2d_patches", ("f32 2x3x8x8", "f32 6x3x4x4"), lambda x, w: f.convolution(x, w, stride=4)),
    Case("conv2d_channels_last", ("f32 2x8x9x4", "f32 6x3x3x4"), f.channels_last),
    Case("conv1d", ("f32 2x4x9", "f32 6x4x3"), lambda x, w: f.convolution(x, w, padding=1)),
    Case("conv3d", ("f32 1x3x4x5x6", "f32 4x3x3x3x3"), lambda x, w: f.convolution(x, w, padding=1)),
    Case("conv_transposed", ("f32 2x4x5x6", "f32 4x6x3x3"), f.transposed_convolution),
    Case("batch_norm", ("f32 2x4x5x6", *NORM), f.batch_norm),
    Case("group_norm", ("f32 2x4x5x6", "f32 4", "f32 4"), f.group_norm),
    # Sizes known at run time only
    Case("open_linear", ("f16 2x5x24", "f16 40x24", "f16 40"), f.linear, ((0, 1),)),
    Case("open_linear_batch", ("f32 2x5x24", "f32 40x24", "f32 40"), f.linear, ((0, 0),)),
    Case("open_mlp", MLP, lambda x, w, b, u, c: f.linear(f.gelu(f.linear(x, w, b)), u, c), ((0, 1),)),
    Case("open_layer_norm", ("f32 2x5x24", "f32 24", "f32 24"), f.layer_norm, BOTH),
    Case("open_rms_norm", ("f32 2x5x24", "f32 24"), f.rms_norm, BOTH),
    Case("open_attention", ATTENTION, f.attention, ((0, 1),)),
    Case("open_attention_batch", ATTENTION, f.attention, ((0, 0),)),
    Case("open_causal", QKV, f.causal, ((0, 2), (1, 2), (2, 2))),
    Case("open_batch_norm", ("f32 3x4x5x6", *NORM), f.batch_norm, ((0, 0),)),
    Case("open_linear_both", ("f32 2x5x24", "f32 40x24", "f32 40"), f.linear, BOTH),
    Case("open_mlp_both", MLP, lambda x, w, b, u, c: f.linear(f.gelu(f.linear(x, w, b)), u, c), BOTH),
    Case("open_norm_linear", ("f32 2x5x24", "f32 24", "f32 24", "f32 40x24"),
         lambda x, g, b, w: f.linear(f.layer_norm(x, g, b), w), BOTH),
    Case("open_attention_both", ATTENTION, f.attention, BOTH),
    Case("open_products", ("f32 2x5x24", "f32 24x40", "f32 40"), lambda x, w, b: x @ w + b, BOTH),
    Case("open_embedding_linear", ("i64<20 2x5", "f32 20x16", "f32 20x16"), lambda i, e, w: f.linear(4 * e[i], w),
         BOTH),
    Case("open_mean_linear", ("f16 3x5x24", "f16 40x24"), lambda x, w: f.linear(x.mean(1), w), BOTH),
    Case("open_instance_norm", ("f32 2x4x7",), f.instance_norm, ((0, 2),)),
    Case("open_group_norm", ("f32 2x4x5x6", "f32 4", "f32 4"), f.group_norm, ((0, 2), (0, 3))),
    Case("open_average_pool", ("f32 2x4x7x6",), lambda x: x.mean((2, 3)), ((0, 2), (0, 3))),
    Case("open_cache", (*("f32 2x3x4x8",) * 3, *("f32 2x3x6x8",) * 2), f.grown_cache, tuple((n, 2) for n in range(5))),
    Case("open_shift", ("f32 3x5x8", "f32 8"), f.token_shift, BOTH),
    Case("open_llama_block", ("f32 2x4x16", "f32 16x32", "f32 2x16x16", "f32 32x16", "f32 2x16x24", "f32 24x16",
                              *("f32 2x2x6x8",) * 2),
         f.llama_block, ((0, 0), (0, 1), (6, 0), (6, 2), (7, 0), (7, 2)), sizes=(1, 5)),
    Case("open_experts", ("f32 2x5x8", "f32 4x8", "f32 4x8x12", "f32 4x12x8"), f.experts, BOTH),
    Case("open_routed_experts", ("f32 2x5x8", "f32 2x5x4", "f32 4x8x12", "f32 4x12x8"), f.routed_experts,
         (*BOTH, (1, 0), (1, 1))),
    Case("open_token_entropy", ("f32 2x11x5", "i64<11 2x5"), f.token_entropy, ((0, 0), (0, 2), (1, 0), (1, 1))),
    Case("open_next_token", ("f32 3x6x11", "i64<11 3x6"), f.next_token_loss, ((0, 1), (1, 1))),
    Case("open_last_token", ("f16 3x5x16", "f16 24x16"), lambda x, w: f.linear(x[:, -1], w), BOTH),
    Case("open_last_norm", ("f16 3x5x24", "f16 24", "f16 24"), lambda x, w, b: f.layer_norm(x[:, -1], w, b), BOTH),
    Case("open_sliced_linear", ("f16 2x5x24", "f16 40x24"), lambda x, w: f.linear(x[:, 1:], w), BOTH),
    Case("open_sliced_norm", ("f32 2x5x24", "f32 16", "f32 16"),
         lambda x, w, b: f.layer_norm(x[:, :-1, 8:], w, b), BOTH),
    Case("open_sliced_softmax", ("f32 3x11",), lambda x: f.softmax(x[:, 1::2]), ((0, 1),), (2, 130)),
    Case("open_tables", ("f16 2x7x24", "f16 160x24", "f16 160x160"), f.tables, BOTH),
    Case("open_positions", ("f16 2x7x24", "f16 160x24", "f16 16x24"),
         lambda x, table, w: f.linear(x + table[: x.shape[1]], w), BOTH),
    Case("open_conv2d", ("f32 2x4x9x7", "f32 6x4x3x3"), lambda x, w: f.convolution(x, w, stride=2, padding=1),
         ((0, 0), (0, 2), (0, 3))),
    Case("open_upsample", ("f32 2x3x5x6",), lambda x: x.repeat(2, 2).repeat(2, 3), ((0, 2), (0, 3))),
    Case("open_causal_block", ("f32 2x5x16", "f32 48x16", "f32 16x16"), f.causal_block, BOTH),
)  # fmt: skip
"""All modules."""
