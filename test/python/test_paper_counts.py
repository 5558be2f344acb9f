"""What the machine code of the works' kernels executes, and Hofstra's whole space."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path

import pytest

from mlir_gemm.bench import paper_code, paper_model, paper_portability, paper_space
from mlir_gemm.bench.paper_data import paper
from mlir_gemm.bench.problems import Problem
from mlir_gemm.spec.schedule import Schedule

PAGE = (Path(__file__).resolve().parents[2] / "docs/papers-tuned.md").read_text()
LOOP = """
        /*0000*/                   IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;
        /*0010*/              @!P0 BRA `(.L_x_1) ;
        /*0020*/                   HMMA.16816.F32 R4, R8, R10, R4 ;
.L_x_0:
        /*0030*/                   LDSM.16.M88.4 R8, [R2] ;
        /*0040*/                   HMMA.16816.F32 R4, R8, R10, R4 ;
        /*0050*/                   HMMA.16816.F32 R4, R8, R12, R4 ;
        /*0060*/               @P0 BRA `(.L_x_0) ;
.L_x_1:
        /*0070*/                   EXIT ;
"""


def test_how_often_a_loop_is_walked_follows_from_its_products() -> None:
    problem = Problem("x", 16, 8, 16 * 9, "f16", "f32", "NN", "none")
    found = paper_code._executed(LOOP, problem, 1)  # pyright: ignore[reportPrivateUsage]
    assert found == {"HMMA": 9, "LDSM": 4, "BRA": 5, "IMAD": 1, "EXIT": 1} and next(iter(found)) == "HMMA"
    odd = dataclasses.replace(problem, k=16 * 10)
    assert not paper_code._executed(LOOP, odd, 1)  # pyright: ignore[reportPrivateUsage]


def test_his_kernel_executes_as_many_products_as_cublas() -> None:
    """Hofstra, section 5.3: "for both kernels, the number of HMMA instructions is the same"; he has 318,783,488
    instructions in all, cuBLAS 71,132,209."""
    table = paper("hofstra").table[0]
    row = next(row for row in table.row if row.counters and not row.library)
    assert "promote_b=off" in (row.schedule or "")
    counts = paper_model.counted(table, row)
    assert counts["of these HMMA"] == 4096**3 // (16 * 8 * 16)
    assert 71_132_209 < counts["instructions of the machine code"] < 318_783_488


def test_the_space_is_what_his_restrictions_leave() -> None:
    found = paper_space.configurations()
    assert len({each.fields for each in found}) == len(found) == 10_860
    for each in found[::97]:
        Schedule.parse(each.fields)
        columns, rows = int(each.values["TILE_COLS"]), int(each.values["TILE_ROWS"])
        assert each.values["BLOCK_INDEX"] == "cartesian" or columns == rows
        assert each.values["TILES_PER_CTA"] != "1" or each.values["SEQUENTIAL_TILES"] == "1"
    of_a_value = Counter(each.values["WMMA"] for each in found)
    assert of_a_value["8x32"] == of_a_value["32x8"]


def test_his_best_configurations_are_in_the_space() -> None:
    """Table 3, by the fields that his papers' rows have."""
    rows = [row for table in paper("hofstra").table[:5] for row in table.row if row.name.startswith("his, ")]
    found = [dict(part.split("=") for part in each.fields.split(",")) for each in paper_space.configurations()]
    for row in (row for row in rows if "tuned" not in row.name):
        given = {"instruction": "16x16x16"} | dict(part.split("=") for part in (row.schedule or "").split(","))
        assert any(given.items() <= each.items() for each in found), row


def test_a_claim_is_judged_by_pairs() -> None:
    claim = next(each for each in paper_space.claims() if each.figure == "9 (a)")
    rates = {each.fields: 8.0 - int(each.values["TILES_PER_CTA"]) for each in paper_space.configurations()}
    found = paper_space.verdict(claim, [rates])
    assert found.figures == {"1": 7, "2": 6, "4": 4} and found.said == "2 of 2"
    alike = next(each for each in paper_space.claims() if each.figure == "13")
    assert paper_space.verdict(alike, [rates]).said.startswith("alike to ")
    wide = next(each for each in paper_space.claims() if not each.parameter)
    two = [{f: float(n) for n, f in enumerate(rates)}, dict.fromkeys(rates, 1.0)]
    assert paper_space.verdict(wide, two).figures[wide.chips[0]] > 1.9


def test_kernels_of_one_device_are_not_fast_on_others() -> None:
    found = paper_portability.shares()
    best = [max(row[place] or 0 for row in found) for place in range(len(found))]
    assert best == [1.0] * len(found) and all(found[n][n] == pytest.approx(1, abs=0.05) for n in range(len(found)))
    assert min(share for row in found for share in row if share) < 0.3


def test_a_measured_part_stands_in_the_section(tmp_path: Path) -> None:
    fields = [each.fields for each in paper_space.configurations() if each.values["WMMA"] == "16x16"][::40]
    rows = [{"size": [4096] * 3, "fields": each, "seconds": 1e-3} for each in fields]
    path = tmp_path / "x-hofstra-space.json"
    path.write_text(json.dumps({"device": "Test GPU", "date": "2026-01-02", "rows": rows}))
    measured = paper_space.sample(path)
    assert measured is not None
    assert measured.rates[4096, 4096, 4096][fields[0]] == pytest.approx(137.4, abs=0.1)
    chosen = [claim for claim in paper_space.claims() if claim.figure == "12 (a)"]
    _, about, table, _ = paper_space.section(measured, chosen)
    assert table.endswith(" | 64: 137 ± 0, 128: 137 ± 0, 32: 137 ± 0, 256: 137 ± 0 | 0 of 4 |")
    assert f"Measured on Test GPU, 2026-01-02, configurations at random: {len(fields)} of 4096x4096x4096." in about
    predicted = table.splitlines()[-1].rsplit(" | ", 2)[0]
    assert predicted in PAGE, "run python docs/make/papers.py"
