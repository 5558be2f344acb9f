"""The how-to pages do what they say, and pages stay short."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mlir_gemm.tools.main import main

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LONGEST = 400
GENERATED = ("a-matmul.md", "reference.md")


def block(page: str, language: str) -> str:
    """The first block of code of a how-to page in a language."""
    found = re.search(rf"```{language}\n(.*?)```", (DOCS / f"how-to/{page}.md").read_text(), re.S)
    assert found
    return found[1]


def run(code: str, folder: Path) -> str:
    """What a program prints that is run in a process of its own, as what it registers holds for the whole process."""
    script = folder / "program.py"
    script.write_text(code)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_pass_of_ones_own(tmp_path: Path) -> None:
    assert run(block("own-pass", "python"), tmp_path) == "True\n"


def test_a_package_with_a_pass(tmp_path: Path) -> None:
    (tmp_path / "count_products.py").write_text(block("own-pass", "python"))
    described = tomllib.loads(block("own-pass", "toml"))
    points = described["project"]["entry-points"]["mlir_gemm.parts"]
    folder = tmp_path / "count_products-0.1.dist-info"
    folder.mkdir()
    lines = [f"{name} = {where}" for name, where in points.items()]
    (folder / "entry_points.txt").write_text("\n".join(["[mlir_gemm.parts]", *lines, ""]))
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {described['project']['name']}\nVersion: 0.1\n")
    program = """
from mlir_gemm.tools.main import main
arguments = ["compile", "examples/matmul_256.mlir", "--chip", "sm_80", "--emit", "tensorize", "-o"]
assert main([*arguments, "/dev/null", "--changes-of", "count-products"]) == 0
assert main([*arguments, "-"]) == 0
assert main(["opt", "--list"]) == 0
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "// ----- tensorize: count-products" in done.stderr
    assert "my.products = 1" in done.stdout and "  count-products{attribute=my.products}" in done.stdout


def test_a_part_of_ones_own(tmp_path: Path) -> None:
    more = """
schedule = "mma=wgmma,block=128x256x64,warp=64x256x64,throttled_epilogue.least=4"
kernel = mlir_gemm.compile("examples/matmul_8192_memref.mlir", chip="sm_90a", schedule=schedule, device="simulator")
print(kernel.schedule)
"""
    assert "throttled_epilogue.least=4" in run(block("own-part", "python") + more, tmp_path)


def test_rewrite_rules_of_ones_own(tmp_path: Path) -> None:
    printed = run(block("own-rewrite", "python"), tmp_path).split("\n")
    assert printed[:2] == ["[(48, 2, 64), (64, 2, 48)]", "True"]


def test_call_from_c(tmp_path: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    found = importlib.util.find_spec("nvidia")
    folders = [Path(each) for each in (found.submodule_search_locations or ())] if found else []
    headers = [path.parent for folder in folders for path in folder.glob("*/include/cuda.h")]
    if compiler is None or not headers:
        pytest.skip("no C compiler, or no cuda.h")
    program = tmp_path / "matmul.c"
    program.write_text(block("call-from-c", "c"))
    command = [compiler, "-std=c99", "-Wall", "-Werror", "-fsyntax-only", f"-I{headers[0]}", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_tutorial_shows_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    text = (DOCS / "tutorial.md").read_text()
    found = re.search(r"```sh\nmlir-gemm (compile examples/\S+ .*--reading .*)\n```\n```\n(.*?)```", text, re.S)
    assert found
    arguments = [str(ROOT / word) if word.startswith("examples/") else word for word in found[1].split()]
    assert main(arguments) == 0
    printed = capsys.readouterr().err
    lines = found[2].splitlines()
    assert len(lines) > 20 and all(line in printed for line in lines)


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda path: path.name)
def test_no_page_is_long(page: Path) -> None:
    if page.name in GENERATED or page.parent.name == "history":
        return
    assert len(page.read_text().splitlines()) <= LONGEST


def test_readme_and_performance_are_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 90
    assert len((DOCS / "performance.md").read_text().splitlines()) <= 200


def test_pictures_are_small() -> None:
    pictures = list((DOCS / "images").glob("*.png"))
    assert len(pictures) > 8 and all(path.stat().st_size < 300_000 for path in pictures)
