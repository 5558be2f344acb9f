"""Linalg as it is written, on tensors and memrefs: the block-wide interpreter and the reference against NumPy."""

from __future__ import annotations

import importlib.util
import math
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from work_done import calls

from mlir_gemm.errors import ArgumentError
from mlir_gemm.simulator.errors import SimulationError
from mlir_gemm.simulator.expected import reference
from mlir_gemm.simulator.reference import evaluate
from mlir_gemm.simulator.stages import run_stage

DTYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "i8": np.int8,
    "i16": np.int16, "i32": np.int32, "i64": np.int64, "i1": np.bool_, "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}  # fmt: skip


def random(element: str, *shape: int, seed: int = 0) -> Any:
    """Small integers, which every type holds exactly."""
    rng = np.random.default_rng([seed, *shape])
    return rng.integers(-3, 4, shape).astype(DTYPES[element])


def tensor(element: str, shape: Sequence[int]) -> str:
    return f"tensor<{'x'.join([*map(str, shape), element])}>"


def both(text: str, arrays: Sequence[Any], wanted: Sequence[Any]) -> None:
    """The reference, and the interpreter in the types as written, give the wanted results."""
    found = evaluate(text, arrays)
    assert len(found) == len(wanted)
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got.astype(np.float64), np.asarray(want, np.float64), rtol=1e-12, atol=1e-12)
    results = [np.zeros(np.shape(want), np.asarray(want).dtype) for want in wanted]
    given_arrays = [array.copy() for array in arrays]
    run_stage(text, [*given_arrays, *results])
    for got, want in zip(results, wanted, strict=True):
        np.testing.assert_allclose(got.astype(np.float64), np.asarray(want, np.float64), rtol=2e-3, atol=1e-6)


def named(name: str, a: Any, b: Any, c: Any, types: tuple[str, str, str], more: str = "") -> str:
    """A named operation of two inputs on tensors, into a third."""
    ta, tb, tc = (tensor(t, x.shape) for t, x in zip(types, (a, b, c), strict=True))
    return f"""func.func @f(%a: {ta}, %b: {tb}, %c: {tc}) -> {tc} {{
      %d = linalg.{name} {more} ins(%a, %b : {ta}, {tb}) outs(%c : {tc}) -> {tc}
      return %d : {tc}
    }}"""


NAMED = {
    "matmul": ((5, 7), (7, 3), "mk,kn->mn", ""),
    "batch_matmul": ((2, 5, 7), (2, 7, 3), "bmk,bkn->bmn", ""),
    "matvec": ((5, 7), (7,), "mk,k->m", ""),
    "vecmat": ((7,), (7, 3), "k,kn->n", ""),
    "dot": ((7,), (7,), "k,k->", ""),
    "batch_matvec": ((2, 5, 7), (2, 7), "bmk,bk->bm", ""),
    "batch_reduce_matmul": ((2, 5, 7), (2, 7, 3), "bmk,bkn->mn", ""),
    "matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,"
    " affine_map<(m, n, k) -> (m, n)>]": ((7, 5), (7, 3), "km,kn->mn", ""),
    "matmul indexing_maps = [affine_map<(m, n, k) -> (k)>, affine_map<(m, n, k) -> (n, k)>,"
    " affine_map<(m, n, k) -> (m, n)>]": ((7,), (3, 7), "k,nk->n", ""),
    "contract indexing_maps = [affine_map<(a, b, c, d) -> (a, d, b)>, affine_map<(a, b, c, d) -> (c, d)>,"
    " affine_map<(a, b, c, d) -> (c, b, a)>]": ((2, 7, 5), (3, 7), "adb,cd->cba", ""),
}


@pytest.mark.parametrize(
    "types", [("f16", "f16", "f32"), ("bf16", "bf16", "f32"), ("f32",) * 3, ("f64",) * 3, ("i8", "i8", "i32"),
              ("f8E4M3FN", "f8E5M2", "f32"), ("f16", "f16", "f16"), ("bf16", "bf16", "bf16")], ids=str,
)  # fmt: skip
@pytest.mark.parametrize("name", NAMED)
def test_named_products(name: str, types: tuple[str, str, str]):
    left, right, formula, more = NAMED[name]
    a, b = random(types[0], *left), random(types[1], *right, seed=1)
    wide = np.einsum(formula, a.astype(np.float64), b.astype(np.float64))
    c = random(types[2], *((4, 3) if formula == "k,nk->n" else wide.shape), seed=2)
    both(named(name, a, b, c, types, more), [a, b, c], [(wide + c.astype(np.float64)).astype(DTYPES[types[2]])])


def generic(maps: Sequence[str], iterators: str, types: Sequence[str], arrays: Sequence[Any], body: str) -> str:
    """A linalg.generic on tensors; `maps` are written `(i, j) -> (j)`, block arguments are %x0, %x1, ..."""
    shaped = [tensor(t, a.shape) for t, a in zip(types, arrays, strict=True)]
    arguments = ", ".join(f"%a{i}: {t}" for i, t in enumerate(shaped))
    inputs = ", ".join(f"%a{i}" for i in range(len(shaped) - 1))
    ins = f"ins({inputs} : {', '.join(shaped[:-1])})" if inputs else ""
    iterator_types = ", ".join(f'"{"parallel" if i == "p" else "reduction"}"' for i in iterators)
    listed = ", ".join(f"affine_map<{map_}>" for map_ in maps)
    block = ", ".join(f"%x{i}: {t}" for i, t in enumerate(types))
    last = len(shaped) - 1
    return f"""func.func @f({arguments}) -> {shaped[-1]} {{
      %r = linalg.generic {{indexing_maps = [{listed}], iterator_types = [{iterator_types}]}}
          {ins} outs(%a{last} : {shaped[-1]}) {{
        ^bb0({block}):
          {body}
      }} -> {shaped[-1]}
      return %r : {shaped[-1]}
    }}"""


def test_a_generic_with_a_bias_a_scalar_and_a_transpose():
    x, bias, other = random("f32", 4, 6), random("f32", 6), random("f32", 6, 4, seed=3)
    scale, out = np.float32(2).reshape(()), np.zeros((4, 6), np.float32)
    text = generic(
        ["(i, j) -> (i, j)", "(i, j) -> (j)", "(i, j) -> (j, i)", "(i, j) -> ()", "(i, j) -> (i, j)"], "pp",
        ["f32"] * 5, [x, bias, other, scale, out],
        """%s = arith.mulf %x0, %x3 : f32
           %t = arith.addf %s, %x1 : f32
           %u = arith.subf %t, %x2 : f32
           linalg.yield %u : f32""",
    )  # fmt: skip
    both(text, [x, bias, other, scale, out], [x * 2 + bias - other.T])


REDUCTIONS = {
    "arith.addf": (np.sum, "f32"), "arith.mulf": (np.prod, "f32"), "arith.maximumf": (np.max, "f32"),
    "arith.minnumf": (np.min, "f32"), "arith.addi": (np.sum, "i32"), "arith.maxsi": (np.max, "i32"),
}  # fmt: skip


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str):
    function, element = REDUCTIONS[name]
    x = random(element, 4, 5, 6)
    start = {"arith.mulf": 1}.get(name, 0)
    out = np.full(5, start, DTYPES[element])
    text = generic(
        ["(i, j, k) -> (i, j, k)", "(i, j, k) -> (j)"], "rpr", [element] * 2, [x, out],
        f"%r = {name} %x1, %x0 : {element}\n linalg.yield %r : {element}",
    )  # fmt: skip
    both(text, [x, out], [function(np.concatenate([x.transpose(1, 0, 2).reshape(5, -1), out[:, None]], 1), axis=1)])


def test_a_reduction_that_is_none_of_the_usual_ones_runs_in_order():
    x, out = random("f32", 4, 5), np.ones(4, np.float32)
    text = generic(
        ["(i, j) -> (i, j)", "(i, j) -> (i)"], "pr", ["f32"] * 2, [x, out],
        "%h = arith.divf %x1, %x1 : f32\n %m = arith.subf %x0, %x1 : f32\n %r = arith.addf %m, %h : f32\n"
        " linalg.yield %r : f32",
    )  # fmt: skip
    want = out.copy()
    with np.errstate(all="ignore"):
        for column in x.T:
            want = column - want + want / want
    both(text, [x, out], [want])


def test_a_product_of_three_needs_no_array_over_all_loops():
    a, s, b, c = random("f32", 300, 400), random("f32", 400), random("f32", 400, 500), np.zeros((300, 500), np.float32)
    text = generic(
        ["(m, n, k) -> (m, k)", "(m, n, k) -> (k)", "(m, n, k) -> (k, n)", "(m, n, k) -> (m, n)"], "ppr",
        ["f32"] * 4, [a, s, b, c],
        """%p = arith.mulf %x0, %x2 : f32
           %q = arith.mulf %p, %x1 : f32
           %r = arith.addf %x3, %q : f32
           linalg.yield %r : f32""",
    )  # fmt: skip
    over_all_loops = 4 * 300 * 400 * 500
    tracemalloc.start()
    both(text, [a, s, b, c], [(a * s) @ b])
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < over_all_loops / 4


def test_a_convolution():
    image, kernel_, out = (
        random("f32", 2, 3, 8, 9),
        random("f32", 4, 3, 3, 2, seed=1),
        np.zeros((2, 4, 6, 8), np.float32),
    )
    types = [tensor("f32", x.shape) for x in (image, kernel_, out)]
    text = f"""func.func @f(%a: {types[0]}, %b: {types[1]}, %c: {types[2]}) -> {types[2]} {{
      %d = linalg.conv_2d_nchw_fchw ins(%a, %b : {types[0]}, {types[1]}) outs(%c : {types[2]}) -> {types[2]}
      return %d : {types[2]}
    }}"""
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 2), (2, 3))
    both(text, [image, kernel_, out], [np.einsum("bchwxy,fcxy->bfhw", windows, kernel_)])


def test_indices_and_outputs_that_are_several():
    text = """#m = affine_map<(i, j) -> (i, j)>
    func.func @f(%a: tensor<3x4xf32>) -> (tensor<3x4xi32>, tensor<3x4xf32>) {
      %e = tensor.empty() : tensor<3x4xi32>
      %g = tensor.empty() : tensor<3x4xf32>
      %r:2 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel", "parallel"]}
          ins(%a : tensor<3x4xf32>) outs(%e, %g : tensor<3x4xi32>, tensor<3x4xf32>) {
        ^bb0(%x: f32, %y: i32, %z: f32):
          %i = linalg.index 0 : index
          %j = linalg.index 1 : index
          %s = arith.addi %i, %j : index
          %t = arith.index_cast %s : index to i32
          %n = arith.negf %x : f32
          linalg.yield %t, %n : i32, f32
      } -> (tensor<3x4xi32>, tensor<3x4xf32>)
      return %r#0, %r#1 : tensor<3x4xi32>, tensor<3x4xf32>
    }"""
    a = random("f32", 3, 4)
    both(text, [a], [np.add.outer(np.arange(3), np.arange(4)).astype(np.int32), -a])


def test_tensor_operations_and_constants():
    text = """func.func @f(%a: tensor<4x6xbf16>)
        -> (tensor<2x2x6xbf16>, tensor<3xbf16>, tensor<4x6xbf16>, tensor<2xf32>) {
      %e = tensor.expand_shape %a [[0, 1], [2]] output_shape [2, 2, 6] : tensor<4x6xbf16> into tensor<2x2x6xbf16>
      %s = tensor.extract_slice %a[1, 0] [1, 3] [1, 2] : tensor<4x6xbf16> to tensor<3xbf16>
      %k = arith.constant dense<[[1.5, -2.0], [0.5, 3.0]]> : tensor<2x2xbf16>
      %i = tensor.insert_slice %k into %a[1, 2] [2, 2] [1, 1] : tensor<2x2xbf16> into tensor<4x6xbf16>
      %c = tensor.cast %i : tensor<4x6xbf16> to tensor<?x?xbf16>
      %d = tensor.cast %c : tensor<?x?xbf16> to tensor<4x6xbf16>
      %r = arith.constant dense_resource<weights> : tensor<2xf32>
      return %e, %s, %d, %r : tensor<2x2x6xbf16>, tensor<3xbf16>, tensor<4x6xbf16>, tensor<2xf32>
    }
    {-# dialect_resources: { builtin: { weights: "0x040000000000803F00000040" } } #-}"""
    a = random("bf16", 4, 6)
    inserted = a.copy()
    inserted[1:3, 2:4] = np.array([[1.5, -2], [0.5, 3]])
    both(text, [a], [a.reshape(2, 2, 6), a[1, 0:6:2], inserted, np.array([1, 2], np.float32)])


def test_memrefs_that_are_written_come_first():
    text = """func.func @f(%a: memref<4x6xf32>, %b: memref<4x6xf32>, %c: memref<24xf32>) -> tensor<4x6xf32> {
      %t = bufferization.to_tensor %a restrict : memref<4x6xf32> to tensor<4x6xf32>
      %v = memref.expand_shape %c [[0, 1]] output_shape [4, 6] : memref<24xf32> into memref<4x6xf32>
      %w = memref.subview %v[1, 0] [2, 6] [1, 1] : memref<4x6xf32> to memref<2x6xf32, strided<[6, 1], offset: 6>>
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%w : memref<2x6xf32, strided<[6, 1], offset: 6>>)
      bufferization.materialize_in_destination %t in restrict writable %b
        : (tensor<4x6xf32>, memref<4x6xf32>) -> ()
      return %t : tensor<4x6xf32>
    }"""
    a, b, c = random("f32", 4, 6), np.zeros((4, 6), np.float32), np.arange(24, dtype=np.float32)
    want = c.copy()
    want[6:18] = 0
    for got, expected in zip(evaluate(text, [a, b, c]), [a, want, a], strict=True):
        np.testing.assert_array_equal(got, expected)
    assert c[6] == 6  # the caller's arrays stay as they are
    after, result = [a.copy(), b.copy(), c.copy()], np.zeros_like(a)
    run_stage(text, [*after, result])
    for got, expected in zip([*after, result], [a, a, want, a], strict=True):
        np.testing.assert_array_equal(got, expected)


def test_rounding_is_left_out_unless_it_is_asked_for():
    x = np.full((1, 1), 1 / 3)
    text = """#m = affine_map<(i, j) -> (i, j)>
    func.func @f(%x: tensor<1x1xf64>, %e: tensor<1x1xf16>) -> tensor<1x1xf16> {
      %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]}
          ins(%x : tensor<1x1xf64>) outs(%e : tensor<1x1xf16>) {
        ^bb0(%a: f64, %b: f16):
          %t = arith.truncf %a : f64 to f16
          linalg.yield %t : f16
      } -> tensor<1x1xf16>
      return %r : tensor<1x1xf16>
    }"""
    arrays = [x, np.zeros((1, 1), np.float16)]
    assert evaluate(text, arrays)[0] == 1 / 3
    assert evaluate(text, arrays, exact=False)[0] == np.float64(np.float16(1 / 3))


def test_integers_wrap():
    a, b, c = np.full((1, 4), 100, np.int8), np.full((4, 1), 100, np.int8), np.zeros((1, 1), np.int8)
    both(named("matmul", a, b, c, ("i8",) * 3), [a, b, c], [np.int8(40000 - 156 * 256 - 64).reshape(1, 1) * 0 + 64])


MATH: dict[str, Callable[[Any], Any]] = {
    "math.exp": np.exp, "math.exp2": np.exp2, "math.log": np.log, "math.log2": np.log2, "math.log1p": np.log1p,
    "math.expm1": np.expm1, "math.tanh": np.tanh, "math.erf": np.vectorize(math.erf), "math.sqrt": np.sqrt,
    "math.rsqrt": lambda x: 1 / np.sqrt(x), "math.absf": np.abs, "math.sin": np.sin, "math.cos": np.cos,
    "math.floor": np.floor, "math.ceil": np.ceil, "math.roundeven": np.rint, "math.trunc": np.trunc,
    "arith.negf": np.negative, "math.round": lambda x: np.floor(x + 0.5),
}  # fmt: skip


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("name", MATH)
def test_math_is_rounded_once(name: str, element: str):
    x = np.linspace(0.1, 5, 12).reshape(3, 4).astype(DTYPES[element])
    text = generic(
        ["(i, j) -> (i, j)"] * 2,
        "pp",
        [element] * 2,
        [x, x],
        f"%r = {name} %x0 : {element}\nlinalg.yield %r : {element}",
    )
    want = MATH[name](x.astype(np.float64))
    np.testing.assert_allclose(evaluate(text, [x, x])[0], want, rtol=1e-13)
    result = np.zeros_like(x)
    run_stage(text, [x, x.copy(), result])
    np.testing.assert_array_equal(result, want.astype(DTYPES[element]))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_contraction(data: st.DataObject):
    """Loops in any order, operands by any of them, against einsum."""
    letters = "abcdef"[: data.draw(st.integers(2, 5))]
    sizes = {letter: data.draw(st.integers(1, 4)) for letter in letters}
    left, right = (data.draw(st.lists(st.sampled_from(letters), unique=True, max_size=5)) for _ in range(2))
    covered = sorted({*left, *right})
    if not covered:
        return
    out = data.draw(
        st.permutations(covered).map(lambda order: order[: len(order) - data.draw(st.integers(0, len(order)))])
    )
    loops = data.draw(st.permutations(covered))
    types = data.draw(st.sampled_from([("f32",) * 3, ("i8", "i8", "i32"), ("bf16", "f16", "f32")]))
    a, b, c = (random(t, *(sizes[x] for x in s)) for t, s in zip(types, (left, right, out), strict=True))
    extended = "" if types[0] == "f32" else "\n".join(
        f"%y{i} = arith.{'extsi' if types[0] == 'i8' else 'extf'} %x{i} : {types[i]} to {types[2]}" for i in range(2)
    )  # fmt: skip
    name, kind = ("x", "f") if not extended else ("y", "i" if types[0] == "i8" else "f")
    body = f"""{extended}
      %p = arith.mul{kind} %{name}0, %{name}1 : {types[2]}
      %r = arith.add{kind} %x2, %p : {types[2]}
      linalg.yield %r : {types[2]}"""
    head = f"({', '.join(loops)}) -> "
    text = generic(
        [f"{head}({', '.join(each)})" for each in (left, right, out)],
        "".join("p" if loop in out else "r" for loop in loops), types, [a, b, c], body,
    )  # fmt: skip
    formula = f"{''.join(left)},{''.join(right)}->{''.join(out)}"
    want = np.einsum(formula, a.astype(np.float64), b.astype(np.float64)) + c.astype(np.float64)
    both(text, [a, b, c], [np.asarray(want).astype(DTYPES[types[2]])])


MODULES = Path(__file__).resolve().parents[1] / "modules"


def cases() -> list[Any]:
    """Modules from PyTorch, with what they compute."""
    spec = importlib.util.spec_from_file_location("cases_of_modules", MODULES / "cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return list(module.CASES)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_modules_from_pytorch(case: Any):
    rng = np.random.default_rng(0)
    values = [rng.standard_normal(shape) for shape in case.shapes]
    if case.dtype == "i8":
        values = [rng.integers(-8, 8, shape) for shape in case.shapes]
    arrays = [value.astype(DTYPES[case.dtype]) for value in values]
    found = evaluate((MODULES / f"{case.name}.mlir").read_text(), arrays)
    wanted = case.reference(*(array.astype(np.float64) for array in arrays))
    for got, want in zip(found, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        assert np.linalg.norm(got.astype(np.float64) - want) <= case.tolerance * np.linalg.norm(want)


def test_large_products_are_few_operations():
    a, b, c = (random("f16", 512, 512, seed=seed) for seed in range(3))
    assert calls(lambda: evaluate(named("matmul", a, b, c, ("f16",) * 3), [a, b, c])) < 10_000


def test_what_is_not_known_is_named():
    with pytest.raises(SimulationError, match=r"does not know 'tensor\.gather'"):
        evaluate(
            """func.func @f(%a: tensor<2x2xf32>, %i: tensor<1x1xi64>) -> tensor<1x1x2xf32> {
          %s = tensor.gather %a[%i] gather_dims([0]) : (tensor<2x2xf32>, tensor<1x1xi64>) -> tensor<1x1x2xf32>
          return %s : tensor<1x1x2xf32>
        }""",
            [np.zeros((2, 2), np.float32), np.zeros((1, 1), np.int64)],
        )
    with pytest.raises(ArgumentError, match=r"argument 0: an array of \[3\]"):
        evaluate("func.func @f(%a: tensor<2x2xf32>) -> tensor<2x2xf32> { return %a : tensor<2x2xf32> }", [np.zeros(3)])


def test_two_open_sizes_as_torch_mlir_writes_them():
    """It casts one of them to 1, and makes the result of the other's size alone."""
    source = (Path(__file__).parents[1] / "modules" / "front" / "open_linear_both.mlir").read_text()
    random = np.random.default_rng(0)
    x, w, b = (random.standard_normal(shape).astype(np.float32) for shape in ((3, 5, 24), (40, 24), (40,)))
    result = reference(source, [x, w, b])[-1]
    np.testing.assert_allclose(result, x.astype(np.float64) @ w.astype(np.float64).T + b, rtol=1e-12)
