"""The project keeps its own rules: quick imports, resolvable names, short files, and tests beside what they test."""

from __future__ import annotations

import importlib
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from work_done import modules_loaded

import mlir_gemm
from mlir_gemm.passes.base import Pass
from mlir_gemm.pipeline.registry import modules, names, pass_class
from mlir_gemm.spec.stages import ALL_STAGES

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    "mlir_gemm",
    "dialect",
    "pipeline",
    "passes",
    "tile_model",
    "runtime",
    "simulator",
    "tools",
    "tracing",
    "viewer",
    "bench",
    "tuner",
    "lowering",
    "parts",
    "spec",
)
MOST_LINES = 400
PASSES = sorted(name.replace("-", "_") for name in names())


def test_import_loads_little():
    """3 modules of ours, and 18 of Python's; no NumPy and no bindings."""
    assert_little(modules_loaded("import mlir_gemm"), 32)


def test_help_loads_little():
    code = "import sys; sys.argv = ['mlir-gemm', '--help']\nfrom mlir_gemm.tools.main import main\nmain(['--help'])"
    assert_little(modules_loaded(code), 60)


def assert_little(loaded: list[str], most: int) -> None:
    """At most so many modules, and none that takes long to load."""
    assert len(loaded) <= most
    assert not {"numpy", "torch", "cuda", "numba_cuda_mlir"} & {name.partition(".")[0] for name in loaded}


def test_help_needs_no_mlir():
    program = "import sys, mlir_gemm.tools.main as m; m.main(['--help']); sys.exit('mlir_gemm.dialect' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


@pytest.mark.parametrize("name", mlir_gemm.__all__)
def test_public_name_resolves(name: str):
    assert getattr(mlir_gemm, name) is not None


def test_unknown_public_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        mlir_gemm.nonsense  # noqa: B018


@pytest.mark.parametrize("package", PACKAGES)
def test_files_stay_short(package: str):
    lengths = {path: len(path.read_text().splitlines()) for path in (ROOT / package).rglob("*.py")}
    assert {path.name: lines for path, lines in lengths.items() if lines > MOST_LINES} == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_imports_and_says_what_it_is_for(package: str):
    for path in (ROOT / package).rglob("*.py"):
        if path.stem == "__init__" and not path.read_text():
            continue
        parts = path.relative_to(ROOT).with_suffix("").parts
        names = parts if package == "mlir_gemm" else ("mlir_gemm", *parts)
        module = importlib.import_module(".".join(name for name in names if name != "__init__"))
        assert module.__doc__, path


def test_every_folder_of_modules_is_a_package_that_is_installed():
    """An editable installation finds a folder that is no package; a wheel would lack it."""
    folders = {path.parent.relative_to(ROOT) for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    prefix = {folder: "" if folder.parts[0] == "mlir_gemm" else "mlir_gemm." for folder in folders}
    expected = {prefix[folder] + ".".join(folder.parts): folder.as_posix() for folder in folders}
    assert runpy.run_path(str(ROOT / "setup.py"))["folders"]() == expected
    assert [folder for folder in sorted(folders) if not (ROOT / folder / "__init__.py").is_file()] == []


@pytest.mark.parametrize("module", PASSES)
@pytest.mark.parametrize("suffix", ["", "-refuses"])
def test_pass_has_lit_tests(module: str, suffix: str):
    assert (ROOT / "test" / "passes" / f"{module.replace('_', '-')}{suffix}.mlir").is_file()


def test_lit_tests_belong_to_passes():
    """A file of test/passes that is named like a pass's own, but of a pass that is gone, tests nothing."""
    refusals = {path.stem.removesuffix("-refuses") for path in (ROOT / "test" / "passes").glob("*-refuses.mlir")}
    assert refusals <= {module.replace("_", "-") for module in PASSES}


def test_every_file_of_the_stages_folders_is_a_pass():
    """By its name alone: no list has to know of it."""
    files = {path.stem.replace("_", "-") for path in (ROOT / "passes").glob("*/*.py")} - {"--init--"}
    asking = {
        path.stem.replace("_", "-")
        for pattern in ("pin_*.py", "select_*.py", "share_*.py", "order_*.py")
        for path in (ROOT / "pipeline" / "selection").glob(pattern)
    }
    assert files | asking == set(names()) and len(names()) == len(set(names()))
    assert {path.name for path in (ROOT / "passes").iterdir() if path.suffix} == {"__init__.py", "base.py"}
    for name in names():
        assert pass_class(name).name == name
        assert issubclass(pass_class(name), Pass)


def test_passes_are_listed_stage_by_stage_and_in_each_by_name():
    assert list(modules()) == list(ALL_STAGES)
    assert all(list(found) == sorted(found) for found in modules().values())
    assert {stage for stage, found in modules().items() if not found} == {"ptx", "spv", "isa"}


def test_listing_names_imports_no_pass():
    program = (
        "import sys, mlir_gemm.pipeline.registry as r; assert 'tile-loops' in r.names();"
        "sys.exit(any(m in sys.modules for found in r.modules().values() for m in found.values()))"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_the_way_that_cmake_starts_lit_starts_it():
    *_, command = re.findall(r'EXECUTABLE\}" -c "([^"]*)"', (ROOT / "CMakeLists.txt").read_text())
    done = subprocess.run([sys.executable, "-c", command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("lit ")
