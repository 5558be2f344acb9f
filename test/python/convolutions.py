"""Convolutions as MLIR, channels last, for tests and checks on a GPU; and what they are in float64."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

Pair = tuple[int, int]
_MANY = 100003
FORMS = ("nhwc_hwcf", "nhwc_fhwc", "transposed")
"""linalg's two, and PyTorch's own (images and weights with the channels second) between transposes, which is how
torch-mlir writes tensors that lie with the channels last."""


@dataclass(frozen=True)
class Convolution:
    """`n` images of `size` pixels of `c` channels, `f` filters of `window`; in `groups` of channels and of filters. One
    channel and one filter a group are linalg's depthwise convolution; other groups are not written as `nhwc_hwcf`."""

    n: int
    size: Pair
    c: int
    f: int
    window: Pair = (3, 3)
    stride: Pair = (1, 1)
    dilation: Pair = (1, 1)
    padding: Pair = (0, 0)
    form: str = "nhwc_fhwc"
    dtype: str = "f16"
    result: str = ""
    groups: int = 1

    @property
    def depthwise(self) -> bool:
        """Whether each channel is a group."""
        return 1 < self.groups == self.c == self.f

    @property
    def places(self) -> Pair:
        """Rows and columns of the result."""
        found = [
            (size + 2 * padding - dilation * (window - 1) - 1) // stride + 1
            for size, padding, dilation, window, stride in zip(
                self.size, self.padding, self.dilation, self.window, self.stride, strict=True
            )
        ]
        return found[0], found[1]

    @property
    def flops(self) -> int:
        """Floating-point operations."""
        return 2 * self.windows * self.f // self.groups

    @property
    def windows(self) -> int:
        """Elements of a copy of all windows."""
        return self.n * self.places[0] * self.places[1] * self.window[0] * self.window[1] * self.c

    @property
    def shapes(self) -> list[list[int]]:
        """Of the image, the weights and the result."""
        c = self.c // self.groups
        window = [*self.window, c, self.f] if self.form == "nhwc_hwcf" else [self.f, *self.window, c]
        if self.depthwise and self.form != "transposed":
            window = [*self.window, self.c]
        return [[self.n, *self.size, self.c], window, [self.n, *self.places, self.f]]

    def open_text(self) -> str:
        """The same of as many images as there are at run time."""
        text = replace(self, n=_MANY).text().replace(f"tensor<{_MANY}x", "tensor<?x")
        image = "x".join(map(str, ["?", *self.shapes[0][1:], self.dtype]))
        first = f"{{\n  %i0 = arith.constant 0 : index\n  %n = tensor.dim %x, %i0 : tensor<{image}>\n"
        text = text.replace("{\n", first, 1).replace("tensor.empty() : tensor<?", "tensor.empty(%n) : tensor<?")
        return re.sub(rf"output_shape \[{_MANY}", "output_shape [%n", text)

    def text(self) -> str:
        """A module: the image and the weights in, the result out."""
        image, weights, result = ("x".join(map(str, shape)) for shape in self.shapes)
        out = self.result or self.dtype
        wide = [self.n, *(size + 2 * pad for size, pad in zip(self.size, self.padding, strict=True)), self.c]
        dense = ", ".join(
            f"{name} = dense<[{a}, {b}]> : vector<2xi64>"
            for name, (a, b) in (("dilations", self.dilation), ("strides", self.stride))
        )
        x, w, y, o = (f"tensor<{each}x{kind}>" for each, kind in (
            (image, self.dtype), (weights, self.dtype), (result, out), ("x".join(map(str, wide)), self.dtype)
        ))  # fmt: skip
        lines = [f"func.func @conv(%x: {x}, %w: {w}) -> {y} {{", f"  %zero = arith.constant 0.0 : {self.dtype}"]
        source, type_ = "%x", x
        if self.padding != (0, 0):
            a, b = self.padding
            lines += [
                f"  %p = tensor.pad %x low[0, {a}, {b}, 0] high[0, {a}, {b}, 0] {{",
                "  ^bb0(%i: index, %j: index, %k: index, %l: index):",
                f"    tensor.yield %zero : {self.dtype}",
                f"  }} : {x} to {o}",
            ]
            source, type_ = "%p", o
        name, weights_at, filled = f"conv_2d_{self.form}", ("%w", w), y
        if self.depthwise:
            name = "depthwise_conv_2d_nhwc_hwc"
        c, f = self.c // self.groups, self.f // self.groups
        if self.form == "transposed":
            name = "conv_2d_nchw_fchw"
            for value, given, shape in (("x", (source, type_), [wide[0], wide[3], *wide[1:3]]),
                                        ("w", ("%w", w), [self.f, c, *self.window])):  # fmt: skip
                turned = f"tensor<{'x'.join(map(str, shape))}x{self.dtype}>"
                lines += [
                    f"  %e{value} = tensor.empty() : {turned}",
                    f"  %t{value} = linalg.transpose ins({given[0]} : {given[1]}) outs(%e{value} : {turned})"
                    " permutation = [0, 3, 1, 2]",
                ]
                if value == "x":
                    source, type_ = "%tx", turned
                else:
                    weights_at = "%tw", turned
            filled = f"tensor<{'x'.join(map(str, [self.n, self.f, *self.places]))}x{out}>"
        whole = filled
        if self.depthwise and self.form == "transposed":
            name, reshaped = (
                "depthwise_conv_2d_nchw_chw",
                f"tensor<{self.c}x{'x'.join(map(str, self.window))}x{self.dtype}>",
            )
            lines.append(
                f"  %gw = tensor.collapse_shape {weights_at[0]} [[0, 1], [2], [3]] : {weights_at[1]} into {reshaped}"
            )
            weights_at = "%gw", reshaped
        elif self.groups > 1 and not self.depthwise:
            second = self.form == "transposed"
            name = f"conv_2d_{'ngchw_gfchw' if second else 'nhwgc_gfhwc'}"
            axis = 1 if second else 3
            image = [wide[0], wide[3], *wide[1:3]] if second else wide
            window = [self.f, c, *self.window] if second else [self.f, *self.window, c]
            type_ = _reshape(lines, ("%gx", source, type_), image, axis, [self.groups, c], self.dtype)
            source = "%gx"
            weights_at = (
                "%gw",
                _reshape(lines, ("%gw", weights_at[0], weights_at[1]), window, 0, [self.groups, f], self.dtype),
            )
            shape = [self.n, self.groups, f, *self.places] if second else [self.n, *self.places, self.groups, f]
            filled = f"tensor<{'x'.join(map(str, shape))}x{out}>"
        lines += [
            f"  %z = arith.constant 0.0 : {out}",
            f"  %e = tensor.empty() : {filled}",
            f"  %f = linalg.fill ins(%z : {out}) outs(%e : {filled}) -> {filled}",
            f"  %r = linalg.{name} {{{dense}}} ins({source}, {weights_at[0]} : {type_}, {weights_at[1]})"
            f" outs(%f : {filled}) -> {filled}",
        ]
        returned = "%r"
        if filled != whole:
            axis = 1 if self.form == "transposed" else 3
            lines.append(f"  %cr = tensor.collapse_shape %r {_joined(axis, 4)} : {filled} into {whole}")
            returned = "%cr"
        if self.form == "transposed":
            lines += [
                f"  %ey = tensor.empty() : {y}",
                f"  %ty = linalg.transpose ins({returned} : {whole}) outs(%ey : {y}) permutation = [0, 2, 3, 1]",
            ]
            returned = "%ty"
        return "\n".join([*lines, f"  return {returned} : {y}", "}"])

    def expected(self, image: Any, weights: Any) -> Any:
        """The result in float64."""
        wide = np.pad(np.asarray(image, np.float64), [(0, 0), *((each, each) for each in self.padding), (0, 0)])
        window = np.asarray(weights, np.float64).reshape(self.shapes[1])
        if self.depthwise and self.form != "transposed":
            window = window[:, :, None]
        else:
            window = window if self.form == "nhwc_hwcf" else np.moveaxis(window, 0, -1)
        rows, columns = self.places
        total: Any = np.zeros([*self.shapes[2][:3], self.groups, self.f // self.groups])
        for i in range(self.window[0]):
            for j in range(self.window[1]):
                first = i * self.dilation[0], j * self.dilation[1]
                part = wide[:, first[0] :, first[1] :][:, :: self.stride[0], :: self.stride[1]][:, :rows, :columns]
                part = part.reshape(*part.shape[:3], self.groups, -1)
                each = window[i, j].reshape(-1, self.groups, self.f // self.groups)
                total += np.einsum("nhwgc,cgf->nhwgf", part, each)
        return total.reshape(self.shapes[2])


def _joined(axis: int, rank: int) -> str:
    """How two dimensions are one."""
    groups = [[place + (place > axis)] if place != axis else [axis, axis + 1] for place in range(rank)]
    return str(groups)


def _reshape(
    lines: list[str], names: tuple[str, str, str], shape: list[int], axis: int, parts: list[int], dtype: str
) -> str:
    """Adds a line that takes a dimension apart, of `names`: the new one's, the old one's and its type. The new type."""
    new = [*shape[:axis], *parts, *shape[axis + 1 :]]
    type_ = f"tensor<{'x'.join(map(str, new))}x{dtype}>"
    sizes, (name, old, old_type) = ", ".join(map(str, new)), names
    given = f"{old} {_joined(axis, 4)} output_shape [{sizes}] : {old_type}"
    lines.append(f"  {name} = tensor.expand_shape {given} into {type_}")
    return type_


def random_convolution(choose: random.Random, most: int = 12) -> Convolution:
    """One of any window, stride, dilation and padding, of few pixels; each pixel's channels are whole vectors."""

    def pair(low: int, high: int) -> Pair:
        return choose.randint(low, high), choose.randint(low, high)

    window, dilation, padding = pair(1, 4), pair(1, 3), pair(0, 2)
    least = [max(1, dilation[axis] * (window[axis] - 1) + 1 - 2 * padding[axis]) for axis in (0, 1)]
    size = choose.randint(least[0], least[0] + most), choose.randint(least[1], least[1] + most)
    return Convolution(
        choose.choice((1, 2, 5)), size, 8 * choose.choice((1, 2, 3, 4, 8, 9, 16)), choose.choice((5, 8, 32, 40)),
        window, pair(1, 3), dilation, padding, choose.choice(FORMS), choose.choice(("f16", "bf16")),
    )  # fmt: skip


def random_groups(choose: random.Random, most: int = 8) -> Convolution:
    """One of few channels, or of groups, or depthwise; otherwise as `random_convolution`."""
    case = random_convolution(choose, most)
    kind = choose.choice(("few", "groups", "depthwise"))
    if kind == "few":
        return replace(case, c=choose.choice((1, 2, 3, 4, 5, 7, 12, 20)))
    if kind == "groups":
        groups, form = choose.choice((2, 3, 4)), choose.choice(("nhwc_fhwc", "transposed"))
        c, f = choose.choice((2, 4, 5, 8, 16)), choose.choice((1, 4, 5, 8, 16))
        return replace(case, c=groups * c, f=groups * f, groups=groups, form=form)
    c = choose.choice((3, 4, 8, 24, 64))
    return replace(case, c=c, f=c, groups=c, form=choose.choice(("nhwc_hwcf", "transposed")))
