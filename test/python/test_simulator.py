"""The simulator on correct kernels: right numbers, no findings; on small kernels: each check and each operation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from draws import draws
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from small_kernels import kernel
from work_done import calls

from mlir_gemm.errors import ArgumentError, InputError
from mlir_gemm.parts.fields import normalised
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.kernel import Options, Report, SimulationError, simulate
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.rules import violations

CHIP = "sm_90"
TYPES = {"f16": np.float16, "f32": np.float32}
MAPS = """#id = affine_map<(i, j) -> (i, j)>
"""


def source(m: int, n: int, k: int, form: str, out: str) -> str:
    """`memref` (C += A B), `tensor` (D = A B) or `add` (D = A B + C)."""
    a, b, c = f"{m}x{k}xf16", f"{k}x{n}xf16", f"{m}x{n}x{out}"
    if form == "memref":
        return f"""func.func @matmul(%A: memref<{a}>, %B: memref<{b}>, %C: memref<{c}>) {{
  linalg.matmul ins(%A, %B : memref<{a}>, memref<{b}>) outs(%C : memref<{c}>)
  return
}}"""
    if form == "add":
        return f"""func.func @matmul(%A: tensor<{a}>, %B: tensor<{b}>, %C: tensor<{c}>) -> tensor<{c}> {{
  %D = linalg.matmul ins(%A, %B : tensor<{a}>, tensor<{b}>) outs(%C : tensor<{c}>) -> tensor<{c}>
  return %D : tensor<{c}>
}}"""
    d = f"tensor<{m}x{n}xf32>"
    narrow = f"""  %half = tensor.empty() : tensor<{c}>
  %T = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%D : {d}) outs(%half : tensor<{c}>) {{
    ^bb0(%x: f32, %y: f16):
      %t = arith.truncf %x : f32 to f16
      linalg.yield %t : f16
  }} -> tensor<{c}>
  return %T : tensor<{c}>
}}"""
    return f"""{MAPS}func.func @matmul(%A: tensor<{a}>, %B: tensor<{b}>) -> tensor<{c}> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : {d}
  %init = linalg.fill ins(%zero : f32) outs(%empty : {d}) -> {d}
  %D = linalg.matmul ins(%A, %B : tensor<{a}>, tensor<{b}>) outs(%init : {d}) -> {d}
""" + (narrow if out == "f16" else f"  return %D : {d}\n}}")


def run(size: tuple[int, int, int], form: str, out: str, schedule: str, options: Options | None = None) -> Report:
    """Compiles and simulates a product; asserts that it is right within the bound of its rounding."""
    m, n, k = size
    text = compile_module(
        source(m, n, k, form, out), chip=CHIP, schedule=Schedule.parse(schedule), until="lower", keep=("lower",)
    ).ir("lower")
    rng = np.random.default_rng(m * n + k)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n)))
    c = rng.standard_normal((m, n)).astype(TYPES[out])
    d = np.empty((m, n), TYPES[out])
    wide_a, wide_b, wide_c = (array.astype(np.float64) for array in (a, b, c))
    want = wide_a @ wide_b + (0 if form == "tensor" else wide_c)
    size_of_terms = np.abs(wide_a) @ np.abs(wide_b) + np.abs(wide_c)
    report = simulate(text, {"memref": [a, b, c], "tensor": [a, b, d], "add": [a, b, c, d]}[form], options)
    result = c if form == "memref" else d
    # ops_fragments states the bound of the sum; the result is rounded to its own type once more.
    bound = (k + k / 16) * 2.0**-23 * size_of_terms
    if out == "f16":
        bound = bound + 2.0**-11 * np.abs(want) + 2.0**-24
    assert (np.abs(result - want) <= bound).all(), np.abs(result - want).max()
    return report


OPTIONS = (
    "", "stages=2", "mainloop=direct", "mainloop=direct,stages=2", "promote=off,mainloop=direct", "accumulate=off",
    "accumulate=off,mainloop=direct", "early=off", "early=off,stages=2", "pad=0", "pad=16", "vector=16", "vector=32",
    "vector=64", "unroll=off", "unroll=off,stages=2", "unroll=off,mainloop=direct", "raster=row", "raster=column",
    "raster=snake,raster_group=1", "raster=grouped,raster_group=1", "storage=dynamic", "storage=static", "min_blocks=2",
)  # fmt: skip


FORMS = (("memref", "f32"), ("tensor", "f32"), ("tensor", "f16"), ("add", "f16"))
PARTIAL = "accumulate=off"
"""Partial sums are not kept in f16."""


@pytest.mark.parametrize(
    "option, form, out",
    [
        (option, form, out)
        for number, option in enumerate(OPTIONS)
        for turn, (form, out) in enumerate(FORMS)
        if (out == "f32" if PARTIAL in option else not option or (number + turn) % 2)
    ],
)
def test_every_option_is_right_and_finds_nothing(option: str, form: str, out: str):
    """Each with two of the forms; the defaults with all, and what is about sums with all that have them."""
    report = run((64, 96, 64), form, out, f"block=32x32x32,warp=16x16x16,mma=wmma,{option}")
    assert not report.findings, str(report)
    assert report.blocks_run == report.blocks == 6


@pytest.mark.parametrize("checks, most", [(True, 1_750_000), (False, 1_350_000)])
def test_a_simulation_does_little(checks: bool, most: int):
    """A product of 256³ with 4 blocks of 8 warps, the compilation with it; checks take the rest."""
    schedule = "block=128x128x64,warp=64x32x16"
    assert calls(lambda: run((256, 256, 256), "memref", "f32", schedule, Options(checks=checks))) < most


TILES = st.sampled_from((16, 32, 48, 64))


@settings(max_examples=draws(20), deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(
    st.tuples(TILES, TILES, TILES), st.tuples(*[st.integers(1, 3)] * 3), st.tuples(*[st.integers(1, 3)] * 3),
    st.sampled_from(("memref", "tensor", "add")), st.sampled_from(("f32", "f16")), st.sampled_from((1, 2)),
    st.sampled_from((0, 8, 16)), st.sampled_from((16, 32, 64, 128)), st.sampled_from(("direct", "register_prefetch")),
    st.sampled_from(OPTIONS),
)  # fmt: skip
def test_legal_schedules_are_right(
    warp: Any, warps: Any, blocks: Any, form: str, out: str, stages: int, pad: int, vector: int, copy: str, option: str
):
    block = tuple(tile * number for tile, number in zip(warp, warps, strict=True))
    size = tuple(tile * number for tile, number in zip(block, blocks, strict=True))
    fields = {"block": block, "warp": warp, "stages": stages, "pad": pad, "vector": vector, "mainloop": copy}
    fields |= Schedule.parse(option)
    problem = Problem(*size, out=out, reads_c=form != "tensor")
    schedule = normalised(Schedule(**fields), {})
    # A copy of C into D in vectors narrower than an element of f32: refused by a pass, not yet by a rule.
    assume(schedule.accumulate or form != "add" or vector >= 32)
    assume(schedule.warps <= 8 and np.prod(blocks) <= 8 and np.prod(size) <= 128**3)
    assume(not violations(problem, schedule, target(CHIP)))
    report = run(size, form, out, str(schedule))
    assert not report.findings, str(report)


# Counters.
def conflicts(pad: int) -> int:
    options = Options(checks=False, counters=True)
    report = run(
        (128, 128, 64),
        "tensor",
        "f32",
        f"block=128x128x64,warp=64x32x16,mma=wmma,layout=pad,mainloop=register_prefetch,pad={pad}",
        options,
    )
    return report.counters.bank_conflicts


def test_padding_removes_bank_conflicts():
    assert conflicts(8) == 0 < conflicts(0)


def test_larger_block_tiles_move_fewer_bytes_for_a_flop():
    """The order of the published block tiles (table 4.2): each takes less from memory for the same product."""
    moved = []
    for block, warp in (("64x64x32", "32x32x16"), ("128x64x32", "64x32x16"), ("128x128x32", "64x32x16")):
        counters = run(
            (128, 128, 64), "tensor", "f32", f"block={block},warp={warp}", Options(checks=False, counters=True)
        ).counters
        assert counters.flops == 2 * 128 * 128 * 64
        moved.append(counters.bytes["global_load"] / counters.flops)
    assert moved == sorted(moved, reverse=True)
    assert moved[0] > moved[1] > moved[2]


def test_counted_bytes_are_what_the_schedule_says():
    options = Options(counters=True)
    counters = run((64, 64, 64), "tensor", "f32", "block=32x32x32,warp=16x16x16,mma=wmma,stages=1", options).counters
    assert counters.bytes["global_load"] == 4 * 2 * (2 * 32 * 32) * 2  # blocks, k steps, tiles of A and B, f16
    assert counters.bytes["global_store"] == 64 * 64 * 4
    assert counters.bytes["shared_store"] == counters.bytes["global_load"]
    assert counters.tensor_operations == counters.instructions["gpu.subgroup_mma_compute"] == 4 * 4 * 4


# Small kernels.
def found(code: str, **options: Any) -> set[str]:
    out = np.zeros(64, np.float32)
    return simulate(kernel(code, "memref<64xf32>", **options), [out], Options(max_steps=2000)).checks_found


VALUE = "%x = arith.constant 1.0 : f32\n"
SMALL = {
    "race-shared": VALUE + "memref.store %x, %s[%c0] : memref<64xf32, 3>",
    "race-global": VALUE + "memref.store %x, %a[%c0] : memref<64xf32>",
    "uninitialized-shared": "%y = memref.load %s[%t] : memref<64xf32, 3>\nmemref.store %y, %a[%t] : memref<64xf32>",
    "out-of-bounds": VALUE + "%i = arith.addi %t, %c1 : index\nmemref.store %x, %a[%i] : memref<64xf32>",
    "misaligned": "%i = arith.remui %t, %c32 : index\n"
    "%v = vector.load %a[%i] {alignment = 16 : i64} : memref<64xf32>, vector<4xf32>",
    "divergent-barrier": "%q = arith.cmpi ult, %t, %c1 : index\nscf.if %q {\ngpu.barrier\n}",
    "undefined": "%q = arith.divui %t, %lane : index",
    "endless": "scf.while : () -> () {\n%q = arith.constant true\nscf.condition(%q)\n} do {\nscf.yield\n}",
    "deadlock": "%n = arith.constant 1 : i32\n%m = arith.constant 96 : i32\n"
    "nvvm.barrier id = %n number_of_threads = %m",
}


@pytest.mark.parametrize("check", SMALL)
def test_a_small_kernel_is_found_out(check: str):
    assert check in found(SMALL[check])


def test_warps_at_different_barriers_are_found():
    code = "%q = arith.cmpi ult, %t, %c32 : index\nscf.if %q {\ngpu.barrier\n} else {\ngpu.barrier\n}"
    assert found(code) == {"divergent-barrier"}


def test_an_output_read_before_it_is_written_and_never_written():
    load = "%y = memref.load %a[%t] : memref<64xf32>"
    assert found(load, roles="out") == {"uninitialized-output"}
    assert found(load, roles="inout") == set()


def test_blocks_that_write_the_same_element():
    store = VALUE + "memref.store %x, %a[%t] : memref<64xf32>"
    assert found(store) == set()
    assert found(store, blocks=2) == {"race-global"}


def test_divergent_lanes_take_their_own_ways():
    code = """
      %zero = arith.constant 0 : index
      %sum = scf.for %i = %c0 to %t step %c1 iter_args(%r = %zero) -> (index) {
        %odd = arith.remui %i, %two : index
        %q = arith.cmpi eq, %odd, %c1 : index
        %p = scf.if %q -> (index) {
          %w = arith.addi %r, %i : index
          scf.yield %w : index
        } else {
          scf.yield %r : index
        }
        scf.yield %p : index
      }
      %j = arith.index_cast %sum : index to i32
      %x = arith.sitofp %j : i32 to f32
      memref.store %x, %a[%t] : memref<64xf32>"""
    out = np.zeros(64, np.float32)
    report = simulate(kernel("%two = arith.constant 2 : index" + code, "memref<64xf32>"), [out])
    assert not report.findings, str(report)
    assert out.tolist() == [sum(i for i in range(t) if i % 2) for t in range(64)]


def test_an_asynchronous_copy_must_be_waited_for():
    copy = """
      %i = arith.muli %t, %c4 : index
      %sc = memref.view %bytes[%c0][] : memref<1024xi8, 3> to memref<256xf32, 3>
      %k = nvgpu.device_async_copy %a[%i], %sc[%i], 4 : memref<256xf32> to memref<256xf32, 3>
      %g = nvgpu.device_async_create_group %k
"""
    rest = """
      %v = vector.load %sc[%i] : memref<256xf32, 3>, vector<4xf32>
      vector.store %v, %b[%i] : memref<256xf32>, vector<4xf32>"""
    head = "%c4 = arith.constant 4 : index"
    a, b = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    for wait, expected in (("", {"async-not-awaited"}), ("nvgpu.device_async_wait %g {numGroups = 1 : i32}",
                           {"async-not-awaited"}), ("nvgpu.device_async_wait %g", set())):  # fmt: skip
        text = kernel(head + copy + wait + rest, "memref<256xf32> memref<256xf32>", shared=1024, roles="in out")
        assert simulate(text, [a, b]).checks_found == expected
    assert (a == b).all()


def test_ldmatrix_and_mma_sync():
    code = """
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      %c512 = arith.constant 512 : index
      %sa = memref.view %bytes[%c0][] : memref<1024xi8, 3> to memref<16x16xf16, 3>
      %sb = memref.view %bytes[%c512][] : memref<1024xi8, 3> to memref<16x8xf16, 3>
      %row = arith.remui %t, %c16 : index
      %half = arith.divui %t, %c16 : index
      %col = arith.muli %half, %c8 : index
      %va = vector.load %a[%row, %col] : memref<16x16xf16>, vector<8xf16>
      vector.store %va, %sa[%row, %col] : memref<16x16xf16, 3>, vector<8xf16>
      %colb = arith.muli %half, %c4 : index
      %vb = vector.load %b[%row, %colb] : memref<16x8xf16>, vector<4xf16>
      vector.store %vb, %sb[%row, %colb] : memref<16x8xf16, 3>, vector<4xf16>
      gpu.barrier
      %fa = nvgpu.ldmatrix %sa[%row, %col] {numTiles = 4 : i32, transpose = false}
        : memref<16x16xf16, 3> -> vector<4x2xf16>
      %fb = nvgpu.ldmatrix %sb[%row, %c0] {numTiles = 2 : i32, transpose = true}
        : memref<16x8xf16, 3> -> vector<2x2xf16>
      %z = arith.constant dense<0.0> : vector<2x2xf32>
      %d = nvgpu.mma.sync (%fa, %fb, %z) {mmaShape = [16, 8, 16]}
        : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      %g = arith.divui %t, %c4 : index
      %q = arith.remui %t, %c4 : index
      %j = arith.muli %q, %c2 : index
      %low = vector.extract %d[0] : vector<2xf32> from vector<2x2xf32>
      %high = vector.extract %d[1] : vector<2xf32> from vector<2x2xf32>
      vector.store %low, %c[%g, %j] : memref<16x8xf32>, vector<2xf32>
      %g8 = arith.addi %g, %c8 : index
      vector.store %high, %c[%g8, %j] : memref<16x8xf32>, vector<2xf32>"""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((16, 16)).astype(np.float16), rng.standard_normal((16, 8)).astype(np.float16)
    c = np.zeros((16, 8), np.float32)
    text = kernel(
        code, "memref<16x16xf16> memref<16x8xf16> memref<16x8xf32>", threads=32, roles="in in out", shared=1024
    )
    report = simulate(text, [a, b, c])
    assert not report.findings, str(report)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-5, atol=1e-5)


def test_shuffles_move_values_between_lanes():
    code = """
      %one = arith.constant 1 : i32
      %width = arith.constant 32 : i32
      %v = memref.load %a[%t] : memref<64xf32>
      %w, %valid = gpu.shuffle xor %v, %one, %width : f32
      memref.store %w, %a[%t] : memref<64xf32>"""
    out = np.arange(64, dtype=np.float32)
    assert not simulate(kernel(code, "memref<64xf32>"), [out]).findings
    assert out.tolist() == [t ^ 1 for t in range(64)]


# Bad input.
def test_an_unknown_operation_is_named():
    with pytest.raises(SimulationError, match=r"kernel|-:\d+:\d+: error: 'gpu.printf'"):
        simulate(kernel('gpu.printf "x"', "memref<64xf32>"), [np.zeros(64, np.float32)])


def test_arrays_that_do_not_fit_are_refused():
    text = kernel("", "memref<64xf32>")
    with pytest.raises(ArgumentError, match="expected a NumPy array for memref<64xf32>"):
        simulate(text, [np.zeros(64, np.float16)])
    with pytest.raises(ArgumentError, match="0 arrays"):
        simulate(text, [])
    with pytest.raises(InputError, match="block 7"):
        simulate(text, [np.zeros(64, np.float32)], Options(blocks=[7]))


def test_chosen_blocks_and_progress():
    store = VALUE + "memref.store %x, %a[%blk] : memref<64xf32>"
    seen: list[tuple[int, int]] = []
    out = np.zeros(64, np.float32)
    options = Options(blocks=[1, 3], progress=lambda done, of: seen.append((done, of)))
    report = simulate(kernel(store, "memref<64xf32>", blocks=4, threads=1, roles="out"), [out], options)
    assert out[:5].tolist() == [0, 1, 0, 1, 0]
    assert (report.blocks_run, report.blocks) == (2, 4)
    assert seen == [(1, 2), (2, 2)]
    assert not report.findings


def test_a_report_reads_well():
    report = simulate(kernel(SMALL["out-of-bounds"], "memref<64xf32>"), [np.zeros(64, np.float32)])
    line = next(text for text in str(report).splitlines() if "out-of-bounds" in text)
    assert "memref.store" in line
    assert "block 0 warp 1 lane 31" in line
    assert "index 64 of dimension 0; expected 0 to 63" in line
