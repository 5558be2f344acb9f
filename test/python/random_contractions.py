"""Random functions in the normal tensors form: contractions over any dimensions, and elementwise operations on them."""

from __future__ import annotations

import random
from math import prod


class Maker:
    """Writes one function; `draw` decides everything, so that a seed names a function."""

    def __init__(self, draw: random.Random):
        self.draw = draw
        self.arguments: list[str] = []
        self.lines: list[str] = []
        self.count = 0
        self.results: list[tuple[str, str]] = []
        self.targets: list[str] = []

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def tensor(self, shape: list[int]) -> str:
        return f"tensor<{''.join(f'{size}x' for size in shape)}f32>"

    def memref(self, shape: list[int]) -> str:
        """A memref type: dense, padded, in any order of its dimensions, or at an offset."""
        order = self.draw.sample(range(len(shape)), len(shape)) if self.draw.random() < 0.5 else list(range(len(shape)))
        strides = [0] * len(shape)
        step = self.draw.choice([1, 1, 1, 2])
        for axis in reversed(order):
            strides[axis] = step
            step *= shape[axis] + self.draw.choice([0, 0, 1])
        layout = f"strided<{strides}, offset: {self.draw.choice([0, 0, 3])}>"
        return f"memref<{''.join(f'{size}x' for size in shape)}f32, {layout}>"

    def given(self, shape: list[int]) -> str:
        """A tensor from outside."""
        name = self.name()
        type_ = self.tensor(shape)
        if not shape or self.draw.random() < 0.6:
            self.arguments.append(f"{name}: {type_}")
            return name
        memory = self.memref(shape)
        self.arguments.append(f"{name}: {memory}")
        self.lines.append(f"{name}t = bufferization.to_tensor {name} restrict writable : {memory} to {type_}")
        return f"{name}t"

    def generic(self, inputs: list[tuple[str, list[int], list[int]]], out: str, out_dims: list[int], sizes: list[int],
                parallel: list[bool], body: str) -> str:  # fmt: skip
        """A linalg.generic; inputs as (value, shape, loops). `body` uses %x0, %x1, ... and %o, and ends in %y."""
        loops = ", ".join(f"d{n}" for n in range(len(sizes)))
        maps = [*(dims for _, _, dims in inputs), out_dims]
        texts = [f"affine_map<({loops}) -> ({', '.join(f'd{d}' for d in dims)})>" for dims in maps]
        kinds = ", ".join('"parallel"' if each else '"reduction"' for each in parallel)
        shape = [sizes[d] for d in out_dims]
        result = self.name()
        types = ", ".join(self.tensor(s) for _, s, _ in inputs)
        names = ", ".join(n for n, _, _ in inputs)
        arguments = ", ".join(f"%x{n}: f32" for n in range(len(inputs)))
        comma = ", " if inputs else ""
        self.lines += [
            f"{result} = linalg.generic {{indexing_maps = [{', '.join(texts)}], iterator_types = [{kinds}]}}",
            f"  ins({names} : {types}) outs({out} : {self.tensor(shape)}) {{" if inputs else
            f"  outs({out} : {self.tensor(shape)}) {{",
            f"^bb0({arguments}{comma}%o: f32):",
            body,
            "  linalg.yield %y : f32",
            f"}} -> {self.tensor(shape)}",
        ]  # fmt: skip
        return result

    def empty(self, shape: list[int]) -> str:
        name = self.name()
        self.lines.append(f"{name} = tensor.empty() : {self.tensor(shape)}")
        return name

    def zeros(self, shape: list[int]) -> str:
        name = self.name()
        empty = self.empty(shape)
        self.lines.append(
            f"{name} = linalg.fill ins(%zero : f32) outs({empty} : {self.tensor(shape)}) -> {self.tensor(shape)}"
        )
        return name

    def shuffled(self, items: list[int]) -> list[int]:
        return self.draw.sample(items, len(items))

    def product(self, known: list[tuple[str, list[int]]]) -> tuple[str, list[int]]:
        """A contraction; its result and shape."""
        counts = [self.draw.choice(each) for each in ([0, 0, 1, 2], [0, 1, 1, 2], [0, 1, 1, 2], [1, 1, 2, 3])]
        sizes = [self.draw.choice([1, 2, 3, 4]) for _ in range(sum(counts))]
        loops = self.shuffled(list(range(sum(counts))))
        batch, m, n, k = (loops[sum(counts[:i]) : sum(counts[: i + 1])] for i in range(4))
        a, b, d = self.shuffled(batch + m + k), self.shuffled(batch + n + k), self.shuffled(batch + m + n)
        inputs = [(self.given([sizes[x] for x in dims]), [sizes[x] for x in dims], dims) for dims in (a, b)]
        body = ["  %a = arith.mulf %x0, %x0 : f32" if self.draw.random() < 0.2 else "  %a = arith.negf %x0 : f32"]
        if k and self.draw.random() < 0.3:  # a scale of B's rows
            dims = self.shuffled(self.draw.sample(k + n, self.draw.randint(1, len(k + n))))
            inputs.append((self.given([sizes[x] for x in dims]), [sizes[x] for x in dims], dims))
            body.append("  %b = arith.mulf %x1, %x2 : f32")
        else:
            body.append("  %b = arith.addf %x1, %x1 : f32")
        body += ["  %p = arith.mulf %a, %b : f32", "  %y = arith.addf %o, %p : f32"]
        shape = [sizes[x] for x in d]
        start = self.zeros(shape) if self.draw.random() < 0.7 else self.given(shape)
        parallel = [x not in k for x in range(len(sizes))]
        return self.generic(inputs, start, d, sizes, parallel, "\n".join(body)), shape

    def reshaped(self, value: str, shape: list[int]) -> tuple[str, list[int]]:
        """The same elements in another shape."""
        if len(shape) >= 2 and (len(shape) > 7 or self.draw.random() < 0.5):
            cut = self.draw.randint(1, len(shape) - 1)
            groups = [[axis] for axis in range(cut - 1)] + [[cut - 1, cut]]
            groups += [[axis] for axis in range(cut + 1, len(shape))]
            new = [prod(shape[axis] for axis in group) for group in groups]
            verb, extra = "collapse_shape", ""
        else:
            splits = [self._split(size) for size in shape]
            new = [size for split in splits for size in split]
            groups, at = [], 0
            for split in splits:
                groups.append(list(range(at, at + len(split))))
                at += len(split)
            verb, extra = "expand_shape", f" output_shape {new}"
        if not groups:
            return value, shape
        name = self.name()
        self.lines.append(
            f"{name} = tensor.{verb} {value} {groups}{extra} : {self.tensor(shape)} into {self.tensor(new)}"
        )
        return name, new

    def _split(self, size: int) -> list[int]:
        factors = [f for f in (1, 2, 3) if size % f == 0]
        factor = self.draw.choice(factors)
        return self.draw.choice([[size], [factor, size // factor], [size // factor, factor]])

    def elementwise(self, known: list[tuple[str, list[int]]]) -> tuple[str, list[int]]:
        """An elementwise operation on the last result, or an earlier one, and other operands."""
        value, shape = known[-1] if self.draw.random() < 0.8 else self.draw.choice(known)
        while self.draw.random() < 0.4:
            value, shape = self.reshaped(value, shape)
        dims = self.shuffled(list(range(len(shape))))
        sizes = [0] * len(shape)
        for dim, size in zip(dims, shape, strict=True):
            sizes[dim] = size
        inputs = [(value, shape, dims)]
        body = ["  %t0 = arith.addf %x0, %x0 : f32"]
        for _ in range(self.draw.randint(0, 2)):
            same = [v for v, s in known if s == shape]
            some = self.shuffled(self.draw.sample(dims, self.draw.randint(0, len(dims))))
            other_shape = [sizes[d] for d in some]
            if same and self.draw.random() < 0.4:
                some = dims
                if self.draw.random() < 0.3 and shape == shape[::-1]:
                    some = dims[::-1]
                inputs.append((self.draw.choice(same), shape, some))
            else:
                inputs.append((self.given(other_shape), other_shape, some))
            last = len(inputs) - 1
            body.append(f"  %t{last} = arith.addf %t{last - 1}, %x{last} : f32")
        body.append(f"  %y = arith.maximumf %t{len(inputs) - 1}, %x0 : f32")
        out = dims if self.draw.random() < 0.6 else self.shuffled(dims)
        shape = [sizes[d] for d in out]
        return self.generic(inputs, self.empty(shape), out, sizes, [True] * len(sizes), "\n".join(body)), shape

    def row_sum(self, known: list[tuple[str, list[int]]]) -> tuple[str, list[int]]:
        value, shape = self.draw.choice(known)
        kept = [axis for axis in range(len(shape)) if self.draw.random() < 0.5]
        if len(kept) == len(shape):
            return self.elementwise(known)
        out = [shape[axis] for axis in kept]
        parallel = [axis in kept for axis in range(len(shape))]
        inputs = [(value, shape, list(range(len(shape))))]
        return self.generic(inputs, self.zeros(out), kept, shape, parallel, "  %y = arith.addf %o, %x0 : f32"), out

    def function(self) -> str:
        """A function of one to four operations and more, in MLIR's text form."""
        known = [self.product([])]
        for _ in range(self.draw.randint(0, 4)):
            make = self.draw.choice([self.elementwise, self.elementwise, self.elementwise, self.product, self.row_sum])
            known.append(make(known))
        returned: list[tuple[str, list[int]]] = []
        last: list[str] = []
        for value, shape in [known[-1], *(each for each in known[:-1] if self.draw.random() < 0.3)]:
            while self.draw.random() < 0.3:
                value, shape = self.reshaped(value, shape)
            if shape and self.draw.random() < 0.4:
                last.append(self.target(value, shape))
            else:
                returned.append((value, shape))
        types = ", ".join(self.tensor(shape) for _, shape in returned)
        names = ", ".join(value for value, _ in returned)
        return "\n".join([
            f"func.func @f({', '.join(self.arguments)}) -> ({types}) {{",
            "%zero = arith.constant 0.0 : f32",
            *self.lines,
            *last,
            f"return {names} : {types}" if returned else "return",
            "}",
        ])  # fmt: skip

    def target(self, value: str, shape: list[int]) -> str:
        """Memory that a result goes to: a new argument, or one that was read."""
        taken = "".join(self.targets)
        size = "".join(f"{n}x" for n in shape)
        olds = [a for a in self.arguments if f": memref<{size}f32" in a and f"{a.split(':')[0]}," not in taken]
        if olds and self.draw.random() < 0.7:
            name, _, memory = self.draw.choice(olds).partition(": ")
        else:
            name, memory = self.name(), self.memref(shape)
            self.arguments.append(f"{name}: {memory}")
        self.targets.append(f"{name},")
        types = f"({self.tensor(shape)}, {memory}) -> ()"
        return f"bufferization.materialize_in_destination {value} in restrict writable {name} : {types}"


def random_function(seed: int) -> str:
    """A function, the same for the same seed."""
    return Maker(random.Random(seed)).function()
