"""How much of a large problem is simulated, and what its tiles are compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_stages import CHIP, EXAMPLES, SMALL, product

from mlir_gemm.errors import Error, InputError
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator import sampling
from mlir_gemm.simulator.expected import reference
from mlir_gemm.simulator.random_inputs import random_arrays
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tools.reference_tile import reference_tile


@pytest.mark.parametrize(
    ("size", "checks", "blocks", "running", "checked"),
    [
        (256, None, None, None, True),
        (1024, None, None, None, True),
        (1536, None, None, None, False),
        (1536, True, None, (0, 143), True),
        (8192, None, None, (0, 4095), False),
        (8192, None, [5, 7, 5], (5, 7), True),
        (256, False, [0, 1, 2, 3], None, False),
    ],
)
def test_plan(size: int, checks: bool | None, blocks: list[int] | None, running: Any, checked: bool):
    """All of a small problem, a sample from the first block to the last of a large one, or what was asked for."""
    source = product(size, size, size)
    fields = Schedule.parse("block=128x128x64,warp=64x32x16")
    compiled = compile_module(source, chip=CHIP, schedule=fields, until="launch")
    assert compiled.launch is not None and compiled.problem is not None
    plan = sampling.plan(compiled.problem, compiled.launch, checks, blocks)
    assert plan.checks == checked
    assert (plan.blocks and (plan.blocks[0], plan.blocks[-1])) == running


def test_plan_refuses_blocks_that_do_not_exist():
    compiled = compile_module(product(64, 64, 32), chip=CHIP, until="launch")
    assert compiled.launch is not None and compiled.problem is not None
    with pytest.raises(InputError, match="there is no block 4096: the grid has"):
        sampling.plan(compiled.problem, compiled.launch, None, [4096])


@pytest.mark.parametrize("name", SMALL)
def test_reference_of_a_tile_is_the_tile_of_the_reference(name: str):
    source = (EXAMPLES / f"{name}.mlir").read_text()
    compiled = compile_module(source, chip=CHIP, until="lower", keep=("all",))
    assert compiled.launch is not None
    before = random_arrays(compiled.launch.arguments, 0)
    given_ = before[: sum(argument.role != "result" for argument in compiled.launch.arguments)]
    whole = reference(source, given_)
    for tile in sampling.tiles_of(compiled.ir("parallelize"), before, [0, 3]):
        for text in (source, compiled.ir("import")):
            part = reference_tile(text, before, tile.argument, tile.region)
            np.testing.assert_allclose(part, whole[tile.argument][tile.region], rtol=1e-12)


def test_a_matrix_needed_in_two_places_has_no_tile_reference():
    source = """func.func @f(%A: memref<64x64xf16>, %C: memref<64x64xf32>) {
      linalg.matmul ins(%A, %A : memref<64x64xf16>, memref<64x64xf16>) outs(%C : memref<64x64xf32>)
      return
    }"""
    arrays = [np.ones((64, 64), np.float16), np.ones((64, 64), np.float32)]
    with pytest.raises(Error, match="needed in two places"):
        reference_tile(source, arrays, 1, (slice(0, 16), slice(0, 16)))


def test_a_tile_of_a_product_in_another_layout() -> None:
    a = "memref<16x16xf32>"
    source = f"""func.func @f(%A: {a}, %B: {a}, %C: {a}) {{
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                 affine_map<(m, n, k) -> (m, n)>] ins(%A, %B : {a}, {a}) outs(%C : {a})
  return
}}"""
    arrays = list(np.random.default_rng(0).standard_normal((3, 16, 16), dtype=np.float32))
    part = reference_tile(source, arrays, 2, (slice(0, 8), slice(4, 8)))
    np.testing.assert_allclose(part, reference(source, arrays)[2][:8, 4:8], rtol=1e-12)


def test_a_tile_that_depends_on_a_view_is_refused() -> None:
    """The caller evaluates the whole then."""
    a, b = "memref<16x16xf32>", "memref<16x16xf32, strided<[32, 1]>>"
    source = f"""func.func @f(%A: memref<16x32xf32>, %B: {a}, %C: {a}) {{
  %part = memref.subview %A[0, 0] [16, 16] [1, 1] : memref<16x32xf32> to {b}
  linalg.matmul ins(%part, %B : {b}, {a}) outs(%C : {a})
  return
}}"""
    arrays = [np.zeros(shape, np.float32) for shape in ((16, 32), (16, 16), (16, 16))]
    with pytest.raises(Error, match=r"'memref.subview' is not a plain product"):
        reference_tile(source, arrays, 2, (slice(0, 8), slice(0, 8)))
