"""Random modules around one product, of the types that wgmma multiplies, for sm_90a: any layouts, operands in memory
with gaps, results in any order and type, and epilogues.

Slow, so not among the tests: `python test/simulator/random_group_modules.py [COUNT] [SEED]` compiles each as the model
chooses, simulates it with all checks and compares it with the source in float64. Ends with status 1 when a result is
wrong, a check finds something, or anything but an error for the user is raised; shows what would run it again.
"""

from __future__ import annotations

import random
import sys
import time
import traceback
from collections import Counter
from typing import Any

import numpy as np

import mlir_gemm
from mlir_gemm.errors import Error
from mlir_gemm.simulator.expected import TOLERANCE, limits, reference, relative_error
from mlir_gemm.simulator.random_inputs import random_arrays

CHIP = "sm_90a"
KINDS: tuple[tuple[str, str, str, str], ...] = (
    ("f16", "f16", "f32", ""), ("f16", "f16", "f32", ""), ("f16", "f16", "f16", ""), ("f16", "f16", "f16", "f16"),
    ("bf16", "bf16", "f32", ""), ("bf16", "bf16", "bf16", ""), ("f32", "f32", "f32", "tf32"), ("i8", "i8", "i32", ""),
    ("f8E4M3FN", "f8E4M3FN", "f32", "f8"), ("f8E4M3FN", "f8E5M2", "f32", "f8"), ("f8E5M2", "f16", "f32", "f8"),
    ("f8E4M3FN", "f8E4M3FN", "f32", ""), ("f16", "bf16", "f32", ""), ("f16", "f32", "f32", "tf32"),
)  # fmt: skip
"""Types of A, B and the sum, and the schedule's precision."""
OUTPUTS = ("f16", "bf16", "f32", "f32", "f64", "f8E4M3FN", "f8E5M2", "i8", "i32")
BITS = {"f8E4M3FN": 8, "f8E5M2": 8, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}
FEW = (1, 2, 3, 5, 7, 8, 13, 16, 24, 31, 33, 40)


class Maker:
    """Writes one module; `draw` decides everything."""

    def __init__(self, draw: random.Random, largest: int):
        self.draw = draw
        self.largest = largest
        self.arguments: list[str] = []
        self.lines: list[str] = []
        self.count = 0
        self.in_memory = draw.random() < 0.4
        """Whether everything is a memref; else everything is a tensor."""
        self.types: dict[str, str] = {}

    def type(self, name: str, shape: list[int], element: str) -> str:
        return self.types.get(name, memref(shape, element) if self.in_memory else tensor(shape, element))

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def given(self, shape: list[int], element: str) -> str:
        """An argument."""
        name = self.name()
        self.types[name] = self.memref(shape, element) if self.in_memory else tensor(shape, element)
        self.arguments.append(f"{name}: {self.types[name]}")
        return name

    def memref(self, shape: list[int], element: str) -> str:
        """The type of memory, often with gaps."""
        if self.draw.random() < 0.5:
            return memref(shape, element)
        axes = list(range(len(shape)))
        order = self.draw.sample(axes, len(axes)) if self.draw.random() < 0.3 else axes
        strides, step = [0] * len(shape), 1
        for axis in reversed(order):
            strides[axis] = step
            step *= shape[axis] + self.draw.choice((0, 0, 8, 16, 1))
        offset = self.draw.choice((0, 0, 0, 16, 3))
        return f"memref<{''.join(f'{size}x' for size in shape)}{element}, strided<{strides}, offset: {offset}>>"

    def split(self, size: int) -> list[int]:
        """A dimension as one, or as two."""
        factors = [each for each in (2, 4, 8, 16, 64) if size % each == 0 and size > each]
        if not factors or self.draw.random() < 0.8:
            return [size]
        factor = self.draw.choice(factors)
        return [size // factor, factor]

    def along(self) -> int:
        draw = self.draw.random()
        if draw < 0.35:
            return self.draw.choice(FEW)
        return min(self.largest, self.draw.choice((64, 64, 96, 128, 128, 192, 200, 256, 257, 320)))

    def sizes(self) -> tuple[list[int], list[int], list[int], list[int]]:
        batch = [self.draw.choice((2, 3))] if self.draw.random() < 0.15 else []
        depth = self.draw.choice((64, 64, 128, 192, 256, 320, 72, 40, 8, 16, 100, 1, 3))
        return batch, self.split(self.along()), self.split(self.along()), self.split(depth)

    def function(self, kind: tuple[str, str, str, str]) -> str:
        left, right, acc, _ = kind
        batch, m, n, k = self.sizes()
        sizes = batch + m + n + k
        loops = list(range(len(sizes)))
        cut = [0, len(batch), len(batch + m), len(batch + m + n), len(sizes)]
        of_batch, of_m, of_n, of_k = (loops[cut[i] : cut[i + 1]] for i in range(4))
        mixed = self.draw.random() < 0.15
        a, b, d = (
            self.draw.sample(dims, len(dims)) if mixed else of_batch + self.draw.choice(((x + y), (y + x)))
            for dims, x, y in (
                (of_batch + of_m + of_k, of_m, of_k),
                (of_batch + of_n + of_k, of_n, of_k),
                (of_batch + of_m + of_n, of_m, of_n),
            )
        )
        if not mixed and self.draw.random() < 0.8:
            d = of_batch + of_m + of_n
        if not mixed and BITS.get(left, 8) != 16 and self.draw.random() < 0.7:
            a, b = of_batch + of_m + of_k, of_batch + of_n + of_k
        shapes = [[sizes[x] for x in dims] for dims in (a, b, d)]
        elements = (left, right, acc)
        operands = [self.given(shape, element) for shape, element in zip(shapes, (left, right), strict=False)]
        start = self.given(shapes[2], acc) if self.draw.random() < 0.2 else self.zeros(shapes[2], acc)
        types = [self.type(*each) for each in zip([*operands, start], shapes, elements, strict=True)]
        product = start if self.in_memory else self.name()
        kinds = ", ".join('"reduction"' if x in of_k else '"parallel"' for x in loops)
        maps = ", ".join(map_(len(sizes), dims) for dims in (a, b, d))
        verb = ("muli", "addi") if acc == "i32" else ("mulf", "addf")
        self.lines += [
            self.writes(product, f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}"),
            f"  ins({', '.join(operands)} : {', '.join(types[:2])}) outs({start} : {types[2]}) {{",
            f"^bb0(%x: {left}, %y: {right}, %o: {acc}):",
            converted("%xw", "%x", left, acc),
            converted("%yw", "%y", right, acc),
            f"  %p = arith.{verb[0]} %xw, %yw : {acc}",
            f"  %s = arith.{verb[1]} %o, %p : {acc}",
            f"  linalg.yield %s : {acc}",
            "}" if self.in_memory else f"}} -> {types[2]}",
        ]
        results = self.epilogue(product, shapes[2], acc)
        return self.ended(results)

    def writes(self, result: str, text: str) -> str:
        return text if self.in_memory else f"{result} = {text}"

    def zeros(self, shape: list[int], element: str) -> str:
        empty = self.empty(shape, element)
        name, type_ = (empty if self.in_memory else self.name()), self.type(empty, shape, element)
        end = "" if self.in_memory else f" -> {type_}"
        self.lines.append(
            self.writes(name, f"linalg.fill ins(%zero_{element} : {element}) outs({empty} : {type_}){end}")
        )
        return name

    def empty(self, shape: list[int], element: str) -> str:
        name = self.name()
        self.lines.append(
            f"{name} = {'memref.alloc' if self.in_memory else 'tensor.empty'}() : {self.type(name, shape, element)}"
        )
        return name

    def target(self, shape: list[int], element: str) -> str:
        """Where a result goes."""
        return self.given(shape, element) if self.in_memory else self.empty(shape, element)

    def epilogue(self, value: str, shape: list[int], acc: str) -> list[tuple[str, list[int], str]]:
        """Results, each as name, shape and type."""
        if self.draw.random() < 0.25:
            return [(value, shape, acc)]
        work = "f32" if acc == "i32" else self.draw.choice((acc, "f32"))
        dims = list(range(len(shape)))
        inputs = [(value, dims, acc)]
        body = [converted("%t0", "%x0", acc, work)]
        now = "%t0"
        for number in range(1, self.draw.randint(0, 4) + 1):
            step = self.draw.choice(("bias", "residual", "gate", "relu", "gelu", "silu", "tanh", "exp"))
            new = f"%t{number}"
            if step in ("bias", "residual", "gate"):
                some = dims if step != "bias" else self.draw.sample(dims, self.draw.randint(0, len(dims)))
                some = self.draw.sample(some, len(some)) if self.draw.random() < 0.2 else sorted(some)
                element = self.draw.choice(("f16", "bf16", "f32", work))
                inputs.append((self.given([shape[x] for x in some], element), some, element))
                body.append(converted(f"%w{number}", f"%x{len(inputs) - 1}", element, work))
                body.append(f"  {new} = arith.{'mulf' if step == 'gate' else 'addf'} {now}, %w{number} : {work}")
            else:
                body += unary(step, new, now, work)
            now = new
        ends = [self.draw.choice(OUTPUTS) for _ in range(self.draw.choice((1, 1, 1, 2, 3)))]
        orders = [dims if self.draw.random() < 0.8 else self.draw.sample(dims, len(dims)) for _ in ends]
        finals = [f"%f{number}" for number in range(len(ends))]
        body += [converted(final, now, work, end) for final, end in zip(finals, ends, strict=True)]
        outs = [[shape[x] for x in order] for order in orders]
        targets = [self.target(out, end) for out, end in zip(outs, ends, strict=True)]
        types = [self.type(*each) for each in zip(targets, outs, ends, strict=True)]
        name = self.name()
        maps = ", ".join(map_(len(dims), each) for each in [*(some for _, some, _ in inputs), *orders])
        kinds = ", ".join(['"parallel"'] * len(dims))
        ins = ", ".join(self.type(each, [shape[x] for x in some], element) for each, some, element in inputs)
        names = [*(f"%x{n}: {element}" for n, (_, _, element) in enumerate(inputs)),
                 *(f"%o{n}: {end}" for n, end in enumerate(ends))]  # fmt: skip
        many = f":{len(ends)}" if len(ends) > 1 else ""
        self.lines += [
            self.writes(f"{name}{many}", f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}"),
            f"  ins({', '.join(each for each, _, _ in inputs)} : {ins})",
            f"  outs({', '.join(targets)} : {', '.join(types)}) {{",
            f"^bb0({', '.join(names)}):",
            *body,
            f"  linalg.yield {', '.join(finals)} : {', '.join(ends)}",
            "}" if self.in_memory else f"}} -> ({', '.join(types)})",
        ]
        if self.in_memory:
            return [(value, shape, acc)] if value not in self.types and self.draw.random() < 0.1 else []
        found = [
            (f"{name}#{n}" if many else name, out, end) for n, (out, end) in enumerate(zip(outs, ends, strict=True))
        ]
        return [*found, (value, shape, acc)] if self.draw.random() < 0.1 else found

    def ended(self, results: list[tuple[str, list[int], str]]) -> str:
        returned = [(value, tensor(shape, element)) for value, shape, element in results] if not self.in_memory else []
        for value, shape, element in results if self.in_memory else ():
            if value not in self.types:
                target = self.given(shape, element)
                self.lines.append(f"memref.copy {value}, {target} : {memref(shape, element)} to {self.types[target]}")
        types = ", ".join(type_ for _, type_ in returned)
        names = ", ".join(value for value, _ in returned)
        zeros = [f"%zero_{element} = arith.constant 0.0 : {element}" for element in ("f32", "f16", "bf16")]
        return "\n".join([
            f"func.func @f({', '.join(self.arguments)}) -> ({types}) {{",
            *zeros,
            "%zero_i32 = arith.constant 0 : i32",
            *self.lines,
            f"return {names} : {types}" if returned else "return",
            "}",
        ])  # fmt: skip


def tensor(shape: list[int], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def memref(shape: list[int], element: str) -> str:
    return f"mem{tensor(shape, element).replace('tensor', 'ref')}"


def map_(loops: int, results: list[int]) -> str:
    return f"affine_map<({', '.join(f'd{n}' for n in range(loops))}) -> ({', '.join(f'd{n}' for n in results)})>"


def converted(new: str, old: str, source: str, target: str) -> str:
    """Lines that make one type of another. What does not fit in a narrow one is cut off."""
    if source == target or (source == "bf16" and target == "f16") or (source == "f16" and target == "bf16"):
        if source == target:
            zero = "addi" if source.startswith("i") else "addf"
            sort = "0" if source.startswith("i") else "-0.0"
            return f"  {new}_z = arith.constant {sort} : {source}\n  {new} = arith.{zero} {old}, {new}_z : {source}"
        return f"  {new}_w = arith.extf {old} : {source} to f32\n  {new} = arith.truncf {new}_w : f32 to {target}"
    if source == "i32":
        return f"  {new} = arith.sitofp {old} : i32 to {target}"
    if source == "i8":
        return f"  {new} = arith.{'extsi' if target == 'i32' else 'sitofp'} {old} : i8 to {target}"
    if target in ("i8", "i32", "f16") or target.startswith("f8"):
        last = "fptosi" if target.startswith("i") else "truncf"
        return "\n".join([
            f"  {new}_h = arith.constant 100.0 : {source}",
            f"  {new}_l = arith.constant -100.0 : {source}",
            f"  {new}_a = arith.minimumf {old}, {new}_h : {source}",
            f"  {new}_b = arith.maximumf {new}_a, {new}_l : {source}",
            f"  {new} = arith.{last} {new}_b : {source} to {target}",
        ])  # fmt: skip
    return f"  {new} = arith.{'extf' if BITS[target] > BITS[source] else 'truncf'} {old} : {source} to {target}"


UNARY = {
    "relu": "%new_z = arith.constant 0.0 : T\n %new = arith.maximumf %old, %new_z : T",
    "tanh": "%new = math.tanh %old : T",
    "exp": """%new_half = arith.constant 0.25 : T
    %new_s = arith.mulf %old, %new_half : T
    %new_t = math.tanh %new_s : T
    %new = math.exp %new_t : T""",
    "gelu": """%new_one = arith.constant 1.0 : T
    %new_half = arith.constant 0.25 : T
    %new_e = math.erf %old : T
    %new_m = arith.addf %new_e, %new_one : T
    %new_n = arith.mulf %new_m, %new_half : T
    %new = arith.mulf %old, %new_n : T""",
    "silu": """%new_one = arith.constant 1.0 : T
    %new_n = arith.negf %old : T
    %new_e = math.exp %new_n : T
    %new_m = arith.addf %new_e, %new_one : T
    %new = arith.divf %old, %new_m : T""",
}
"""Functions of one number of a type T."""


def unary(step: str, new: str, old: str, type_: str) -> list[str]:
    return [UNARY[step].replace("%old", old).replace("%new", new).replace(": T", f": {type_}")]


def random_module(seed: int, largest: int = 320) -> tuple[str, dict[str, Any]]:
    """A module, and fields of its schedule; the same for the same seed."""
    draw = random.Random(seed)
    kind = draw.choice(KINDS)
    text = Maker(draw, largest).function(kind)
    fields: dict[str, Any] = {"precision": kind[3]} if kind[3] else {}
    if draw.random() < 0.1:
        fields["batch_invariant"] = True
    return text, fields


def wrong(text: str, fields: dict[str, Any], seed: int = 0) -> tuple[str, str]:
    """What a module becomes, and what is wrong with it (empty for nothing)."""
    try:
        kernel = mlir_gemm.compile(text, chip=CHIP, device="simulator", schedule=fields or None)
        mmas = "+".join(sorted({str(r.schedule.mma if r.schedule else r.kind) for r in kernel.kernels}))
    except Error as error:
        return "refused", str(error)
    except Exception:
        return "crash", traceback.format_exc()
    arguments = kernel.launch.arguments
    before = random_arrays(arguments, seed)
    expected = reference(text, before)
    allowed = limits(arguments, kernel.kernels, text, before, expected)
    count = text.split("{", 1)[0].split("->")[0].count("%")
    given = [array.copy() if array.flags.c_contiguous else array for array in before]
    try:
        results = kernel(*given[:count])
    except Error as error:
        return mmas, str(error)
    except Exception:
        return mmas, traceback.format_exc()
    results = [] if results is None else list(results) if isinstance(results, tuple) else [results]
    for argument, got, want, limit in zip(arguments, [*given[:count], *results], expected, allowed, strict=True):
        error = relative_error(got, want)
        if argument.dtype in ("i8", "i32") and np.abs(got.astype(int) - want.astype(int)).max(initial=0) <= 1:
            continue  # cut off at another side of a whole number
        narrow = max((TOLERANCE[each] for each in ("f16", "bf16") if f"x{each}" in text), default=TOLERANCE["f32"])
        if not error <= max(limit, 2 * narrow):
            shown = [str(record.schedule) for record in kernel.kernels]
            return mmas, f"{argument.name} {argument.dtype}: error {error:.2e}, at most {limit:.1e}; {shown}"
    return mmas, ""


def main(number: int, seed: int) -> int:
    """Runs `number` modules; the count of those that went wrong."""
    counts, bad = Counter[str](), 0
    for each in range(seed, seed + number):
        text, fields = random_module(each)
        start = time.perf_counter()
        what, found = wrong(text, fields)
        counts[what] += 1
        if found:
            bad += 1
            print(f"--- seed {each} {fields} {what} {time.perf_counter() - start:.1f} s\n{found}", flush=True)
    print(f"{number} modules from seed {seed}: {bad} wrong; {dict(counts)}")
    return bad


if __name__ == "__main__":
    arguments_ = [int(argument) for argument in sys.argv[1:]]
    sys.exit(1 if main(*[*arguments_, *(200, 0)[len(arguments_) :]]) else 0)
