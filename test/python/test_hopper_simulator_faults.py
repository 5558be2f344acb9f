"""A kernel of tensor copies, mbarriers and wgmma, broken one synchronisation at a time: every fault is found."""

from __future__ import annotations

import hopper_kernel as hopper
import numpy as np
import pytest
from hopper_kernel import replaced, without

from mlir_gemm.errors import InputError
from mlir_gemm.simulator.kernel import Options, Report, simulate

WRONG = "wrong result"


def run(text: str) -> tuple[Report, bool]:
    rng = np.random.default_rng(1)
    a = rng.standard_normal((hopper.M, hopper.K)).astype(np.float16)
    b = rng.standard_normal((hopper.K, hopper.N)).astype(np.float16)
    d = np.full((hopper.M, hopper.N), np.nan, np.float16)
    report = simulate(text, [a, b, d], Options(max_steps=20_000))
    want = a.astype(np.float64) @ b.astype(np.float64)
    return report, bool(np.allclose(d, want, rtol=1e-3, atol=2e-2))


def test_the_kernel_is_right_before_it_is_broken():
    report, right = run(hopper.KERNEL)
    assert not report.findings, str(report)
    assert right


FAULTS: dict[str, tuple[str, str]] = {
    # Waits.
    "no wait for a stage": (without("wait full"), "async-not-awaited"),
    "no wait for the first stage": (without("wait full first"), "async-not-awaited"),
    "no wait for an empty stage": (without("wait empty"), "async-not-awaited"),
    "no wait for the products of the step before": (without("wait products"), "race-shared"),
    "a wait for one group too few": (replaced("wait products", "aligned 1", "aligned 2"), "race-shared"),
    "no wait for the last products": (without("wait last products"), "async-not-awaited"),
    "a wait for all products but one": (replaced("wait last products", "aligned 0", "aligned 1"), "async-not-awaited"),
    "no wait for the store": (without("wait store"), "async-not-awaited"),
    # Phases.
    "the consumer waits for the other phase": (replaced("wait full", "%phase", "%other_phase").replace(
        "nvvm.mbarrier.try_wait.parity %full, %other_phase",
        "%other_phase = arith.xori %phase, %i1 : i32\n nvvm.mbarrier.try_wait.parity %full, %other_phase",
    ), "deadlock"),
    "the first wait is for the other phase": (replaced("wait full first", "%i0", "%i1"), "async-not-awaited"),
    "the producer waits for the position's phase": (replaced("producer phase", "%i1", "%i0"), "deadlock"),
    "the producer always passes": (replaced("wait empty", "%other", "%i1"), "async-not-awaited"),
    # Arrivals.
    "stages are not handed back": (without("release"), "deadlock"),
    "the stage in flight is handed back": (replaced("release", "%old_empty", "%empty"), "deadlock"),
    "a stage is handed back four times by each warp": (replaced("release", "%old_empty", "%old_empty, %c4_").replace(
        "      %ticks =", "      %c4_ = arith.constant 4 : i32\n      %ticks ="
    ), "deadlock"),
    "fewer arrivals are expected": (replaced("empty count", "4 :", "1 :"), "deadlock"),
    "more arrivals are expected": (replaced("empty count", "4 :", "5 :"), "deadlock"),
    "two arrivals at a full barrier": (replaced("full count", "1 :", "2 :"), "deadlock"),
    "an arrival at the wrong barrier": (replaced("release", "%old_empty", "%full"), "deadlock"),
    # Bytes.
    "too few bytes are announced": (replaced("bytes", "16384", "16368"), "deadlock"),
    "only one tile is announced": (replaced("bytes", "16384", "8192"), "async-not-awaited"),
    "too many bytes are announced": (replaced("bytes", "16384", "16400"), "deadlock"),
    "no bytes are announced": (without("announce"), "deadlock"),
    "a tile is not copied": (without("copy b"), "deadlock"),
    "a tile is copied twice": (replaced("copy b", "nvvm.cp", "nvvm.cp").replace(
        "%b7, %mapB, %full, box[%col, %ki]", "%a7, %mapA, %full, box[%ki, %row]"), "deadlock or finding"),
    "all lanes copy": (replaced("elect", "nvvm.elect.sync -> i1", "arith.constant true"), "finding"),
    "a copy counts on the other barrier": (replaced("copy b", "%full,", "%empty,"), "deadlock"),
    # Fences.
    "no fence after the initialisation": (without("init fence"), "proxy"),
    "no barrier after the initialisation": (without("init barrier"), "race-shared"),
    "a fence by another lane than the one that initialises": (without("init fence").replace(
        "gpu.barrier // init barrier", "%second = arith.cmpi eq, %t, %c1 : index\n scf.if %second "
        "{ nvvm.fence.mbarrier.init }\n gpu.barrier // init barrier"), "proxy"),
    "an mbarrier that is not initialised": (without("init full"), "mbarrier"),
    "one that lanes alone wait for and arrive at": (without("init empty"), "mbarrier"),
    "no fence in front of the store": (without("proxy fence"), "proxy"),
    "the fence after the barrier": (without("proxy fence").replace(
        "// store barrier", "\n nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, "
        "space = #nvvm.shared_space<cta>}"), "proxy"),
    "a fence of one lane": (replaced("proxy fence", "nvvm.fence", "scf.if %first_lane { nvvm.fence").replace(
        "// proxy fence", "}"), "proxy"),
    "no barrier in front of the store": (without("store barrier"), "race-shared"),
    "a barrier of too few threads": (replaced("store threads", "128", "64"), "race-shared"),
    "a barrier of too many threads": (replaced("store threads", "128", "160"), "deadlock"),
    "no wgmma fence in front of the first product": (without("wgmma fence first"), "wgmma-fence"),
    "products in no group": (without("commit"), "finding"),
    "the first products in no group": (without("commit first"), "finding"),
    "the store in no group": (without("commit store"), "async-not-awaited"),
    # Descriptors and coordinates.
    "A: 8 rows too close": (replaced("a descriptor", str(hopper.K_MAJOR), str(1 << 62 | 32 << 32)), WRONG),
    "A: no swizzle": (replaced("a descriptor", str(hopper.K_MAJOR), str(64 << 32)), WRONG),
    "A: narrower swizzle": (replaced("a descriptor", str(hopper.K_MAJOR), str(2 << 62 | 64 << 32)), WRONG),
    "A: an offset of the pattern": (
        replaced("a descriptor", str(hopper.K_MAJOR), str(hopper.K_MAJOR | 1 << 49)), "undefined"),
    "B: K in steps of 32 bytes": (replaced("b step 1", "128", "2"), WRONG),
    "B: rows of 8 k too far": (
        replaced("b descriptor", str(hopper.MN_MAJOR), str(hopper.K_MAJOR | 8 << 32)), "finding"),
    "B: beyond the stage": (replaced("b step 3", "384", "1536"), "finding"),
    "A: coordinates the wrong way": (replaced("copy a", "box[%ki, %row]", "box[%row, %ki]"), WRONG),
    "B: the wrong columns": (replaced("copy b", "box[%col, %ki]", "box[%row, %ki]"), WRONG),
    "the result is not swizzled": (replaced("store swizzle", "%r8", "%c0"), WRONG),
    "blocks store the same tile": (replaced("store", "box[%col, %row]", "box[%i0, %row]"), "race-global"),
    "the result is not stored": (without("store"), "uninitialized-output"),
    # Places.
    "stages overlap": (replaced("b start", "16384", "8192"), "race-shared"),
    "stages start inside the swizzle": (replaced("b start", "16384", "16896"), "misaligned"),
    "barriers overlap data": (replaced("bars start", "40960", "40952"), "mbarrier"),
    "barriers overlap a stage": (replaced("bars start", "40960", "8184"), "mbarrier"),
    "a barrier off its alignment": (replaced("bars start", "40960", "40964"), "misaligned"),
    "shared memory aligned to 128 bytes": (replaced("shared", "1024", "128"), "misaligned"),
    "shared memory too small": (hopper.KERNEL.replace(f"{hopper.SHARED}xi8", "40960xi8"), "out-of-bounds"),
    # Tensor maps.
    "a box with other bytes": (replaced("map a", "i64: 64, 64", "i64: 32, 64"), "deadlock"),
    "a map without swizzle": (replaced("map a", '"128"', '"none"'), WRONG),
    # Registers.
    "one warp changes its registers": (replaced(
        "more registers", "nvvm.setmaxregister increase 232",
        "%w0 = arith.cmpi eq, %warp, %c0 : index\n scf.if %w0 { nvvm.setmaxregister increase 232 }",
    ), "divergent-collective"),
}  # fmt: skip


def test_a_box_that_is_too_wide_for_the_swizzle_is_refused():
    with pytest.raises(InputError, match="has rows of 256 bytes of f16; expected 128 at most"):
        run(replaced("map a", "i64: 64, 64", "i64: 64, 128"))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str):
    text, expected = FAULTS[fault]
    report, right = run(text)
    if expected == WRONG:
        assert not right
        assert not report.findings, str(report)
    elif "finding" in expected:
        assert report.findings
    else:
        assert expected in report.checks_found, str(report)


def test_a_stage_that_was_waited_for_may_hold_the_result():
    report, right = run(replaced("c start", "32768", "0"))
    assert right and not report.findings, str(report)


def test_a_deadlock_names_barriers_and_phases():
    report, _ = run(without("release"))
    (deadlock,) = [finding for finding in report.findings if finding.check == "deadlock"]
    assert "warp 4 waits for parity 0, phase 0 of the mbarrier at byte 40976 of shared memory" in deadlock.message
    assert "0 of 4 arrivals" in deadlock.message
    assert "warps 5, 6, 7 ended" in deadlock.message
