"""Sizes that are known at run time only: one kernel is right for all of them, in the simulator's exact engine."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from dynamic_products import DynamicProduct

from mlir_gemm.errors import InputError, ScheduleError
from mlir_gemm.pipeline.compilation import Compilation
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.program import simulate_launch
from mlir_gemm.spec.binding import bind

SMALL = {"block": (32, 32, 16), "warp": (16, 16, 16)}
SCHEDULES: dict[str, dict[str, Any]] = {
    "chosen": {},
    "mma_sync cp_async": {**SMALL, "mma": "mma_sync", "mainloop": "cp_async", "stages": 3},
    "mma_sync prefetch": {**SMALL, "mma": "mma_sync", "mainloop": "register_prefetch"},
    "simt cp_async": {"mma": "simt", "mainloop": "cp_async", "stages": 2},
    "simt plain": {"mma": "simt", "mainloop": "direct"},
}


def compiled(source: str, **options: Any) -> Compilation:
    """A module compiled to PTX, its IR after `lower` kept."""
    return compile_module(source, keep=("lower",), **options)


def run(done: Compilation, arrays: Sequence[Any]) -> None:
    """Runs what was compiled on arrays for its arguments and results, and checks that nothing was found amiss."""
    launch = done.launch
    assert launch is not None
    passed = [array.shape for array, each in zip(arrays, launch.arguments, strict=True) if each.role != "result"]
    report = simulate_launch(done.ir("lower"), launch.at(bind(passed, launch)), arrays)
    assert not report.findings
    assert not report.stopped


def symbols_of(done: Compilation, product: DynamicProduct) -> dict[str, str]:
    """The symbol of each letter of a product."""
    assert done.launch is not None
    pairs = zip(done.launch.arguments, product.orders, strict=True)
    return {
        letter: size
        for argument, order in pairs
        for letter, size in zip(order, argument.shape, strict=True)
        if isinstance(size, str)
    }


def check(product: DynamicProduct, done: Compilation, sizes: Sequence[Mapping[str, int]]) -> None:
    """Runs one kernel at several sizes."""
    for number, each in enumerate(sizes):
        arrays = product.arrays({**each, **product.fixed}, np.random.default_rng(number))
        run(done, arrays)
        np.testing.assert_array_equal(arrays[-1], product.expected(arrays), err_msg=str(each))


FIXED = [
    dict(zip(letters, (37, 24, 40), strict=False))
    for count in range(3)
    for letters in itertools.combinations("mnk", count)
]


@pytest.mark.parametrize(
    ("schedule", "fixed"),
    [
        pytest.param(schedule, fixed, id=f"{name}-dynamic {''.join(each for each in 'mnk' if each not in fixed)}")
        for turn, (name, schedule) in enumerate(SCHEDULES.items())
        for number, fixed in enumerate(FIXED)
        if "simt" not in name or (turn + number) % 2
    ],
)
def test_all_combinations(fixed: dict[str, int], schedule: dict[str, Any]) -> None:
    """Each of the two schedules without tensor cores with every second combination."""
    product = DynamicProduct(fixed)
    rng = random.Random(str(fixed))
    sizes = [{letter: rng.randint(1, 70) for letter in "mnk"} for _ in range(3)]
    check(product, compiled(product.source(), schedule=schedule), [*sizes, {"m": 1, "n": 1, "k": 1}])


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
def test_no_element(schedule: dict[str, Any]) -> None:
    """A sum of nothing is zero; a result without elements takes no block."""
    product = DynamicProduct({})
    done = compiled(product.source(), schedule=schedule)
    check(product, done, [{"m": 5, "n": 6, "k": 0}, {"m": 0, "n": 6, "k": 7}, {"m": 5, "n": 0, "k": 7}])


@pytest.mark.parametrize("orders", [("mk", "nk"), ("km", "kn"), ("km", "nk")])
@pytest.mark.parametrize("types", [("f16", "f32"), ("f32", "f32"), ("i8", "i32")])
def test_orders_and_types(orders: tuple[str, str], types: tuple[str, str]) -> None:
    product = DynamicProduct({}, a=orders[0], b=orders[1], element=types[0], acc=types[1])
    check(product, compiled(product.source()), [{"m": 33, "n": 18, "k": 21}, {"m": 7, "n": 64, "k": 40}])


@pytest.mark.parametrize("fixed", [{}, {"m": 20, "n": 24, "k": 16}, {"b": 3, "n": 24}])
@pytest.mark.parametrize("mma", ["mma_sync", "simt"])
def test_batch_with_bias(fixed: dict[str, int], mma: str) -> None:
    product = DynamicProduct(fixed, batched=True, bias=True)
    done = compiled(product.source(), schedule={"mma": mma})
    check(product, done, [{"b": 2, "m": 33, "n": 18, "k": 21}, {"b": 5, "m": 8, "n": 40, "k": 16}])


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
def test_divisors_widen_accesses(schedule: dict[str, Any]) -> None:
    """Sizes that are promised to be multiples of 8 are read 16 bytes at a time; the results stay right."""
    product = DynamicProduct({})
    plain = compiled(product.source(), schedule=schedule)
    names = symbols_of(plain, product)
    done = compiled(product.source(), schedule=schedule, divisors=dict.fromkeys(names.values(), 8))
    check(product, done, [{"m": 24, "n": 40, "k": 56}, {"m": 8, "n": 8, "k": 8}])
    assert done.problem is not None and plain.problem is not None
    assert (done.problem.a_vector, done.problem.b_vector) == (128, 128)
    assert (plain.problem.a_vector, plain.problem.b_vector) == (16, 16)


def test_hints_choose_the_schedule() -> None:
    product = DynamicProduct({"n": 1024, "k": 1024})
    few, many = (compile_module(product.source(), until="select", hints={"s0": m}) for m in (16, 8192))
    assert few.problem is not None and many.problem is not None
    assert (few.problem.m, many.problem.m, many.problem.dynamic) == (16, 8192, "m")
    assert few.schedule != many.schedule


def test_launch_is_computed_from_the_sizes() -> None:
    product = DynamicProduct({"n": 64, "k": 32})
    launch = compiled(product.source(), schedule={**SMALL, "mma": "mma_sync"}).launch
    assert launch is not None
    assert launch.grid == (("mul", ("ceildiv", "s0", 32), 2), 1, 1)
    assert launch.parameters.count("s0") == 1
    assert [argument.shape for argument in launch.arguments] == [("s0", 32), (32, 64), ("s0", 64)]


FLATTENED = """
func.func @main(%x: tensor<?x5x24xf16>, %w: tensor<24x40xf16>) -> tensor<?x5x40xf32> {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x5x24xf16>
  %rows = arith.muli %n, %c5 : index
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x5x24xf16> into tensor<?x24xf16>
  %e = tensor.empty(%rows) : tensor<?x40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x40xf32>) -> tensor<?x40xf32>
  %p = linalg.matmul
    ins(%flat, %w : tensor<?x24xf16>, tensor<24x40xf16>) outs(%f : tensor<?x40xf32>) -> tensor<?x40xf32>
  %r = tensor.expand_shape %p [[0, 1], [2]] output_shape [%n, 5, 40] : tensor<?x40xf32> into tensor<?x5x40xf32>
  return %r : tensor<?x5x40xf32>
}
"""


def test_rows_of_three_dimensions_are_one() -> None:
    """The batch and the rows of a linear layer become M = 5 s0, which the kernel gets as its size."""
    done = compiled(FLATTENED)
    assert done.launch is not None
    assert ("mul", "s0", 5) in done.launch.parameters
    for n in (1, 3, 14):
        rng = np.random.default_rng(n)
        x, w = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((n, 5, 24), (24, 40)))
        result = np.zeros((n, 5, 40), np.float32)
        run(done, [x, w, result])
        np.testing.assert_array_equal(result, x.astype(np.float32) @ w.astype(np.float32))


PROGRAM = """
func.func @main(%x: tensor<?x24xf16>, %w: tensor<24x?xf16>, %v: tensor<?x16xf16>) -> (tensor<?x16xf32>, tensor<?xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFC00 : f16
  %m = tensor.dim %x, %c0 : tensor<?x24xf16>
  %h = tensor.dim %w, %c1 : tensor<24x?xf16>
  %e = tensor.empty(%m, %h) : tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%x, %w : tensor<?x24xf16>, tensor<24x?xf16>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  %eh = tensor.empty(%m, %h) : tensor<?x?xf16>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%p : tensor<?x?xf32>) outs(%eh : tensor<?x?xf16>) {
  ^bb0(%a: f32, %old: f16):
    %t = arith.truncf %a : f32 to f16
    linalg.yield %t : f16
  } -> tensor<?x?xf16>
  %em = tensor.empty(%m) : tensor<?xf16>
  %fm = linalg.fill ins(%least : f16) outs(%em : tensor<?xf16>) -> tensor<?xf16>
  %largest = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%q : tensor<?x?xf16>) outs(%fm : tensor<?xf16>) {
  ^bb0(%a: f16, %b: f16):
    %t = arith.maximumf %a, %b : f16
    linalg.yield %t : f16
  } -> tensor<?xf16>
  %er = tensor.empty(%m) : tensor<?x16xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<?x16xf32>) -> tensor<?x16xf32>
  %r = linalg.matmul ins(%q, %v : tensor<?x?xf16>, tensor<?x16xf16>) outs(%fr : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %r, %largest : tensor<?x16xf32>, tensor<?xf16>
}
"""


def test_program() -> None:
    """Two products and a kernel of rows, with a buffer between them whose size follows from two symbols."""
    done = compiled(PROGRAM)
    assert {kernel.kind for kernel in done.kernels} == {"product", "rows"}
    for m, h in ((1, 1), (17, 33), (40, 6)):
        rng = np.random.default_rng(m)
        shapes = ((m, 24), (24, h), (h, 16))
        x, w, v = (rng.integers(-2, 3, shape).astype(np.float16) for shape in shapes)
        product, largest = np.zeros((m, 16), np.float32), np.zeros(m, np.float16)
        run(done, [x, w, v, product, largest])
        middle = x.astype(np.float32) @ w.astype(np.float32)
        np.testing.assert_array_equal(product, middle @ v.astype(np.float32))
        np.testing.assert_array_equal(largest, middle.max(axis=1).astype(np.float16))


@pytest.mark.parametrize("source", [FLATTENED, PROGRAM], ids=["flattened", "program"])
@pytest.mark.parametrize("stage", ["import", "select", "tensorize", "launch", "lower"])
def test_saved_text_resumes(source: str, stage: str) -> None:
    whole = compile_module(source)
    saved = compile_module(source, until=stage, keep=(stage,)).ir(stage)
    resumed = compile_module(saved)
    assert resumed.ptx == whole.ptx
    assert resumed.launch == whole.launch


def test_memory_in_place() -> None:
    """C += A B on memrefs of dynamic sizes."""
    done = compiled("""
        func.func @main(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
          linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
          return
        }""")
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((19, 33), (33, 41)))
    c = rng.integers(-4, 5, (19, 41)).astype(np.float32)
    expected = c + a.astype(np.float32) @ b.astype(np.float32)
    run(done, [a, b, c])
    np.testing.assert_array_equal(c, expected)


def test_refuses() -> None:
    product = DynamicProduct({"n": 24, "k": 40})
    with pytest.raises(InputError, match="hint s0=0"):
        compile_module(product.source(), hints={"s0": 0})
    saved = compile_module(product.source(), until="select", keep=("select",)).ir("select")
    with pytest.raises(ScheduleError, match="certain sizes already"):
        compile_module(saved, hints={"s0": 16})
    with pytest.raises(ScheduleError, match="known at run time only"):
        compile_module(product.source(), schedule={"mma": "wmma"})
