"""Programs that PyTorch exported, of all forms that torch-mlir writes, in the simulator, against NumPy in float64."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from command_line import run_main

import mlir_gemm

PROGRAMS = Path(__file__).parent.parent / "modules" / "front"
DTYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "i64": np.int64, "i1": np.bool_,
}  # fmt: skip


def _load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"front_{name}", PROGRAMS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


CASES = _load("cases").CASES


def check(case: Any, kernel: Any, sizes: dict[tuple[int, int], int] | None = None) -> None:
    """Runs a program on random inputs and compares all results."""
    rng = np.random.default_rng(len(case.name))
    made = [case.made(number, rng, sizes).astype(DTYPES[case.dtype(number)]) for number in range(len(case.inputs))]
    results = kernel(*made)
    wide = [x if x.dtype.kind in "ib" else x.astype(np.float64) for x in made]
    wanted = case.reference(*wide)
    pairs = [(results, wanted)] if not isinstance(wanted, tuple) else zip(results, wanted, strict=True)
    for got, want in pairs:
        found, want = np.asarray(got).astype(np.float64), np.asarray(want, np.float64)
        assert found.shape == want.shape
        assert np.isfinite(found).all()
        assert np.linalg.norm(found - want) <= case.tolerance * np.linalg.norm(want)


def test_every_module_has_a_case() -> None:
    assert {path.stem for path in PROGRAMS.glob("*.mlir")} == {case.name for case in CASES}
    assert len(CASES) >= 35


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_program(case: Any) -> None:
    check(case, mlir_gemm.compile(PROGRAMS / f"{case.name}.mlir", device="simulator"))


@pytest.mark.parametrize("case", [case for case in CASES if case.open], ids=lambda case: case.name)
def test_open_sizes(case: Any) -> None:
    kernel = mlir_gemm.compile(PROGRAMS / f"{case.name}.mlir", device="simulator")
    for size in case.sizes:
        check(case, kernel, dict.fromkeys(case.open, size))


def test_an_index_beyond_the_table_is_refused_with_the_message_of_the_program() -> None:
    kernel = mlir_gemm.compile(PROGRAMS / "embedding.mlir", device="simulator")
    table = np.zeros((20, 16), np.float32)
    with pytest.raises(mlir_gemm.Error, match="index must be smaller than dim size"):
        kernel(np.full((3, 5), 20), table)
    with pytest.raises(mlir_gemm.Error, match="index must be larger or equal to 0"):
        kernel(np.full((3, 5), -1), table)


SEVERAL = """module @outer {
  module @inner {
    func.func @one(%x: tensor<4xf32>) -> tensor<4xf32> {
      %e = tensor.empty() : tensor<4xf32>
      %0 = linalg.negf ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
  }
  func.func @two(%x: tensor<4xf32>) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %0 = linalg.abs ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}"""


def test_the_entry_is_chosen_by_name() -> None:
    x = np.array([-1, 2, -3, 4], np.float32)
    for name, want in (("one", -x), ("two", np.abs(x))):
        kernel = mlir_gemm.compile(SEVERAL, device="simulator", entry=name)
        assert np.array_equal(np.asarray(kernel(x=x)), want)
    with pytest.raises(mlir_gemm.InputError, match="choose one with --entry NAME"):
        mlir_gemm.compile(SEVERAL, device="simulator")
    with pytest.raises(mlir_gemm.InputError, match="there is no function @three"):
        mlir_gemm.compile(SEVERAL, device="simulator", entry="three")


def test_sizes_that_do_not_agree_are_told_in_the_words_of_the_program() -> None:
    text = """#map = affine_map<(i) -> (i)>
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %same = arith.cmpi eq, %n, %m : index
  cf.assert %same, "mismatched size for broadcast"
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}"""
    kernel = mlir_gemm.compile(text, device="simulator")
    with pytest.raises(mlir_gemm.ArgumentError, match=r"'y'.*: mismatched size for broadcast: its size 4 .* must be 3"):
        kernel(np.zeros(3, np.float32), np.zeros(4, np.float32))


def test_the_commands_take_the_entry(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    several, saved = tmp_path / "several.mlir", tmp_path / "several.import.mlir"
    several.write_text(SEVERAL)
    status, _, _ = run_main(capsys, "compile", several, "--entry", "two", "--emit", "import", "-o", saved)
    assert status == 0
    assert 'tile.name = "x"' in saved.read_text()
    status, out, _ = run_main(capsys, "run", several, "--entry", "one", "--device", "simulator")
    assert status == 0
    assert "arguments:      x: 4xf32 (in)" in out
    status, _, err = run_main(capsys, "compile", saved, "--entry", "one", "-o", tmp_path / "one.ptx")
    assert status == 1
    assert "saved after 'import', of @two; start from the source for @one" in err


@pytest.mark.parametrize(("text", "said", "note"), [
    ("%0 = tm_tensor.sort dimension(0) outs(%x : tensor<4xf32>) -> tensor<4xf32>", "tm_tensor.sort", "cut the program"),
    ('%0 = "onnx.Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>', "'onnx.Relu' is not understood", "onnx-mlir"),
    ('%0 = "foo.bar"(%x) : (tensor<4xf32>) -> tensor<4xf32>', "'foo.bar' is not understood", "cut the program there"),
])  # fmt: skip
def test_an_operation_of_another_dialect_is_named_with_what_to_do(text: str, said: str, note: str) -> None:
    text = f"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  {text}\n  return %0 : tensor<4xf32>\n}}"
    with pytest.raises(mlir_gemm.InputError, match=said) as refused:
        mlir_gemm.compile(text, device="simulator")
    assert any(note in each for each in refused.value.notes)


def test_a_type_of_another_dialect_is_named_with_what_to_do() -> None:
    text = "func.func @main(%x: !torch.vtensor<[4],f32>) { return }"
    with pytest.raises(mlir_gemm.InputError, match="a type of the dialect 'torch'") as refused:
        mlir_gemm.compile(text, device="simulator")
    assert any("linalg-on-tensors" in each for each in refused.value.notes)
