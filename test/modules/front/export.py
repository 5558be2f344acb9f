"""Exports PyTorch modules as linalg on tensors: the files beside this one, whose inputs stand in cases.py.

Needs `pip install torch==2.13.0 torch-mlir==20261001 numpy`, in an environment of its own. Writes all modules, or those
named, and checks the formulas of cases.py against what PyTorch computes:

    python test/modules/front/export.py [NAME...]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from cases import CASES, Case
from torch.nn import functional as nn
from torch_mlir import fx

TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "i64": torch.int64, "i1": torch.bool}
MOST = {"open_tables": 150, "open_positions": 150}
"""The largest sizes that a program is exported for, where it says so."""
Tensor = torch.Tensor


class Function(torch.nn.Module):
    """A function as a module without parameters."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(*inputs)


def causal(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    keep = torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool).tril()
    scores = (q @ k.transpose(-1, -2) * 0.25).masked_fill(~keep, float("-inf"))
    return torch.softmax(scores, -1) @ v


def alibi(q: Tensor, k: Tensor) -> Tensor:
    place = torch.arange(q.shape[-2])
    distance = (place[None] - place[:, None]).float()
    slopes = torch.tensor([0.5, 0.25, 0.125])[:, None, None]
    return torch.softmax(q @ k.transpose(-1, -2) + slopes * distance, -1)


def window(q: Tensor, k: Tensor) -> Tensor:
    place = torch.arange(q.shape[-2])
    far = (place[:, None] - place[None]).abs() > 2
    return torch.softmax((q @ k.transpose(-1, -2)).masked_fill(far, float("-inf")), -1)


def rope(x: Tensor) -> Tensor:
    size, width = x.shape[-2:]
    angle = torch.arange(size).float()[:, None] * (1.0 / (10000 ** (torch.arange(0, width, 2).float() / width)))
    cosine, sine = angle.cos(), angle.sin()
    left, right = x[..., : width // 2], x[..., width // 2 :]
    return torch.cat([left * cosine - right * sine, left * sine + right * cosine], -1)


def attention(x: Tensor, q: Tensor, k: Tensor, v: Tensor, o: Tensor) -> Tensor:
    batch, size, width = x.shape
    heads = [nn.linear(x, w).view(batch, size, 3, 8).transpose(1, 2) for w in (q, k, v)]
    found = torch.softmax(heads[0] @ heads[1].transpose(-1, -2) * 0.35, -1) @ heads[2]
    return nn.linear(found.transpose(1, 2).reshape(batch, size, width), o)


def channels_last(x: Tensor, w: Tensor) -> Tensor:
    return nn.conv2d(x.permute(0, 3, 1, 2), w.permute(0, 3, 1, 2), padding=1).permute(0, 2, 3, 1)


def mul_sum(x: Tensor, w: Tensor) -> Tensor:
    return (x[:, None] * w[None]).sum(-1)


def mlp(x: Tensor, w: Tensor, b: Tensor, u: Tensor, c: Tensor) -> Tensor:
    return nn.linear(nn.gelu(nn.linear(x, w, b)), u, c)


def cache_put(cache: Tensor, rows: Tensor, at: Tensor) -> Tensor:
    return cache.index_put((torch.arange(cache.shape[0]), at), rows)


def rms_norm(x: Tensor, w: Tensor) -> Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w


def open_products(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return torch.bmm(x, w[None].expand(x.shape[0], *w.shape)) + b


def causal_block(x: Tensor, qkv: Tensor, o: Tensor) -> Tensor:
    """Attention whose queries, keys and values are parts of one product."""
    batch, size, _ = x.shape
    q, k, v = nn.linear(x, qkv).view(batch, size, 3, 2, 8).permute(2, 0, 3, 1, 4)
    return nn.linear(nn.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(x.shape), o)


def complex_rope(x: Tensor, angle: Tensor) -> Tensor:
    turned = (
        torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2)) * torch.polar(torch.ones_like(angle), angle)[:, None]
    )
    return torch.view_as_real(turned).flatten(3)


def instance_norm(x: Tensor) -> Tensor:
    return (x - x.mean(-1, keepdim=True)) * torch.rsqrt(x.var(-1, unbiased=False, keepdim=True) + 1e-5)


def grown_cache(q: Tensor, k: Tensor, v: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    k, v = torch.cat([keys, k], 2), torch.cat([values, v], 2)
    query = torch.arange(q.shape[2])[:, None] + keys.shape[2]
    scores = (q @ k.transpose(-1, -2) * 0.25).masked_fill(torch.arange(k.shape[2])[None] > query, float("-inf"))
    return torch.softmax(scores, -1) @ v, k, v


def experts(x: Tensor, gate: Tensor, up: Tensor, down: Tensor) -> Tensor:
    """A dense mixture: every expert computes every row."""
    made = nn.silu(torch.einsum("btd,edh->bteh", x, up))
    return torch.einsum("bte,bteh,ehd->btd", torch.softmax(nn.linear(x, gate), -1), made, down)


def routed_experts(x: Tensor, weights: Tensor, up: Tensor, down: Tensor) -> Tensor:
    """The same as three einsums, with weights that are given."""
    made = nn.silu(torch.einsum("btd,edh->beth", x, up))
    return torch.einsum("bte,betd->btd", weights, torch.einsum("beth,ehd->betd", made, down))


def token_shift(x: Tensor, mix: Tensor) -> Tensor:
    return x + (torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], 1) - x) * mix


def next_token(logits: Tensor, tokens: Tensor) -> Tensor:
    return nn.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")


def rotated(x: Tensor, angle: Tensor) -> Tensor:
    left, right = x.chunk(2, -1)
    return torch.cat([left * angle.cos() - right * angle.sin(), left * angle.sin() + right * angle.cos()], -1)


def llama_block(x: Tensor, q: Tensor, kv: Tensor, o: Tensor, up: Tensor, down: Tensor, keys: Tensor, values: Tensor):
    """A block with four heads of queries for two of keys and values, a cache that grows, and a gated MLP."""
    batch, new, past = x.shape[0], x.shape[1], keys.shape[2]
    norm = rms_norm(x, torch.ones(16, dtype=x.dtype))
    queries = (norm @ q).view(batch, new, 4, 8).transpose(1, 2)
    fresh = [(norm @ w).view(batch, new, 2, 8).transpose(1, 2) for w in kv]
    place = torch.arange(new) + past
    angle = place[:, None].to(x.dtype) / 10000.0 ** (torch.arange(0, 8, 2).to(x.dtype) / 8)
    keys = torch.cat([keys, rotated(fresh[0], angle)], 2)
    values = torch.cat([values, fresh[1]], 2)
    shared = [each[:, :, None].expand(batch, 2, 2, past + new, 8).reshape(batch, 4, past + new, 8)
              for each in (keys, values)]  # fmt: skip
    scores = 0.25 * rotated(queries, angle) @ shared[0].transpose(-1, -2)
    scores = scores.masked_fill(torch.arange(past + new)[None] > place[:, None], float("-inf"))
    x = x + (torch.softmax(scores, -1) @ shared[1]).transpose(1, 2).reshape(batch, new, 32) @ o
    return x + (nn.silu(x @ up[0]) * (x @ up[1])) @ down, keys, values


def tables(x: Tensor, places: Tensor, mask: Tensor) -> Tensor:
    x, tokens = x + places[: x.shape[1]], x.shape[1]
    return torch.softmax(x @ x.transpose(1, 2) + mask[:tokens, :tokens], -1) @ x


EXPORTS: dict[str, Callable[..., Any]] = {
    "tril": torch.tril,
    "triu_batch": lambda x: x.triu(1),
    "add_arange": lambda x: x + torch.arange(13).float(),
    "argmax": lambda x: x.argmax(-1),
    "eye": lambda x: x @ torch.eye(13),
    "causal_attention": lambda q, k, v: nn.scaled_dot_product_attention(q, k, v, is_causal=True),
    "alibi": alibi,
    "sliding_window": window,
    "rope": rope,
    "complex_rope": complex_rope,
    "one_hot": lambda i: nn.one_hot(i, 10),
    "embedding": nn.embedding,
    "embedding_linear": lambda i, w, u: nn.linear(nn.embedding(i, w), u),
    "gather": lambda x, i: torch.gather(x, 1, i),
    "index_select": lambda x, i: x.index_select(1, i),
    "cross_entropy": nn.cross_entropy,
    "cat": lambda a, b: torch.cat([a, b], 1),
    "stack": lambda a, b: torch.stack([a, b], 1),
    "pad": lambda x: nn.pad(x, (1, 2, 0, 3)),
    "pad_reflect": lambda x: nn.pad(x, (1, 2), mode="reflect"),
    "slice_product": lambda x, w: x[:, 2:7] @ w,
    "roll": lambda x: x.roll(2, 1),
    "flip": lambda x: x.flip(1),
    "cache_put": cache_put,
    "embedding_gradient": lambda g, i: torch.ops.aten.embedding_dense_backward(g, i, 90, -1, False),
    "put_added": lambda x, i, rows: x.index_put((i,), rows, accumulate=True),
    "cache_row": lambda c, x: c.slice_scatter(x, 1, 4, 5),
    "upsample": lambda x: nn.interpolate(x, scale_factor=2, mode="nearest"),
    "unfold": lambda x: nn.unfold(x, 3),
    "max_pool": lambda x: nn.max_pool2d(x, 2),
    "max_pool_places": lambda x: nn.max_pool2d(x, 2, return_indices=True)[1],
    "max_pool_padded": lambda x: nn.max_pool2d(x, 3, stride=2, padding=1),
    "avg_pool": lambda x: nn.avg_pool2d(x, 2),
    "mul_sum_f16": mul_sum,
    "mul_sum_bf16": mul_sum,
    "bilinear_f16": nn.bilinear,
    "conv2d": lambda x, w, b: nn.conv2d(x, w, b, padding=1),
    "conv2d_f16": lambda x, w, b: nn.conv2d(x, w, b, padding=1),
    "conv2d_stride": lambda x, w: nn.conv2d(x, w, stride=2, padding=1),
    "conv2d_dilation": lambda x, w: nn.conv2d(x, w, dilation=2),
    "conv2d_groups": lambda x, w: nn.conv2d(x, w, padding=1, groups=2),
    "conv2d_depthwise": lambda x, w: nn.conv2d(x, w, padding=1, groups=4),
    "conv2d_patches": lambda x, w: nn.conv2d(x, w, stride=4),
    "conv2d_channels_last": channels_last,
    "conv1d": lambda x, w: nn.conv1d(x, w, padding=1),
    "conv3d": lambda x, w: nn.conv3d(x, w, padding=1),
    "conv_transposed": lambda x, w: nn.conv_transpose2d(x, w, stride=2, padding=1),
    "batch_norm": nn.batch_norm,
    "group_norm": lambda x, w, b: nn.group_norm(x, 2, w, b),
    "open_linear": nn.linear,
    "open_linear_batch": nn.linear,
    "open_mlp": mlp,
    "open_layer_norm": lambda x, w, b: nn.layer_norm(x, (24,), w, b),
    "open_rms_norm": rms_norm,
    "open_attention": attention,
    "open_attention_batch": attention,
    "open_causal": causal,
    "open_batch_norm": nn.batch_norm,
    "open_linear_both": nn.linear,
    "open_mlp_both": mlp,
    "open_norm_linear": lambda x, g, b, w: nn.linear(nn.layer_norm(x, (24,), g, b), w),
    "open_attention_both": attention,
    "open_products": open_products,
    "open_embedding_linear": lambda i, e, w: nn.linear(nn.embedding(i, e) * 4.0, w),
    "open_causal_block": causal_block,
    "open_mean_linear": lambda x, w: nn.linear(x.mean(1), w),
    "open_instance_norm": instance_norm,
    "open_group_norm": lambda x, w, b: nn.group_norm(x, 2, w, b),
    "open_average_pool": lambda x: nn.adaptive_avg_pool2d(x, 1).flatten(1),
    "open_cache": grown_cache,
    "open_llama_block": llama_block,
    "open_shift": token_shift,
    "open_experts": experts,
    "open_routed_experts": routed_experts,
    "open_token_entropy": nn.cross_entropy,
    "open_next_token": next_token,
    "open_last_token": lambda x, w: nn.linear(x[:, -1], w),
    "open_last_norm": lambda x, w, b: nn.layer_norm(x[:, -1], (24,), w, b),
    "open_sliced_linear": lambda x, w: nn.linear(x[:, 1:], w),
    "open_sliced_norm": lambda x, w, b: nn.layer_norm(x[:, :-1, 8:], (16,), w, b),
    "open_sliced_softmax": lambda x: torch.softmax(x[:, 1::2], -1),
    "open_tables": tables,
    "open_positions": lambda x, table, w: nn.linear(x + table[: x.shape[1]], w),
    "open_conv2d": lambda x, w: nn.conv2d(x, w, stride=2, padding=1),
    "open_upsample": lambda x: nn.interpolate(x, scale_factor=2, mode="nearest"),
}


def export(case: Case) -> str:
    """The text of one module. Raises ValueError where PyTorch computes something else than the case's formula."""
    rng = np.random.default_rng(0)
    made = [case.made(number, rng) for number in range(len(case.inputs))]
    inputs = tuple(torch.from_numpy(np.asarray(x)).to(TYPES[case.dtype(n)]) for n, x in enumerate(made))
    program = Function(EXPORTS[case.name]).eval()
    found = program(*(x.double() if x.is_floating_point() else x for x in inputs)) if case.name != "eye" else inputs[0]
    wanted = case.reference(*(x.double().numpy() if x.is_floating_point() else x.numpy() for x in inputs))
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    if not all(np.allclose(np.asarray(one), other, rtol=1e-5, atol=1e-6) for one, other in pairs):
        raise ValueError(f"{case.name}: PyTorch computes something else than cases.py")
    if not case.open:
        module = fx.export_and_import(program, *inputs, output_type="linalg-on-tensors", func_name="main")
    else:
        names = {
            size: torch.export.Dim(f"s{size}", min=min(size, 5), max=MOST.get(case.name))
            for size in {case.shape(n)[axis] for n, axis in case.open}
        }
        shapes = [
            {axis: names[case.shape(n)[axis]] for number, axis in case.open if number == n} or None
            for n in range(len(inputs))
        ]
        exported = torch.export.export(program, inputs, dynamic_shapes=(tuple(shapes),))
        module = fx.export_and_import(exported, output_type="linalg-on-tensors", func_name="main")
    header = (
        f"// {case.name}: {', '.join(case.inputs)}\n"
        f"// Made by export.py with PyTorch {torch.__version__.partition('+')[0]} and torch-mlir.\n"
    )
    return header + str(module).strip() + "\n"


def main() -> None:
    for case in CASES:
        if case.name in (sys.argv[1:] or EXPORTS):
            Path(__file__).with_name(f"{case.name}.mlir").write_text(export(case))


if __name__ == "__main__":
    main()
