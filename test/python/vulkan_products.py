"""Random products of whole numbers, exact in f32 and i32, and how they run on a device of Vulkan or OpenCL."""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import mlir_gemm
from mlir_gemm.runtime.host_launcher import HostLauncher, run_on
from mlir_gemm.simulator.expected import limits, reference, relative_error
from mlir_gemm.simulator.random_inputs import random_arrays
from mlir_gemm.spec.element_types import numpy_dtype

SIZES = (12, 20, 28, 36, 44, 52)
"""Of open sizes, in their order."""
SUMS = {"f16": "f32", "bf16": "f32", "f32": "f32", "i8": "i32"}
"""The accumulator of each operand type."""
ENDS = ("none", "relu", "bias")
LARGEST = 4
"""Of the numbers that are multiplied: sums of 500 products stay exact in f32."""


@dataclass(frozen=True)
class Product:
    """One product, with what comes after it."""

    m: int
    n: int
    k: int
    element: str
    turned: tuple[bool, bool] = (False, False)
    """Whether A lies as km, and B as nk."""
    batch: int = 0
    """How many of them; 0 for one without a batch."""
    end: str = "none"
    """What comes after it: `relu` or `bias`, with results of f16 or bf16 where operands are."""
    is_open: bool = False
    """Whether all sizes are known at run time only."""

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Of A, B, C and, where there is one, of the bias."""
        first = (self.batch,) if self.batch else ()
        a, b = (self.m, self.k), (self.k, self.n)
        shapes = [a[::-1] if self.turned[0] else a, b[::-1] if self.turned[1] else b, (self.m, self.n)]
        return [(*first, *shape) for shape in shapes] + ([(self.n,)] if self.end == "bias" else [])

    @property
    def sizes(self) -> list[int]:
        """The sizes, in the order in which arguments have them first."""
        a, b = ("km" if self.turned[0] else "mk"), ("nk" if self.turned[1] else "kn")
        known = {"b": self.batch, "m": self.m, "n": self.n, "k": self.k}
        return [known[each] for each in dict.fromkeys(("b" if self.batch else "") + a + b)]

    @property
    def result(self) -> str:
        """The element type of the result."""
        return self.element if self.end != "none" and self.element in ("f16", "bf16") else SUMS[self.element]

    def text(self) -> str:
        """The module."""
        acc = SUMS[self.element]
        kind = "arith.{0}f" if acc == "f32" else "arith.{0}i"
        extend = "" if acc == self.element else ("arith.extf" if acc == "f32" else "arith.extsi")
        lead, dims = ("b, ", "(b, m, n, k)") if self.batch else ("", "(m, n, k)")
        a, b = "k, m" if self.turned[0] else "m, k", "n, k" if self.turned[1] else "k, n"
        maps = ", ".join(f"affine_map<{dims} -> ({lead}{each})>" for each in (a, b, "m, n"))
        loops = ", ".join(['"parallel"'] * (3 if self.batch else 2))
        types = [self._tensor(shape, each) for shape, each in
                 zip(self.shapes, (self.element, self.element, acc, acc), strict=False)]  # fmt: skip
        extended = [f"%{each}2 = {extend} %{each} : {self.element} to {acc}" if extend else "" for each in "xy"]
        x, y = ("%x2", "%y2") if extend else ("%x", "%y")
        body = f"""
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{loops}, "reduction"]}}
      ins(%a, %b : {types[0]}, {types[1]}) outs(%c : {types[2]}) {{
  ^bb0(%x: {self.element}, %y: {self.element}, %z: {acc}):
    {extended[0]}
    {extended[1]}
    %s = {kind.format("mul")} {x}, {y} : {acc}
    %t = {kind.format("add")} %z, %s : {acc}
    linalg.yield %t : {acc}
  }} -> {types[2]}"""
        out, value = types[2], "%r"
        if self.end != "none":
            out, value = self._tensor(self.shapes[2], self.result), "%o"
            body += self._end(acc, loops, types, out)
        bias = f", %bias: {types[3]}" if self.end == "bias" else ""
        given = f"%a: {types[0]}, %b: {types[1]}, %c: {types[2]}{bias}"
        return f"func.func @f({given}) -> {out} {{{body}\n  return {value} : {out}\n}}\n"

    def _end(self, acc: str, loops: str, types: list[str], out: str) -> str:
        names = "b, m, n" if self.batch else "m, n"
        same, along = f"affine_map<({names}) -> ({names})>", f"affine_map<({names}) -> (n)>"
        is_bias, is_float = self.end == "bias", acc == "f32"
        maps = [same, *([along] if is_bias else []), same]
        given = f"%r, %bias : {types[2]}, {types[3]}" if is_bias else f"%r : {types[2]}"
        work = "arith.addf %x, %w" if is_bias else "arith.maximumf %x, %zero"
        if not is_float:
            work = "arith.addi %x, %w" if is_bias else "arith.maxsi %x, %zero"
        narrowed = "" if self.result == acc else f"%v = arith.truncf %u : {acc} to {self.result}"
        sizes = [n for n, size in enumerate(self.shapes[2]) if self.is_open]
        read = "\n".join(f"  %c{n} = arith.constant {n} : index\n  %d{n} = tensor.dim %c, %c{n} : {types[2]}"
                         for n in sizes)  # fmt: skip
        return f"""
{read}
  %e = tensor.empty({", ".join(f"%d{n}" for n in sizes)}) : {out}
  %zero = arith.constant {"0.0" if is_float else "0"} : {acc}
  %o = linalg.generic {{indexing_maps = [{", ".join(maps)}], iterator_types = [{loops}]}}
      ins({given}) outs(%e : {out}) {{
  ^bb0(%x: {acc}, {f"%w: {acc}, " if is_bias else ""}%old: {self.result}):
    %u = {work} : {acc}
    {narrowed}
    linalg.yield {"%v" if narrowed else "%u"} : {self.result}
  }} -> {out}"""

    def _tensor(self, shape: tuple[int, ...], element: str) -> str:
        sizes = ["?" for _ in shape] if self.is_open else [str(size) for size in shape]
        return f"tensor<{'x'.join(sizes)}x{element}>"

    def arrays(self, seed: int) -> list[Any]:
        """Arguments: small whole numbers."""
        rng = np.random.default_rng(seed)
        acc = SUMS[self.element]
        types = (self.element, self.element, acc, acc)
        return [
            rng.integers(-LARGEST, LARGEST + 1, shape).astype(numpy_dtype(each))
            for shape, each in zip(self.shapes, types, strict=False)
        ]

    def expected(self, arrays: list[Any]) -> Any:
        """The result, exactly, and rounded once where it is of f16 or bf16."""
        a, b, c, *bias = (array.astype(np.float64) for array in arrays)
        found = (a.swapaxes(-1, -2) if self.turned[0] else a) @ (b.swapaxes(-1, -2) if self.turned[1] else b) + c
        found = found + bias[0] if bias else np.maximum(found, 0) if self.end == "relu" else found
        return found.astype(numpy_dtype(self.result))


def random_product(seed: int, elements: tuple[str, ...] = ("f32", "f16", "i8"), largest: int = 300) -> Product:
    """One of any size, order, batch and end."""
    rng = random.Random(seed)
    sizes = [rng.choice([round(2 ** rng.uniform(0, np.log2(largest))), 16 * rng.randint(1, largest // 16)])
             for _ in range(3)]  # fmt: skip
    element, turned = rng.choice(elements), (rng.random() < 0.4, rng.random() < 0.4)
    batch, end, is_open = rng.choice([0, 0, 0, 2]), rng.choice(ENDS), rng.random() < 0.2
    # Of an open A that lies as km, C is copied by a kernel of its own, which is refused for every chip.
    return Product(*sizes, element, turned, batch, end, is_open and not turned[0])


def compiled(case: Product, chip: str | None, schedule: dict[str, Any] | None = None, device: str = "vulkan") -> Any:
    """The kernel for these sizes, which has touched no device."""
    kernel = mlir_gemm.compile(case.text(), device=device, chip=chip, schedule=schedule)
    return kernel.at(**dict(zip(kernel.symbols, case.sizes, strict=True))) if kernel.symbols else kernel


def wrong_elements(case: Product, kernel: Any, seed: int = 0) -> int:
    """How many elements of the result are wrong. It holds other numbers before."""
    arrays = case.arrays(seed)
    launcher = kernel.launcher
    assert isinstance(launcher, HostLauncher)
    kernels = launcher.kernels
    for number, argument in enumerate(kernels.launch.arguments):
        if argument.role == "result":
            with kernels.mapped(number) as data:
                np.frombuffer(data, np.uint8)[:] = 0x66
    shape = case.shapes[2]
    results = [np.zeros(shape, numpy_dtype(case.result)) for each in kernels.launch.arguments if each.role == "result"]
    run_on(kernels, [*arrays, *results])
    return int((results[0] != case.expected(arrays)).sum())


def check_module(text: str, device: str) -> Any:
    """Runs a module on a device with arrays of the host, and compares all that it leaves with the reference; open sizes
    are small ones. Returns the kernel."""
    kernel = mlir_gemm.compile(text, device=device)
    if kernel.symbols:
        kernel = kernel.at(**dict(zip(kernel.symbols, SIZES, strict=False)))
    before = random_arrays(kernel.launch.arguments, 0, {})
    if any(
        step.asserts for step in kernel.launch.steps
    ):  # of indices within a table, and of variances that are not zero
        before = [np.asarray(np.abs(each) % (2 if each.dtype.kind in "iu" else 9)) for each in before]
    after = [array.copy() for array in before]
    launcher = kernel.launcher
    assert isinstance(launcher, HostLauncher)
    run_on(launcher.kernels, after)
    expected = reference(text, before)
    allowed = limits(kernel.launch.arguments, kernel.kernels, text, before, expected)
    for got, wanted, limit in zip(after, expected, allowed, strict=True):
        assert relative_error(got, wanted) <= limit
    return kernel


def main() -> int:
    """Modules and random products on this machine's first device, of OpenCL where the chip is `opencl` and else of
    Vulkan: for a chip, these products (`10:20` for the second ten), and modules by their paths."""
    chip, seeds, *modules = sys.argv[1:]
    first, last = map(int, seeds.split(":"))
    device = "opencl" if chip == "opencl" else "vulkan"
    for path in modules:
        check_module(Path(path).read_text(), device)
    used = dict[str, int]()
    elements, largest = (("f32", "i8"), 24) if device == "opencl" else (("f16", "i8"), 130)
    for seed in range(first, last):
        case = random_product(seed, elements, largest)
        kernel = compiled(case, chip, device=device)
        if wrong := wrong_elements(case, kernel, seed):
            print(f"{wrong} elements are wrong: {case}")
            return 1
        for each in kernel.kernels:
            used[each.schedule.mma if each.schedule else "none"] = used.get(each.schedule.mma, 0) + 1
    print(f"{len(modules)} modules and {last - first} products right: {used}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
