"""Contractions with groups of dimensions: random ones on the simulator, exact in whole numbers; those of the TCCG
benchmark as far as the choice of what is laid out anew."""

from __future__ import annotations

import os
import random
import re
from dataclasses import replace

import numpy as np
import pytest
from contractions import Contraction, random_contraction, tccg
from ml_dtypes import bfloat16

import mlir_gemm
from mlir_gemm.passes.importing import relayout_groups
from mlir_gemm.tracing.result_order import result_order

DRAWS = int(os.environ.get("MLIR_GEMM_DRAWS", "1"))
TYPES = {"f16": np.float16, "bf16": bfloat16, "f32": np.float32}


def _difference(case: Contraction, chip: str) -> tuple[float, int]:
    """The largest difference from float64 of whole numbers, and how many kernels ran."""
    kernel = mlir_gemm.compile(case.text(), chip=chip, device="simulator")
    rng = np.random.default_rng(1)
    given = [rng.integers(-2, 3, case.shape(each)).astype(TYPES[case.dtype]) for each in (case.a, case.b)]
    found, wanted = np.asarray(kernel(*given)).astype(np.float64), case.expected(*given)
    rounded = wanted.astype(TYPES[case.dtype]).astype(np.float64)
    return float(np.abs(found - rounded).max()), len(kernel.launch.steps)


@pytest.mark.parametrize("seed", range(12 * DRAWS))
def test_random_contractions(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    if seed % 2:  # as if launches took no time: small ones are laid out anew too
        monkeypatch.setattr(relayout_groups, "LAUNCH", 0)
        monkeypatch.setattr(relayout_groups, "TILE", 0)
    case = random_contraction(rng, 6, rng.choice([*TYPES]))
    assert _difference(case, rng.choice(["sm_80", "sm_90a"]))[0] == 0, str(case)


CLASHES = {
    "the result": Contraction("akb", "jk", "jba", (("a", 12), ("b", 20), ("j", 3), ("k", 8))),
    "the operand": Contraction("akb", "jk", "jba", (("a", 12), ("b", 20), ("j", 24), ("k", 4))),
    "the other operand": Contraction("jk", "akb", "jba", (("a", 12), ("b", 20), ("j", 24), ("k", 4)), "f32"),
    "between other groups": Contraction(
        "cakb", "ejk", "cejba", (("a", 8), ("b", 16), ("c", 3), ("e", 2), ("j", 5), ("k", 8))
    ),
    "two of k": Contraction("alkb", "kjl", "jba", (("a", 12), ("b", 16), ("j", 3), ("k", 4), ("l", 8)), "f32"),
}  # fmt: skip


@pytest.mark.parametrize("name", CLASHES)
def test_rows_along_different_dimensions(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relayout_groups, "LAUNCH", 0)
    monkeypatch.setattr(relayout_groups, "TILE", 0)
    difference, kernels = _difference(CLASHES[name], "sm_80")
    assert difference == 0
    assert kernels > 1


def test_the_benchmark_is_as_published() -> None:
    cases = {case.name.split()[1]: case for case in tccg()}
    assert len(cases) == 24
    assert dict(cases["ij-ik-kj"].sizes) == {"i": 7248, "j": 7240, "k": 7248}
    assert dict(cases["abjc-cbka-kj"].sizes) == {"a": 96, "b": 84, "c": 96, "j": 24, "k": 96}
    assert cases["abcijk-ijma-mkbc"].equation == "amji,cbkm->kjicba"
    assert cases["abcijk-ijma-mkbc"].shape("kjicba") == [20, 20, 24, 20, 20, 24]


@pytest.mark.parametrize(
    ("name", "laid"),
    [("abj-bka-kj", "the result"), ("abjc-cbka-kj", "the result"), ("abjcd-dkbac-jk", "operand A"),
     ("ajb-kba-jk", ""), ("ijk-ikl-lj", "")],
)  # fmt: skip
def test_what_is_laid_out_anew(name: str, laid: str) -> None:
    case = next(each for each in tccg() if each.name.endswith(name))
    kernel = mlir_gemm.compile(case.text(), chip="sm_90a", device="simulator")
    notes = [f"{each.note} {each.cuts}" for each in kernel.kernels]
    found = re.findall("(the result|operand [AB]) of a product (?:leaves|is laid out)", " ".join(notes))
    assert set(found) == ({laid} if laid else set())


def test_a_result_in_any_order_has_no_kernel_of_its_own() -> None:
    """Each of the benchmark is one product of whole groups, or what it was; the rows of its result are as long as those
    of an operand."""
    found = {case.equation: result_order([case.a, case.b], case.c, dict(case.sizes)) for case in tccg()}
    assert found["ki,jk->ji"] == "ji"
    assert found["amji,cbkm->kjicba"] == "ajicbk"
    assert found["akb,jk->jba"] == "jab"
    assert found["bq,srqa->srba"] == "srba"
    assert found["ap,srqp->srqa"] == "srqa"
    assert found["lnim,kmjn->lkji"] == "kjli"
    case = next(each for each in tccg() if each.equation == "bmki,cajm->kjicba")
    kernel = mlir_gemm.compile(replace(case, c=found[case.equation]).text(), chip="sm_90a", device="simulator")
    assert len(kernel.launch.steps) == 1
    assert kernel.kernels[0].schedule is not None
    assert kernel.kernels[0].schedule.mma == "wgmma"


@pytest.mark.parametrize("equation", ["amji,cbkm->kjicba", "bki,bjk->ijb", "ijk->ki"])
def test_einsum_gives_a_view_in_any_order(equation: str) -> None:
    sizes = {"a": 3, "b": 8, "c": 4, "i": 5, "j": 8, "k": 6, "m": 7}
    rng = np.random.default_rng(2)
    given = [rng.integers(-2, 3, [sizes[letter] for letter in side]).astype(np.float32)
             for side in equation.partition("->")[0].split(",")]  # fmt: skip
    found = mlir_gemm.einsum(equation, *given, order="K", device="simulator", chip="sm_90a")
    np.testing.assert_array_equal(found, np.einsum(equation, *given))
    assert not found.flags.c_contiguous
    with pytest.raises(mlir_gemm.InputError, match="order='F'; expected 'C', the result in the order of the equation"):
        mlir_gemm.einsum(equation, *given, order="F")
