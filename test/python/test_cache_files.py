"""The files of the cache: weights once for all variants, a limit, the platform's folder, and the command `cache`."""

# ruff: noqa: F401 - fixtures are imported

from __future__ import annotations

import dataclasses
import hashlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import SMALL, run_main
from runtime_fakes import IN_PLACE, TEXT, Compiler

import mlir_gemm
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.errors import InputError
from mlir_gemm.runtime import cache, cache_files
from mlir_gemm.spec.launch import Constant

WEIGHTS = Constant("w", (4, 256), "f32", np.arange(1024, dtype=np.float32).tobytes())
DIGEST = hashlib.sha256(WEIGHTS.data).hexdigest()


@pytest.fixture
def weighty(compiler: Compiler) -> Compiler:
    """The stand-in of the compiler, for a program with weights."""
    compiler.launch = dataclasses.replace(IN_PLACE, constants=(WEIGHTS,))
    return compiler


def _files(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache").iterdir())


def _sizes(tmp_path: Path) -> int:
    return sum(path.stat().st_size for path in _files(tmp_path))


def test_weights_are_stored_once_for_all_variants(weighty: Compiler, tmp_path: Path) -> None:
    made = [mlir_gemm.compile(TEXT, chip=chip) for chip in ("sm_80", "sm_90")]
    entries = [path for path in _files(tmp_path) if path.suffix == ".json"]
    (data,) = (path for path in _files(tmp_path) if path.suffix == ".bin")
    assert len(entries) == 2
    assert (data.name, data.read_bytes()) == (f"{DIGEST}.bin", WEIGHTS.data)
    assert all(path.stat().st_size < len(WEIGHTS.data) for path in entries)
    first, second = (kernel.launch.constants[0].data for kernel in made)
    assert first is second
    cache.forget()
    found = [mlir_gemm.compile(TEXT, chip=chip) for chip in ("sm_80", "sm_90")]
    assert len(weighty.calls) == 2
    assert found[0].launch == made[0].launch
    assert found[0].launch.constants[0].data is found[1].launch.constants[0].data


@pytest.mark.parametrize("damage", [None, b"", b"\0" * len(WEIGHTS.data)])
def test_damaged_or_missing_weights_are_made_again(weighty: Compiler, tmp_path: Path, damage: bytes | None) -> None:
    mlir_gemm.compile(TEXT, chip="sm_80")
    path = tmp_path / "cache" / f"{DIGEST}.bin"
    path.unlink() if damage is None else path.write_bytes(damage)
    cache.forget()
    assert mlir_gemm.compile(TEXT, chip="sm_80").launch.constants == (WEIGHTS,)
    assert len(weighty.calls) == 2
    assert path.read_bytes() == WEIGHTS.data
    cache.forget()
    mlir_gemm.compile(TEXT, chip="sm_80")
    assert len(weighty.calls) == 2


def test_many_writers_of_the_same_weights(weighty: Compiler, tmp_path: Path) -> None:
    artifact = mlir_gemm.compile(TEXT, chip="sm_80")._variant.artifact
    seen: list[Any] = []

    def work(number: int) -> None:
        for _ in range(10):
            cache.keep(f"{number:040x}", artifact)
            seen.append(cache._read(f"{number:040x}"))

    threads = [threading.Thread(target=work, args=(number % 2,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [artifact] * 40
    assert {path.suffix for path in _files(tmp_path)} == {".json", ".bin"}  # no temporary file stays


def _used(tmp_path: Path, name: str, size: int, hours_ago: float) -> Path:
    path = tmp_path / "cache" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"x" * size)
    when = time.time() - 3600 * hours_ago
    os.utime(path, (when, when))
    return path


def test_what_was_used_longest_ago_goes(compiler: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache_files.LIMIT_VARIABLE, "40K")
    names = [f"{number:040x}.json" for number in range(4)]
    old = [_used(tmp_path, name, 10_000, 4 - number) for number, name in enumerate(names)]
    shared = _used(tmp_path, f"{0:064x}.bin", 10_000, 9)
    foreign = _used(tmp_path, "notes.json", 100_000, 99)
    abandoned = _used(tmp_path, f".{0:040x}-1-2.tmp", 10, 2)
    writing = _used(tmp_path, f".{1:040x}-1-2.tmp", 10, 0.1)
    cache_files.read(old[0].name)  # counts as used
    mlir_gemm.compile(TEXT, chip="sm_80")
    assert foreign.exists() and writing.exists() and not abandoned.exists()
    assert not shared.exists()
    assert [path.exists() for path in old] == [True, False, True, True]
    assert _sizes(tmp_path) - 100_000 <= 40 << 10
    cache.forget()
    mlir_gemm.compile(TEXT, chip="sm_80")
    assert len(compiler.calls) == 1


def test_what_is_larger_than_the_limit_is_not_kept(
    weighty: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = _used(tmp_path, f"{1:040x}.json", 100, 1)
    monkeypatch.setenv(cache_files.LIMIT_VARIABLE, "4000")
    assert mlir_gemm.compile(TEXT, chip="sm_80").launch.constants == (WEIGHTS,)
    assert _files(tmp_path) == [kept]


@pytest.mark.parametrize(
    ("text", "size"),
    [("", 2 << 30), ("0", 0), ("500", 500), ("1.5K", 1536), ("10 MB", 10 << 20), ("2GiB", 2 << 30), ("1t", 1 << 40)],
)
def test_limit(text: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache_files.LIMIT_VARIABLE, text)
    assert cache_files.limit() == size


def test_a_limit_that_is_no_size_is_refused_before_anything_is_compiled(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(cache_files.LIMIT_VARIABLE, "lots")
    with pytest.raises(InputError, match="MLIR_GEMM_CACHE_LIMIT=lots: expected a size such as 500M or 2G"):
        mlir_gemm.compile(TEXT, chip="sm_80")
    assert compiler.calls == []


def test_a_full_disk_is_no_error(weighty: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> int:
        with path.open("wb") as file:
            file.write(content[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert mlir_gemm.compile(TEXT, chip="sm_80").launch.constants == (WEIGHTS,)
    assert _files(tmp_path) == []


@pytest.mark.skipif(sys.platform != "linux", reason="XDG is for Linux")
def test_the_folder_is_the_platforms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(cache_files.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_files.cache_directory() == tmp_path / "mlir-gemm"
    monkeypatch.setenv(cache_files.VARIABLE, str(tmp_path / "mine"))
    assert cache_files.cache_directory() == tmp_path / "mine"


def test_the_command_shows_and_empties_it(
    weighty: Compiler, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    status, out, err = run_main(capsys, "cache", "info")
    assert (status, err) == (0, "")
    assert "oldest" not in out
    mlir_gemm.compile(TEXT, chip="sm_80")
    mlir_gemm.compile(TEXT, chip="sm_90")
    foreign = _used(tmp_path, "notes.txt", 1, 0)
    status, out, err = run_main(capsys, "cache", "info")
    assert (status, err) == (0, "")
    rows = {name: value for name, _, value in (line.partition(":") for line in out.splitlines())}
    assert rows["folder"].strip() == str(tmp_path / "cache")
    assert [rows[name].strip() for name in ("kernels", "constants", "limit")] == ["2", "1", "2.0 GiB"]
    assert "KiB" in rows["size"] and "last used 20" in rows["oldest"]
    status, out, err = run_main(capsys, "cache", "clear")
    assert (status, err) == (0, "")
    assert out.startswith("removed 3 files, ")
    assert _files(tmp_path) == [foreign]
    monkeypatch.setenv(cache_files.VARIABLE, "off")
    assert run_main(capsys, "cache", "clear") == (0, "the cache on disk is off\n", "")
    assert "off" in run_main(capsys, "cache", "info")[1]
    assert run_main(capsys, "cache", "fill")[0] == 2


def test_a_module_object_costs_no_more_than_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text of an object has the places of its operations, and so many more brackets than the user's: what looked at
    every character of the weights then took five times as long."""
    monkeypatch.setenv("MLIR_GEMM_CACHE", "off")
    size = 1024
    data = np.random.default_rng(0).standard_normal((2 * size, size), dtype=np.float32)
    unused = "\n".join(f"  %s{n} = arith.constant {n}.0 : f32" for n in range(150))
    text = f"""func.func @f(%x: tensor<4x{2 * size}xf32>) -> tensor<4x{size}xf32> {{
  %w = arith.constant dense<"0x{data.tobytes().hex()}"> : tensor<{2 * size}x{size}xf32>
{unused}
  %e = tensor.empty() : tensor<4x{size}xf32>
  %i = linalg.fill ins(%s0 : f32) outs(%e : tensor<4x{size}xf32>) -> tensor<4x{size}xf32>
  %r = linalg.matmul ins(%x, %w : tensor<4x{2 * size}xf32>, tensor<{2 * size}x{size}xf32>)
                     outs(%i : tensor<4x{size}xf32>) -> tensor<4x{size}xf32>
  return %r : tensor<4x{size}xf32>
}}
"""
    with ir.Context():
        module = ir.Module.parse(text)

    def seconds(source: Any) -> float:
        cache.forget()
        start = time.process_time()
        mlir_gemm.compile(source, chip="sm_80")
        return time.process_time() - start

    mlir_gemm.compile(SMALL, chip="sm_80")  # imports what both need
    as_text, as_object = seconds(text), seconds(module)
    assert as_object < 2 * as_text
