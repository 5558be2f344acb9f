"""A sample of the guards against changes that should change nothing (`test/guards/compare.py` compares all): the same
schedules are chosen, and pinned schedules give the same PTX and launch information."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mlir_gemm.parts.fields import normalised
from mlir_gemm.spec.schedule import Schedule

sys.path.insert(0, str(Path(__file__).parents[1] / "guards"))

import canonical
import cases
import compare
import sources

SCRIPT = Path(compare.__file__)
PARTS = 5
"""Into which a sample is divided, so that several processes share it."""
SAMPLES = {"choices": 30, "kernels": 20}
HELP = """
If this is not meant, the change is at fault. If it is: `python test/guards/compare.py compare` shows all that changed,
and its docstring when and how to record again.
"""


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("guard", SAMPLES)
def test_nothing_has_changed(guard: str, part: int):
    if guard == "kernels" and compare.recorded_by() != compare.assembler():
        pytest.skip(f"{compare.recorded_by()}, here {compare.assembler()}: the same kernel may be other PTX")
    _, listed, hashes = compare.GUARDS[guard]
    here = compare.sample(listed(), SAMPLES[guard])[part::PARTS]
    found = compare.differences(guard, here, {case.key: hashes(case) for case in here})
    assert not found, "\n".join([*found, HELP])


def test_what_is_recorded_is_listed():
    for path, listed, _ in compare.GUARDS.values():
        keys = [case.key for case in listed()]
        assert len(set(keys)) == len(keys)
        assert compare.kept(path).keys() == set(keys)
    assert compare.kept(compare.KERNELS).keys() == {case.key for case in compare.pinned_cases()}
    assert {case.key for case in compare.pinned_cases()} <= {case.key for case in cases.to_pin()}


def test_no_pinned_kernel_is_refused():
    assert not [key for key, hashes in compare.kept(compare.KERNELS).items() if hashes[0].startswith("refused")]


def test_what_is_kept_is_sorted_text_of_less_than_a_megabyte():
    for path in (compare.CHOICES, compare.PINNED, compare.KERNELS):
        lines = [line for line in path.read_text().splitlines() if not line.startswith(compare.NOTE)]
        assert lines == sorted(lines)
        assert path.stat().st_size < 1e6


def test_every_kind_of_schedule_is_pinned():
    """Each field has a value of its own somewhere, and each mma, main loop, layout and raster is there."""
    pinned = [
        dict(canonical.lengthened(text))
        for case in compare.pinned_cases()
        for text in case.fields.split(compare.PRODUCTS)
    ]
    found = {name: {each[name] for each in pinned} for name in canonical.FIELDS if name != "own"}
    assert [name for name, values in found.items() if len(values) < 2] == []
    assert found["mma"] == {"wgmma", "mma_sync", "wmma", "dp4a", "simt"}
    assert found["mainloop"] == {"direct", "register_prefetch", "cp_async", "tma"}
    assert found["layout"] == {"pad", "xor", "swizzle128"}
    assert found["precision"] == {"full", "tf32", "f16", "f8"}
    assert found["raster"] == {"grouped", "snake", "row", "column", "diagonal"}
    assert (
        found["split_k_cluster"] >= {2, 3, 4, 8}
        and found["split_k_workspace"] >= {2, 4}
        and found["ping_pong"] == {False, True}
    )


RING = Schedule(block=(64, 256, 64), mma="wgmma", mainloop="tma", layout="swizzle128", instruction=(64, 8, 16))


class TestCanonical:
    def test_a_schedule_comes_back_from_its_short_text(self):
        for schedule in (normalised(Schedule(), {}), normalised(RING.replace(l2_keep_a=0), {})):
            assert normalised(Schedule(**canonical.lengthened(canonical.shortened(schedule))), {}) == schedule

    def test_every_field_has_a_key(self):
        assert set(canonical.FIELDS) == {field.name for field in dataclasses.fields(Schedule)}
        assert len({key for key, _ in canonical.FIELDS.values()}) == len(canonical.FIELDS)

    def test_a_rename_changes_no_hash(self, monkeypatch: pytest.MonkeyPatch):
        before = canonical.canonical(Schedule(ping_pong=True, mainloop="cp_async"))
        fields = [
            (("alternating" if field.name == "ping_pong" else field.name), field.type, field.default)
            for field in dataclasses.fields(Schedule)
        ]
        renamed: Any = dataclasses.make_dataclass("Renamed", fields)
        with pytest.raises(KeyError, match="'alternating' has no key"):
            canonical.canonical(renamed())
        monkeypatch.setitem(canonical.FIELDS, "alternating", canonical.FIELDS["ping_pong"])
        monkeypatch.setitem(canonical.VALUES, ("copy", "async"), "cp_async")
        assert (
            canonical.canonical(renamed(alternating=True, mainloop="async"))
            == before
            == {"turns": 2, "copy": "cp_async"}
        )


class TestCompare:
    CASE = cases.Case("kind x", "product m=32,n=32,k=32,out=f16", "sm_80", "mma=mma_sync")

    @pytest.fixture(autouse=True)
    def files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("CHOICES", "PINNED", "KERNELS"):
            monkeypatch.setattr(compare, name, tmp_path / name)
        guards = {
            "choices": (compare.CHOICES, lambda: [self.CASE], compare.choice_hash),
            "kernels": (compare.KERNELS, compare.pinned_cases, compare.kernel_hashes),
        }
        monkeypatch.setattr(compare, "GUARDS", guards)
        monkeypatch.setattr(cases, "to_pin", lambda: [self.CASE])
        assert compare.main(["list", "--jobs", "1"]) == compare.main(["record", "--jobs", "1"]) == 0

    def test_what_is_recorded_is_the_same(self, capsys: pytest.CaptureFixture[str]):
        assert compare.main(["compare", "--jobs", "1"]) == 0
        assert "choices: 0 of 1 differ" in capsys.readouterr().out
        (case,) = compare.pinned_cases()
        assert "mma=mma_sync" in case.fields and "warp=" in case.fields

    def test_another_choice_is_shown_with_the_one_before(self, capsys: pytest.CaptureFixture[str]):
        compare.CHOICES.write_text("kind x | sm_80 | 0123456789abcdef\n")
        assert compare.main(["compare", "--jobs", "1", "--only", "choices"]) == 1
        out = capsys.readouterr().out
        assert "kind x | sm_80: another choice\n  was " in out and "\n  now " in out

    def test_other_code_is_shown(self, capsys: pytest.CaptureFixture[str]):
        compare.KERNELS.write_text(compare.KERNELS.read_text()[:-17] + 16 * "0" + "\n")
        assert compare.main(["compare", "--jobs", "1", "--only", "kernels"]) == 1
        assert "kind x | sm_80: other " in capsys.readouterr().out

    def test_cases_may_be_added(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
        compare.CHOICES.write_text("")
        assert compare.main(["compare", "--jobs", "1"]) == 1
        assert "kind x | sm_80: not recorded" in capsys.readouterr().out
        assert compare.main(["record", "--missing", "--jobs", "1"]) == 0
        assert compare.main(["compare", "--jobs", "1"]) == 0

    def test_what_does_not_go_together_is_refused(self, capsys: pytest.CaptureFixture[str]):
        with pytest.raises(SystemExit, match="2"):
            compare.main(["list", "--match", "x"])
        assert "--match goes with compare" in capsys.readouterr().err


def test_every_file_of_the_tests_has_a_source():
    assert sources.source("module linear_f16").startswith("// linear_f16: ")
    assert "4096x4096" in sources.source("bench 4096x4096x4096 f16->f32 NT")
    with pytest.raises(ValueError, match="unknown kind of source 'other'"):
        sources.source("other 1x2x3")


def test_the_script_says_how_it_is_used():
    done = subprocess.run([sys.executable, str(SCRIPT), "-h"], capture_output=True, text=True, check=True)
    assert "compare" in done.stdout and "--only" in done.stdout
