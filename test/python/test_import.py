"""The first half of `import` keeps a module's values, pass by pass, and leaves its normal form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from random_modules import random_module

from mlir_gemm.dialect.arguments import argument_attributes, set_argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.locations import location_of
from mlir_gemm.dialect.parse import COMPILER, parse_module, remember
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.pipeline import importing
from mlir_gemm.pipeline.importing import normalise_passes
from mlir_gemm.pipeline.runner import Runner, run_passes
from mlir_gemm.simulator.reference import evaluate

MODULES = sorted((Path(__file__).parent.parent / "modules").glob("*.mlir"))

NORMAL = {
    "tile.position",
    "arith.constant", "tensor.empty", "linalg.fill", "linalg.generic", "tensor.collapse_shape", "tensor.expand_shape",
    "tensor.extract_slice", "tensor.insert_slice", "bufferization.to_tensor",
    "bufferization.materialize_in_destination", "memref.subview", "func.return",
}  # fmt: skip
"""What may remain."""


def normalised(text: str, *, check: bool = True) -> Any:
    """A module after all passes; each pass must leave a function of the same values. One that changes nothing does."""
    with COMPILER:
        module = parse_module(text, "test", new_context())
        arrays = arguments_of(module)
        expected = evaluate(text, arrays) if check else []
        before = str(module)
        with_work = importing.with_work(normalise_passes(), text)
        for step in normalise_passes():
            Runner().run(module, [step])
            after = str(module)
            assert after == before or step in with_work, f"{step} is left out, and changes this:\n{text}"
            if check and after != before:
                same(evaluate(remember(after), arrays), expected, f"after {step}:\n{after}")
            before = after
        return module


def arguments_of(module: Any) -> list[Any]:
    """Small integers for every argument: sums and products of a few of them are exact."""
    random = np.random.default_rng(7)
    with module.context:
        function = next(f for f in named(module, "func.func") if len(f.regions[0].blocks))
        shapes = [list(ir.ShapedType(argument.type).shape) for argument in body(function).arguments]
    return [random.integers(-3, 4, shape) for shape in shapes]


def read_only(text: str) -> str:
    """A module whose tensor arguments are marked so that bufferisation does not write into their buffers."""
    with COMPILER:
        module = parse_module(text, "test", new_context())
        with module.context:
            for function in named(module, "func.func"):
                attributes = argument_attributes(function)
                for each in attributes:
                    each["bufferization.writable"] = ir.BoolAttr.get(False)
                set_argument_attributes(function, attributes)
        return str(module)


def same(actual: list[Any], expected: list[Any], note: str) -> None:
    assert len(actual) == len(expected)
    for one, other in zip(actual, expected, strict=True):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        assert np.allclose(one, other, rtol=1e-9, atol=1e-9, equal_nan=True), note


def operations_of(module: Any) -> list[str]:
    with module.context:
        return [op.operation.name for op in in_block(body(named(module, "func.func")[0]))]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_modules_keep_their_values(path: Path):
    text = path.read_text()
    if "?" in text:
        pytest.skip("dynamic sizes")
    assert set(operations_of(normalised(text))) <= NORMAL


IN_PLACE = """
memref.global "private" constant @w : memref<8x4xf32> = dense<2.0>
func.func @main(%A: memref<4x8xf32, strided<[16, 1], offset: 3>>, %B: memref<8x4xf32>, %C: memref<4x4xf32>,
                %D: memref<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %w = memref.get_global @w : memref<8x4xf32>
  %t = memref.alloc() : memref<4x4xf32>
  %s = memref.subview %B[2, 0] [4, 4] [1, 1] : memref<8x4xf32> to memref<4x4xf32, strided<[4, 1], offset: 8>>
  linalg.negf ins(%s : memref<4x4xf32, strided<[4, 1], offset: 8>>)
              outs(%s : memref<4x4xf32, strided<[4, 1], offset: 8>>)
  linalg.fill ins(%zero : f32) outs(%t : memref<4x4xf32>)
  linalg.matmul ins(%A, %B : memref<4x8xf32, strided<[16, 1], offset: 3>>, memref<8x4xf32>) outs(%t : memref<4x4xf32>)
  linalg.matmul ins(%A, %w : memref<4x8xf32, strided<[16, 1], offset: 3>>, memref<8x4xf32>) outs(%C : memref<4x4xf32>)
  %tt = memref.transpose %t (i, j) -> (j, i) : memref<4x4xf32> to memref<4x4xf32, strided<[1, 4]>>
  %e = memref.expand_shape %D [[0, 1]] output_shape [4, 4] : memref<16xf32> into memref<4x4xf32>
  linalg.add ins(%tt, %C : memref<4x4xf32, strided<[1, 4]>>, memref<4x4xf32>) outs(%e : memref<4x4xf32>)
  %et = memref.transpose %e (i, j) -> (j, i) : memref<4x4xf32> to memref<4x4xf32, strided<[1, 4]>>
  memref.copy %et, %C : memref<4x4xf32, strided<[1, 4]>> to memref<4x4xf32>
  memref.dealloc %t : memref<4x4xf32>
  return
}
"""
"""Views that are read and written, updates in place, a constant, a temporary."""

NAMED = """
func.func @main(%a: tensor<2x4x8xf16>, %b: tensor<2x8x6xf16>, %x: tensor<8xf16>, %i: tensor<4x8xi8>, %j: tensor<8x6xi8>,
                %c: tensor<2x4x6xf16>, %s: tensor<4x6xf16>, %k: tensor<4x6xi32>, %y: tensor<6xf16>, %z: tensor<f16>)
    -> (tensor<2x4x6xf16>, tensor<4x6xf16>, tensor<4x6xi32>, tensor<6xf16>, tensor<2x4x6xf16>, tensor<4x8xi8>) {
  %0 = linalg.batch_matmul ins(%a, %b : tensor<2x4x8xf16>, tensor<2x8x6xf16>) outs(%c : tensor<2x4x6xf16>)
    -> tensor<2x4x6xf16>
  %1 = linalg.batch_reduce_matmul ins(%a, %b : tensor<2x4x8xf16>, tensor<2x8x6xf16>) outs(%s : tensor<4x6xf16>)
    -> tensor<4x6xf16>
  %2 = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%i, %j : tensor<4x8xi8>, tensor<8x6xi8>)
    outs(%k : tensor<4x6xi32>) -> tensor<4x6xi32>
  %b0 = tensor.collapse_shape %b [[0, 1], [2]] : tensor<2x8x6xf16> into tensor<16x6xf16>
  %x2 = tensor.empty() : tensor<2x8xf16>
  %x1 = linalg.broadcast ins(%x : tensor<8xf16>) outs(%x2 : tensor<2x8xf16>) dimensions = [0]
  %x0 = tensor.collapse_shape %x1 [[0, 1]] : tensor<2x8xf16> into tensor<16xf16>
  %3 = linalg.vecmat ins(%x0, %b0 : tensor<16xf16>, tensor<16x6xf16>) outs(%y : tensor<6xf16>) -> tensor<6xf16>
  %e = tensor.empty() : tensor<2x4x6xf16>
  %4 = linalg.map { arith.negf } ins(%0 : tensor<2x4x6xf16>) outs(%e : tensor<2x4x6xf16>)
  return %0, %1, %2, %3, %4, %i : tensor<2x4x6xf16>, tensor<4x6xf16>, tensor<4x6xi32>, tensor<6xf16>,
    tensor<2x4x6xf16>, tensor<4x8xi8>
}
"""

EMPTY = """
func.func @main(%a: tensor<0x8xf16>, %b: tensor<8x6xf16>, %c: tensor<4x0xf16>, %d: tensor<0x6xf16>)
    -> (tensor<0x6xf32>, tensor<4x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<0x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<0x6xf32>) -> tensor<0x6xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<0x8xf16>, tensor<8x6xf16>) outs(%f : tensor<0x6xf32>) -> tensor<0x6xf32>
  %g = tensor.empty() : tensor<4x6xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = linalg.matmul ins(%c, %d : tensor<4x0xf16>, tensor<0x6xf16>) outs(%h : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0, %1 : tensor<0x6xf32>, tensor<4x6xf32>
}
"""


@pytest.mark.parametrize("text", [IN_PLACE, NAMED, EMPTY], ids=["in place", "named operations", "no elements"])
def test_written_by_hand(text: str):
    assert set(operations_of(normalised(text))) <= NORMAL


def test_f16_products_accumulate_in_f32():
    text = """
func.func @main(%a: tensor<4x8xf16>, %b: tensor<8x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x6xf16>) outs(%c : tensor<4x6xf16>) -> tensor<4x6xf16>
  return %0 : tensor<4x6xf16>
}"""
    assert "arith.truncf" in str(normalised(text))


def test_places_in_the_source_stay():
    """The product and what is after it carry the places of the operations that the user wrote."""
    text = (Path(__file__).parent.parent / "modules" / "linear_bias_f16.mlir").read_text()
    module = normalised(text, check=False)
    with module.context:
        for operation in named(module, "linalg.generic", "linalg.fill"):
            assert location_of(operation) is not None


@settings(max_examples=draws(30), deadline=None)
@given(st.integers(0, 1 << 30))
def test_random_modules_keep_their_values(seed: int):
    assert set(operations_of(normalised(random_module(seed)))) <= NORMAL


TO_MEMORY = (
    "one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map}",
    "drop-equivalent-buffer-results{modify-public-functions=1}",
    "buffer-results-to-out-params{modify-public-functions=1}",
)
"""From tensors to memrefs; upstream's last pass crashes on some modules when it hoists allocations as well."""


@settings(max_examples=draws(20), deadline=None)
@given(st.integers(0, 1 << 30))
def test_random_modules_on_memrefs_keep_their_values(seed: int):
    text = run_passes(read_only(random_module(seed)), TO_MEMORY)
    assert "memref" in text
    assert set(operations_of(normalised(text))) <= NORMAL


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 1 << 30))
def test_a_second_run_of_each_pass_changes_nothing(seed: int):
    with COMPILER:
        module = parse_module(random_module(seed), "test", new_context())
        for step in normalise_passes():
            Runner().run(module, [step])
            once = str(module)
            Runner().run(module, [step])
            assert str(module) == once, f"{step}:\n{once}"
