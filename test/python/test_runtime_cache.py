"""Compiled kernels in memory and on disk."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from runtime_fakes import TEXT, Compiler

import mlir_gemm
from mlir_gemm.errors import InputError
from mlir_gemm.runtime import cache

# The caches.


def _entries(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache").glob("*"))


def test_a_kernel_is_found_again(compiler: Compiler, tmp_path: Path) -> None:
    first = mlir_gemm.compile(TEXT, chip="sm_80", schedule="stages=2")
    mlir_gemm.compile(TEXT, chip="sm_80", schedule="stages=2")  # in memory
    cache.forget()
    again = mlir_gemm.compile(TEXT, chip="sm_80", schedule="stages=2")  # on disk
    assert len(compiler.calls) == 1
    assert again._variant.artifact == first._variant.artifact
    assert [path.suffix for path in _entries(tmp_path)] == [".json"]


def test_everything_that_goes_in_is_in_the_key(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    mlir_gemm.compile(TEXT, chip="sm_80")
    mlir_gemm.compile(TEXT + " ", chip="sm_80")
    mlir_gemm.compile(TEXT, chip="sm_90")
    mlir_gemm.compile(TEXT, chip="sm_80", schedule="stages=2")
    monkeypatch.setattr(cache, "compiler_fingerprint", lambda: "another compiler")
    mlir_gemm.compile(TEXT, chip="sm_80")
    assert len(compiler.calls) == 5


def test_the_fingerprint_covers_the_folders_of_a_part() -> None:
    names = {name for name, _ in cache._sources("mlir_gemm.dialect")}
    assert {"tile.py", "linalg/products.py", "copies/pieces.py"} <= names


def test_the_fingerprint_knows_the_sources_and_the_bindings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("a = 1")
    monkeypatch.setattr(cache, "_sources", lambda package: iter([("a.py", tmp_path / "a.py")]))
    cached = cache.compiler_fingerprint
    seen = {cached.__wrapped__()}
    (tmp_path / "a.py").write_text("a = 2")
    seen.add(cached.__wrapped__())
    monkeypatch.setattr(cache, "_version", lambda package: "99")
    seen.add(cached.__wrapped__())
    monkeypatch.setattr(mlir_gemm, "__version__", "99")
    seen.add(cached.__wrapped__())
    assert len(seen) == 4


def test_ir_is_compiled_again_when_the_kernel_came_from_the_cache(compiler: Compiler) -> None:
    assert mlir_gemm.compile(TEXT, chip="sm_80").ir("tile") == "// after tile"
    assert len(compiler.calls) == 1
    again = mlir_gemm.compile(TEXT, chip="sm_80")
    assert again.ir("tile") == again.ir("tile") == "// after tile"
    assert len(compiler.calls) == 2
    with pytest.raises(InputError, match="no stage 'tiles'; the stages are import, tile"):
        again.ir("tiles")


def _flip(text: str) -> str:
    return text.replace("// sm_80", "// sm_81")


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: "[]",
        lambda text: "null",
        lambda text: "{}",
        _flip,
        lambda text: text.replace('"format": 4', '"format": 3'),
        lambda text: text.replace("inout", "\udcff"),
    ],
)
def test_a_damaged_entry_counts_as_absent(compiler: Compiler, tmp_path: Path, damage: Any) -> None:
    first = mlir_gemm.compile(TEXT, chip="sm_80")
    (entry,) = _entries(tmp_path)
    whole = entry.read_text()
    entry.write_text(damage(whole), errors="surrogateescape")
    cache.forget()
    assert mlir_gemm.compile(TEXT, chip="sm_80")._variant.artifact == first._variant.artifact
    assert len(compiler.calls) == 2
    assert entry.read_text() == whole


def test_an_entry_with_fields_of_another_version(compiler: Compiler, tmp_path: Path) -> None:
    mlir_gemm.compile(TEXT, chip="sm_80")
    (entry,) = _entries(tmp_path)
    content = json.loads(entry.read_text())
    content["kernel"]["kernels"][0]["schedule"]["wings"] = 2
    content["digest"] = cache._digest(json.dumps(content["kernel"], sort_keys=True))
    entry.write_text(json.dumps(content))
    cache.forget()
    mlir_gemm.compile(TEXT, chip="sm_80")
    assert len(compiler.calls) == 2


def test_a_cache_that_cannot_be_written_is_no_error(
    compiler: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "file" / "below"))
    assert mlir_gemm.compile(TEXT, chip="sm_80").ptx == "// sm_80"


def test_the_disk_can_be_turned_off(compiler: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.VARIABLE, "off")
    monkeypatch.setenv("HOME", str(tmp_path))
    mlir_gemm.compile(TEXT, chip="sm_80")
    cache.forget()
    mlir_gemm.compile(TEXT, chip="sm_80")
    assert len(compiler.calls) == 2
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setenv(cache.VARIABLE, "")
    assert cache.cache_directory() == tmp_path / ".cache" / "mlir-gemm"


def test_many_writers_of_one_entry(compiler: Compiler, tmp_path: Path) -> None:
    artifact = mlir_gemm.compile(TEXT, chip="sm_80")._variant.artifact
    seen: list[Any] = []

    def work() -> None:
        for _ in range(20):
            cache.keep("entry", artifact)
            seen.append(cache._read("entry"))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [artifact] * 80
    assert len(_entries(tmp_path)) == 2  # no temporary file stays


def test_a_hit_needs_neither_the_bindings_nor_numpy(compiler: Compiler, tmp_path: Path) -> None:
    mlir_gemm.compile(TEXT, chip="sm_80")
    program = (
        "import sys\n"
        "before = set(sys.modules)\n"  # cuda-bindings 12.9 has Python import a module of theirs at the start
        "import mlir_gemm\n"
        f"kernel = mlir_gemm.compile({TEXT!r}, chip='sm_80')\n"
        "assert kernel.ptx == '// sm_80'\n"
        "heavy = ('mlir.', 'numba_cuda_mlir', 'numpy', 'cuda')\n"
        "heavy = [name for name in set(sys.modules) - before if name.startswith(heavy)]\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
