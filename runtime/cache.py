"""Compiled kernels and programs, kept in memory and on disk under a hash of everything that went into them.

On disk an entry is one JSON file in `$MLIR_GEMM_CACHE`, or `~/.cache/mlir-gemm`; `MLIR_GEMM_CACHE=off` turns the disk
off. An entry that is damaged, or that another version wrote, counts as absent; where the cache cannot be written,
nothing is kept and nothing fails. The MLIR bindings are not imported here: a kernel found in the cache needs none.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import json
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlir_gemm
from mlir_gemm.pipeline.kernel_record import KernelRecord
from mlir_gemm.pipeline.launch import Launch

VARIABLE = "MLIR_GEMM_CACHE"
_FORMAT = 2
_COMPILER_PARTS = ("dialect", "passes", "operators", "pipeline", "tile_model")
_BINDINGS = ("mlir", "numba_cuda_mlir")
"""Packages that may hold the bindings."""


@dataclass(frozen=True)
class Artifact:
    """What was compiled, as data: all that a call needs, and what a user may ask of it."""

    chip: str
    ptx: str
    kernels: tuple[KernelRecord, ...]
    launch: Launch
    stages: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "chip": self.chip,
            "ptx": self.ptx,
            "kernels": [kernel.to_json() for kernel in self.kernels],
            "launch": self.launch.to_json(),
            "stages": list(self.stages),
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Artifact:
        """What `to_json` gave, after a trip through JSON. Raises KeyError, TypeError or ValueError for other data."""
        return Artifact(
            chip=data["chip"],
            ptx=data["ptx"],
            kernels=tuple(KernelRecord.from_json(kernel) for kernel in data["kernels"]),
            launch=Launch.from_json(data["launch"]),
            stages=tuple(data["stages"]),
        )


_in_memory: dict[str, Artifact] = {}


def key(
    source: str,
    filename: str,
    chip: str | None,
    schedule: Mapping[str, Any] | None,
    variant: Mapping[str, Any] | None = None,
) -> str:
    """Hash of everything that a compilation depends on: its inputs, this package, its sources, and the bindings."""
    parts = [source, filename, chip, dict(schedule) if schedule else None, dict(variant or {}), compiler_fingerprint()]
    return _digest(json.dumps(parts, sort_keys=True))


def find(entry: str) -> Artifact | None:
    """The kernel with that key, from memory or disk."""
    artifact = _in_memory.get(entry)
    if artifact is None:
        artifact = _read(entry)
        if artifact is not None:
            _in_memory[entry] = artifact
    return artifact


def keep(entry: str, artifact: Artifact) -> None:
    """Keeps a kernel in memory, and on disk where that is possible."""
    _in_memory[entry] = artifact
    directory = cache_directory()
    if directory is None:
        return
    text = json.dumps(artifact.to_json(), sort_keys=True)
    content = json.dumps({"format": _FORMAT, "digest": _digest(text), "kernel": json.loads(text)}, sort_keys=True)
    with contextlib.suppress(OSError):
        directory.mkdir(parents=True, exist_ok=True)
        _write(directory / f"{entry}.json", content)


def forget() -> None:
    """Empties the cache in memory."""
    _in_memory.clear()


def cache_directory() -> Path | None:
    """Where entries lie on disk; None when the disk is turned off or there is no home."""
    setting = os.environ.get(VARIABLE, "").strip()
    if setting.lower() == "off":
        return None
    try:
        return Path(setting).expanduser() if setting else Path.home() / ".cache" / "mlir-gemm"
    except RuntimeError:  # no home directory
        return None


@functools.cache
def compiler_fingerprint() -> str:
    """Stands for the compiler itself: its version, the contents of its sources, and the bindings it will use."""
    digest = hashlib.blake2b(mlir_gemm.__version__.encode(), digest_size=20)
    for part in _COMPILER_PARTS:
        for name, file in _sources(f"mlir_gemm.{part}"):
            digest.update(f"{part}/{name}\0".encode())
            digest.update(file.read_bytes())
    for package in _BINDINGS:
        digest.update(f"{package} {_version(package)}\0".encode())
    return digest.hexdigest()


def _sources(package: str) -> Iterator[tuple[str, Path]]:
    """The modules of a package and its subpackages, by their paths inside it."""
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        files = sorted(Path(folder).glob("**/*.py"))
        yield from ((file.relative_to(folder).as_posix(), file) for file in files)


def _version(package: str) -> str:
    """What tells one installation from the next: the names of the metadata folders beside the package, which hold the
    version (`importlib.metadata` would take 20 ms to import), and when it was installed."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return "absent"
    folder = Path(next(iter(spec.submodule_search_locations)))
    versions = sorted(path.name for path in folder.parent.glob(f"{package}*.dist-info"))
    return f"{versions}, of {folder.stat().st_mtime_ns}"


def _read(entry: str) -> Artifact | None:
    directory = cache_directory()
    if directory is None:
        return None
    try:
        content = json.loads((directory / f"{entry}.json").read_text(encoding="utf-8"))
        kernel = content["kernel"]
        if content["format"] != _FORMAT or content["digest"] != _digest(json.dumps(kernel, sort_keys=True)):
            return None
        return Artifact.from_json(kernel)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _write(path: Path, content: str) -> None:
    """Writes a file in one step: a reader sees all of it or none, whoever else writes it too."""
    temporary = path.with_name(f".{path.stem}-{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        temporary.write_text(content, encoding="utf-8")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=20).hexdigest()
