"""The order of choices whose predicted times tie: written down, total, and deaf to rounding."""

from __future__ import annotations

import dataclasses
import random
from itertools import pairwise

import pytest
from mma_order import choose_anew

from mlir_gemm.parts.prediction import Prediction
from mlir_gemm.parts.registry import mmas_on
from mlir_gemm.spec.passes import PassSpec
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model import relayout, select, variants
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.decisions import decide
from mlir_gemm.tile_model.select import TOLERANCE, by_time, is_less, preference

ULP = 2.0**-52
NOISE = 4
"""Units in the last place by which predictions are changed."""
TYING = (
    # Whose best candidates differ in their stages, which cost nothing, or in warp tiles that are each other's mirror
    # image: rounding decided.
    (Problem(33, 33, 1024, b_vector=16, out_vector=32, reads_c=False), "sm_90a"),
    (Problem(64, 4096, 4100, a_order="mk", b_order="nk", a_vector=16, b_vector=16, reads_c=False), "sm_121"),
    (Problem(33, 4096, 1024, b_vector=16, out_vector=32, reads_c=False), "sm_86"),
)
PROBLEMS = (
    *TYING,
    (Problem(1024, 1024, 1024, out="f16", reads_c=False), "sm_90a"),
    (Problem(1024, 1024, 1024, out="f16", a_order="km", b_order="nk", reads_c=False), "sm_90a"),
    (Problem(256, 256, 2048, out="f16", reads_c=False, b_order="nk"), "sm_90a"),
    (Problem(16, 16, 16), "sm_75"),
    (Problem(1, 4096, 4096, out="f16", reads_c=False), "sm_80"),
)


def with_noise(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Lets every predicted time be a few units in the last place off, each its own way."""
    exact, rng = select.estimate, random.Random(seed)

    def noisy(problem: Problem, schedule: Schedule, chip: Target) -> Prediction:
        cost = exact(problem, schedule, chip)
        return dataclasses.replace(cost, total=cost.total * (1 + rng.randint(-NOISE, NOISE) * ULP))

    for module in (select, variants):
        monkeypatch.setattr(module, "estimate", noisy)
    choose_anew(monkeypatch)


def decided(problem: Problem, chip: str) -> tuple[list[PassSpec], Schedule]:
    found = decide(problem, target(chip))
    return [each.step for each in found.rewrites.values()], found.choice.schedule


@pytest.mark.parametrize(("problem", "chip"), PROBLEMS, ids=str)
def test_noise_in_the_last_places_changes_no_choice(problem: Problem, chip: str, monkeypatch: pytest.MonkeyPatch):
    exact = decided(problem, chip)
    for seed in range(2):
        with monkeypatch.context() as patched:
            with_noise(patched, seed)
            assert decided(problem, chip) == exact


def test_some_candidates_do_tie():
    for problem, chip in TYING:
        first, second = select.select(problem, target(chip)).ranking[:2]
        assert second.cost.total == pytest.approx(first.cost.total, rel=TOLERANCE)
        assert preference(first.schedule) < preference(second.schedule)


def test_equals_go_by_their_key_and_others_by_time():
    times = {"b": 1.0, "a": 1.0 + 4 * ULP, "c": 1.0 - 4 * ULP, "d": 0.5, "e": 1.0 + 1e-6}
    assert by_time(times, times.__getitem__, str) == ["d", "a", "b", "c", "e"]
    assert by_time([], times.__getitem__, str) == []


def test_a_time_is_less_only_beyond_rounding():
    assert is_less(1.0, 1.0 + 1e-6) and not is_less(1.0, 1.0 + 4 * ULP) and not is_less(1.0, 1.0)
    assert is_less(1.0, float("inf")) and not is_less(float("inf"), float("inf"))


def test_the_first_of_equal_re_layouts_stays(monkeypatch: pytest.MonkeyPatch):
    """With A or B alone takes as long: A's combination is tried first."""
    problem = Problem(1001, 1001, 1001, a_vector=16, b_vector=16, reads_c=False)
    times = {(16, 16): 1.0, (128, 128): 0.25, (128, 16): 0.3, (16, 128): 0.3 * (1 - 2 * ULP)}
    monkeypatch.setattr(relayout, "_seconds", lambda p, *_: times[p.a_vector, p.b_vector])
    monkeypatch.setattr(relayout, "relayout_seconds", lambda p, advice, *_: 0.1 * len(advice))
    assert relayout.relayout_advice(problem, target("sm_90")) == {"a": "mk"}


def test_fewer_stages_and_rows_go_first():
    base = Schedule(block=(64, 128, 64), warp=(32, 32, 16), mma="mma_sync", mainloop="cp_async", stages=2)
    ordered = [
        base.replace(mainloop="tma"), base, base.replace(stages=3), base.replace(warp=(64, 32, 16)),
        base.replace(block=(128, 128, 64)), base.replace(mainloop="register_prefetch", stages=1),
        base.replace(mainloop="direct", stages=1),
    ]  # fmt: skip
    mixed = ordered[3:] + ordered[:3]
    assert sorted(mixed, key=preference) == ordered


@pytest.mark.parametrize(("problem", "chip"), PROBLEMS[:6], ids=str)
def test_no_two_candidates_are_equal_before_their_text(problem: Problem, chip: str):
    for name in (mma.name for mma in mmas_on(target(chip))):
        keys = [preference(each.schedule)[:-1] for each in select.candidates(problem, target(chip), {"mma": name})]
        assert len(set(keys)) == len(keys)
        assert all(a != b for a, b in pairwise(sorted(keys)))
