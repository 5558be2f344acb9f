"""Exports PyTorch modules as linalg on tensors, the form that mlir-gemm takes: the files beside this one.

Needs `pip install torch==2.13.0 torch-mlir==20261001` (a CPU build of PyTorch suffices), in an environment of its own.
Writes all modules, or those named:

    python test/modules/export.py [NAME...]

What each computes, and with which inputs, stands a second time in cases.py, written in NumPy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional
from torch_mlir import fx

F16, BF16, F32, F64, I8 = torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8


@dataclass(frozen=True)
class Export:
    """A function of tensors and the shapes and types it is exported for."""

    function: Callable[..., Any]
    inputs: tuple[tuple[tuple[int, ...], Any], ...]
    dynamic: dict[int, dict[int, str]] | None = None
    """For each input with dynamic sizes: dimension and name."""


class Function(torch.nn.Module):
    """A function as a module without parameters: weights come as arguments."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(*inputs)


class Weights(torch.nn.Module):
    """A linear layer that keeps its weights, which stand in the module as constants."""

    def __init__(self) -> None:
        super().__init__()
        # As in cases.py: numbers that are the same on every machine.
        self.weight = torch.nn.Parameter(((torch.arange(7 * 12) * 37 % 29 - 14) / 8).reshape(7, 12).to(F32))
        self.bias = torch.nn.Parameter((torch.arange(7) / 4 - 1).to(F32))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.linear(x, self.weight, self.bias)


def inputs(dtype: Any, *shapes: tuple[int, ...]) -> tuple[tuple[tuple[int, ...], Any], ...]:
    return tuple((shape, dtype) for shape in shapes)


def mlp(activation: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., torch.Tensor]:
    def run(x: torch.Tensor, w1: torch.Tensor, b1: torch.Tensor, w2: torch.Tensor, b2: torch.Tensor) -> torch.Tensor:
        return functional.linear(activation(functional.linear(x, w1, b1)), w2, b2)

    return run


def swiglu(x: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, down: torch.Tensor) -> torch.Tensor:
    return functional.linear(functional.silu(functional.linear(x, gate)) * functional.linear(x, up), down)


def qkv(x: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return functional.linear(x, q), functional.linear(x, k), functional.linear(x, v)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    scores = torch.matmul(q, k.transpose(-1, -2)) * 0.25
    return torch.matmul(torch.softmax(scores, -1), v)


MLP = ((2, 5, 24), (40, 24), (40,), (24, 40), (24,))
HEADS = ((2, 3, 9, 16), (2, 3, 11, 16), (2, 3, 11, 16))

EXPORTS: dict[str, Export] = {
    "linear_f16": Export(functional.linear, inputs(F16, (2, 5, 24), (40, 24))),
    "linear_bf16": Export(functional.linear, inputs(BF16, (2, 5, 24), (40, 24))),
    "linear_f32": Export(functional.linear, inputs(F32, (2, 5, 24), (40, 24))),
    "linear_bias_f16": Export(functional.linear, inputs(F16, (2, 5, 24), (41, 24), (41,))),
    "linear_bias_bf16": Export(functional.linear, inputs(BF16, (10, 24), (40, 24), (40,))),
    "linear_bias_f32": Export(functional.linear, inputs(F32, (10, 23), (40, 23), (40,))),
    "linear_constant_weights": Export(Weights(), inputs(F32, (3, 12))),
    "mlp_relu": Export(mlp(functional.relu), inputs(F16, *MLP)),
    "mlp_gelu_erf": Export(mlp(functional.gelu), inputs(F16, *MLP)),
    "mlp_gelu_tanh": Export(mlp(lambda x: functional.gelu(x, approximate="tanh")), inputs(F32, *MLP)),
    "mlp_silu": Export(mlp(functional.silu), inputs(BF16, *MLP)),
    "swiglu": Export(swiglu, inputs(F16, (2, 5, 24), (48, 24), (48, 24), (24, 48))),
    "addmm": Export(lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2.0),
                    inputs(F32, (17, 33), (17, 40), (40, 33))),
    "addmm_row_f16": Export(lambda c, a, b: torch.addmm(c, a, b, beta=1.0, alpha=0.5),
                            inputs(F16, (32,), (16, 40), (40, 32))),
    "bmm": Export(torch.bmm, inputs(F16, (3, 9, 24), (3, 24, 17))),
    "matmul_broadcast_batch": Export(torch.matmul, inputs(F32, (2, 3, 5, 16), (16, 12))),
    "qkv": Export(qkv, inputs(F16, (2, 5, 24), (32, 24), (32, 24), (32, 24))),
    "grouped_heads": Export(qkv, inputs(F16, (2, 5, 24), (48, 24), (16, 24), (16, 24))),
    "attention_products": Export(
        lambda q, k, v: torch.matmul(torch.matmul(q, k.transpose(-1, -2)) * 0.25, v), inputs(F16, *HEADS)
    ),
    "attention_softmax": Export(attention, inputs(F32, *HEADS)),
    "lora": Export(lambda x, w, a, b: functional.linear(x, w) + 2.0 * ((x @ a) @ b),
                   inputs(F16, (10, 24), (40, 24), (24, 4), (4, 40))),
    "residual_scale": Export(lambda x, w, r: r + 0.5 * functional.linear(x, w),
                             inputs(F16, (2, 5, 24), (24, 24), (2, 5, 24))),
    "transposed_a": Export(lambda a, b: a.t() @ b, inputs(F16, (40, 17), (40, 32))),
    "transposed_b": Export(lambda a, b: a @ b.t(), inputs(F16, (17, 40), (32, 40))),
    "transposed_both": Export(lambda a, b: a.t() @ b.t(), inputs(F32, (40, 17), (33, 40))),
    "einsum_abc_cd": Export(lambda x, y: torch.einsum("abc,cd->abd", x, y), inputs(F16, (3, 5, 16), (16, 24))),
    "einsum_abcd_cdef": Export(lambda x, y: torch.einsum("abcd,cdef->abef", x, y),
                               inputs(F32, (2, 3, 4, 5), (4, 5, 6, 7))),
    "einsum_permuted": Export(lambda x, y: torch.einsum("abc,cd->dab", x, y), inputs(F32, (3, 5, 16), (16, 9))),
    "einsum_batched": Export(lambda x, y: torch.einsum("bij,bjk->bik", x, y), inputs(BF16, (3, 7, 16), (3, 16, 11))),
    "einsum_shared_batch_last": Export(lambda x, y: torch.einsum("ijb,jkb->ikb", x, y),
                                       inputs(F32, (4, 6, 3), (6, 5, 3))),
    "conv_1x1": Export(functional.conv2d, inputs(F32, (2, 12, 5, 6), (16, 12, 1, 1), (16,))),
    "matvec": Export(torch.mv, inputs(F32, (33, 40), (40,))),
    "vecmat": Export(torch.matmul, inputs(F16, (40,), (40, 33))),
    "int8": Export(torch._int_mm, inputs(I8, (24, 32), (32, 16))),  # pyright: ignore[reportPrivateUsage]
    "matmul_f64": Export(torch.matmul, inputs(F64, (17, 20), (20, 9))),
    "two_products": Export(lambda a, b, c: (a @ b) @ c, inputs(F16, (16, 24), (24, 32), (32, 8))),
    "scaled_rows": Export(lambda x, s, w: functional.linear(x * s, w), inputs(F16, (10, 24), (10, 1), (40, 24))),
    "dynamic_batch": Export(functional.linear, inputs(F16, (6, 24), (40, 24), (40,)), {0: {0: "batch"}}),
}  # fmt: skip


def export(name: str) -> str:
    """The text of one module."""
    each = EXPORTS[name]
    example = tuple(torch.zeros(shape, dtype=dtype) for shape, dtype in each.inputs)
    program: Any = each.function if isinstance(each.function, torch.nn.Module) else Function(each.function)
    if each.dynamic is None:
        module = fx.export_and_import(program, *example, output_type="linalg-on-tensors", func_name="main")
    else:
        sizes = {number: {dim: torch.export.Dim(label) for dim, label in dims.items()} for number, dims in
                 each.dynamic.items()}  # fmt: skip
        shapes = (tuple(sizes.get(number) for number in range(len(example))),)
        exported = torch.export.export(program, example, dynamic_shapes=shapes)
        module = fx.export_and_import(exported, output_type="linalg-on-tensors", func_name="main")
    types = ", ".join(
        f"{'x'.join(map(str, shape))} {str(dtype).removeprefix('torch.')}" for shape, dtype in each.inputs
    )
    header = (
        f"// {name}: {types}\n// Made by export.py with PyTorch {torch.__version__.partition('+')[0]} and torch-mlir.\n"
    )
    return header + str(module).strip() + "\n"


def main() -> None:
    for name in sys.argv[1:] or EXPORTS:
        Path(__file__).with_name(f"{name}.mlir").write_text(export(name))


if __name__ == "__main__":
    main()
