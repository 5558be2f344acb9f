"""The random checks of `wgmma` (test/gpu/check_groups.py) without a GPU: what they draw, what they find wrong, and what
becomes of a child that hangs or ends. Kernels run on the simulator."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import fake_torch
import pytest

import mlir_gemm
from mlir_gemm.spec.schedule import Schedule

sys.path.insert(0, str(Path(__file__).parents[1] / "gpu"))

import check_groups
import group_runs
from random_group_products import KINDS, GroupCase, draw, drawn, invariant, varied

CHIP = "sm_90a"
CHILD = """
import json, sys, time
for number in json.load(sys.stdin):
    print(json.dumps({"begin": number}), flush=True)
    if number == 2:
        time.sleep(60)
    if number == 4:
        sys.exit(9)
    print("something of its own", flush=True)
    print(json.dumps({"number": number, "wrong": None, "note": ""}), flush=True)
"""


class Simulated:
    """A kernel on the simulator, for tensors of fake_torch."""

    def __init__(self, case: GroupCase, spoil: int = 0) -> None:
        self._kernel = mlir_gemm.compile(case.module(), chip=CHIP, schedule=case.schedule, device="simulator")
        self.problem, self.schedule = self._kernel.problem, self._kernel.schedule
        self.calls, self._spoil = 0, spoil

    def __call__(self, *tensors: Any) -> Any:
        self.calls += 1
        result = self._kernel(*(tensor.array for tensor in tensors))
        result = tensors[-1].array if result is None else result
        if self.calls == self._spoil:
            result[0, 3] = 5000
        return fake_torch.Tensor(result)


@pytest.fixture
def torch() -> Any:
    return fake_torch.Torch()


def simple(kind: str, schedule: str = "", **changes: Any) -> GroupCase:
    from random_products import Product

    base, _, _, precision = KINDS[kind]
    fields: dict[str, Any] = {"m": 64, "out": "f32", "b_order": "nk", "pad": 16, "epilogue": "bias_n", **changes}
    product = Product(n=64, k=128, kind=base, **fields)
    return GroupCase(0, kind, product, f"mma=wgmma,precision={precision}{schedule}")


def test_a_case_is_the_same_whatever_else_is_drawn():
    assert draw(3, 17, CHIP) == drawn(3, range(10, 20), CHIP)[7]


def test_what_is_drawn_is_of_every_kind():
    cases = drawn(1, range(600), CHIP)
    assert set(Counter(case.kind for case in cases)) == set(KINDS)
    orders = Counter((case.product.a_order, case.product.b_order) for case in cases if case.kind == "f16")
    assert len(orders) == 4
    fields = [Schedule(**Schedule.parse(case.schedule)) for case in cases]
    for name in ("cluster_m", "cluster_n", "split_k_cluster", "ping_pong", "persistent"):
        assert sum(getattr(each, name) > (name != "ping_pong") for each in fields) > 10, name
    assert any(case.product.epilogue == "accumulate" for case in cases)
    assert any(case.product.batch > 1 for case in cases)


def test_what_is_drawn_compiles():
    for case in drawn(5, range(12), CHIP):
        kernel = mlir_gemm.compile(case.module(), chip=CHIP, schedule=case.schedule)
        assert kernel.schedule is not None and kernel.schedule.mma == "wgmma", case


def test_a_subset_is_small_and_varied():
    cases = varied(1, 20, CHIP)
    assert len(cases) == 20
    assert len({case.kind for case in cases}) == len(KINDS)


def test_cases_of_invariance_differ_in_m_only():
    cases = invariant(1, 0)
    assert [case.product.m for case in cases] == sorted((case.product.m for case in cases), reverse=True)
    assert len({(case.kind, case.product.n, case.product.k, case.schedule) for case in cases}) == 1


@pytest.mark.parametrize("kind", ["f16", "tf32", "fp8"])
def test_right_products_pass(kind: str, torch: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(group_runs, "compiled", lambda case, chip: Simulated(case))
    assert group_runs._run([simple(kind)], "exact", 1, CHIP, torch) == (None, "")


def test_integers_and_results_as_tensors_pass(torch: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(group_runs, "compiled", lambda case, chip: Simulated(case))
    case = simple("s8", out="i32", epilogue="none", pad=None)
    assert group_runs._run([case], "exact", 1, CHIP, torch) == (None, "")


def test_a_wrong_element_is_found(torch: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(group_runs, "compiled", lambda case, chip: Simulated(case, spoil=1))
    for kind in ("f16", "fp8"):
        wrong, _ = group_runs._run([simple(kind)], "exact", 1, CHIP, torch)
        assert wrong is not None and wrong.startswith("1 of 4096 wrong, first at [0, 3]: 5000.0 != ")


def test_a_write_beside_the_result_is_found(torch: Any, monkeypatch: pytest.MonkeyPatch):
    class Beside(Simulated):
        def __call__(self, *tensors: Any) -> Any:
            super().__call__(*tensors)
            # The element after the first row, in its padding.
            rows = fake_torch.np.lib.stride_tricks.as_strided(tensors[-1].array, (64, 80), tensors[-1].array.strides)
            rows[0, 64] = 1

    monkeypatch.setattr(group_runs, "compiled", lambda case, chip: Beside(case))
    wrong, _ = group_runs._run([simple("f16")], "exact", 1, CHIP, torch)
    assert wrong == "the memory around the result was written"


def test_runs_that_differ_are_found(torch: Any, monkeypatch: pytest.MonkeyPatch):
    for spoil, expected in ((0, None), (3, "run 3 differs from the first in 1 of 4096 elements")):
        monkeypatch.setattr(group_runs, "compiled", lambda case, chip, spoil=spoil: Simulated(case, spoil))
        assert group_runs._run([simple("f16")], "repeat", 1, CHIP, torch)[0] == expected


def test_rows_that_depend_on_m_are_found(torch: Any, monkeypatch: pytest.MonkeyPatch):
    cases = [simple("f16", ",batch_invariant=on", m=m) for m in (96, 33, 8)]
    monkeypatch.setattr(group_runs, "compiled", lambda case, chip: Simulated(case))
    wrong, note = group_runs._run(cases, "invariant", 1, CHIP, torch)
    assert (wrong, note) == (None, "wgmma, A and B swapped for 0 of 3 values of M")
    monkeypatch.setattr(group_runs, "compiled", lambda case, chip: Simulated(case, int(case.product.m == 8)))
    wrong, _ = group_runs._run(cases, "invariant", 1, CHIP, torch)
    assert wrong == "M = 8: 1 of 512 elements differ"


def test_after_a_fault_of_the_gpu_no_more_is_run(torch: Any, monkeypatch: pytest.MonkeyPatch):
    def dies(case: GroupCase, chip: str) -> Any:
        torch.cuda.dead = True
        raise RuntimeError("CUDA error")

    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(group_runs, "compiled", dies)
    events = list(group_runs.run_numbers([0, 1], lambda number: [simple("f16")], "exact", CHIP))
    assert [event.get("fatal") for event in events] == [None, True]


def test_a_child_that_hangs_or_ends_costs_its_case_only():
    outcomes = list(check_groups.supervised([sys.executable, "-c", CHILD], range(6), limit=1.0))
    wrong = {each["number"]: each["wrong"] for each in outcomes}
    assert [wrong[number] for number in (0, 1, 3, 5)] == [None] * 4
    assert wrong[2] == "HUNG: not ended after 1 s"
    assert wrong[4] == "CRASHED: the process ended with status 9"


def test_children_are_not_started_for_ever():
    outcomes = list(check_groups.supervised([sys.executable, "-c", CHILD], [4, 2, 1], limit=1.0, children=1))
    assert [each["wrong"].partition(":")[0] for each in outcomes] == ["CRASHED", "NOT RUN", "NOT RUN"]


def test_a_child_that_does_not_start_is_an_error():
    with pytest.raises(RuntimeError, match="status 7 before its first case"):
        list(check_groups.supervised([sys.executable, "-c", "import sys; sys.exit(7)"], [1], limit=1.0))


def test_compiling_ahead_and_refusals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MLIR_GEMM_CACHE", str(tmp_path))  # put back afterwards
    arguments = ["--count", "2", "--compile-only", "--chip", CHIP, "--cache", str(tmp_path), "--jobs", "1"]
    assert check_groups.main(arguments) == 0
    assert "2 kernels compiled" in capsys.readouterr().out
    assert list(tmp_path.iterdir())
    assert check_groups.main(["--compile-only", "--chip", "sm_80"]) == 1
    assert "sm_80 has no mma=wgmma" in capsys.readouterr().err


def test_the_table_names_the_command(capsys: pytest.CaptureFixture[str]):
    options = check_groups.parser().parse_args(["--seed", "4", "--mode", "repeat"])
    check_groups.report(options, [(simple("f16"), "HUNG: not ended after 30 s")])
    out = capsys.readouterr().out
    assert "python check_groups.py --mode repeat --seed 4 --only 0" in out and "    1 f16: HUNG" in out
