"""sm_90 on the faithful engine: tensor copies, clusters that signal and copy for each other, overlapping kernels."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import hopper_kernel as hopper
import numpy as np
import pytest
from hopper_kernel import replaced
from small_kernels import kernel, random

from mlir_gemm.errors import InputError
from mlir_gemm.simulator.kernel import Options, Report, simulate
from mlir_gemm.simulator.sampling import plan


# Tensor copies.
def tensor_copy(
    box: str, swizzle: str, place: tuple[int, int], shape: tuple[int, int], change: tuple[str, str] = ("", "")
) -> tuple[Any, Any, Report]:
    """An array, and another one to which a tile of it goes through shared memory; some text of the kernel changed."""
    a = np.arange(np.prod(shape), dtype=np.float16).reshape(shape)
    b = np.full((64, 64), -1, np.float16)
    rows, columns = shape
    tile = f'{{box = array<i64: {box}>, swizzle = "{swizzle}"}}'
    text = f"""module attributes {{gpu.container_module}} {{
  func.func @f(%A: memref<{rows}x{columns}xf16> {{tile.role = "in"}}, %B: memref<64x64xf16> {{tile.role = "inout"}}) {{
    %from = "tile.tensor_map"(%A) {tile} : (memref<{rows}x{columns}xf16>) -> !llvm.ptr
    %to = "tile.tensor_map"(%B) {tile} : (memref<64x64xf16>) -> !llvm.ptr
    %one = arith.constant 1 : index
    %threads = arith.constant 32 : index
    gpu.launch_func @m::@k blocks in (%one, %one, %one) threads in (%threads, %one, %one)
      args(%from : !llvm.ptr, %to : !llvm.ptr)
    return
  }}
  gpu.module @m {{
    memref.global "private" @s : memref<8200xi8, 3> = uninitialized {{alignment = 1024 : i64}}
    gpu.func @k(%from: !llvm.ptr, %to: !llvm.ptr) kernel {{
      %m = memref.get_global @s : memref<8200xi8, 3>
      %p = memref.extract_aligned_pointer_as_index %m : memref<8200xi8, 3> -> index
      %n = arith.index_castui %p : index to i64
      %data = llvm.inttoptr %n : i64 to !llvm.ptr<3>
      %data7 = llvm.addrspacecast %data : !llvm.ptr<3> to !llvm.ptr<7>
      %barrier = llvm.getelementptr %data[8192] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %one = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      %bytes = arith.constant {np.prod([int(size) for size in box.split(",")]) * 2} : i32
      %row = arith.constant {place[0]} : i32
      %column = arith.constant {place[1]} : i32
      nvvm.prefetch tensormap, %from : !llvm.ptr
      %first = nvvm.elect.sync -> i1
      scf.if %first {{
        nvvm.mbarrier.init %barrier, %one : !llvm.ptr<3>, i32
        nvvm.fence.mbarrier.init
        %state = nvvm.mbarrier.arrive.expect_tx %barrier, %bytes : !llvm.ptr<3>, i32 -> i64
        {hopper.LOAD} %data7, %from, %barrier, box[%column, %row] : !llvm.ptr<7>, !llvm.ptr
        nvvm.mbarrier.try_wait.parity %barrier, %zero, %one : !llvm.ptr<3>, i32, i32
        nvvm.cp.async.bulk.tensor.global.shared.cta %to, %data, box[%zero, %zero] : !llvm.ptr, !llvm.ptr<3>
        nvvm.cp.async.bulk.commit.group
        nvvm.cp.async.bulk.wait_group 0
      }}
      gpu.return
    }}
  }}
}}"""
    assert change[0] in text
    return a, b, simulate(text.replace(*change), [a, b])


WAITED = "        nvvm.mbarrier.try_wait.parity %barrier, %zero, %one : !llvm.ptr<3>, i32, i32\n"


@pytest.mark.parametrize("old, new, check", [
    (WAITED, "%x = llvm.load %data {alignment = 4 : i64} : !llvm.ptr<3> -> f32\n" + WAITED, "async-not-awaited"),
    (WAITED, "llvm.store %one, %data {alignment = 4 : i64} : i32, !llvm.ptr<3>\n" + WAITED, "async-not-awaited"),
    (WAITED, WAITED + "llvm.store %one, %data {alignment = 4 : i64} : i32, !llvm.ptr<3>\n", "proxy"),
    ("        %state =", "llvm.store %one, %data {alignment = 4 : i64} : i32, !llvm.ptr<3>\n %state =", "proxy"),
    ("        nvvm.mbarrier.init", "llvm.store %one, %barrier {alignment = 4 : i64} : i32, !llvm.ptr<3>\n"
     "nvvm.mbarrier.init", "mbarrier"),
    (WAITED, "llvm.store %one, %barrier {alignment = 4 : i64} : i32, !llvm.ptr<3>\n" + WAITED, "mbarrier"),
    (WAITED, WAITED + "nvvm.mbarrier.init %barrier, %one : !llvm.ptr<3>, i32\n", "mbarrier"),
    (WAITED, WAITED + "nvvm.mbarrier.inval %barrier : !llvm.ptr<3>\n" + WAITED, "mbarrier"),
    (WAITED, WAITED.replace("%zero", "%bytes"), "undefined"),
    ("wait_group 0", "wait_group 0\nllvm.store %one, %data {alignment = 4 : i64} : i32, !llvm.ptr<3>", ""),
    ("wait_group 0", "wait_group 1\nllvm.store %one, %data {alignment = 4 : i64} : i32, !llvm.ptr<3>", "race-shared"),
    ("%bytes = arith.constant 4096", "%bytes = arith.constant 4000", "deadlock"),
    ("[%column, %row]", "[%row]", "tensor-map"),
    ("%first = nvvm.elect.sync -> i1", "%first = arith.constant true", "mbarrier"),
], ids=["read too early", "written too early", "stored with no fence", "copied over with no fence", "barrier on data",
        "data on a barrier", "initialised twice", "used when it is gone", "no parity", "written after the store",
        "written with the store in flight", "fewer bytes", "coordinates missing", "all lanes"])  # fmt: skip
def test_what_is_wrong_around_a_tensor_copy(old: str, new: str, check: str):
    _, _, report = tensor_copy("32, 64", "128", (0, 0), (64, 64), (old, new))
    if check:
        assert check in report.checks_found, str(report)
    else:
        assert not report.findings, str(report)


@pytest.mark.parametrize(("swizzle", "columns"), [("128", 64), ("64", 32), ("32", 16), ("none", 64)])
@pytest.mark.parametrize("place", [(0, 0), (8, 16), (-3, -5), (90, 70), (200, 0)])
def test_a_tensor_copy_gives_zero_beyond_the_array(place: tuple[int, int], swizzle: str, columns: int):
    a, b, report = tensor_copy(f"32, {columns}", swizzle, place, (100, 88))
    assert not report.findings, str(report)
    padded = np.pad(a, ((300, 300), (300, 300)))
    want = padded[300 + place[0] : 332 + place[0], 300 + place[1] : 300 + columns + place[1]]
    np.testing.assert_array_equal(b[:32, :columns], want)
    assert (b[32:] == -1).all()
    assert (b[:, columns:] == -1).all()


def test_a_tensor_copy_clips_what_it_stores():
    a, b, report = tensor_copy("32, 128", "none", (0, 0), (100, 128))
    assert not report.findings, str(report)
    np.testing.assert_array_equal(b[:32], a[:32, :64])


def test_a_tensor_map_that_the_driver_refuses():
    _, _, report = tensor_copy("8, 64", "128", (0, 0), (64, 100))
    assert report.checks_found == {"tensor-map"}
    assert "200 bytes apart; the copy engine needs a multiple of 16" in str(report)
    assert report.stopped


@pytest.mark.parametrize("box, swizzle, why", [
    ("64, 100", "128", "box = [64, 100] has rows of 200 bytes of f16; expected multiples of 16"),
    ("257, 8", "none", "expected 1 to 256 for each of its 2 dimensions"),
    ("8, 8, 8", "none", "expected 1 to 256 for each of its 2 dimensions"),
    ("8, 64", "64", "box = [8, 64] has rows of 128 bytes of f16; expected 64 at most"),
    ("8, 64", "16", 'swizzle = "16"; expected "128" or "64" or "32" or "none"'),
])  # fmt: skip
def test_a_tensor_map_that_the_dialect_refuses(box: str, swizzle: str, why: str):
    with pytest.raises(InputError, match=re.escape(why)):
        tensor_copy(box, swizzle, (0, 0), (64, 128))


# Clusters.
def cluster(code: str, shared: int = 2048, blocks: int = 4) -> tuple[Any, Report]:
    """Runs code in clusters of 2 with one warp each; %b gets numbers."""
    b = np.zeros((blocks, 32), np.float32)
    text = kernel(f"""
      %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
      %one = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      %other = arith.xori %rank, %one : i32
      %p = memref.extract_aligned_pointer_as_index %bytes : memref<{shared}xi8, 3> -> index
      %n = arith.index_castui %p : index to i64
      %bar = llvm.inttoptr %n : i64 to !llvm.ptr<3>
      %first = arith.cmpi eq, %t, %c0 : index
      scf.if %first {{
        nvvm.mbarrier.init %bar, %one : !llvm.ptr<3>, i32
        nvvm.fence.mbarrier.init
      }}
      {code}""", f"memref<{blocks}x32xf32>", threads=32, blocks=blocks, shared=shared)  # fmt: skip
    return b, simulate(text.replace(" kernel {", " kernel attributes {nvvm.cluster_dim = array<i32: 2, 1, 1>} {"), [b])


SYNC = "nvvm.cluster.arrive {aligned}\n nvvm.cluster.wait {aligned}"
ARRIVE = """scf.if %first {
        %there = nvvm.mapa %bar, %other : !llvm.ptr<3> -> !llvm.ptr<7>
        nvvm.mbarrier.arrive %there : !llvm.ptr<7>
      }"""
WAIT = "nvvm.mbarrier.try_wait.parity %bar, %zero, %one : !llvm.ptr<3>, i32, i32"
ALONE = "scf.if %first { nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64 }"
STORE = """%f = arith.uitofp %rank : i32 to f32
      memref.store %f, %a[%blk, %t] : memref<4x32xf32>"""


def test_blocks_of_a_cluster_signal_each_other():
    b, report = cluster(f"{SYNC}\n{ARRIVE}\n{WAIT}\n{STORE}")
    assert not report.findings, str(report)
    np.testing.assert_array_equal(b[:, 0], [0, 1, 0, 1])
    assert report.blocks_run == report.blocks == 4


@pytest.mark.parametrize("code, check", [
    (f"{ARRIVE}\n{WAIT}", "mbarrier"),
    (f"{SYNC}\n{ARRIVE}", "ended"),
    (f"{SYNC}\n{WAIT}", "deadlock"),
    ("nvvm.cluster.wait {aligned}", "divergent-barrier"),
    (f"nvvm.cluster.arrive {{aligned}}\n{SYNC}", "divergent-barrier"),
    (f"{SYNC}\n{ARRIVE}\n{WAIT}".replace("%other", "%two").replace(
        "nvvm.cluster.arrive", "%two = arith.constant 2 : i32\n nvvm.cluster.arrive"), "out-of-bounds"),
    (f"{ALONE}\n{WAIT}\n{SYNC}", "race-shared"),
    (ALONE.replace("%first", "%second").replace("scf.if", "%second = arith.cmpi eq, %t, %c1 : index\n scf.if")
     + f"\n{SYNC}\n{WAIT}", "race-shared"),
], ids=["no sync", "nobody waits", "nobody arrives", "wait alone", "two arrivals", "no such block",
        "lanes wait for what one initialises", "another lane arrives"])  # fmt: skip
def test_what_is_wrong_in_a_cluster(code: str, check: str):
    _, report = cluster(code)
    assert check in report.checks_found, str(report)


def test_a_barrier_of_the_warp_orders_an_initialisation_by_one_lane():
    _, report = cluster(f"%all = arith.constant -1 : i32\n{ALONE}\nnvvm.bar.warp.sync %all : i32\n{WAIT}\n{STORE}")
    assert not report.findings, str(report)


def test_a_cluster_barrier_lets_those_go_whose_others_have_ended():
    code = f"%z = arith.cmpi eq, %rank, %zero : i32\n scf.if %z {{\n{SYNC}\n}}\n{STORE}"
    _, report = cluster(code)
    assert not report.stopped


COPY_B = "nvvm.cp.async.bulk.tensor.shared.cluster.global %b7, %mapB, %full, box[%col, %ki]"


def shared_b(text: str) -> str:
    """The hand-written kernel in clusters of two blocks, one below the other, which take turns to copy B for both."""
    text = text.replace(f"      {COPY_B} : !llvm.ptr<7>, !llvm.ptr // copy b", f"""
      %turn = arith.remui %k, %c2 : index
      %rank_n = arith.index_castui %rank : i32 to index
      %mine = arith.cmpi eq, %turn, %rank_n : index
      scf.if %mine {{
      {COPY_B} multicast_mask = %both : !llvm.ptr<7>, !llvm.ptr // copy b
      }}""")  # fmt: skip
    text = text.replace("      %released = nvvm.mbarrier.arrive %old_empty : !llvm.ptr<3> -> i64 // release", """
      %there = nvvm.mapa %old_empty, %i0 : !llvm.ptr<3> -> !llvm.ptr<7>
      %here = nvvm.mapa %old_empty, %i1 : !llvm.ptr<3> -> !llvm.ptr<7>
      nvvm.mbarrier.arrive %there : !llvm.ptr<7> // release
      nvvm.mbarrier.arrive %here : !llvm.ptr<7> // release""")  # fmt: skip
    text = text.replace("%empty_count = arith.constant 4 :", "%empty_count = arith.constant 8 :")
    text = text.replace("gpu.barrier // init barrier", "nvvm.cluster.arrive // init barrier\n nvvm.cluster.wait")
    text = text.replace("      gpu.return", "nvvm.cluster.arrive // last\n nvvm.cluster.wait // last\n      gpu.return")
    text = text.replace("      %ticks =", """      %c2 = arith.constant 2 : index
      %both = arith.constant 3 : i16
      %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
      %ticks =""")  # fmt: skip
    return text.replace(" kernel {", " kernel attributes {nvvm.cluster_dim = array<i32: 1, 2, 1>} {")


def run_hopper(text: str, options: Options | None = None) -> tuple[Report, Any, Any]:
    a, b = random("f16", hopper.M, hopper.K), random("f16", hopper.K, hopper.N, seed=1)
    d = np.zeros((hopper.M, hopper.N), np.float16)
    report = simulate(text, [a, b, d], options)
    return report, d, a.astype(np.float64) @ b.astype(np.float64)


def test_blocks_of_a_cluster_copy_for_each_other():
    report, d, want = run_hopper(shared_b(hopper.KERNEL))
    assert not report.findings, str(report)
    np.testing.assert_allclose(d, want, rtol=1e-3, atol=2e-2)


@pytest.mark.parametrize("old, new, check", [
    ("%empty_count = arith.constant 8 :", "%empty_count = arith.constant 4 :", ""),
    ("multicast_mask = %both", "", "deadlock"),
    ("%both = arith.constant 3 :", "%both = arith.constant 7 :", "out-of-bounds"),
    ("nvvm.cluster.arrive // last\n nvvm.cluster.wait // last", "", "ended"),
    ("nvvm.cluster.arrive // init barrier\n nvvm.cluster.wait", "gpu.barrier", "race-shared"),
], ids=["arrivals of one block only", "no multicast", "no such block", "blocks end early", "no barrier"])  # fmt: skip
def test_a_fault_in_a_cluster_is_found(old: str, new: str, check: str):
    text = shared_b(hopper.KERNEL)
    assert old in text
    report, _, _ = run_hopper(text.replace(old, new))
    assert check in report.checks_found or (not check and report.findings), str(report)


def test_the_blocks_of_a_cluster_run_together():
    """A block that was asked for brings the others with it."""
    report, d, want = run_hopper(shared_b(hopper.KERNEL), Options(blocks=[0]))
    assert report.blocks_run == 2
    np.testing.assert_allclose(d[:, :64], want[:, :64], rtol=1e-3, atol=2e-2)
    assert not d[:, 64:].any()


def test_a_sample_has_whole_clusters():
    problem: Any = SimpleNamespace(flops=1 << 40)
    launch: Any = SimpleNamespace(grid=(8, 8, 1), cluster=(1, 2, 1), zeroed_bytes=0)
    found = plan(problem, launch, None, [3, 17])
    assert found.blocks == (3, 11, 17, 25)


# Overlapping kernels.
EARLY = hopper.KERNEL.replace(" kernel {", " kernel attributes {tile.dependent_launch} {")


def test_a_kernel_that_starts_early_waits_for_the_one_in_front():
    report, _, _ = run_hopper(EARLY)
    assert report.checks_found == {"dependent-launch"}
    late = EARLY.replace("gpu.barrier // init barrier", "nvvm.griddepcontrol wait\n gpu.barrier")
    report, d, want = run_hopper(late)
    assert not report.findings, str(report)
    np.testing.assert_allclose(d, want, rtol=1e-3, atol=2e-2)


# Counting, and running without the checks.
def test_counters_of_tensor_copies_and_products():
    report, _, _ = run_hopper(hopper.KERNEL, Options(counters=True))
    blocks, steps = 4, hopper.STEPS
    assert report.counters.bytes["global_load"] == blocks * steps * 2 * hopper.TILE
    assert report.counters.bytes["global_store"] == blocks * hopper.TILE
    assert report.counters.tensor_operations == blocks * steps * 4
    assert report.counters.flops == 2 * hopper.M * hopper.N * hopper.K
    assert report.counters.bank_conflicts == 0


def test_the_number_is_the_same_without_the_checks():
    _, checked, _ = run_hopper(hopper.KERNEL)
    report, plain, _ = run_hopper(hopper.KERNEL, Options(checks=False))
    np.testing.assert_array_equal(checked, plain)
    assert not report.findings


def test_a_broken_kernel_without_the_checks_still_ends():
    report, _, _ = run_hopper(replaced("empty count", "4 :", "5 :"), Options(checks=False))
    assert report.stopped == "deadlock"
