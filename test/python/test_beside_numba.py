"""The bindings come out of numba-cuda-mlir: its compiler and ours work in one process, whichever is imported first."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mlir_gemm.dialect.deferred_package import defer, later

ROOT = Path(__file__).parents[2]

PROCESS = """
import hashlib, inspect, sys

def show(what, text):
    print(what, hashlib.sha256(text.encode()).hexdigest())

def ours():
    import mlir_gemm
    from mlir_gemm.runtime import cache
    cache.forget()
    for chip in ("sm_80", "sm_90a"):
        show(chip, mlir_gemm.compile("examples/torch_linear_gelu.mlir", chip=chip).ptx)
    inspect.stack()  # looks through sys.modules

def numba():
    import numba_cuda_mlir
    import numba_cuda_mlir._mlir.ir
    import numba_cuda_mlir.types
    from numba_cuda_mlir import cuda, tools, types
    assert types is sys.modules["numba_cuda_mlir.types"] is numba_cuda_mlir.types
    tools._cached_cc = (9, 0)  # it would ask a GPU and NVRTC
    tools.get_cuda_runtime_version = lambda: (13, 0)
    def add(a, b):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = a[i] + b[i]
    show(f"numba {numba_cuda_mlir.__version__}", cuda.compile_mlir(add, types.void(types.float32[:], types.float32[:])))
    bindings = sys.modules.get("mlir_gemm.dialect.bindings")
    assert bindings is None or bindings.ir is numba_cuda_mlir._mlir.ir

for name in sys.argv[1:]:
    print(name)
    globals()[name]()
    print("with Numba's compiler" if "numba_cuda_mlir.compiler" in sys.modules else "without Numba's compiler")
"""


def _turns(*order: str) -> list[str]:
    """What each turn has made, in a process of its own."""
    environment = {**os.environ, "MLIR_GEMM_CACHE": "off"}
    command = [sys.executable, "-c", PROCESS, *order]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    turns: list[str] = []
    for line in done.stdout.splitlines():
        if line in ("ours", "numba"):
            turns.append("")
        else:
            turns[-1] += line + "\n"
    return turns


@pytest.mark.skipif(importlib.util.find_spec("mlir") is not None, reason="the official bindings are used")
def test_both_compilers_work_in_one_process_in_either_order() -> None:
    alone, numba, after = _turns("ours", "numba", "ours")
    assert "without Numba's compiler" in alone
    assert after == alone.replace("without", "with")
    assert _turns("numba", "ours") == [numba, after]


# A package of our own making, put off in this process.


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "outer_package"
    (folder / "inner" / "deep").mkdir(parents=True)
    (folder / "__init__.py").write_text("from outer_package import other\nfrom outer_package.inner import one\nx = 7\n")
    (folder / "other.py").write_text("__import__('sys').ran = getattr(__import__('sys'), 'ran', 0) + 1\n")
    (folder / "inner" / "one.py").write_text("from . import two\nfrom .deep.three import three\n")
    (folder / "inner" / "two.py").write_text("")
    (folder / "inner" / "deep" / "three.py").write_text("three = object()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "ran", 0, raising=False)
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "outer_package"]:
        del sys.modules[name]


def _ran() -> int:
    ran: int = getattr(sys, "ran", 0)
    return ran


@pytest.mark.parametrize(
    "use",
    [
        "import outer_package; assert outer_package.x == 7",
        "import outer_package.other; assert outer_package.other and outer_package.x == 7",
        "from outer_package import other, x; assert x == 7",
        "import outer_package as o; assert 'x' in dir(o); o.x = 8; import outer_package; assert outer_package.x == 8",
    ],
)
def test_a_package_put_off_runs_when_it_is_used(package: Path, use: str) -> None:
    assert defer("outer_package", "inner")
    one: Any = importlib.import_module("outer_package.inner.one")
    stand_in = sys.modules["outer_package"]
    assert not hasattr(stand_in, "__wrapped__") and stand_in.__file__ == str(package / "__init__.py")
    exec("import outer_package.inner.two; assert outer_package.inner.two", {})
    assert _ran() == 0
    for _ in range(2):
        exec(use, {})
        assert _ran() == 1
    real: Any = sys.modules["outer_package"]
    assert real is not stand_in and real.inner.one is one and stand_in.inner.one is one
    assert importlib.import_module("outer_package.inner.deep.three").three is one.three


def test_a_package_that_does_not_import_says_so_when_it_is_used(package: Path) -> None:
    (package / "other.py").write_text("raise ImportError('broken')\n")
    assert defer("outer_package", "inner")
    for _ in range(2):
        with pytest.raises(ImportError, match="broken"):
            exec("from outer_package import x", {})
        assert importlib.import_module("outer_package.inner.one").three


def test_a_package_that_is_loaded_or_missing_is_left_alone(package: Path) -> None:
    assert not defer("outer_package", "absent") and not defer("no_such_package", "inner")
    loaded = importlib.import_module("outer_package")
    assert defer("outer_package", "inner")
    assert sys.modules["outer_package"] is loaded and _ran() == 1


def test_a_module_put_off_in_one_place_is_loaded_when_it_is_used_there(package: Path) -> None:
    with later("outer_package"):
        held: Any = importlib.import_module("outer_package")
    assert "outer_package" not in sys.modules and _ran() == 0
    assert held.x == 7 and _ran() == 1
    assert importlib.import_module("outer_package") is not held
    with later("outer_package"):
        assert importlib.import_module("outer_package") is sys.modules["outer_package"] is not held
    assert held.x == 7 and _ran() == 1
