"""Blocks of models around matrix products, as PyTorch functions, with the shapes of their arguments.

`examples/blocks/export.py` writes them as linalg on tensors; `mlir-gemm bench --group blocks` measures both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Block(NamedTuple):
    """One function, from the library and its arguments."""

    function: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    dtype: str
    others: dict[int, str] = {}  # noqa: RUF012 (of a tuple, which nobody changes)
    """The types of arguments that have another one, by their places."""
    classes: int = 0
    """What arguments of i64 lie below."""
    written: Callable[..., Any] | None = None
    """The same in simpler operations, which is exported, where torch-mlir makes lists of places of the function."""

    def dtype_of(self, number: int) -> str:
        """The type of an argument."""
        return self.others.get(number, self.dtype)


def _linear(torch: Any, x: Any, *weights: Any) -> Any:
    return torch.nn.functional.linear(x, *weights)


def _layer_norm(torch: Any, x: Any, w: Any, b: Any) -> Any:
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)


def _wide(torch: Any, x: Any) -> Any:
    """In f32, or f64 where it is that already."""
    return x if x.dtype == torch.float64 else x.float()


def _rms_norm(torch: Any, x: Any, w: Any) -> Any:
    wide = _wide(torch, x)
    return w * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)


def ln_linear(torch: Any, x: Any, w: Any, b: Any, weight: Any, bias: Any) -> Any:
    """LayerNorm and a linear layer."""
    return _linear(torch, _layer_norm(torch, x, w, b), weight, bias)


def rms_linear(torch: Any, x: Any, w: Any, weight: Any) -> Any:
    """RMSNorm and a linear layer."""
    return _linear(torch, _rms_norm(torch, x, w), weight)


def head(torch: Any, x: Any, weight: Any) -> Any:
    """A linear layer and log-softmax."""
    return torch.log_softmax(_linear(torch, x, weight), -1)


def encoder(
    torch: Any, x: Any, wq: Any, bq: Any, wo: Any, bo: Any, w1: Any, b1: Any, w2: Any, b2: Any, *norms: Any
) -> Any:
    """A transformer's encoder layer with softmax written out, norms last."""
    b, t, d = x.shape
    q, k, v = (part.reshape(b, t, 16, d // 16).transpose(1, 2) for part in _linear(torch, x, wq, bq).chunk(3, -1))
    a = torch.softmax(q @ k.transpose(-1, -2) * (1.0 / (d // 16) ** 0.5), -1) @ v
    x = _layer_norm(torch, x + _linear(torch, a.transpose(1, 2).reshape(b, t, d), wo, bo), norms[0], norms[1])
    inner = torch.relu(_linear(torch, x, w1, b1))
    return _layer_norm(torch, x + _linear(torch, inner, w2, b2), norms[2], norms[3])


def swiglu(torch: Any, x: Any, gate: Any, up: Any, down: Any) -> Any:
    """A gated MLP."""
    return _linear(torch, torch.nn.functional.silu(_linear(torch, x, gate)) * _linear(torch, x, up), down)


def gated_rms(torch: Any, x: Any, w: Any, gate: Any, up: Any, down: Any) -> Any:
    """RMSNorm, a gated MLP, and the residual."""
    return x + swiglu(torch, _rms_norm(torch, x, w), gate, up, down)


def residual_ln(torch: Any, x: Any, r: Any, w: Any, b: Any) -> Any:
    """A residual and LayerNorm; both are results."""
    y = x + r
    return y, _layer_norm(torch, y, w, b)


def quant_linear(torch: Any, x: Any, weight: Any) -> Any:
    """A linear layer whose result is quantised by rows, and the scales."""
    y = _wide(torch, _linear(torch, x, weight))
    s = y.abs().amax(-1, keepdim=True) / 127
    return (y / s).round().to(torch.int8), s


def gelu_mlp(torch: Any, x: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    """Two linear layers with GELU between them."""
    return _linear(torch, torch.nn.functional.gelu(_linear(torch, x, w1, b1)), w2, b2)


def lora(torch: Any, x: Any, weight: Any, a: Any, b: Any) -> Any:
    """A linear layer and a correction of low rank."""
    return _linear(torch, x, weight) + _linear(torch, _linear(torch, x, a), b)


def int8_linear(torch: Any, x: Any, weight: Any, scale: Any) -> Any:
    """A linear layer whose weights are bytes, with a scale for each row of them."""
    return _linear(torch, x, weight.to(x.dtype)) * scale


def adaptive_norm(torch: Any, x: Any, c: Any, weight: Any, bias: Any) -> Any:
    """LayerNorm with a scale and a shift that are computed from a condition, an image each."""
    scale, shift = _linear(torch, torch.nn.functional.silu(c), weight, bias).chunk(2, -1)
    return torch.nn.functional.layer_norm(x, x.shape[-1:]) * (1 + scale[:, None]) + shift[:, None]


def cross_entropy(torch: Any, x: Any, weight: Any, targets: Any) -> Any:
    """A linear layer and cross entropy."""
    return torch.nn.functional.cross_entropy(_wide(torch, _linear(torch, x, weight)), targets)


def group_norm_silu(torch: Any, x: Any, w: Any, b: Any) -> Any:
    """GroupNorm of 32 groups, and SiLU."""
    return torch.nn.functional.silu(torch.nn.functional.group_norm(x, 32, w, b))


def _group_norm_written(torch: Any, x: Any, w: Any, b: Any) -> Any:
    groups = _wide(torch, x).reshape(x.shape[0], 32, -1)
    centred = groups - groups.mean(-1, keepdim=True)
    normal = centred * torch.rsqrt(centred.square().mean(-1, keepdim=True) + 1e-5)
    normal = normal.reshape(x.shape) * w[:, None, None] + b[:, None, None]
    return torch.nn.functional.silu(normal).to(x.dtype)


def _attention(torch: Any, q: Any, k: Any, v: Any, heads: int, mask: Any = None) -> Any:
    """Attention with its softmax written out."""
    b, t, d = q.shape
    q, k, v = (part.reshape(b, t, heads, d // heads).transpose(1, 2) for part in (q, k, v))
    scores = q @ k.transpose(-1, -2) * (1.0 / (d // heads) ** 0.5)
    if mask is not None:
        scores = scores + mask
    return (torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(b, t, d)


def bert(torch: Any, x: Any, mask: Any, *weights: Any) -> Any:
    """A layer of BERT: norms last, GELU, a mask for each sentence."""
    wq, bq, wk, bk, wv, bv, wo, bo, n1, m1, w1, b1, w2, b2, n2, m2 = weights
    q, k, v = (_linear(torch, x, w, b) for w, b in ((wq, bq), (wk, bk), (wv, bv)))
    x = _layer_norm(torch, x + _linear(torch, _attention(torch, q, k, v, 12, mask), wo, bo), n1, m1)
    return _layer_norm(torch, x + gelu_mlp(torch, x, w1, b1, w2, b2), n2, m2)


def gpt2(torch: Any, x: Any, mask: Any, *weights: Any) -> Any:
    """A layer of GPT-2: norms first, GELU by tanh, a causal mask, weights as [in, out]."""
    n1, m1, wa, ba, wo, bo, n2, m2, w1, b1, w2, b2 = weights
    q, k, v = (_layer_norm(torch, x, n1, m1) @ wa + ba).chunk(3, -1)
    x = x + (_attention(torch, q, k, v, 12, mask) @ wo + bo)
    inner = torch.nn.functional.gelu(_layer_norm(torch, x, n2, m2) @ w1 + b1, approximate="tanh")
    return x + (inner @ w2 + b2)


_D, _E = (1024,), (768,)
_EE, _EH, _HE, _H = (768, 768), (768, 3072), (3072, 768), (3072,)
BLOCKS = {
    "ln_linear": Block(ln_linear, ((2048, 1024), _D, _D, (4096, 1024), (4096,)), "float16"),
    "rms_linear": Block(rms_linear, ((2048, 4096), (4096,), (6144, 4096)), "bfloat16"),
    "head": Block(head, ((256, 2048), (50257, 2048)), "float16"),
    "encoder": Block(encoder, ((8, 512, 1024), (3072, 1024), (3072,), (1024, 1024), _D, (4096, 1024), (4096,),
                               (1024, 4096), _D, _D, _D, _D, _D), "float16"),
    "swiglu512": Block(swiglu, ((512, 4096), (14336, 4096), (14336, 4096), (4096, 14336)), "bfloat16"),
    "gated_rms": Block(gated_rms, ((1024, 2048), (2048,), (5632, 2048), (5632, 2048), (2048, 5632)), "bfloat16"),
    "residual_ln": Block(residual_ln, ((8192, 1024), (8192, 1024), _D, _D), "float16"),
    "quant_linear": Block(quant_linear, ((2048, 4096), (4096, 4096)), "bfloat16"),
    "swiglu16": Block(swiglu, ((16, 4096), (14336, 4096), (14336, 4096), (4096, 14336)), "bfloat16"),
    "swiglu4096": Block(swiglu, ((4096, 4096), (14336, 4096), (14336, 4096), (4096, 14336)), "bfloat16"),
    "gelu_mlp": Block(gelu_mlp, ((1024, 1600), (6400, 1600), (6400,), (1600, 6400), (1600,)), "float16"),
    "lora": Block(lora, ((2048, 4096), (4096, 4096), (16, 4096), (4096, 16)), "bfloat16"),
    "int8_linear1": Block(int8_linear, ((1, 4096), (14336, 4096), (14336,)), "bfloat16", {1: "int8"}),
    "int8_linear32": Block(int8_linear, ((32, 4096), (14336, 4096), (14336,)), "bfloat16", {1: "int8"}),
    "adaptive_norm": Block(adaptive_norm, ((16, 256, 1152), (16, 1152), (2304, 1152), (2304,)), "bfloat16"),
    "cross_entropy50257": Block(cross_entropy, ((4096, 768), (50257, 768), (4096,)), "bfloat16", {2: "int64"}, 50257),
    "cross_entropy128256": Block(cross_entropy, ((2048, 4096), (128256, 4096), (2048,)), "bfloat16", {2: "int64"},
                                 128256),
    "group_norm_silu": Block(group_norm_silu, ((8, 512, 64, 64), (512,), (512,)), "float16",
                             written=_group_norm_written),
    "bert": Block(bert, ((8, 512, 768), (8, 1, 1, 512), *(_EE, _E) * 4, _E, _E, _HE, _H, _EH, _E, _E, _E), "float16"),
    "gpt2": Block(gpt2, ((4, 1024, 768), (1, 1, 1024, 1024), _E, _E, (768, 2304), (2304,), _EE, _E, _E, _E, _EH, _H,
                         _HE, _E), "float16"),
}  # fmt: skip
