"""IR by hand that lacks what a pass relies on is refused with one line, not reported as a bug of the compiler."""

from __future__ import annotations

from pathlib import Path

import pytest
from compiled_text import product

from mlir_gemm.errors import InputError, PassError
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.runner import run_passes
from mlir_gemm.tools.main import main

ROLES = """func.func @f() {
  scf.forall (%block) in (9) {
    "tile.warp_specialize"() ({^bb0:}, {^bb0:}) : () -> ()
  } {mapping = [#gpu.block<x>]}
  return
}
"""
"""Roles that do nothing."""


def test_a_pass_says_what_it_was_given():
    with pytest.raises(PassError, match="what pass 'persistent-tile-scheduler' is given lacks something") as caught:
        run_passes(ROLES, ["persistent-tile-scheduler"])
    assert "(IndexError: list index out of range)" in caught.value.message


HUGE = """func.func @f(%A: memref<16x2147483648xf64, 3>) {
  %c = arith.constant dense<0.0> : vector<16x2147483648xf64>
  return
}
"""
"""Writing the instructions for such a tile takes all memory."""


HUGE_VECTOR = HUGE.replace("%A: memref<16x2147483648xf64, 3>", "")


@pytest.mark.parametrize(("text", "place"), [(HUGE, "-:1:1"), (HUGE_VECTOR, "-:2:8")])
def test_a_tile_without_end_is_refused(text: str, place: str):
    with pytest.raises(InputError, match="has 34359738368 elements; a tile has at most 4194304") as caught:
        run_passes(text, ["cse"])
    assert str(caught.value.location) == place


def test_the_command_line_calls_the_input_at_fault(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    (tmp_path / "in.mlir").write_text(ROLES)
    assert main(["opt", str(tmp_path / "in.mlir"), "persistent-tile-scheduler"]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("error: what pass 'persistent-tile-scheduler' is given lacks something, or holds something")


def test_what_failed_can_be_seen(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MLIR_GEMM_DEBUG", "1")
    with pytest.raises(IndexError):
        run_passes(ROLES, ["persistent-tile-scheduler"])


def test_a_saved_stage_is_at_fault_and_a_source_is_not(monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object) -> None:
        raise KeyError("tile.something")

    saved = compile_module(product(), chip="sm_80", until="select", keep=("select",)).ir("select")
    monkeypatch.setattr("mlir_gemm.pipeline.driver._Run.until_last", fail)
    with pytest.raises(PassError, match="the module, saved after stage 'select', lacks something") as caught:
        compile_module(saved)
    assert "(KeyError: 'tile.something')" in caught.value.message
    with pytest.raises(KeyError):
        compile_module(product())
