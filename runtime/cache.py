"""Compiled kernels and programs, kept in memory and on disk under a hash of everything that went into them.

On disk an entry is a JSON file, and the data of its constants a file beside it, once for all entries with the same
data (`cache_files`). An entry that is damaged, or that another version wrote, counts as absent; where the cache cannot
be written, nothing is kept and nothing fails. The MLIR bindings are not imported here: a kernel found in the cache
needs none.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import hashlib
import importlib.util
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlir_gemm
from mlir_gemm.runtime import cache_files
from mlir_gemm.runtime.cache_files import VARIABLE, cache_directory
from mlir_gemm.spec import extensions
from mlir_gemm.spec.kernel_record import KernelRecord
from mlir_gemm.spec.launch import Constant, Launch

__all__ = ["VARIABLE", "Artifact", "cache_directory", "find", "forget", "keep", "key"]

_FORMAT = 4
_COMPILER_PARTS = ("spec", "parts", "dialect", "lowering", "passes", "tile_model", "pipeline")
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
    code: bytes = b""
    """The code of chips whose back end makes another than PTX; `ptx` is empty then."""
    divisors: Mapping[str, int] | None = None
    """Of text that was saved when its sizes had been decided on: what those known at run time must be multiples of."""

    def to_json(self) -> dict[str, Any]:
        """The same as plain data; of constants, the size and the SHA-256 of their data."""
        bare = tuple(dataclasses.replace(constant, data=b"") for constant in self.launch.constants)
        return {
            "chip": self.chip,
            "ptx": self.ptx,
            "code": base64.b64encode(self.code).decode(),
            "kernels": [kernel.to_json() for kernel in self.kernels],
            "launch": dataclasses.replace(self.launch, constants=bare).to_json(),
            "constants": [[len(each.data), cache_files.sha256(each.data)] for each in self.launch.constants],
            "stages": list(self.stages),
            "divisors": None if self.divisors is None else dict(self.divisors),
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Artifact:
        """What `to_json` gave, after a trip through JSON, with the data of its constants. Raises KeyError, TypeError or
        ValueError for other data, and where that of a constant is not there."""
        launch = Launch.from_json(data["launch"])
        constants = tuple(
            dataclasses.replace(constant, data=_data(digest, size))
            for constant, (size, digest) in zip(launch.constants, data["constants"], strict=True)
        )
        return Artifact(
            chip=data["chip"],
            ptx=data["ptx"],
            code=base64.b64decode(data["code"]),
            kernels=tuple(KernelRecord.from_json(kernel) for kernel in data["kernels"]),
            launch=dataclasses.replace(launch, constants=constants),
            stages=tuple(data["stages"]),
            divisors=data["divisors"],
        )


_in_memory: dict[str, Artifact] = {}
_data_in_memory: dict[str, bytes] = {}
"""Data of constants by its SHA-256: once for all entries."""


def key(
    source: str,
    filename: str,
    chip: str | None,
    schedule: Mapping[str, Any] | None,
    variant: Mapping[str, Any] | None = None,
) -> str:
    """Hash of everything that a compilation depends on: its inputs, this package, its sources, and the bindings."""
    parts = [
        _digest(source), filename, chip, dict(schedule) if schedule else None, dict(variant or {}),
        compiler_fingerprint(), extensions.fingerprint(),
    ]  # fmt: skip
    return _digest(json.dumps(parts, sort_keys=True))


def find(entry: str) -> Artifact | None:
    """The kernel with that key, from memory or disk. Raises InputError for a limit that is not a size."""
    cache_files.limit()  # before anything is compiled
    artifact = _in_memory.get(entry)
    if artifact is None:
        artifact = _read(entry)
        if artifact is not None:
            _in_memory[entry] = artifact
    return artifact


def keep(entry: str, artifact: Artifact) -> Artifact:
    """Keeps a kernel in memory, and on disk where that is possible. Gives the kernel that was kept: its constants share
    their data with those of others."""
    constants = tuple(_shared(constant) for constant in artifact.launch.constants)
    artifact = dataclasses.replace(artifact, launch=dataclasses.replace(artifact.launch, constants=constants))
    _in_memory[entry] = artifact
    if cache_directory() is None:
        return artifact
    kernel = artifact.to_json()
    text = json.dumps(kernel, sort_keys=True)
    content = json.dumps({"format": _FORMAT, "digest": _digest(text), "kernel": kernel}, sort_keys=True)
    data = {f"{digest}.bin": each.data for each, (_, digest) in zip(constants, kernel["constants"], strict=True)}
    cache_files.write({**data, f"{entry}.json": content.encode()})
    return artifact


def forget() -> None:
    """Empties the cache in memory."""
    _in_memory.clear()
    _data_in_memory.clear()


def _shared(constant: Constant) -> Constant:
    digest = cache_files.sha256(constant.data)
    return dataclasses.replace(constant, data=_data_in_memory.setdefault(digest, constant.data))


def _data(digest: str, size: int) -> bytes:
    """The data of a constant, from memory or disk. Raises KeyError."""
    data = _data_in_memory.get(digest)
    if data is None:
        data = cache_files.read_data(digest, size)
        if data is None:
            raise KeyError(digest)
        _data_in_memory[digest] = data
    return data


@functools.cache
def compiler_fingerprint() -> str:
    """Identifies the compiler itself: its version, the contents of its sources, and the bindings it will use."""
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
    """What tells installations apart: the names of the metadata folders beside the package, which hold the
    version (`importlib.metadata` would take 20 ms to import), and when it was installed."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return "absent"
    folder = Path(next(iter(spec.submodule_search_locations)))
    metadata = sorted(folder.parent.glob(f"{package}*.dist-info"))
    installed = (metadata[-1] if metadata else folder).stat().st_mtime_ns  # folders of code change when it is compiled
    return f"{[path.name for path in metadata]}, of {installed}"


def _read(entry: str) -> Artifact | None:
    text = cache_files.read(f"{entry}.json")
    if text is None:
        return None
    try:
        content = json.loads(text)
        kernel = content["kernel"]
        if content["format"] != _FORMAT or content["digest"] != _digest(json.dumps(kernel, sort_keys=True)):
            return None
        return Artifact.from_json(kernel)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=20).hexdigest()
