"""The sweep of the model's own space (bench/sweep.py) without a GPU: which schedules, in which order, what is written,
and the summary of saved files."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fake_torch
import numpy as np
import pytest

from mlir_gemm.bench import fit_wgmma_cost, sweep, sweep_measure
from mlir_gemm.bench.contenders import Contender
from mlir_gemm.bench.operands import Operands, Verdict
from mlir_gemm.bench.problems import Problem
from mlir_gemm.bench.sweep_measure import HUNG, Reference, Rounds, Watchdog, in_random_order
from mlir_gemm.bench.sweep_report import case_of, line_of, predicted_choice, product_of_case, read, summary, write
from mlir_gemm.bench.sweep_space import Space, explore, schedules
from mlir_gemm.errors import Error
from mlir_gemm.spec.problem import Problem as Product
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.rules import violations
from mlir_gemm.tile_model.select import select
from mlir_gemm.tile_model.swap import as_computed

CHIP = "sm_90a"
SWEEP = Path(__file__).parents[2] / "bench/results/2026-11-21-h200-wgmma-sweep.json.xz"
LARGE = Product(8192, 8192, 8192, out="f16", reads_c=False, b_order="nk")
SMALL = Problem("custom", 256, 512, 512, "f16", "f16", "NT")


def test_the_space_has_the_choice_and_nothing_illegal():
    found = schedules(LARGE, target(CHIP), Space())
    assert len(found) == len(set(found)) > 50
    assert found[0] == select(LARGE, target(CHIP)).schedule
    assert not any(violations(as_computed(LARGE, each), each, target(CHIP)) for each in found)


def test_what_the_model_does_not_propose_is_added_on_request():
    plain = schedules(LARGE, target(CHIP), Space())
    more = schedules(LARGE, target(CHIP), Space(groups=(4, 32), leaders=3, ping_pong=True, clusters=True))
    assert set(plain) < set(more)
    new = set(more) - set(plain)
    assert {each.raster_group for each in new if not each.ping_pong and each.cluster < 4} >= {4, 32}
    assert any(each.ping_pong for each in new) and any(each.cluster_m == 4 for each in new)
    assert not any(violations(as_computed(LARGE, each), each, target(CHIP)) for each in more)


def test_other_mmas_and_only_the_first():
    found = schedules(LARGE, target(CHIP), Space(mmas=("wgmma", "mma_sync"), most=5))
    assert Counter(each.mma for each in found) == {"wgmma": 10, "mma_sync": 5}
    assert sum(each.swap_ab for each in found) == 5
    kept = schedules(LARGE, target(CHIP), Space(most=5, pinned={"swap_ab": False}))
    assert len(kept) == 5 and not any(each.swap_ab for each in kept)
    other = schedules(LARGE, target(CHIP), Space(most=5, pinned={"swap_ab": True}))
    assert other == [each for each in found if each.swap_ab]
    pinned = schedules(LARGE, target(CHIP), Space(pinned={"stages": 3}))
    assert pinned and {each.stages for each in pinned} == {3}


def test_an_mma_that_cannot_is_left_out():
    odd = Product(4095, 4095, 4095, out="f16", reads_c=False, a_vector=16, b_vector=16, out_vector=16)
    assert schedules(odd, target(CHIP), Space()) == []


def test_exploring_a_thin_product_takes_it_both_ways():
    found = explore((Problem("custom", 16, 8192, 8192, "f16", "f16", "NT"), CHIP, Space(most=2)))
    assert (found.reason, found.swapped, len(found.schedules)) == ("", True, 4)
    assert sum("swap_ab=on" in each for each in found.schedules) == 2
    assert explore((Problem("custom", 64, 64, 64, "f16", "f16", "XX"), CHIP, Space())).reason


def chip_with_memory(best: float) -> tuple[Callable[..., float], list[int]]:
    """Bursts of kernel `i` on a chip that is slow after a fast kernel; and the order in which they came."""
    order: list[int] = []

    def burst(run: Callable[[], int], lead: int, count: int) -> float:
        place = run()
        order.append(place)
        return best * (1 + 0.1 * place)

    return burst, order


def test_every_round_has_an_order_of_its_own_and_slow_kernels_drop_out():
    burst, order = chip_with_memory(1e-3)
    runs = [lambda place=place: place for place in range(12)]
    times = in_random_order(runs, [11], burst, Rounds(rounds=5), random.Random(1))
    assert [len(each) for each in times] == [5, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 5]
    assert sorted(order[:12]) == sorted(order[12:24]) == list(range(12))
    assert order[:12] != order[12:24]


def test_it_ends_after_the_first_round_when_time_is_over():
    burst, _ = chip_with_memory(1e-3)
    runs = [lambda place=place: place for place in range(3)]
    assert [len(each) for each in in_random_order(runs, [], burst, Rounds(), random.Random(1), lambda: True)] == [1] * 3


def test_bursts_are_long_enough():
    rounds = Rounds(burst_ms=10)
    assert [rounds.length(seconds) for seconds in (1e-9, 1e-5, 1.6e-3, 1.3e-2)] == [4000, 1000, 7, 3]


def test_the_watchdog_ends_the_process_and_says_at_what():
    noted: list[str] = []
    ended: list[int] = []
    dog = Watchdog(0.05, noted.append, ended.append, every=0.01)
    dog.now("quick")
    dog.now("")
    time.sleep(0.15)
    assert not noted
    dog.now("slow")
    deadline = time.monotonic() + 5
    while not ended and time.monotonic() < deadline:
        time.sleep(0.01)
    assert (noted, ended) == (["slow"], [HUNG])


@pytest.mark.parametrize(("dtype", "out"), [("f16", "f16"), ("s8", "i32")])
def test_all_of_a_result_is_checked(dtype: str, out: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sweep_measure, "CHUNK", 100)
    problem = Problem("x", 24, 16, 32, dtype, out, "TN")
    random_numbers = np.random.default_rng(0)
    kind = "f2" if dtype == "f16" else "i1"
    a, b = (fake_torch.Tensor(random_numbers.integers(-8, 8, (32, size)).astype(kind)) for size in (24, 16))
    result = fake_torch.Tensor(np.zeros((24, 16), "f2" if out == "f16" else "i4"))
    drawn = Operands(problem, a, b, None, None, result)
    right = a.T.double() @ b.double()
    reference = Reference(drawn, fake_torch.Torch())
    verdict = reference.check(lambda: result.copy_(right))
    assert (verdict.right, verdict.error) == (True, 0)
    assert not reference.check(lambda: None).right
    assert not reference.check(lambda: result.copy_(fake_torch.Tensor(right.array + np.eye(24, 16) * 20))).right

    def all_but_one() -> None:
        keep = result.array[23, 15]
        result.copy_(right)
        result.array[23, 15] = keep

    assert not reference.check(all_but_one).right


class FakeGpu:
    """What Sweep asks of PyTorch."""

    def __init__(self) -> None:
        self.backends = SimpleNamespace(cuda=SimpleNamespace(matmul=SimpleNamespace(allow_tf32=False)))
        self.cuda = SimpleNamespace(get_device_name=lambda _: "fake GPU")


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., tuple[sweep.Sweep, dict[str, Any]]]:
    """Measures SMALL on a fake GPU: the time of a kernel is its place, and `faults` says what becomes of a check."""

    def measure(faults: Callable[[str], Any] = lambda _: None) -> tuple[sweep.Sweep, dict[str, Any]]:
        class Reference:
            def __init__(self, *_: Any) -> None: ...

            def check(self, run: Any) -> Verdict:
                found = faults(run())
                if isinstance(found, Exception):
                    raise found
                return Verdict(0.1, 0.1, True, False) if found else Verdict(1e-4, 1e-3, True, True)

        monitor = SimpleNamespace(sample=lambda: None, summary=lambda: {"sm_mhz": [1, 2, 3]})
        made: dict[str, int] = {}

        def ours(_: int, drawn: Any, chip: str, schedule: str) -> Contender:
            made.setdefault(schedule, len(made))
            return Contender("ours", lambda: schedule)

        def bursts(*_: Any) -> Any:
            return lambda run, lead, count: 1e-5 * (1 + made.get(run(), 1))

        monkeypatch.setattr(sweep.operands, "draw", lambda problem, torch, seed: None)
        monkeypatch.setattr(sweep, "prepare", lambda works, jobs, progress: [""] * len(works))
        monkeypatch.setattr("mlir_gemm.bench.measure.require_gpu", FakeGpu)
        monkeypatch.setattr("mlir_gemm.bench.machine.Monitor", lambda torch: monitor)
        monkeypatch.setattr(sweep, "Reference", Reference)
        monkeypatch.setattr(sweep, "ours", ours)
        monkeypatch.setattr(sweep, "rivals", lambda *_: [Contender("torch", lambda: "cuBLAS")])
        monkeypatch.setattr(sweep, "GpuBursts", bursts)
        settings = sweep.Settings(CHIP, tmp_path / "sweep.json", Rounds(rounds=2), 0, False, 0, 30)
        one = sweep.Sweep(settings, [], FakeGpu(), monitor)
        return one, one.measure(explore((SMALL, CHIP, Space(most=2))), {})

    return measure


def test_an_entry_has_what_the_fit_reads(measured: Any, tmp_path: Path):
    one, entry = measured()
    saved = read(str(tmp_path / "sweep.json"))
    assert saved == json.loads(json.dumps([entry])) and one.entries == [entry]
    assert entry["case"] == [256, 512, 512, "n", "t", "f16", "f16"]
    assert [round(row["us"]) for row in entry["rows"]] == [10, 20, 30, 40]
    assert round(entry["cublas_us"]) == 20 and round(entry["choice"]["us"]) == 50
    table = fit_wgmma_cost.read([str(tmp_path / "sweep.json")])
    assert len(table.schedules) == 4 and sum(each.swap_ab for each in table.schedules) == 2
    assert table.problems[0] == product_of_case(entry["case"])


def test_a_run_from_end_to_end(measured: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    measured()  # leaves a file with SMALL behind, and everything patched
    arguments = ["--mnk", "256,512,512", "--mnk", "512,512,512", "--layouts", "NT", "--most", "3", "--chip", CHIP,
                 "--jobs", "1", "-o", str(tmp_path / "sweep.json"), "--resume"]  # fmt: skip
    assert sweep.main(arguments) == 0
    out = capsys.readouterr().out
    assert "7 kernels compiled" in out and "10 kernels of 2 problems, 0 wrong" in out
    assert [each["problem"] for each in read(str(tmp_path / "sweep.json"))] == [
        "256x512x512 f16 NT", "512x512x512 f16 NT",
    ]  # fmt: skip


def test_wrong_and_refused_kernels_are_not_timed(measured: Any):
    first = explore((SMALL, CHIP, Space(most=2))).schedules
    _, entry = measured(lambda name: name == first[0] or (Error("cannot launch") if name == first[1] else None))
    assert [each["schedule"] for each in entry["wrong"]] == [first[0]]
    assert entry["refused"] == [{"schedule": first[1], "why": "cannot launch"}]
    assert {row["schedule"] for row in entry["rows"]} == set(first[2:])


def test_after_a_fault_the_kernel_is_left_out_the_next_time(measured: Any, tmp_path: Path):
    first = explore((SMALL, CHIP, Space(most=2))).schedules
    with pytest.raises(sweep.FaultError, match="illegal memory access"):
        measured(lambda name: RuntimeError("CUDA error: an illegal memory access") if name == first[2] else None)
    assert (tmp_path / "sweep.json.skipped").read_text() == f"{SMALL.name}|{first[2]}\n"
    _, entry = measured()
    assert len(entry["rows"]) == 3


def entry_of(choice: float, best: float, cublas: float | None) -> dict[str, Any]:
    chosen, other = schedules(LARGE, target(CHIP), Space(most=2, pinned={"swap_ab": False}))
    return {
        "case": case_of(Problem("x", 8192, 8192, 8192, "f16", "f16", "NT")), "cublas_us": cublas, "problem": "some",
        "rows": [{"schedule": str(other), "us": best, "err": 0}, {"schedule": str(chosen), "us": choice, "err": 0}],
        "choice": {"schedule": str(chosen), "us": choice, "err": 0, "swapped": False},
    }  # fmt: skip


def test_the_summary():
    entries = [entry_of(110.0, 100.0, 99.0), entry_of(100.0, 120.0, None), {**entry_of(1, 1, 1), "rows": []}]
    lines = [line_of(entry, CHIP) for entry in entries]
    assert lines[2] is None
    assert [(line.lost, line.of_cublas(line.choice)) for line in lines if line] == [(1.1, 0.9), (1.0, None)]
    text = summary(entries, CHIP)
    assert "choice / best: geometric mean 1.049, worst 1.100 (some)" in text
    assert "choice of cuBLAS: geometric mean 0.900" in text
    assert "4 kernels of 2 problems, 0 wrong" in text
    assert summary([], CHIP) == "nothing was measured"


def test_the_model_as_it_is_judges_saved_files():
    entry = entry_of(110.0, 100.0, 99.0)
    chosen = predicted_choice(entry, entry["rows"], CHIP)
    assert chosen is not None and Schedule(**Schedule.parse(chosen["schedule"])) == select(LARGE, target(CHIP)).schedule
    assert predicted_choice({**entry, "epilogue": "gelu"}, entry["rows"], CHIP) is None


def test_files_of_before_can_be_reported(capsys: pytest.CaptureFixture[str]):
    assert sweep.main(["--report", str(SWEEP)]) == 0
    out = capsys.readouterr().out
    assert "2228 kernels of 40 problems, 0 wrong" in out and "8192x8192x8192 f16 NT" in out


def test_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "no.json").write_text("{}")
    (tmp_path / "old.json").write_text("[]")
    for arguments, status, message in (
        (["--report", str(tmp_path / "no.json")], 1, "is no sweep"),
        (["--report", str(tmp_path / "absent.json")], 1, "cannot read the sweep"),
        (["--mnk", "8,8,8", "--group", "large"], 2, "leave out --group"),
        (["--mmas", "tensor"], 2, "expected some of wgmma"),
        (["--groups", "a"], 2, "expected numbers joined by commas"),
        (["--types", "f17"], 1, "is no type of the list"),
        (["-o", str(tmp_path / "old.json")], 2, "go on with it by --resume"),
        (["--compile-only", "--chip", "sm_1", "--mnk", "64,64,64"], 1, "unknown chip"),
    ):
        assert sweep.main(arguments) == status, arguments
        assert message in capsys.readouterr().err


def test_compiling_ahead(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MLIR_GEMM_CACHE", str(tmp_path))
    arguments = ["--mnk", "256,512,512", "--layouts", "NT", "--most", "2", "--compile-only", "--chip", CHIP]
    assert sweep.main([*arguments, "--jobs", "1"]) == 0
    assert "5 kernels compiled" in capsys.readouterr().out
    assert list(tmp_path.iterdir())


def test_a_file_is_written_all_at_once(tmp_path: Path):
    write(tmp_path / "s.json", [{"case": [], "rows": []}])
    assert [each.name for each in tmp_path.iterdir()] == ["s.json"]
