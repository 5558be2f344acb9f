"""Blocks of models around matrix products, as PyTorch functions, with the shapes of their arguments.

`examples/blocks/export.py` writes them as linalg on tensors; `test/gpu/check_blocks.py` measures both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Block(NamedTuple):
    """One function, from the library and its arguments."""

    function: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    dtype: str


def _linear(torch: Any, x: Any, *weights: Any) -> Any:
    return torch.nn.functional.linear(x, *weights)


def _layer_norm(torch: Any, x: Any, w: Any, b: Any) -> Any:
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)


def _rms_norm(torch: Any, x: Any, w: Any) -> Any:
    wide = x.float()
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
    y = _linear(torch, x, weight).float()
    s = y.abs().amax(-1, keepdim=True) / 127
    return (y / s).round().to(torch.int8), s


_D = (1024,)
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
}  # fmt: skip
