"""Random products in every size, type, layout and epilogue: their MLIR, their inputs and their float64 reference.

One list serves the fuzzing on the GPU (`check_products.py`) and any other place that wants many small problems.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SIZES = (1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100, 127, 129, 255, 257)
EDGES = (
    (6, 13, 3), (15, 37, 7), (81, 19, 41), (123, 456, 789), (457, 330, 514), (1000, 4, 512), (4, 1000, 512),
    (127, 127, 127), (129, 129, 129), (255, 257, 255), (256, 256, 257), (128, 128, 32), (128, 128, 160), (128, 128, 33),
    (1, 1, 1), (1, 4096, 4096), (4096, 1, 4096), (513, 511, 1025),
)  # fmt: skip
"""M, N, K: the suites of IREE and CUTLASS, tiles plus and minus one, and one k step more than there are stages."""
TYPES = {
    "f16": ("f16", "f32", ("f32", "f16")),
    "bf16": ("bf16", "f32", ("f32", "bf16")),
    "f32": ("f32", "f32", ("f32", "f16")),
    "f64": ("f64", "f64", ("f64",)),
    "i8": ("i8", "i32", ("i32",)),
    "f8": ("f8E4M3FN", "f32", ("f32", "f16")),
}
"""Operands, accumulator and possible results of each kind of product."""
SHARES = {"f16": 5, "bf16": 3, "f32": 2, "f64": 1, "i8": 2}
"""How often each kind is drawn, where nobody says."""
EPILOGUES = ("none", "relu", "bias_n", "bias_m", "residual", "scaled", "accumulate", "bias_relu_residual")


@dataclass(frozen=True)
class Product:
    """D = epilogue(A B), `batch` times when that is not 0."""

    m: int
    n: int
    k: int
    kind: str = "f16"
    out: str = "f32"
    a_order: str = "mk"
    b_order: str = "kn"
    batch: int = 0
    pad: int | None = None
    """Elements between the rows of the arguments, which are memrefs; None for tensors."""
    epilogue: str = "none"
    schedule: str = ""
    added: str = ""
    """Element type of the matrix that a residual adds; empty for the accumulator's."""

    def shape(self, axes: str) -> list[int]:
        """Sizes of an operand by its axes, with the batch in front."""
        sizes = {"m": self.m, "n": self.n, "k": self.k}
        return ([self.batch] if self.batch else []) + [sizes[axis] for axis in axes]

    @property
    def arguments(self) -> list[tuple[str, list[int], str]]:
        """Name, shape and element type of each input besides the result."""
        operand, accumulator, _ = TYPES[self.kind]
        found = [("A", self.shape(self.a_order), operand), ("B", self.shape(self.b_order), operand)]
        if "bias_n" in self.epilogue or self.epilogue == "bias_relu_residual":
            found.append(("bias", [self.n], accumulator))
        if "bias_m" in self.epilogue:
            found.append(("bias", [self.m], accumulator))
        if "residual" in self.epilogue or self.epilogue == "accumulate":
            found.append(("R", self.shape("mn"), self.added or accumulator))
        return found

    def module(self) -> str:
        """The MLIR source: tensors in and out, or memrefs with padded rows."""
        return _Writer(self).text()

    def reference(self, tensors: dict[str, Any], torch: Any) -> Any:
        """The result in float64, rounded once to the result's type."""
        a, b = tensors["A"].double(), tensors["B"].double()
        a = a.transpose(-1, -2) if self.a_order == "km" else a
        b = b.transpose(-1, -2) if self.b_order == "nk" else b
        d = a @ b
        if "accumulate" in self.epilogue:
            d = d + tensors["R"].double()
        if "bias" in tensors:
            bias = tensors["bias"].double()
            d = d + (bias[:, None] if "bias_m" in self.epilogue else bias)
        if self.epilogue == "scaled":
            d = d * 2
        if "relu" in self.epilogue:
            d = d.clamp(min=0)
        if "residual" in self.epilogue:
            d = d + tensors["R"].double()
        return d


class _Writer:
    """Writes one product as MLIR."""

    def __init__(self, product: Product) -> None:
        self.p = product
        self.operand, self.acc, _ = TYPES[product.kind]
        self.dims = "b, m, n, k" if product.batch else "m, n, k"
        self.plain = "b, m, n" if product.batch else "m, n"

    def text(self) -> str:
        p = self.p
        arguments = [f"%{name}: {self.argument(shape, type_)}" for name, shape, type_ in p.arguments]
        zero = "0" if self.acc.startswith("i") else "0.0"
        body = [f"%zero = arith.constant {zero} : {self.acc}"]
        wide = self.local(p.shape("mn"), self.acc)
        init = "%R" if p.epilogue == "accumulate" and p.pad is None else "%init"
        plain = p.epilogue in ("none", "accumulate") and p.out == self.acc
        if init == "%init":
            if p.pad is not None and plain:
                init, wide = "%D", self.argument(p.shape("mn"), self.acc)
            else:
                body.append(f"%empty = {self.empty()} : {wide}")
                init = "%empty"
            if p.epilogue == "accumulate":
                residual = self.argument(p.shape("mn"), self.acc)
                body.append(f"linalg.copy ins(%R : {residual}) outs({init} : {wide})")
            else:
                init = self.operation(body, "init", f"linalg.fill ins(%zero : {self.acc})", init, wide)
        maps = ", ".join(self.map(self.dims, axes) for axes in (p.a_order, p.b_order, "mn"))
        a, b = (self.argument(p.shape(axes), self.operand) for axes in (p.a_order, p.b_order))
        product = self.operation(
            body, "P", f"linalg.contract indexing_maps = [{maps}] ins(%A, %B : {a}, {b})", init, wide
        )
        final = product if plain else self.epilogue(body, product, wide)
        result = self.argument(p.shape("mn"), p.out)
        if p.pad is None:
            return self.function(arguments, f" -> {result}", body, f"return {final} : {result}")
        return self.function([*arguments, f"%D: {result}"], "", body, "return")

    def operation(self, body: list[str], name: str, start: str, out: str, type_: str, region: str = "") -> str:
        """Adds an operation that writes `out`; returns what holds the result then."""
        if self.p.pad is None:
            body.append(f"%{name} = {start} outs({out} : {type_}) {region} -> {type_}")
            return f"%{name}"
        body.append(f"{start} outs({out} : {type_}) {region}")
        return out

    def epilogue(self, body: list[str], product: str, wide: str) -> str:
        p = self.p
        inputs = [(product, wide, self.map(self.plain, "mn"))]
        for name, shape, type_ in p.arguments[2:]:
            if p.epilogue != "accumulate":
                axes = "mn" if name == "R" else ("m" if "bias_m" in p.epilogue else "n")
                inputs.append((f"%{name}", self.argument(shape, type_), self.map(self.plain, axes, name == "R")))
        result = self.argument(p.shape("mn"), p.out)
        if p.pad is None:
            body.append(f"%out = tensor.empty() : {result}")
        maps = ", ".join([*(map_ for _, _, map_ in inputs), self.map(self.plain, "mn")])
        iterators = ", ".join(['"parallel"'] * len(self.plain.split(",")))
        names, types = ", ".join(name for name, _, _ in inputs), ", ".join(type_ for _, type_, _ in inputs)
        start = f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}} ins({names} : {types})"
        arguments = ["%x", *("%r" if name == "%R" else "%bias_" for name, _, _ in inputs[1:])]
        typed = (f"{name}: {(name == '%r' and p.added) or self.acc}" for name in arguments)
        listed = ", ".join([*typed, f"%old: {p.out}"])
        region = "\n".join([f"{{ ^bb0({listed}):", *self.arithmetic(), "}"])
        return self.operation(body, "E", start, "%out" if p.pad is None else "%D", result, region)

    def empty(self) -> str:
        return "tensor.empty()" if self.p.pad is None else "memref.alloc()"

    def local(self, shape: list[int], type_: str) -> str:
        """The type of an intermediate, which is dense."""
        return f"{'tensor' if self.p.pad is None else 'memref'}<{'x'.join(map(str, shape))}x{type_}>"

    def arithmetic(self) -> list[str]:
        p, acc = self.p, self.acc
        suffix = "i" if acc.startswith("i") else "f"
        value, lines = "%x", list[str]()

        def step(operation: str, other: str) -> None:
            nonlocal value
            made = f"%v{len(lines)}"
            lines.append(f"{made} = arith.{operation} {value}, {other} : {acc}")
            value = made

        if "bias" in p.epilogue:
            step(f"add{suffix}", "%bias_")
        if p.epilogue == "scaled":
            step(f"add{suffix}", value)
        if "relu" in p.epilogue:
            step("maxsi" if suffix == "i" else "maximumf", "%zero")
        if "residual" in p.epilogue:
            if p.added:
                lines.append(f"%wide = arith.extf %r : {p.added} to {acc}")
            step(f"add{suffix}", "%wide" if p.added else "%r")
        if p.out != acc:
            lines.append(f"%y = arith.truncf {value} : {acc} to {p.out}")
            value = "%y"
        return [*lines, f"linalg.yield {value} : {p.out}"]

    def map(self, dims: str, axes: str, batched: bool = True) -> str:
        used = [*("b" if self.p.batch and batched and len(axes) == 2 else ""), *axes]
        return f"affine_map<({dims}) -> ({', '.join(used)})>"

    def argument(self, shape: list[int], type_: str) -> str:
        if self.p.pad is None:
            return self.local(shape, type_)
        return f"memref<{'x'.join(map(str, shape))}x{type_}{self.layout(shape)}>"

    def layout(self, shape: list[int]) -> str:
        return f", strided<[{', '.join(map(str, strides(shape, self.p.pad)))}]>" if self.p.pad else ""

    def function(self, arguments: list[str], result: str, body: list[str], last: str) -> str:
        lines = "\n".join(f"  {line}" for line in [*body, last])
        return f"func.func @product({', '.join(arguments)}){result} {{\n{lines}\n}}\n"


def strides(shape: list[int], pad: int | None) -> list[int]:
    """Row-major strides with `pad` elements after each row."""
    found = [1]
    for axis in range(len(shape) - 1, 0, -1):
        found.insert(0, found[0] * shape[axis] + ((pad or 0) if axis == len(shape) - 1 else 0))
    return found


def drawn(seed: int, count: int, shares: Mapping[str, int] = SHARES) -> list[Product]:
    """`count` random products: the edge cases first, then all sizes drawn alike; kinds as often as `shares` says."""
    rng = random.Random(seed)
    found: list[Product] = []
    for number in range(count):
        m, n, k = EDGES[number] if number < len(EDGES) else (rng.choice(SIZES) for _ in range(3))
        kind = rng.choices(list(shares), list(shares.values()))[0]
        found.append(
            Product(
                m, n, k, kind,
                out=rng.choice(TYPES[kind][2]),
                a_order=rng.choice(("mk", "km")),
                b_order=rng.choice(("kn", "nk")),
                batch=rng.choice((0, 0, 0, 1, 3)),
                pad=rng.choice((None, 0, 0, 1, 8)),
                epilogue=rng.choice(EPILOGUES),
            )
        )  # fmt: skip
    return found
