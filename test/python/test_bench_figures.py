"""The arithmetic of `mlir-gemm bench`: medians, orders, bursts, ratios, tables, and what counts as right."""

from __future__ import annotations

import math
from collections import Counter

import bench_samples as samples
import pytest

from mlir_gemm.bench import preparing
from mlir_gemm.bench.contenders import name_of, schedule_text
from mlir_gemm.bench.cublaslt import supports
from mlir_gemm.bench.preparing import Work, compile_one, prepare
from mlir_gemm.bench.problems import PROBLEMS, Problem
from mlir_gemm.bench.summary import (
    Worst,
    against_others,
    by_kind,
    epilogue_costs,
    geometric_mean,
    group_table,
    ratios,
    summary,
    table,
)
from mlir_gemm.bench.timing import AHEAD, QUEUE, SLEEP_CYCLES_S, Run, Spread, Timer, burst_length, rotations

SMALL = Problem("x", 64, 64, 64)


def test_spread():
    assert Spread.of([3.0, 1.0, 2.0, 5.0, 4.0]) == Spread(3.0, 2.0, 4.0, 5)
    assert Spread.of([7.0]) == Spread(7.0, 7.0, 7.0, 1)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_everyone_takes_every_place_equally_often(count: int):
    rounds = list(rotations(count, 2 * count))
    assert all(sorted(order) == list(range(count)) for order in rounds)
    places = Counter((place, index) for order in rounds for place, index in enumerate(order))
    assert set(places.values()) == {2}
    assert list(rotations(0, 3)) == [[], [], []]


def test_burst_length():
    assert burst_length(100e-6, 20e-3, 5e-6) == 200
    assert burst_length(1.0, 20e-3, 5e-6) == 2
    assert burst_length(2e-6, 20e-3, 5e-6) == QUEUE  # the host is slower: the queue must take all of it
    assert burst_length(0.0, 20e-3, 5e-6) == QUEUE


class FakeGpu:
    """Just enough of PyTorch for a Timer: an event notes the GPU's time, and functions let it go by."""

    int8 = "int8"

    def __init__(self) -> None:
        self.cuda = self
        self.now = self.waited = 0.0
        self.order: list[str] = []

    def empty(self, *_: object, **__: object) -> FakeGpu:
        return self

    def zero_(self) -> None:
        self.order.append("flush")

    def synchronize(self) -> None:
        pass

    def _sleep(self, cycles: int) -> None:
        self.waited += cycles

    def Event(self, **_: object) -> FakeEvent:  # noqa: N802 torch.cuda's name
        return FakeEvent(self)

    def takes(self, name: str, seconds: float) -> Run:
        def run() -> None:
            self.order.append(name)
            self.now += seconds

        return run


class FakeEvent:
    def __init__(self, gpu: FakeGpu) -> None:
        self.gpu, self.at = gpu, 0.0

    def record(self) -> None:
        self.at = self.gpu.now

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, end: FakeEvent) -> float:
        return 1e3 * (end.at - self.at)


def test_timer_measures_in_turn():
    gpu = FakeGpu()
    timer = Timer(gpu, rounds=4, bursts=2, burst_seconds=20e-3)
    runs = [gpu.takes("a", 1e-3), gpu.takes("b", 2e-3)]
    assert [spread.median for spread in timer.cold(runs)] == pytest.approx([1e-3, 2e-3])
    rounds = ["a", "b", "b", "a", "b", "a", "a", "b"]
    assert gpu.order == ["a", "a", "b", "b", *(name for each in rounds for name in ("flush", each))]
    samples_taken: list[float] = []
    sustained, lengths = timer.sustained(runs, [1e-3, 2e-3], [1e-6, 1e-6], lambda: samples_taken.append(gpu.now))
    assert lengths == [20, 10]
    assert [spread.median for spread in sustained] == pytest.approx([1e-3, 2e-3])
    assert len(samples_taken) == 4


def test_bursts_apart_find_nothing_of_each_other():
    gpu = FakeGpu()
    timer = Timer(gpu, rounds=2, bursts=40, burst_seconds=2e-3, apart=True)
    runs = [gpu.takes(name, 1e-3) for name in "abc"]
    timer.sustained(runs, [1e-3] * 3, [1e-6] * 3, lambda: None)
    assert gpu.order[::3] == ["flush"] * 120 and gpu.order[1::3] == gpu.order[2::3]
    rounds = ["".join(gpu.order[start : start + 9 : 3]) for start in range(1, 360, 9)]
    assert all(sorted(each) == ["a", "b", "c"] for each in rounds)
    assert len(set(rounds)) == 6


def test_the_gpu_waits_for_the_host():
    gpu = FakeGpu()
    timer = Timer(gpu, rounds=2, bursts=2, burst_seconds=20e-3)
    timer.cold([gpu.takes("a", 1e-3), gpu.takes("b", 1e-3)], [10e-6, 100e-6])
    assert gpu.waited == pytest.approx(2 * 2 * (10e-6 + 100e-6 + 2 * 20e-6) * SLEEP_CYCLES_S)
    gpu.waited = 0
    timer.sustained([gpu.takes("a", 5e-6)], [5e-6], [10e-6], lambda: None)
    assert gpu.waited == pytest.approx(2 * AHEAD * QUEUE * 10e-6 * SLEEP_CYCLES_S)


def test_short_runs_have_more_cold_rounds():
    gpu = FakeGpu()
    timer = Timer(gpu, rounds=2, bursts=2, burst_seconds=20e-3)
    short, long = gpu.takes("short", 5e-6), gpu.takes("long", 1e-3)
    assert [each.count for each in timer.cold([short, short])] == [8, 8]
    assert [each.count for each in timer.cold([short, long])] == [2, 2]
    assert [each.count for each in timer.cold([short], rounds=3)] == [3]


def test_geometric_mean_and_worst():
    assert geometric_mean([2.0, 0.5]) == pytest.approx(1.0)
    assert Worst.of([("a", 2.0), ("b", None), ("c", 0.5)]) == Worst(pytest.approx(1.0), 0.5, "c", 2)
    assert Worst.of([("a", None)]) is None


def test_ratios_are_to_the_faster_of_the_library():
    assert samples.LARGE.ratio("cold") == pytest.approx(180 / 200)
    assert samples.LARGER.ratio("cold") == pytest.approx(1700 / 1500)
    assert samples.LARGE.ratio("cold", "cublaslt_best") == pytest.approx(170 / 200)
    assert samples.SKINNY.ratio("cold", "cublaslt_best") is None
    found = ratios([samples.LARGE, samples.LARGER], "sustained")
    assert found is not None
    assert (found.least, found.where) == (pytest.approx(0.9), "4096x4096x4096 f16 NN")


def test_a_problem_without_ours_or_without_a_library_has_no_ratio():
    assert samples.entry(SMALL, torch=5).ratio("cold") is None
    assert samples.entry(SMALL, ours=5).ratio("cold") is None


def test_tables():
    text = summary(samples.SAMPLE)
    assert [line.split("|")[1].strip() for line in text.splitlines()[2:]] == ["large", "skinny", "ragged", "all"]
    assert "| all" in text and text.count("\n") == 5
    assert "f16 into f16 | NT" in by_kind(samples.SAMPLE)
    assert by_kind(samples.results([samples.LARGE])) == ""
    others = against_others(samples.SAMPLE)
    assert "Lt best" in others and "Triton" in others and "torch.compile" not in others
    assert against_others(samples.results([samples.entry(SMALL, ours=5, torch=5)])) == ""
    rows = group_table([samples.LARGE], "cold").splitlines()
    assert [cell.strip() for cell in rows[2].split("|")[1:4]] == ["4096x4096x4096 f16 NN", "687 ±1.0 %", "764 ±1.0 %"]


def test_products_beside_epilogues_are_not_counted_but_show_what_an_epilogue_costs():
    plain = samples.entry(Problem("epilogues", 64, 64, 64), ours=10, torch=1)
    bias = samples.entry(Problem("epilogues", 64, 64, 64, epilogue="bias"), ours=11, torch=22)
    both = samples.results([plain, bias])
    assert [cell.strip() for cell in summary(both).splitlines()[2].split("|")[1:4]] == ["epilogues", "1", "2.000"]
    assert "| 64x64x64 f16 NN bias | +10.0 % | +10.0 %" in epilogue_costs(both)
    assert epilogue_costs(samples.SAMPLE) == ""


def test_problems_without_ours_are_counted_once_and_in_no_mean():
    failed = samples.entry(SMALL, torch=5)
    failed.absent.append("ours: refused")
    found = samples.results([samples.entry(Problem("x", 8, 8, 8), ours=4, torch=6), failed], [(SMALL, "", "illegal")])
    cells = [cell.strip() for cell in summary(found).splitlines()[2].split("|")]
    assert (cells[1:4], cells[-3:-1]) == (["x", "1", "1.500"], ["0", "1"])


def test_several_schedules_stand_side_by_side():
    several = samples.entry(SMALL, ours=5, ours_2=4, torch=6)
    assert several.schedules == ["ours", "ours_2"]
    assert [name_of(number) for number in range(2)] == several.schedules
    heads = [cell.strip() for cell in group_table([several], "cold").splitlines()[0].split("|")]
    assert heads[1:5] == ["problem", "ours", "ours_2", "torch"]


def test_numbers_stand_to_the_right():
    assert table(["a", "b"], [["x", "1.5"], ["long", "-"]]).splitlines() == [
        "| a    |   b |",
        "|------|----:|",
        "| x    | 1.5 |",
        "| long |   - |",
    ]


def test_tf32_is_a_schedule_of_f32():
    tf32 = Problem("x", 64, 64, 64, "tf32", "f32")
    assert (tf32.element, tf32.accumulator, schedule_text(tf32, "")) == ("f32", "f32", "precision=tf32")
    assert schedule_text(tf32, "stages=2,precision=full") == "stages=2,precision=full"
    assert schedule_text(SMALL, "stages=2") == "stages=2"


def test_cublaslt_takes_part_where_it_computes_the_same():
    assert {supports(each) == "" for each in PROBLEMS if each.epilogue in ("none", "bias")} == {True}
    assert "form with tanh" in supports(Problem("x", 8, 8, 8, epilogue="gelu"))


def test_preparing_compiles_into_the_cache_and_says_what_was_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MLIR_GEMM_CACHE", "off")
    seen: list[tuple[int, int]] = []
    works = [Work(SMALL, "sm_90", schedule, load=False) for schedule in ("", "block=64x64x64,warp=48x64x16")]
    with preparing.shared_cache():
        assert preparing.cache.cache_directory() is not None
        reasons = prepare(works, 1, lambda done, total: seen.append((done, total)))
    assert preparing.cache.cache_directory() is None
    assert (reasons[0], seen) == ("", [(1, 2), (2, 2)])
    assert "warp" in reasons[1]


def test_a_fault_of_the_compiler_is_a_reason(monkeypatch: pytest.MonkeyPatch):
    def broken(_: Problem) -> str:
        raise RuntimeError("broken")

    monkeypatch.setattr(preparing, "module", broken)
    assert compile_one(Work(SMALL, "sm_90", "", load=False)) == "internal error: RuntimeError: broken"


def test_a_compiler_that_ends_its_process_does_not_end_the_run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(preparing, "compile_one", samples.compile_or_end)
    works = [Work(SMALL, "sm_90", schedule) for schedule in ("end", "", "", "end", "")]
    ended = "internal error: the process that compiles ended"
    assert prepare(works, 2, lambda done, total: None) == [ended, "", "", ended, ""]


def test_checks_of_results():
    torch = pytest.importorskip("torch")
    from mlir_gemm.bench import operands

    for problem in (
        Problem("x", 130, 200, 96, "f16", "f16", "TN", "bias_gelu"),
        Problem("x", 8, 300, 64, "bf16", "bf16", "NT", "silu_mul"),
        Problem("x", 64, 64, 64, "s8", "i32"),
        Problem("x", 64, 64, 64, "tf32", "f32"),
    ):
        drawn = operands.draw(problem, torch, device="cpu")
        a, b = (matrix.double() for matrix in drawn.matrices)
        bias, factor = (None if each is None else each.double() for each in (drawn.bias, drawn.factor))
        exact = operands.apply(problem.steps, a @ b, bias, factor, torch).to(drawn.out.dtype)
        good = operands.check(drawn, exact, torch)
        assert good.right and good.written, problem
        operands.poison(drawn.out)
        assert not operands.check(drawn, drawn.out, torch).right
        partly = exact.clone()
        operands.poison(partly[0, :1])
        verdict = operands.check(drawn, partly, torch)
        assert not verdict.written and not verdict.right
        off = exact.clone()
        off[-1, -1] = off[-1, -1] + exact.abs().max() // 2 + 1  # the last row and column are always compared
        assert not operands.check(drawn, off, torch).right
        assert math.isfinite(operands.check(drawn, off, torch).error)
