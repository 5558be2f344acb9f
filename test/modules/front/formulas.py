"""What the modules beside this file compute, in NumPy and float64."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Array = Any


def linear(x: Array, w: Array, b: Array = 0.0) -> Array:
    return x @ w.T + b


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def gelu(x: Array) -> Array:
    return 0.5 * x * (1 + np.vectorize(math.erf, otypes=[np.float64])(x / math.sqrt(2)))


def scores(q: Array, k: Array) -> Array:
    return q @ np.swapaxes(k, -1, -2)


def masked(values: Array, keep: Array) -> Array:
    return np.where(keep, values, -np.inf)


def causal(q: Array, k: Array, v: Array) -> Array:
    size = q.shape[-2]
    return softmax(masked(0.25 * scores(q, k), np.tri(size, dtype=bool))) @ v


def alibi(q: Array, k: Array) -> Array:
    place = np.arange(q.shape[-2])
    slopes = np.array([0.5, 0.25, 0.125])[:, None, None]
    return softmax(scores(q, k) + slopes * (place[None] - place[:, None]))


def window(q: Array, k: Array) -> Array:
    place = np.arange(q.shape[-2])
    return softmax(masked(scores(q, k), np.abs(place[:, None] - place[None]) <= 2))


def rope(x: Array, past: int = 0) -> Array:
    size, width = x.shape[-2:]
    angle = (np.arange(size) + past)[:, None] / 10000.0 ** (np.arange(0, width, 2) / width)
    cosine, sine = np.cos(angle), np.sin(angle)
    left, right = x[..., : width // 2], x[..., width // 2 :]
    return np.concatenate([left * cosine - right * sine, left * sine + right * cosine], -1)


def complex_rope(x: Array, angle: Array) -> Array:
    turned = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * angle)[:, None]
    return np.stack([turned.real, turned.imag], -1).reshape(x.shape)


def attention(x: Array, q: Array, k: Array, v: Array, o: Array) -> Array:
    batch, size, width = x.shape
    heads = [linear(x, w).reshape(batch, size, 3, 8).transpose(0, 2, 1, 3) for w in (q, k, v)]
    found = softmax(0.35 * scores(heads[0], heads[1])) @ heads[2]
    return linear(found.transpose(0, 2, 1, 3).reshape(batch, size, width), o)


def causal_block(x: Array, qkv: Array, o: Array) -> Array:
    q, k, v = linear(x, qkv).reshape(*x.shape[:2], 3, 2, 8).transpose(2, 0, 3, 1, 4)
    found = softmax(masked(scores(q, k) / math.sqrt(8), np.tri(x.shape[1], dtype=bool))) @ v
    return linear(found.transpose(0, 2, 1, 3).reshape(x.shape), o)


def layer_norm(x: Array, w: Array, b: Array) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * w + b


def rms_norm(x: Array, w: Array) -> Array:
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * w


def batch_norm(x: Array, mean: Array, variance: Array, w: Array, b: Array) -> Array:
    mean, variance, w, b = (each[:, None, None] for each in (mean, variance, w, b))
    return (x - mean) / np.sqrt(variance + 1e-5) * w + b


def group_norm(x: Array, w: Array, b: Array) -> Array:
    parts = x.reshape(x.shape[0], 2, -1)
    centred = parts - parts.mean(-1, keepdims=True)
    found = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return found.reshape(x.shape) * w[:, None, None] + b[:, None, None]


def windows(x: Array, size: Sequence[int], stride: int, dilation: int) -> Array:
    """For each place and each element of a window over the last dimensions, the element there."""
    axes = range(x.ndim - len(size), x.ndim)
    reach = [(each - 1) * dilation + 1 for each in size]
    found = np.lib.stride_tricks.sliding_window_view(x, reach, tuple(axes))
    steps = (slice(None),) * (x.ndim - len(size))
    return found[(*steps, *[slice(None, None, stride)] * len(size), *[slice(None, None, dilation)] * len(size))]


def convolution(x: Array, w: Array, b: Array | None = None, *, stride: int = 1, padding: int = 0, dilation: int = 1,
                groups: int = 1) -> Array:  # fmt: skip
    spatial = w.ndim - 2
    x = np.pad(x, [(0, 0)] * 2 + [(padding, padding)] * spatial)
    parts: list[Array] = []
    for group in range(groups):
        channels, filters = x.shape[1] // groups, w.shape[0] // groups
        seen = windows(x[:, group * channels : (group + 1) * channels], w.shape[2:], stride, dilation)
        kernel = w[group * filters : (group + 1) * filters]
        places = list(range(2 + spatial, 2 + 2 * spatial))
        found = np.tensordot(seen, kernel, ([1, *places], [1, *range(2, 2 + spatial)]))
        parts.append(np.moveaxis(found, -1, 1))
    result = np.concatenate(parts, 1)
    return result if b is None else result + b.reshape(-1, *[1] * spatial)


def transposed_convolution(x: Array, w: Array) -> Array:
    """With stride 2 and padding 1: zeros between the elements, and the window turned around."""
    wide = np.zeros((*x.shape[:2], 2 * x.shape[2] - 1, 2 * x.shape[3] - 1))
    wide[:, :, ::2, ::2] = x
    return convolution(wide, w.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1], padding=w.shape[2] - 2)


def channels_last(x: Array, w: Array) -> Array:
    return convolution(x.transpose(0, 3, 1, 2), w.transpose(0, 3, 1, 2), padding=1).transpose(0, 2, 3, 1)


def max_pool(x: Array, size: int, stride: int, padding: int) -> Array:
    x = np.pad(x, [(0, 0)] * 2 + [(padding, padding)] * 2, constant_values=-np.inf)
    return windows(x, (size, size), stride, 1).max((-1, -2))


def max_pool_places(x: Array) -> Array:
    """For each window of 2x2 the place of its largest element in the image."""
    rows, columns = x.shape[2:]
    seen = windows(x, (2, 2), 2, 1)
    place = seen.reshape(*seen.shape[:4], 4).argmax(-1)
    first = 2 * np.arange(rows // 2)[:, None] * columns + 2 * np.arange(columns // 2)
    return first + place // 2 * columns + place % 2


def unfold(x: Array) -> Array:
    seen = windows(x, (3, 3), 1, 1)
    return seen.transpose(0, 1, 4, 5, 2, 3).reshape(x.shape[0], x.shape[1] * 9, -1)


def cross_entropy(x: Array, target: Array) -> Array:
    shifted = x - x.max(-1, keepdims=True)
    logarithms = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return -logarithms[np.arange(len(target)), target].mean()


def with_row(cache: Array, row: Array, at: int) -> Array:
    found = cache.copy()
    found[:, at : at + row.shape[1]] = row
    return found


def with_rows_added(x: Array, at: Array, rows: Array) -> Array:
    found = x.copy()
    np.add.at(found, at, rows)
    return found


def embedding_gradient(rows: Array, at: Array) -> Array:
    return with_rows_added(np.zeros((90, rows.shape[-1])), at, rows)


def with_rows_at(cache: Array, rows: Array, at: Array) -> Array:
    written = cache.copy()
    written[np.arange(len(rows)), at] = rows
    return written


def instance_norm(x: Array) -> Array:
    """Normalised along the last dimension."""
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def grown_cache(q: Array, k: Array, v: Array, keys: Array, values: Array) -> tuple[Array, Array, Array]:
    """Causal attention to what is in a cache and to what is new, and the cache after it."""
    k, v = np.concatenate([keys, k], 2), np.concatenate([values, v], 2)
    scores = 0.25 * q @ k.swapaxes(-1, -2)
    past = keys.shape[2]
    hidden = np.arange(k.shape[2])[None] > np.arange(q.shape[2])[:, None] + past
    return softmax(np.where(hidden, -np.inf, scores)) @ v, k, v


def token_shift(x: Array, mix: Array) -> Array:
    """Each token mixed with the one before it, as in RWKV."""
    before = np.concatenate([np.zeros_like(x[:, :1]), x[:, :-1]], 1)
    return x + (before - x) * mix


def experts(x: Array, gate: Array, up: Array, down: Array) -> Array:
    """A dense mixture of experts: all compute every row, weighted by a softmax."""
    made = np.einsum("btd,edh->bteh", x, up)
    return np.einsum("bte,bteh,ehd->btd", softmax(linear(x, gate)), made / (1 + np.exp(-made)), down)


def routed_experts(x: Array, weights: Array, up: Array, down: Array) -> Array:
    """The same with weights of each expert that are given."""
    made = np.einsum("btd,edh->beth", x, up)
    return np.einsum("bte,beth,ehd->btd", weights, made / (1 + np.exp(-made)), down)


def token_entropy(logits: Array, tokens: Array) -> Array:
    """The mean cross entropy of tokens, classes in the second dimension."""
    chances = np.log(softmax(logits.swapaxes(1, 2)))
    return np.array(-np.take_along_axis(chances, tokens[..., None], -1).mean())


def next_token_loss(logits: Array, tokens: Array) -> Array:
    """The sum of the cross entropies of each token given those before it."""
    chances = np.log(softmax(logits[:, :-1]))
    return np.array(-np.take_along_axis(chances, tokens[:, 1:, None], -1).sum())


def tables(x: Array, places: Array, mask: Array) -> Array:
    """As many rows of tables as there are tokens: places, and what each token may see."""
    x, tokens = x + places[: x.shape[1]], x.shape[1]
    return softmax(scores(x, x) + mask[:tokens, :tokens]) @ x


def llama_block(
    x: Array, q: Array, kv: Array, o: Array, up: Array, down: Array, keys: Array, values: Array
) -> tuple[Array, Array, Array]:
    """A block with four heads of queries for two of keys and values, a cache that grows, and a gated MLP."""
    norm, past = rms_norm(x, np.ones(16)), keys.shape[2]
    queries = (norm @ q).reshape(*x.shape[:2], 4, 8).swapaxes(1, 2)
    key, value = ((norm @ w).reshape(*x.shape[:2], 2, 8).swapaxes(1, 2) for w in kv)
    keys, values = np.concatenate([keys, rope(key, past)], 2), np.concatenate([values, value], 2)
    found = 0.25 * scores(rope(queries, past), keys.repeat(2, 1))
    found = softmax(masked(found, np.tri(x.shape[1], keys.shape[2], past, dtype=bool))) @ values.repeat(2, 1)
    x = x + found.swapaxes(1, 2).reshape(*x.shape[:2], 32) @ o
    gate = x @ up[0]
    return x + (gate / (1 + np.exp(-gate)) * (x @ up[1])) @ down, keys, values
