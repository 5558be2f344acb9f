"""How many kernels blocks of networks become, and what factors of rows that moved past a product do to the error."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

import mlir_gemm
from mlir_gemm.dialect.arguments import argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.outlining import cuts, programs
from mlir_gemm.dialect.walk import named
from mlir_gemm.pipeline.importing import import_passes
from mlir_gemm.pipeline.runner import Runner
from mlir_gemm.spec.kernel_record import KernelRecord

M, D, H = 64, 32, 128
MAPS = """\
#e = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
#c = affine_map<(i, j) -> (j)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
"""


class Block:
    """Text of a function on tensors in bf16, as torch-mlir writes modules: one operation for each step."""

    def __init__(self, **arguments: tuple[int, ...]) -> None:
        self.shapes = {f"%{name}": shape for name, shape in arguments.items()}
        self.given = list(self.shapes)
        self.lines: list[str] = ["  %zero = arith.constant 0.0 : f32", "  %one = arith.constant 1.0 : f32"]
        self.types = dict.fromkeys(self.shapes, "bf16")

    def _type(self, value: str) -> str:
        sizes = "x".join(map(str, self.shapes[value]))
        return f"tensor<{sizes}x{self.types[value]}>"

    def _new(self, shape: tuple[int, ...], type_: str) -> str:
        name = f"%v{len(self.shapes)}"
        self.shapes[name], self.types[name] = shape, type_
        self.lines.append(f"  {name}e = tensor.empty() : {self._type(name)}")
        return name

    def _elements(self, values: tuple[str, ...]) -> tuple[str, list[str]]:
        """A body's arguments, and what makes `%0`, ... in f32 of them."""
        wide = [f"    %{i} = arith.extf %x{i} : bf16 to f32" for i, v in enumerate(values) if self.types[v] == "bf16"]
        names = ["%x" if self.types[value] == "bf16" else "%" for value in values]
        types = [self.types[value] for value in values]
        return ", ".join(f"{name}{i}: {t}" for i, (name, t) in enumerate(zip(names, types, strict=True))), wide

    def _reads(self, values: tuple[str, ...]) -> str:
        return f"ins({', '.join(values)} : {', '.join(map(self._type, values))})"

    def map(self, body: str, *values: str, type_: str = "bf16") -> str:
        """An elementwise operation on matrices, rows (M) and columns: `%0`, ... in f32 to `%r`."""
        shape = self.shapes[values[0]]
        made = self._new(shape, type_)
        kinds = ["#e" if len(self.shapes[v]) == 2 else "#r" if self.shapes[v][0] == shape[0] else "#c" for v in values]
        arguments, wide = self._elements(values)
        out = [] if type_ == "f32" else ["    %t = arith.truncf %r : f32 to bf16"]
        self.lines += [
            f"  {made} = linalg.generic {{indexing_maps = [{', '.join([*kinds, '#e'])}], "
            'iterator_types = ["parallel", "parallel"]}',
            f"      {self._reads(values)} outs({made}e : {self._type(made)}) {{",
            f"  ^bb0({arguments}, %o: {type_}):", *wide, *(f"    {line}" for line in body.split("; ")), *out,
            f"    linalg.yield {'%r' if type_ == 'f32' else '%t'} : {type_}", f"  }} -> {self._type(made)}",
        ]  # fmt: skip
        return made

    def _summed(self, shape: tuple[int, ...], maps: str, kinds: str, body: str, *values: str) -> str:
        made = self._new(shape, "f32")
        type_ = self._type(made)
        arguments, wide = self._elements(values)
        self.lines += [
            f"  {made}f = linalg.fill ins(%zero : f32) outs({made}e : {type_}) -> {type_}",
            f"  {made} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}",
            f"      {self._reads(values)} outs({made}f : {type_}) {{",
            f"  ^bb0({arguments}, %a: f32):", *wide, f"    {body}", "    %s = arith.addf %a, %r : f32",
            "    linalg.yield %s : f32", f"  }} -> {type_}",
        ]  # fmt: skip
        return made

    def mean(self, x: str, body: str) -> str:
        """The mean of a row of `%r`, computed from `%0`."""
        total = self._summed(self.shapes[x][:1], "#e, #r", '"parallel", "reduction"', body, x)
        name = self._new(self.shapes[x][:1], "f32")
        self.lines += [
            f"  {name} = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], "
            'iterator_types = ["parallel"]}',
            f"      ins({total} : {self._type(total)}) outs({name}e : {self._type(name)}) {{",
            f"  ^bb0(%x: f32, %o: f32):\n    %n = arith.constant {float(self.shapes[x][1])} : f32",
            "    %r = arith.divf %x, %n : f32", "    linalg.yield %r : f32", f"  }} -> {self._type(name)}",
        ]  # fmt: skip
        return name

    def linear(self, x: str, w: str, body: str = "%r = arith.mulf %0, %one : f32", *others: str) -> str:
        """`x w^T`, rounded, and what comes after it."""
        shape = (self.shapes[x][0], self.shapes[w][0])
        body_ = "%r = arith.mulf %0, %1 : f32"
        sums = self._summed(shape, "#mk, #nk, #mn", '"parallel", "parallel", "reduction"', body_, x, w)
        return self.map(body, sums, *others)

    def layer_norm(self, x: str, w: str, b: str) -> str:
        mean = self.mean(x, "%r = arith.mulf %0, %one : f32")
        centred = self.map("%r = arith.subf %0, %1 : f32", x, mean, type_="f32")
        wide = self.map("%r = arith.mulf %0, %0 : f32", centred, type_="f32")
        total = self.mean(wide, "%r = arith.mulf %0, %one : f32")
        normal = "%s = math.rsqrt %1 : f32; %p = arith.mulf %0, %s : f32; %q = arith.mulf %p, %2 : f32"
        return self.map(f"{normal}; %r = arith.addf %q, %3 : f32", centred, total, w, b)

    def rms_norm(self, x: str, w: str = "") -> str:
        mean = self.mean(x, "%r = arith.mulf %0, %0 : f32")
        normal = "%s = math.rsqrt %1 : f32; %r = arith.mulf %0, %s : f32"
        h = self.map(normal, x, mean)
        return self.map("%r = arith.mulf %0, %1 : f32", h, w) if w else h

    def text(self, *results: str) -> str:
        given = ", ".join(f"{name}: {self._type(name)}" for name in self.given)
        types = ", ".join(map(self._type, results))
        body = "\n".join([*self.lines, f"  return {', '.join(results)} : {types}"])
        return f"{MAPS}func.func @block({given}) -> ({types}) {{\n{body}\n}}\n"


def kernels(text: str) -> list[str]:
    """The kinds of the kernels that a function becomes; each says why it is cut from those that it reads from."""
    with new_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        Runner().run(module, import_passes(), stage="import")
        _check_cuts(module)
        found = [f for f in named(module, "func.func") if len(named(f, "linalg.generic"))]
        return [str(f.attributes["tile.kind"]).strip('"') if "tile.kind" in f.attributes else "product" for f in found]


def _check_cuts(module: Any) -> None:
    written: dict[Any, str] = {}
    modules = programs.kernel_modules(module)
    for run in named(module, "tile.run"):
        name, buffers = programs.kernel_of(run), programs.buffers_of(run)
        attributes = argument_attributes(programs.function_of(modules[name]))
        roles = [ir.StringAttr(each["tile.role"]).value for each in attributes]
        read = {written[b] for b, role in zip(buffers, roles, strict=True) if role != "out" and b in written}
        assert set(cuts.read(modules[name])) == read
        written.update((b, name) for b, role in zip(buffers, roles, strict=True) if role != "in")


def test_norms_before_a_linear_layer_are_two_kernels() -> None:
    sizes: dict[str, Any] = {"X": (M, D), "W": (D,), "L": (H, D)}
    rms = Block(**sizes)
    assert kernels(rms.text(rms.linear(rms.rms_norm("%X", "%W"), "%L"))) == ["rows", "product"]
    norm = Block(**sizes, B=(D,))
    assert kernels(norm.text(norm.linear(norm.layer_norm("%X", "%W", "%B"), "%L"))) == ["rows", "product"]


def test_an_encoder_layer_without_attention_is_six_kernels() -> None:
    sizes: dict[str, Any] = {"X": (M, D), "A": (M, D), "Q": (3 * D, D), "O": (D, D), "U": (H, D), "V": (D, H)}
    block = Block(**sizes, W=(D,), B=(D,), C=(D,), E=(D,))
    add = "%r = arith.addf %0, %1 : f32"
    qkv = block.linear("%X", "%Q")
    first = block.layer_norm(block.linear("%A", "%O", add, "%X"), "%W", "%B")
    inner = block.linear(first, "%U", "%r = math.tanh %0 : f32")
    last = block.layer_norm(block.linear(inner, "%V", add, first), "%C", "%E")
    assert sorted(kernels(block.text(qkv, last))) == ["product"] * 4 + ["rows"] * 2


def test_factors_of_rows_past_a_product_round_less() -> None:
    block = Block(X=(M, D), W=(24, D))
    kernel = mlir_gemm.compile(block.text(block.linear(block.rms_norm("%X"), "%W")), chip="sm_90a", device="simulator")
    assert [each.kind for each in kernel.kernels] == ["rows", "product"]
    written = sum(buffer.bytes for buffer in kernel.launch.buffers if isinstance(buffer.bytes, int))
    assert written == 4 * M, "a number for each row"
    assert kernel.kernels[1].cuts == (("block_0", "it is read after the product, with the elements of the result"),)
    assert all(KernelRecord.from_json(each.to_json()) == each for each in kernel.kernels)
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((M, D), (24, D)))
    got = np.asarray(kernel(x, w)).astype(np.float64)
    wide = x.astype(np.float64)
    factor = 1 / np.sqrt(np.square(wide).mean(1, keepdims=True))
    wanted = (wide * factor) @ w.astype(np.float64).T
    eager = ((wide * factor).astype(ml_dtypes.bfloat16).astype(np.float64) @ w.astype(np.float64).T).astype(
        ml_dtypes.bfloat16
    )
    error, theirs = (np.linalg.norm(each - wanted) for each in (got, eager.astype(np.float64)))
    assert error < 0.9 * theirs
