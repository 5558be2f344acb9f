"""What ptxas says of a kernel: registers, spills and static shared memory. Nothing in a compilation depends on it."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

_PACKAGED = ("cu13/bin/ptxas", "cuda_nvcc/bin/ptxas")
"""Where PyPI's nvidia-cuda-nvcc (13, sm_75 and later) and nvidia-cuda-nvcc-cu12 (sm_70 too) put it, under nvidia/."""


@dataclass(frozen=True)
class Usage:
    """What one thread (registers, spills) and one block (static shared memory) of a kernel take, in bytes but for
    the registers."""

    registers: int
    spill_bytes: int
    shared_bytes: int


def usage(ptx: str, chip: str) -> Usage | None:
    """The resources that `ptx` takes on `chip`, or None when no ptxas is installed that knows the chip."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "kernel.ptx")
        source.write_text(ptx)
        for program in _programs():
            command = [program, "-v", f"--gpu-name={chip}", "-o", str(source.with_suffix(".cubin")), str(source)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return _parse(done.stdout + done.stderr)
    return None


def _programs() -> list[str]:
    spec = importlib.util.find_spec("nvidia")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    packaged = [str(Path(folder, name)) for folder in folders for name in _PACKAGED]
    on_path = shutil.which("ptxas")
    return [*filter(shutil.which, packaged), *([on_path] if on_path else [])]


def _parse(text: str) -> Usage:
    def number(pattern: str) -> int:
        return sum(map(int, re.findall(pattern, text)))

    return Usage(number(r"Used (\d+) registers"), number(r"(\d+) bytes spill stores"), number(r"(\d+) bytes smem"))
