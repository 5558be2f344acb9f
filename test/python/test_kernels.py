"""From the normal form on tensors to kernels: numbers against NumPy for random functions, and the form of kernels."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import program_numbers as numbers
import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from program_numbers import Array, elements_of
from random_contractions import random_function

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.linalg.products import product_of, the_product, why_no_product
from mlir_gemm.dialect.outlining import programs
from mlir_gemm.dialect.outlining.kernels import Kernel
from mlir_gemm.dialect.outlining.spaces import Space
from mlir_gemm.dialect.outlining.tensors import place_in_tensors
from mlir_gemm.dialect.outlining.views import View
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import InputError
from mlir_gemm.pipeline.importing import kernel_passes, normalise_passes
from mlir_gemm.pipeline.problem_of import problem_of
from mlir_gemm.pipeline.runner import Runner

MODULES = sorted((Path(__file__).parents[1] / "modules").glob("*.mlir"))


def formed(text: str) -> Any:
    """The program of a function in normal form."""
    module = parse_module(text, "-", new_context())
    for step in kernel_passes():
        Runner().run(module, [step])
    return module


def check(text: str, seed: int) -> Any:
    """Compares a function with the program made of it, on random integers; the program."""
    draw = np.random.default_rng(seed)
    source = parse_module(text, "-", new_context())
    with source.context, ir.Location.unknown():
        function = next(op for op in in_block(body(source)) if op.operation.name == "func.func")
        given_: list[Array] = []
        expected: list[Array] = []
        for argument in body(function).arguments:
            is_tensor = isinstance(argument.type, ir.RankedTensorType)
            count = math.prod(argument.type.shape) if is_tensor else elements_of(argument.type)
            array = draw.integers(-3, 4, count).astype(np.float64)
            given_.append(array)
            expected.append(array.reshape(argument.type.shape) if is_tensor else array.copy())
        results = numbers.run_tensors(function, expected)
    program = formed(text)
    with program.context, ir.Location.unknown():
        written = [np.full(result.size, np.nan) for result in results]
        arrays = [array.copy() for array in given_]
        numbers.run_program(program, arrays + written)
    for want, got in zip([*expected, *results], [*arrays, *written], strict=True):
        np.testing.assert_allclose(got, want.reshape(-1), rtol=1e-12)
    return program


@settings(max_examples=draws(80), deadline=None)
@given(st.integers(0, 10**9))
def test_random_functions(seed: int):
    check(random_function(seed), seed)


@settings(max_examples=draws(30), deadline=None)
@given(st.integers(0, 10**9))
def test_normalising_twice_changes_nothing(seed: int):
    module = formed(random_function(seed))
    before = str(module)
    names = [step.name for step in kernel_passes()]
    for step in kernel_passes()[names.index("normalise-kernels") :]:
        Runner().run(module, [step])
    assert str(module) == before


@settings(max_examples=draws(40), deadline=None)
@given(st.integers(0, 10**9))
def test_kernels_are_in_the_form_that_later_stages_take(seed: int):
    module = formed(random_function(seed))
    with module.context, ir.Location.unknown():
        for inner in programs.kernel_modules(module).values():
            function = programs.function_of(inner)
            assert not named(function, "memref.reinterpret_cast")
            if "tile.kind" in function.attributes:
                continue
            product = the_product(function)
            loops = [*product.batch, *product.m, *product.n, *product.k]
            assert loops == list(range(len(product.generic.parallel)))
            assert (len(product.m), len(product.n), len(product.k)) == (1, 1, 1)
            assert problem_of(function).flops > 0


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_modules_from_pytorch(path: Path, monkeypatch: pytest.MonkeyPatch):
    if path.stem.startswith("dynamic"):
        pytest.skip("sizes that are known at run time only")
    for name, function in numbers.MATH.items():
        monkeypatch.setitem(numbers.BODY, name, function)
    module = parse_module(path.read_text(), str(path), new_context())
    for step in normalise_passes():
        Runner().run(module, [step])
    check(str(module), 1)


PRODUCT = """
func.func @f(%A: {a}, %B: {b}, %C: {c}) {{
  linalg.generic {{indexing_maps = [affine_map<({loops}) -> ({ma})>, affine_map<({loops}) -> ({mb})>,
                                    affine_map<({loops}) -> ({mc})>], iterator_types = [{kinds}]}}
      ins(%A, %B : {a}, {b}) outs(%C : {c}) {{
  ^bb0(%a: {ea}, %b: {eb}, %c: {ec}):
{body}
    linalg.yield %y : {ec}
  }}
  return
}}
"""
MULTIPLY = "    %p = arith.mulf %a, %b : f32\n    %y = arith.addf %c, %p : f32"


def product_text(a: str, b: str, c: str, *, maps: str = "mk,kn,mn", reductions: str = "k", text: str = MULTIPLY) -> str:
    """A kernel of one generic; `maps` names the loops of each operand by letters."""
    parts = maps.split(",")
    loops = "".join(dict.fromkeys(parts[2] + parts[0] + parts[1]))
    kinds = ", ".join('"reduction"' if loop in reductions else '"parallel"' for loop in loops)
    ma, mb, mc = (", ".join(part) for part in parts)
    ea, eb, ec = (t.partition("<")[2].partition(",")[0].rstrip(">").split("x")[-1] for t in (a, b, c))
    return PRODUCT.format(
        a=a, b=b, c=c, loops=", ".join(loops), kinds=kinds, ma=ma, mb=mb, mc=mc, body=text, ea=ea, eb=eb, ec=ec
    )


def first_generic(text: str) -> tuple[Any, Any]:
    module = parse_module(text, "-", new_context())
    return module, named(module, "linalg.generic")[0]


def test_parts_of_a_product():
    module, op = first_generic(
        product_text("memref<2x3x4x5xf32>", "memref<2x5x6xf32>", "memref<6x2x4x3xf32>", maps="bijk,bkn,nbji")
    )
    with module.context:
        product = product_of(op)
    assert product is not None  # loops: n b j i k
    assert (product.batch, product.m, product.n, product.k) == ((1,), (2, 3), (0,), (4,))
    assert why_no_product(op) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (MULTIPLY.replace("mulf", "divf"), "made by 'arith.divf', not by a multiplication of the same kind"),
        (
            MULTIPLY.replace("addf", "maximumf").replace("mulf", "divf"),
            "combines by 'arith.maximumf', not by an addition",
        ),
        ("    %y = arith.addf %c, %a : f32", "adds up single elements"),
        ("    %y = arith.addf %c, %c : f32", "does not add one term"),
        ("    %p = arith.mulf %a, %c : f32\n    %y = arith.addf %c, %p : f32", "does not add one term"),
        ("    %y = arith.mulf %a, %b : f32", "combines by 'arith.mulf'"),
    ],
)
def test_reasons_in_the_body(text: str, why: str):
    module, op = first_generic(product_text("memref<4x5xf32>", "memref<5x6xf32>", "memref<4x6xf32>", text=text))
    with module.context:
        assert product_of(op) is None
        assert why in (why_no_product(op) or "")


@pytest.mark.parametrize(
    ("operands", "maps", "why"),
    [
        (("memref<4x5xf32>", "memref<6xf32>", "memref<4x6xf32>"), "mk,n,mn", "is used by A only"),
        (("memref<5xf32>", "memref<5x6xf32>", "memref<4x6xf32>"), "k,kn,mn", "is used by the result only"),
    ],
)
def test_reasons_in_the_maps(operands: tuple[str, str, str], maps: str, why: str):
    module, op = first_generic(product_text(*operands, maps=maps))
    with module.context:
        assert why in (why_no_product(op) or "")


def test_kernel_without_product_is_refused():
    text = product_text("memref<4x5xf32>", "memref<5x6xf32>", "memref<4x6xf32>", text=MULTIPLY.replace("mulf", "divf"))
    module = parse_module(text, "-", new_context())
    with module.context, pytest.raises(InputError, match=r"holds no product.*arith\.divf"):
        the_product(in_block(body(module))[0])


EXTENDED = """    %x = arith.{left} %a : {ea} to i32
    %z = arith.{right} %b : i8 to i32
    %p = arith.muli %x, %z : i32
    %y = arith.addi %c, %p : i32"""


def problem(text: str) -> Any:
    module = parse_module(text, "-", new_context())
    with module.context, ir.Location.unknown():
        return problem_of(in_block(body(module))[0])


def test_problem_of_integers():
    text = EXTENDED.format(left="extui", right="extsi", ea="i8")
    found = problem(product_text("memref<4x32xi8>", "memref<32x16xi8>", "memref<4x16xi32>", text=text))
    assert (found.a, found.b, found.acc, found.out, found.unsigned) == ("i8", "i8", "i32", "i32", "a")
    assert (found.a_memory, found.b_memory, found.reads_c) == ("", "", True)


def test_problem_of_a_prologue():
    text = """    %h = arith.sitofp %b : i8 to f16
    %x = arith.extf %a : f16 to f32
    %z = arith.extf %h : f16 to f32
    %p = arith.mulf %x, %z : f32
    %y = arith.addf %c, %p : f32"""
    found = problem(product_text("memref<4x32xf16>", "memref<32x16xi8>", "memref<4x16xf32>", text=text))
    assert (found.a, found.b, found.a_memory, found.b_memory) == ("f16", "f16", "", "i8")


@pytest.mark.parametrize(
    ("a", "maps", "order", "vector"),
    [
        ("memref<64x32xf32>", "mk,kn,mn", "mk", 128),
        ("memref<32x64xf32>", "km,kn,mn", "km", 128),
        ("memref<64x32xf32, strided<[34, 1]>>", "mk,kn,mn", "mk", 64),
        ("memref<64x32xf32, strided<[64, 1], offset: 3>>", "mk,kn,mn", "mk", 32),
        ("memref<64x32xf32, strided<[1, 64]>>", "mk,kn,mn", "km", 128),
        ("memref<64x32xf32, strided<[64, 2]>>", "mk,kn,mn", "mk", 32),
        ("memref<64x30xf32, strided<[32, 1]>>", "mk,kn,mn", "mk", 64),
        ("memref<7x64x32xf32, strided<[2050, 32, 1]>>", "bmk,kn,bmn", "mk", 64),
    ],
)
def test_problem_of_layouts(a: str, maps: str, order: str, vector: int):
    k = int(a.split("x")[-2].split("<")[-1]) if maps[0] != "k" else 32
    c = "memref<7x64x16xf32>" if maps[0] == "b" else "memref<64x16xf32>"
    found = problem(product_text(a.replace("xf32", "xf32", 1), f"memref<{k}x16xf32>", c, maps=maps))
    assert (found.a_order, found.a_vector, found.b_order, found.b_vector) == (order, vector, "kn", 128)
    assert (found.m, found.n, found.k, found.out_vector) == (64, 16, k, 128)


def test_views():
    view = View.dense([2, 3, 4])
    assert view.collapsed([[0, 1], [2]]) == View.dense([6, 4])
    assert view.expanded([[0], [1], [2, 3]], [2, 3, 2, 2]) == View.dense([2, 3, 2, 2])
    assert View((2, 3), (4, 1)).collapsed([[0, 1]]) is None
    assert View((2, 1, 3), (3, 77, 1)).collapsed([[0, 1, 2]]) == View.dense([6])
    assert View.dense([1, 1]).collapsed([]) == View.dense([])
    assert view.sliced([1, 0, 2], [1, 3, 2], [1, 1, 1]) == View((1, 3, 2), (12, 4, 1), 14)
    assert not View((2, 2), (1, 1)).is_injective
    assert View((2, 2), (1, 2)).is_injective


def test_loops_are_found_by_addresses():
    space = Space()
    m, n = space.new_loop(6), space.new_loop(5)
    known = space.access(0, [5, 1], [[(m, 1)], [(n, 1)]])
    parts = space.match(known, [2, 5, 3], [15, 1, 5])
    assert parts is not None
    assert [[(space.sizes[loop], step) for loop, step in each] for each in parts] == [[(2, 1)], [(5, 1)], [(3, 1)]]
    assert space.copy().match(known, [5, 3], [1, 5]) is None  # half of it
    assert space.copy().match(known, [3, 10], [10, 1]) is None  # 5 does not go into 10 by 3


def test_elementwise_operation_over_other_elements_cannot_join():
    text = """
      #id = affine_map<(m, n) -> (m, n)>
      func.func @f(%A: tensor<4x5xf32>, %B: tensor<5x4xf32>, %C: tensor<4x4xf32>) -> tensor<2x4xf32> {
        %p = linalg.matmul ins(%A, %B : tensor<4x5xf32>, tensor<5x4xf32>) outs(%C : tensor<4x4xf32>) -> tensor<4x4xf32>
        %s = tensor.extract_slice %p[0, 0] [2, 4] [1, 1] : tensor<4x4xf32> to tensor<2x4xf32>
        %e = tensor.empty() : tensor<2x4xf32>
        %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
            ins(%s : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
        ^bb0(%x: f32, %o: f32):
          %y = arith.addf %x, %x : f32
          linalg.yield %y : f32
        } -> tensor<2x4xf32>
        return %r : tensor<2x4xf32>
      }"""
    module = parse_module(text, "-", new_context())
    product, double = (named(module, f"linalg.{name}")[0] for name in ("matmul", "generic"))
    with module.context, ir.Location.unknown():
        kernel = Kernel()
        kernel.seed(product, place_in_tensors)
        assert kernel.join(double, place_in_tensors) == "it does not take each element of its result once"
    program = check(text, 3)
    assert 'tile.note = "it cannot be fused with the product at' in str(program)


SWAP = """
func.func @swap(%A: memref<4xf32>, %B: memref<4xf32>) {
  %a = bufferization.to_tensor %A restrict writable : memref<4xf32> to tensor<4xf32>
  %b = bufferization.to_tensor %B restrict writable : memref<4xf32> to tensor<4xf32>
  bufferization.materialize_in_destination %b in restrict writable %A : (tensor<4xf32>, memref<4xf32>) -> ()
  bufferization.materialize_in_destination %a in restrict writable %B : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}"""


def test_memory_that_changes_places():
    check(SWAP, 5)


@pytest.mark.parametrize("sizes", [(4, 0, 3), (0, 5, 3), (4, 5, 0), (0, 0, 0)])
def test_sizes_of_zero(sizes: tuple[int, int, int]):
    m, k, n = sizes
    program = check(
        f"""
      #id = affine_map<(m, n) -> (m, n)>
      func.func @f(%A: tensor<{m}x{k}xf32>, %B: tensor<{k}x{n}xf32>, %b: tensor<{n}xf32>) -> tensor<{m}x{n}xf32> {{
        %zero = arith.constant 0.0 : f32
        %e = tensor.empty() : tensor<{m}x{n}xf32>
        %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
        %p = linalg.matmul ins(%A, %B : tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>) outs(%f : tensor<{m}x{n}xf32>)
            -> tensor<{m}x{n}xf32>
        %r = linalg.generic {{indexing_maps = [#id, affine_map<(m, n) -> (n)>, #id],
                              iterator_types = ["parallel", "parallel"]}}
            ins(%p, %b : tensor<{m}x{n}xf32>, tensor<{n}xf32>) outs(%e : tensor<{m}x{n}xf32>) {{
        ^bb0(%x: f32, %y: f32, %o: f32):
          %s = arith.addf %x, %y : f32
          linalg.yield %s : f32
        }} -> tensor<{m}x{n}xf32>
        return %r : tensor<{m}x{n}xf32>
      }}""",
        7,
    )
    assert str(program).count('"tile.run"') == (2 if m and n else 0)
