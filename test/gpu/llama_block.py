"""A block of Llama with known sizes, as torch-mlir writes it: RMS norms, a rotary embedding that turns halves, keys and
values that several heads of queries share, and a gated MLP; and the same in PyTorch or NumPy's operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Sizes(NamedTuple):
    """Sizes of a block: sentences, words, heads of queries, of keys, columns of a head, and columns between."""

    b: int = 2
    t: int = 512
    heads: int = 16
    keys: int = 4
    head: int = 128
    inner: int = 5632

    @property
    def width(self) -> int:
        return self.heads * self.head

    def shapes(self) -> list[tuple[int, ...]]:
        """Those of the arguments."""
        d, kv = self.width, self.keys * self.head
        turn = (1, 1, self.t, self.head)
        return [(self.b, self.t, d), (d,), (d, d), (kv, d), (kv, d), (d, d), (d,), (self.inner, d), (self.inner, d),
                (d, self.inner), turn, turn, (1, 1, self.t, self.t)]  # fmt: skip


NAMES = ("x", "n1", "wq", "wk", "wv", "wo", "n2", "wg", "wu", "wd", "cos", "sin", "mask")


@dataclass
class Text:
    """A module that is being written."""

    t: str
    lines: list[str] = field(default_factory=list[str])

    def type(self, shape: Sequence[int], element: str = "") -> str:
        return f"tensor<{'x'.join(map(str, shape))}x{element or self.t}>"

    def add(self, text: str) -> str:
        """An operation; the name of its result."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def empty(self, shape: Sequence[int], element: str = "") -> str:
        return self.add(f"tensor.empty() : {self.type(shape, element)}")

    def zeros(self, shape: Sequence[int]) -> str:
        type_ = self.type(shape, "f32")
        return self.add(f"linalg.fill ins(%zero : f32) outs({self.empty(shape, 'f32')} : {type_}) -> {type_}")

    def each(self, shape: Sequence[int], inputs: Sequence[tuple[str, Sequence[int], str]], body: str, out: str) -> str:
        """An elementwise operation, of inputs (name, shape, element) that are spread along dimensions of 1 or none."""
        loops = ", ".join(f"d{i}" for i in range(len(shape)))
        maps = [f"({loops}) -> ({', '.join(self._along(shape, given))})" for _, given, _ in inputs]
        maps = ", ".join(f"affine_map<{each}>" for each in [*maps, f"({loops}) -> ({loops})"])
        kinds = ", ".join(['"parallel"'] * len(shape))
        names, types = ", ".join(name for name, _, _ in inputs), ", ".join(self.type(s, e) for _, s, e in inputs)
        arguments = ", ".join(f"%a{i}: {element}" for i, (_, _, element) in enumerate(inputs))
        result = self.type(shape, out)
        head = f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}"
        last = f"linalg.yield {'%y' if body else '%a0'} : {out}"
        return self.add(f"{head} ins({names} : {types}) outs({self.empty(shape, out)} : {result}) {{\n"
                        f"  ^bb0({arguments}, %o: {out}):\n    {body}\n    {last}\n  }} -> {result}")  # fmt: skip

    @staticmethod
    def _along(shape: Sequence[int], given: Sequence[int]) -> list[str]:
        first = len(shape) - len(given)
        return ["0" if size == 1 != shape[first + i] else f"d{first + i}" for i, size in enumerate(given)]

    def both(self, op: str, shape: Sequence[int], a: str, b: str, spread: Sequence[int] | None = None) -> str:
        given = [(a, shape, self.t), (b, shape if spread is None else spread, self.t)]
        return self.each(shape, given, f"%y = arith.{op} %a0, %a1 : {self.t}", self.t)

    def narrow(self, shape: Sequence[int], wide: str) -> str:
        if self.t == "f32":
            return wide
        return self.each(shape, [(wide, shape, "f32")], f"%y = arith.truncf %a0 : f32 to {self.t}", self.t)

    def wide(self, shape: Sequence[int], value: str) -> str:
        if self.t == "f32":
            return value
        return self.each(shape, [(value, shape, self.t)], f"%y = arith.extf %a0 : {self.t} to f32", "f32")

    def reshape(self, kind: str, value: str, groups: str, before: Sequence[int], after: Sequence[int]) -> str:
        sizes = f" output_shape [{', '.join(map(str, after))}]" if kind == "expand" else ""
        return self.add(f"tensor.{kind}_shape {value} {groups}{sizes} : {self.type(before)} into {self.type(after)}")

    def transposed(self, value: str, shape: Sequence[int], order: Sequence[int]) -> str:
        after = [shape[i] for i in order]
        return self.add(f"linalg.transpose ins({value} : {self.type(shape)}) outs({self.empty(after)} : "
                        f"{self.type(after)}) permutation = [{', '.join(map(str, order))}]")  # fmt: skip

    def linear(self, x: str, w: str, m: int, n: int, k: int) -> str:
        right = self.transposed(w, (n, k), (1, 0))
        return self._product("linalg.matmul", x, right, (m, k), (k, n), (m, n))

    def batched(self, a: str, b: str, count: int, m: int, n: int, k: int) -> str:
        return self._product("linalg.batch_matmul", a, b, (count, m, k), (count, k, n), (count, m, n))

    def _product(self, op: str, a: str, b: str, *shapes: Sequence[int]) -> str:
        left, right, result = shapes
        wide = self.type(result, "f32")
        types = f"{self.type(left)}, {self.type(right)}"
        made = self.add(f"{op} ins({a}, {b} : {types}) outs({self.zeros(result)} : {wide}) -> {wide}")
        return self.narrow(result, made)

    def norm(self, shape: Sequence[int], x: str, weights: str) -> str:
        """An RMS norm along the last of three dimensions."""
        wide = self.wide(shape, x)
        squares = self.each(shape, [(wide, shape, "f32")], "%y = arith.mulf %a0, %a0 : f32", "f32")
        row = (*shape[:-1], 1)
        type_ = self.type(row, "f32")
        sums = self.add(
            "linalg.generic {indexing_maps = [affine_map<(i, j, l) -> (i, j, l)>, affine_map<(i, j, l) -> (i, j, 0)>], "
            f'iterator_types = ["parallel", "parallel", "reduction"]}} ins({squares} : {self.type(shape, "f32")}) '
            f"outs({self.zeros(row)} : {type_}) {{\n  ^bb0(%a: f32, %o: f32):\n    %s = arith.addf %a, %o : f32\n"
            f"    linalg.yield %s : f32\n  }} -> {type_}"
        )
        factor = self.each(row, [(sums, row, "f32")], f"%c = arith.constant {float(shape[-1])} : f32\n    %e = "
                           "arith.constant 1.0e-6 : f32\n    %m = arith.divf %a0, %c : f32\n    %p = arith.addf %m, %e "
                           ": f32\n    %y = math.rsqrt %p : f32", "f32")  # fmt: skip
        made = self.each(shape, [(wide, shape, "f32"), (factor, row, "f32")], "%y = arith.mulf %a0, %a1 : f32", "f32")
        return self.both("mulf", shape, self.narrow(shape, made), weights, shape[-1:])

    def turned(self, shape: Sequence[int], value: str) -> str:
        """The rotary embedding of heads: value cos + (-right, left) sin."""
        *outer, columns = shape
        part, half = [*outer, columns // 2], columns // 2
        sizes = ", ".join(map(str, part))
        left, right = (self.add(f"tensor.extract_slice {value}[0, 0, 0, {at}] [{sizes}] [1, 1, 1, 1] : "
                                f"{self.type(shape)} to {self.type(part)}") for at in (0, half))  # fmt: skip
        against = self.each(part, [(right, part, self.t)], f"%y = arith.negf %a0 : {self.t}", self.t)
        joined = self.add(f"tensor.concat dim(3) {against}, {left} : ({self.type(part)}, {self.type(part)}) -> "
                          f"{self.type(shape)}")  # fmt: skip
        spread = (1, 1, *shape[2:])
        one, other = self.both("mulf", shape, value, "%cos", spread), self.both("mulf", shape, joined, "%sin", spread)
        return self.both("addf", shape, one, other)


def text(sizes: Sizes, t: str) -> str:
    """The module of a block."""
    b, n, h, kv, c, inner = sizes
    d, rows, out = sizes.width, b * n, Text(t)
    whole, flat, full = (b, n, d), (rows, d), (b, h, n, c)

    def flattened(value: str) -> str:
        return out.reshape("collapse", value, "[[0, 1], [2]]", whole, flat)

    def heads(value: str, count: int) -> str:
        apart = out.reshape("expand", value, "[[0, 1], [2, 3]]", (rows, count * c), (b, n, count, c))
        return out.transposed(apart, (b, n, count, c), (0, 2, 1, 3))

    def shared(value: str) -> str:
        """Keys or values, for each head of queries."""
        apart, each = (b, kv, 1, n, c), (b, kv, h // kv, n, c)
        value = out.reshape("expand", value, "[[0], [1, 2], [3], [4]]", (b, kv, n, c), apart)
        value = out.each(each, [(value, apart, t)], "", t)
        return out.reshape("collapse", value, "[[0], [1, 2], [3], [4]]", each, full)

    def batches(value: str, shape: Sequence[int]) -> str:
        return out.reshape("collapse", value, "[[0, 1], [2], [3]]", shape, (b * h, *shape[2:]))

    normal = flattened(out.norm(whole, "%x", "%n1"))
    q, k, v = (heads(out.linear(normal, w, rows, count * c, d), count)
               for w, count in (("%wq", h), ("%wk", kv), ("%wv", kv)))  # fmt: skip
    q, k, v = out.turned(full, q), shared(out.turned((b, kv, n, c), k)), shared(v)
    across = out.transposed(k, full, (0, 1, 3, 2))
    scores = out.batched(batches(q, full), batches(across, (b, h, c, n)), b * h, n, n, c)
    square = (b, h, n, n)
    scores = out.reshape("expand", scores, "[[0, 1], [2], [3]]", (b * h, n, n), square)
    scale = f"%c = arith.constant {c**-0.5} : {t}\n    %y = arith.mulf %a0, %c : {t}"
    scores = out.each(square, [(scores, square, t)], scale, t)
    scores = out.wide(square, out.both("addf", square, scores, "%mask", (1, 1, n, n)))
    type_ = out.type(square, "f32")
    soft = out.add(f"linalg.softmax dimension(3) ins({scores} : {type_}) outs({out.empty(square, 'f32')} : {type_}) -> "
                   f"{type_}")  # fmt: skip
    weights = batches(out.narrow(square, soft), square)
    found = out.batched(weights, batches(v, full), b * h, n, c, n)
    found = out.transposed(out.reshape("expand", found, "[[0, 1], [2], [3]]", (b * h, n, c), full), full, (0, 2, 1, 3))
    found = out.reshape("collapse", found, "[[0, 1], [2, 3]]", (b, n, h, c), flat)
    found = out.reshape("expand", out.linear(found, "%wo", rows, d, d), "[[0, 1], [2]]", flat, whole)
    x = out.both("addf", whole, "%x", found)
    normal = flattened(out.norm(whole, x, "%n2"))
    gate, up = (out.linear(normal, w, rows, inner, d) for w in ("%wg", "%wu"))
    between = (rows, inner)
    silu = out.each(between, [(out.wide(between, gate), between, "f32")], "%c = arith.constant 1.0 : f32\n    %n = "
                    "arith.negf %a0 : f32\n    %e = math.exp %n : f32\n    %s = arith.addf %e, %c : f32\n    %y = "
                    "arith.divf %a0, %s : f32", "f32")  # fmt: skip
    gated = out.both("mulf", between, out.narrow(between, silu), up)
    down = out.reshape("expand", out.linear(gated, "%wd", rows, d, inner), "[[0, 1], [2]]", flat, whole)
    result = out.both("addf", whole, x, down)
    given = ", ".join(f"%{name}: {out.type(shape)}" for name, shape in zip(NAMES, sizes.shapes(), strict=True))
    head = f"func.func @main({given}) -> {out.type(whole)} {{\n  %zero = arith.constant 0.0 : f32\n"
    return head + "\n".join(out.lines) + f"\n  return {result} : {out.type(whole)}\n}}\n"


def eager(torch: Any, sizes: Sizes, *given: Any) -> Any:
    """The same in PyTorch, in the arguments' type."""
    x, n1, wq, wk, wv, wo, n2, wg, wu, wd, cos, sin, mask = given
    b, n, h, kv, c, _ = sizes

    def norm(value: Any, weights: Any) -> Any:
        wide = value if value.dtype == torch.float64 else value.float()
        return weights * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(value.dtype)

    def turned(value: Any) -> Any:
        left, right = value.chunk(2, -1)
        return value * cos + torch.cat([-right, left], -1) * sin

    normal = norm(x, n1)
    q, k, v = ((normal @ w.T).view(b, n, count, c).transpose(1, 2) for w, count in ((wq, h), (wk, kv), (wv, kv)))
    q, k = turned(q), turned(k)
    k, v = (each.repeat_interleave(h // kv, 1) for each in (k, v))
    weights = torch.softmax(q @ k.transpose(-1, -2) * c**-0.5 + mask, -1)
    x = x + (weights @ v).transpose(1, 2).reshape(b, n, h * c) @ wo.T
    normal = norm(x, n2)
    return x + (torch.nn.functional.silu(normal @ wg.T) * (normal @ wu.T)) @ wd.T
