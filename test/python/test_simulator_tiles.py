"""Block-wide: tile operations along any dimension of memory, asynchronous copies, products, and programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import named
from mlir_gemm.pipeline.registry import pass_class
from mlir_gemm.simulator import tile_numbers
from mlir_gemm.simulator.bisect import bisect
from mlir_gemm.simulator.errors import SimulationError
from mlir_gemm.simulator.stages import run_stage

NAMES = {np.dtype(np.float32): "f32", np.dtype(np.float16): "f16", np.dtype(ml_dtypes.bfloat16): "bf16",
         np.dtype(np.int8): "i8", np.dtype(np.int32): "i32", np.dtype(np.float64): "f64"}  # fmt: skip


def shaped(kind: str, array: Any, space: str = "") -> str:
    return f"{kind}<{'x'.join([*map(str, array.shape), NAMES[array.dtype]])}{space}>"


def counted(*shape: int, dtype: Any = np.float32) -> Any:
    return (np.arange(np.prod(shape)) % 50 + 1).reshape(shape).astype(dtype)


def access(
    name: str, memory: Any, offsets: Sequence[int], tile: Any, dims: Sequence[int], bounds: Sequence[bool] = ()
) -> str:
    """The code of a tile.load into %v or a tile.store of it."""
    constants = "\n".join(f"%{name}{i} = arith.constant {offset} : index" for i, offset in enumerate(offsets))
    places = ", ".join(f"%{name}{i}" for i in range(len(offsets)))
    indices = ", ".join("index" for _ in offsets)
    known = f", in_bounds = array<i1: {', '.join(str(b).lower() for b in bounds)}>" if bounds else ""
    along = f"dims = array<i64: {', '.join(map(str, dims))}>{known}"
    m, v, rank = shaped("memref", memory), shaped("vector", tile), len(offsets)
    if name == "load":
        return f"""{constants}
          %v = "tile.load"(%a, {places}) {{operandSegmentSizes = array<i32: 1, {rank}>, {along}}}
            : ({m}, {indices}) -> {v}"""
    return f"""{constants}
          "tile.store"(%v, %b, {places}) {{operandSegmentSizes = array<i32: 1, 1, {rank}>, {along}}}
            : ({v}, {m}, {indices}) -> ()"""


def move(a: Any, load: str, b: Any, store: str) -> None:
    text = f"""func.func @f(%a: {shaped("memref", a)}, %b: {shaped("memref", b)}) {{
      {load}
      {store}
      return
    }}"""
    run_stage(text, [a, b])


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_a_tile_along_any_dimensions(data: st.DataObject):
    """Loaded from anywhere, over the bounds or not, by the definition of the operation element by element."""
    rank, tile_rank = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    shape = [data.draw(st.integers(1, 5)) for _ in range(rank)]
    tile_shape = [data.draw(st.integers(1, 4)) for _ in range(tile_rank)]
    dims = data.draw(st.permutations([*range(tile_rank), -1, -1, -1]).map(lambda order: order[:rank]))
    offsets = [data.draw(st.integers(-2, size + 1)) for size in shape]
    a, tile = counted(*shape), np.zeros(tile_shape, np.float32)
    want = np.zeros(tile_shape, np.float32)
    for place in np.ndindex(*tile_shape):
        index = tuple(offset + (place[dim] if dim >= 0 else 0) for offset, dim in zip(offsets, dims, strict=True))
        if all(0 <= i < size for i, size in zip(index, shape, strict=True)):
            want[place] = a[index]
    out = np.full(tile_shape, -1, np.float32)
    move(a, access("load", a, offsets, tile, dims), out, access("store", out, [0] * tile_rank, tile, range(tile_rank)))
    np.testing.assert_array_equal(out, want)
    used = {dim for dim in dims if dim >= 0}
    if used != set(range(tile_rank)):
        return
    back, before = np.full(shape, -1, np.float32), counted(*tile_shape)
    load = access("load", before, [0] * tile_rank, tile, range(tile_rank))
    move(before, load, back, access("store", back, offsets, tile, dims))
    wanted = np.full(shape, -1, np.float32)
    for place in np.ndindex(*tile_shape):
        index = tuple(offset + (place[dim] if dim >= 0 else 0) for offset, dim in zip(offsets, dims, strict=True))
        if all(0 <= i < size for i, size in zip(index, shape, strict=True)):
            wanted[index] = before[place]
    np.testing.assert_array_equal(back, wanted)


def test_what_is_marked_in_bounds_must_be():
    a, out, tile = counted(4, 6), np.zeros((2, 4), np.float32), np.zeros((2, 4), np.float32)
    store = access("store", out, [0, 0], tile, [0, 1], [True, True])
    move(a, access("load", a, [3, 2], tile, [0, 1], [False, True]), out, store)
    assert out[1].tolist() == [0] * 4
    with pytest.raises(SimulationError, match=r"marked in_bounds but accesses elements 3 to 4 of dimension 0.*has 4"):
        move(a, access("load", a, [3, 2], tile, [0, 1], [True, True]), out, store)


ASYNC = """func.func @f(%a: memref<8x4xf32>, %b: memref<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %s = memref.alloc() : memref<2x4x4xf32, 3>
  %s0 = memref.subview %s[0, 0, 0] [1, 4, 4] [1, 1, 1]
    : memref<2x4x4xf32, 3> to memref<4x4xf32, strided<[4, 1]>, 3>
  %s1 = memref.subview %s[1, 0, 0] [1, 4, 4] [1, 1, 1]
    : memref<2x4x4xf32, 3> to memref<4x4xf32, strided<[4, 1], offset: 16>, 3>
  "tile.copy_async"(%s0, %a, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>}
    : (memref<4x4xf32, strided<[4, 1]>, 3>, memref<8x4xf32>, index, index) -> ()
  "tile.commit"() : () -> ()
  "tile.copy_async"(%s1, %a, %c4, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>}
    : (memref<4x4xf32, strided<[4, 1], offset: 16>, 3>, memref<8x4xf32>, index, index) -> ()
  "tile.commit"() : () -> ()
  "tile.await"() {pending = PENDING : i64} : () -> ()
  %v = "tile.load"(%sREAD, %c0, %c0) {operandSegmentSizes = array<i32: 1, 2>}
    : (memref<4x4xf32, strided<[4, 1]OFFSET>, 3>, index, index) -> vector<4x4xf32>
  "tile.store"(%v, %b, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>}
    : (vector<4x4xf32>, memref<4x4xf32>, index, index) -> ()
  return
}"""


@pytest.mark.parametrize("read, pending, there", [(0, 1, True), (1, 1, False), (1, 0, True), (0, 2, False)])
def test_an_asynchronous_copy_shows_only_once_it_was_awaited(read: int, pending: int, there: bool):
    a, b = counted(8, 4), np.zeros((4, 4), np.float32)
    offset = ", offset: 16" if read else ""
    run_stage(ASYNC.replace("PENDING", str(pending)).replace("READ", str(read)).replace("OFFSET", offset), [a, b])
    if there:
        np.testing.assert_array_equal(b, a[4 * read :][:4])
    else:
        assert np.isnan(b).all()


@pytest.mark.parametrize("types", [
    (np.float16, np.float16, np.float32), (ml_dtypes.bfloat16, ml_dtypes.bfloat16, np.float32),
    (np.int8, np.int8, np.int32), (np.float64, np.float64, np.float64), (np.float16, np.float16, np.float16),
])  # fmt: skip
@pytest.mark.parametrize("orders", [("mk", "kn"), ("km", "kn"), ("mk", "nk"), ("km", "nk")])
def test_products_of_tiles(types: Sequence[Any], orders: tuple[str, str]):
    rng = np.random.default_rng(0)
    a, b, c = (rng.integers(-4, 5, s).astype(t) for s, t in zip(((6, 5), (5, 3), (6, 3)), types, strict=True))
    left, right = (a.T.copy() if orders[0] == "km" else a), (b.T.copy() if orders[1] == "nk" else b)
    vector, memory = shaped("vector", c), shaped("memref", c)
    text = f"""func.func @f(%a: {shaped("memref", left)}, %b: {shaped("memref", right)}, %c: {memory}) {{
      %z = arith.constant 0 : index
      %v = "tile.load"(%c, %z, %z) {{operandSegmentSizes = array<i32: 1, 2>}} : ({memory}, index, index) -> {vector}
      %d = "tile.mma"(%a, %b, %v) {{a = "{orders[0]}", b = "{orders[1]}"}}
        : ({shaped("memref", left)}, {shaped("memref", right)}, {vector}) -> {vector}
      "tile.store"(%d, %c, %z, %z) {{operandSegmentSizes = array<i32: 1, 1, 2>}}
        : ({vector}, {memory}, index, index) -> ()
      return
    }}"""
    want = a.astype(np.float64) @ b.astype(np.float64) + c.astype(np.float64)
    out = c.copy()
    run_stage(text, [left, right, out])
    np.testing.assert_array_equal(out, want.astype(types[2]))
    if types[0] == np.int8:
        out = c.copy()
        run_stage(text.replace("{a =", '{unsigned = "b", a ='), [left, right, out])
        np.testing.assert_array_equal(out, a.astype(np.int32) @ b.view(np.uint8).astype(np.int32) + c)


def test_a_clipped_tile():
    text = """func.func @f(%a: memref<3x4xf32>) {
      %z = arith.constant 0 : index
      %o = arith.constant 5 : index
      %n = arith.constant 7 : index
      %v = "tile.load"(%a, %z, %z) {operandSegmentSizes = array<i32: 1, 2>}
        : (memref<3x4xf32>, index, index) -> vector<3x4xf32>
      %w = "tile.clip"(%v, %o, %n) {dim = 1 : i64} : (vector<3x4xf32>, index, index) -> vector<3x4xf32>
      "tile.store"(%w, %a, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>}
        : (vector<3x4xf32>, memref<3x4xf32>, index, index) -> ()
      return
    }"""
    a = counted(3, 4)
    want = a.copy()
    want[:, 2:] = 0
    run_stage(text, [a])
    np.testing.assert_array_equal(a, want)


# Programs.
PROGRAM = """module {
  memref.global "private" constant @w : memref<3xf16> = dense<[1.0, 2.0, 3.0]>
  func.func @main(%x: memref<2x3x4xf16>, %r: memref<24xf32>) {
    %w = memref.get_global @w : memref<3xf16>
    %t = memref.alloc() : memref<6x4xf16>
    %px = memref.extract_aligned_pointer_as_index %x : memref<2x3x4xf16> -> index
    %pw = memref.extract_aligned_pointer_as_index %w : memref<3xf16> -> index
    %pt = memref.extract_aligned_pointer_as_index %t : memref<6x4xf16> -> index
    %pr = memref.extract_aligned_pointer_as_index %r : memref<24xf32> -> index
    "tile.run"(%px, %pw, %pt) {kernel = "scale"} : (index, index, index) -> ()
    "tile.run"(%pt, %pr) {kernel = "widen"} : (index, index) -> ()
    return
  }
  module @scale {
    func.func @scale(%a: memref<2x3x4xf16>, %w: memref<3xf16>, %t: memref<2x3x4xf16>) {
      linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (i)>,
          affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%a, %w : memref<2x3x4xf16>, memref<3xf16>) outs(%t : memref<2x3x4xf16>) {
        ^bb0(%x: f16, %y: f16, %z: f16):
          %p = arith.mulf %x, %y : f16
          linalg.yield %p : f16
      }
      return
    }
  }
  module @widen {
    func.func @widen(%t: memref<4x6xf16, strided<[1, 4]>>, %r: memref<4x6xf32, strided<[6, 1]>>) {
      affine.for %i = 0 to 4 {
        affine.for %j = 0 to 6 {
          %x = affine.load %t[%i, %j] : memref<4x6xf16, strided<[1, 4]>>
          %y = arith.extf %x : f16 to f32
          affine.store %y, %r[%i, %j] : memref<4x6xf32, strided<[6, 1]>>
        }
      }
      return
    }
  }
}"""


def test_a_program_runs_its_kernels_on_views_of_its_buffers():
    x, r = counted(2, 3, 4, dtype=np.float16), np.zeros(24, np.float32)
    run_stage(PROGRAM, [x, r])
    scaled = x * np.array([1, 2, 3], np.float16)[:, None]
    np.testing.assert_array_equal(r.reshape(4, 6), scaled.reshape(6, 4).T.astype(np.float32))


def test_a_kernel_may_not_see_more_than_its_buffer():
    text = PROGRAM.replace("strided<[1, 4]>", "strided<[2, 4]>")
    with pytest.raises(SimulationError, match="leaves its buffer"):
        run_stage(text, [counted(2, 3, 4, dtype=np.float16), np.zeros(24, np.float32)])


def test_a_kernel_that_is_not_there_is_named():
    with pytest.raises(SimulationError, match="no kernel @other"):
        run_stage(
            PROGRAM.replace('kernel = "widen"', 'kernel = "other"'),
            [counted(2, 3, 4, dtype=np.float16), np.zeros(24, np.float32)],
        )


def linear(name: str, m: int, n: int, k: int, out: str) -> str:
    """A kernel of a program at stage `import`: d = a b + c[n], of f16 in f32."""
    shapes = (f"{m}x{k}xf16", f"{k}x{n}xf16", f"{n}xf32", f"{m}x{n}x{out}", f"{m}x{n}xf32")
    a, b, c, d, e = (f"memref<{shape}>" for shape in shapes)
    narrow = "%t = arith.truncf %s : f32 to f16" if out == "f16" else "%t = arith.addf %s, %zero : f32"
    return f"""module @{name} attributes {{tile.chip = "sm_90", tile.stage = "import"}} {{
    func.func @{name}(%a: {a} {{tile.role = "in"}}, %b: {b} {{tile.role = "in"}}, %c: {c} {{tile.role = "in"}},
                      %d: {d} {{tile.role = "out"}}) {{
      %zero = arith.constant 0.0 : f32
      %e = memref.alloc() : {e}
      linalg.fill ins(%zero : f32) outs(%e : {e})
      linalg.matmul ins(%a, %b : {a}, {b}) outs(%e : {e})
      linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
          affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
          ins(%e, %c : {e}, {c}) outs(%d : {d}) {{
        ^bb0(%x: f32, %y: f32, %z: {out}):
          %s = arith.addf %x, %y : f32
          {narrow}
          linalg.yield %t : {out}
      }}
      return
    }}
  }}"""


TWO_PRODUCTS = f"""module attributes {{tile.chip = "sm_90", tile.stage = "import"}} {{
  func.func @main(%x: memref<4x5x24xf16> {{tile.role = "in"}}, %w: memref<24x30xf16> {{tile.role = "in"}},
                  %b: memref<30xf32> {{tile.role = "in"}}, %v: memref<30x12xf16> {{tile.role = "in"}},
                  %c: memref<12xf32> {{tile.role = "in"}}, %r: memref<20x12xf32> {{tile.role = "out"}}) {{
    %t = memref.alloc() : memref<600xf16>
    %px = memref.extract_aligned_pointer_as_index %x : memref<4x5x24xf16> -> index
    %pw = memref.extract_aligned_pointer_as_index %w : memref<24x30xf16> -> index
    %pb = memref.extract_aligned_pointer_as_index %b : memref<30xf32> -> index
    %pv = memref.extract_aligned_pointer_as_index %v : memref<30x12xf16> -> index
    %pc = memref.extract_aligned_pointer_as_index %c : memref<12xf32> -> index
    %pt = memref.extract_aligned_pointer_as_index %t : memref<600xf16> -> index
    %pr = memref.extract_aligned_pointer_as_index %r : memref<20x12xf32> -> index
    "tile.run"(%px, %pw, %pb, %pt) {{kernel = "first"}} : (index, index, index, index) -> ()
    "tile.run"(%pt, %pv, %pc, %pr) {{kernel = "second"}} : (index, index, index, index) -> ()
    return
  }}
  {linear("first", 20, 30, 24, "f16")}
  {linear("second", 20, 12, 30, "f32")}
}}"""


def inputs_of(arguments: Sequence[Any]) -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal(each.shape).astype(tile_numbers.DTYPES[each.dtype]) for each in arguments]


def test_bisect_runs_programs():
    result = bisect(TWO_PRODUCTS, inputs_of, chip="sm_90")
    assert result.right, str(result)
    assert result.rows[-1].stage == "lower"


def test_bisect_names_the_kernel_of_a_program(monkeypatch: pytest.MonkeyPatch):
    """The second kernel's `accumulate` halves a sum."""
    original = pass_class("accumulate").run

    def broken(step: Any, module: Any) -> None:
        original(step, module)
        names = [ir.StringAttr(f.attributes["sym_name"]).value for f in named(module, "func.func")]
        for add in named(module, "arith.addf")[:1] if names == ["second"] else []:
            add.operation.operands[1] = add.operation.operands[0]

    monkeypatch.setattr(pass_class("accumulate"), "run", broken)
    result = bisect(TWO_PRODUCTS, inputs_of, chip="sm_90")
    assert result.stage == "accumulate"
    assert result.pass_ is not None
    assert result.pass_.startswith("second: accumulate")


def test_loops_over_batches_with_products_of_integers():
    """What convert-linalg-to-affine-loops makes of a batched product of bytes."""
    text = """func.func @f(%a: memref<2x5x7xi8>, %b: memref<2x7x3xi8>, %c: memref<2x5x3xi32>) {
      affine.for %l = 0 to 2 {
        affine.for %i = 0 to 5 {
          affine.for %j = 0 to 3 {
            affine.for %k = 0 to 7 {
              %x = affine.load %a[%l, %i, %k] : memref<2x5x7xi8>
              %y = affine.load %b[%l, %k, %j] : memref<2x7x3xi8>
              %z = affine.load %c[%l, %i, %j] : memref<2x5x3xi32>
              %u = arith.extsi %x : i8 to i32
              %v = arith.extsi %y : i8 to i32
              %p = arith.muli %u, %v : i32
              %s = arith.addi %z, %p : i32
              affine.store %s, %c[%l, %i, %j] : memref<2x5x3xi32>
            }
          }
        }
      }
      return
    }"""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((2, 5, 7), (2, 7, 3)))
    c = rng.integers(-9, 9, (2, 5, 3)).astype(np.int32)
    want = a.astype(np.int32) @ b.astype(np.int32) + c
    run_stage(text, [a, b, c])
    np.testing.assert_array_equal(c, want)
