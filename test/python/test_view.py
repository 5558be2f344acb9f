"""The page of `mlir-gemm view`: complete, small, traced without a change of the code, and alive in a real browser."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from browser import screenshot, visit
from PIL import Image

from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.stages import STAGES
from mlir_gemm.tools.main import main
from mlir_gemm.viewer.drawings import order
from mlir_gemm.viewer.trace import NONE, Snapshot, Trace

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ROOT / "examples/matmul_256.mlir"
PROGRAM = ROOT / "test/modules/attention_softmax.mlir"
SAID = (
    "The schedule in words", "warpgroups multiply what lies in shared memory", "one k step", "registers",
    "lost because", "tensor cores", "stages of A and B in shared memory", "dynamic shared", "tensor maps",
)  # fmt: skip
"""What stands in the page of a product."""
LARGEST = 5_000_000
"""Bytes of a page of 23 kernels, at most."""


def traced(path: Path, chip: str, **schedule: str) -> list[Snapshot]:
    """What every pass left of a module; its code is checked to be what it is without the hook."""
    source = path.read_text()
    trace = Trace(source)
    ptx = compile_module(source, chip=chip, schedule=schedule, hooks=(trace,)).ptx
    assert ptx == compile_module(source, chip=chip, schedule=schedule).ptx
    assert trace.finish(ptx or "") == ""
    return trace.snapshots


def became(snapshots: list[Snapshot], first: int, operation: int) -> list[str]:
    """The lines of what an operation of one snapshot became in the last one."""
    mine = {operation}
    chain = [each for each in snapshots[first + 1 :] if each.changed]
    for each in chain:
        mine = {number for number, parent in enumerate(each.parents) if parent in mine}
    return [line for line, number in zip(chain[-1].lines, chain[-1].operations, strict=True) if number in mine]


@pytest.mark.parametrize(("chip", "mma"), [("sm_90a", "wgmma"), ("sm_80", "mma_sync")])
def test_a_product_is_traced_from_the_source_to_ptx(chip: str, mma: str) -> None:
    snapshots = traced(PRODUCT, chip, mma=mma)
    source = snapshots[0]
    assert [*dict.fromkeys(each.stage for each in snapshots)] == ["source", *STAGES]
    line = next(number for number, line in enumerate(source.lines) if "linalg.matmul" in line)
    found = became(snapshots, 0, source.operations[line])
    name = mma.replace("_", ".")
    assert sum(name in line for line in found) >= 4
    ptx, nvvm = snapshots[-1], [each for each in snapshots if each.changed][-2]
    at = {number: line for line, number in zip(nvvm.lines, nvvm.operations, strict=True)}
    made_of = {at[ptx.parents[number]] for line, number in zip(ptx.lines, ptx.operations, strict=True)
               if f"{name}." in line and "fence" not in line and ptx.parents[number] != NONE}  # fmt: skip
    assert made_of and all(re.search("wgmma|mma.sync", line) for line in made_of), made_of


def test_kernels_of_a_program_are_traced_on_their_own() -> None:
    snapshots = traced(PROGRAM, "sm_90a")
    kernels = [*dict.fromkeys(each.kernel for each in snapshots if each.kernel)]
    assert len(kernels) == 3
    for kernel in kernels:
        own = [each for each in snapshots if each.kernel in ("", kernel) and each.changed]
        assert own[-1].stage == "ptx"
        for before, after in pairwise(own):
            most = max(before.operations + list(range(len(before.parents))), default=NONE)
            assert max(after.parents, default=NONE) <= most


def test_orders() -> None:
    assert list(order(2, 3, 1, False)) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert list(order(2, 2, 0, False)) == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert list(order(3, 2, 2, True)) == [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (2, 0)]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a product on sm_90a."""
    target = tmp_path_factory.mktemp("view") / "product.html"
    assert main(["view", str(PRODUCT), "--chip", "sm_90a", "--schedule", "mma=wgmma", "-o", str(target)]) == 0
    return target


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of a program, with the simulator's counters."""
    target = tmp_path_factory.mktemp("view") / "program.html"
    assert main(["view", str(PROGRAM), "--chip", "sm_90a", "-o", str(target), "--counters"]) == 0
    return target


def test_is_one_small_file_without_network(page: Path, program: Path) -> None:
    assert page.stat().st_size < LARGEST / 8
    assert program.stat().st_size / 3 * 23 < LARGEST
    for text in (page.read_text(), program.read_text()):
        assert not re.search(r"(src|href)=|@import|url\(|https?://(?!www\.w3\.org)", text)


def test_says_all_without_a_browser(page: Path, program: Path) -> None:
    text = page.read_text()
    for words in SAID:
        assert words.lower() in text.lower(), words
    assert text.count("<svg") > 6
    assert "shared-memory bank conflicts" in program.read_text() and "bank conflicts" not in text


def test_browser_shows_a_pass_and_follows_an_operation(page: Path) -> None:
    dom = visit(page, "tab=passes&pass=accumulate&follow=tile.mma", "--dump-dom")
    assert 'data-ready="yes"' in dom
    trail = dom.partition('id="trail"')[2].partition("<dialog")[0]
    for words in ("linalg.matmul", "tile.mma", "wgmma"):
        assert words in trail, words
    assert len(re.findall(r'class="line[^"]*\bop\b', dom)) >= 2
    assert re.search(r'class="line add', dom) and re.search(r'class="line cut', dom)


KEYS = """<script>
(async () => {
  while (!document.documentElement.dataset.ready) await new Promise((done) => setTimeout(done, 20));
  const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const said = [];
  const now = () => run[state.at];
  const note = () => said.push(state.tab + " " + now().stage + " " + (now().pass || "-") + " " + state.mode);
  for (const key of ["2", "j", "]", "k", "d", ">", "3", "1"]) { press(key); note(); }
  const search = document.getElementById("search");
  search.value = "tile.load";
  search.dispatchEvent(new Event("input"));
  said.push(document.getElementById("found").textContent);
  press("n"); note();
  press("t");
  said.push(document.documentElement.className);
  const out = document.createElement("pre");
  out.id = "said"; out.textContent = said.join("\\n");
  document.body.append(out);
})();
</script></body>"""


def test_keyboard_and_search(program: Path, tmp_path: Path) -> None:
    copy = tmp_path / "keys.html"
    copy.write_text(program.read_text().replace("</body>", KEYS))
    dom = visit(copy, "theme=light", "--dump-dom")
    said = dom.partition('id="said">')[2].partition("</pre>")[0].split("\n")
    tabs = [line.split()[0] for line in said[:8]]
    assert tabs == ["passes"] * 6 + ["choice", "overview"]
    assert said[0] != said[1] and said[2].split()[1] == "select" and said[3].split()[1] == "import"
    assert said[4].endswith("changes") and re.fullmatch(r"[1-9]\d* passes", said[8])
    assert said[9].startswith("passes ") and said[10] == "dark"


def test_light_and_dark(page: Path) -> None:
    def brightness(theme: str) -> float:
        with Image.open(screenshot(page, f"tab=overview&theme={theme}")) as picture:
            return float(np.asarray(picture.convert("L")).mean())

    assert brightness("light") > 200 > 90 > brightness("dark")


OPEN = """func.func @open(%a: memref<?x64xf16>, %b: memref<64x32xf16>, %c: memref<?x32xf32>) {
  linalg.matmul ins(%a, %b : memref<?x64xf16>, memref<64x32xf16>) outs(%c : memref<?x32xf32>)
  return
}
"""


def test_saved_text_and_sizes_known_at_run_time_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, saved, page = tmp_path / "open.mlir", tmp_path / "saved.mlir", tmp_path / "page.html"
    source.write_text(OPEN)
    assert main(["view", str(source), "--chip", "sm_80", "--sizes", "s0=100", "-o", str(page)]) == 0
    assert "lost because" in page.read_text()
    assert main(["view", str(source), "--chip", "sm_80", "--counters", "-o", str(page)]) == 1
    assert "--counters needs a number for s0" in capsys.readouterr().err
    assert main(["compile", str(source), "--chip", "sm_80", "--emit", "accumulate", "-o", str(saved)]) == 0
    assert main(["view", str(saved), "-o", str(page)]) == 0
    assert "had its schedule already" in page.read_text()


def test_output_is_not_the_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.mlir"
    path.write_text(PRODUCT.read_text())
    assert main(["view", str(path), "-o", str(path)]) == 2
    assert "is the input" in capsys.readouterr().err
    assert main(["view", str(tmp_path / "none.mlir")]) == 1
