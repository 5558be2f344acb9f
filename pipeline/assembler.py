"""From PTX to machine code with ptxas, and what it says of a kernel: registers, spills, static shared memory."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mlir_gemm.errors import TargetError

_PACKAGED = ("cu13/bin/ptxas", "cuda_nvcc/bin/ptxas")
"""Where PyPI's nvidia-cuda-nvcc (13, sm_75 and later) and nvidia-cuda-nvcc-cu12 (sm_70 too) put it, under nvidia/."""


@dataclass(frozen=True)
class Usage:
    """What one thread (registers, spills) and one block (static shared memory) of a kernel take, in bytes but for
    the registers."""

    registers: int
    spill_bytes: int
    shared_bytes: int
    warnings: tuple[str, ...] = ()
    """What ptxas warns of, and what it remarks by number, such as `(C7517) wgmma.wait_group is injected ...`."""


def usage(ptx: str, chip: str) -> Usage | None:
    """The resources that the one kernel of `ptx` takes on `chip`, or None when no ptxas is installed that knows the
    chip."""
    found = usages(ptx, chip)
    return next(iter(found.values())) if found else None


def usages(ptx: str, chip: str) -> dict[str, Usage] | None:
    """The same of every kernel, by its entry."""
    done = _assemble(ptx, chip)
    return done[1] if done else None


def find_cubin(ptx: str, chip: str) -> bytes | None:
    """The machine code of `ptx` for `chip`, or None when no ptxas is installed that knows the chip."""
    done = _assemble(ptx, chip)
    return done[0] if done else None


def cubin(ptx: str, chip: str) -> bytes:
    """The machine code of `ptx` for `chip`. Raises TargetError when no ptxas is installed that knows the chip."""
    code = find_cubin(ptx, chip)
    if code is None:
        raise TargetError(
            f"making a cubin for {chip} needs ptxas, and none was found that knows the chip: "
            "pip install nvidia-cuda-nvcc (sm_75 and later) or nvidia-cuda-nvcc-cu12 (sm_70), or put ptxas on the PATH"
        )
    return code


def disassembled(ptx: str, chip: str) -> str | None:
    """The machine code of `ptx` for `chip` as text, or None without a ptxas that knows the chip and nvdisasm."""
    program, code = disassembler(), find_cubin(ptx, chip)
    if program is None or code is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.cubin")
        path.write_bytes(code)
        done = subprocess.run([program, "-c", str(path)], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def disassembler() -> str | None:
    """nvdisasm: PyPI's nvidia-cuda-nvdisasm, or one on the PATH."""
    packaged = [path for folder in _folders() for path in Path(folder).glob("*/bin/nvdisasm")]
    return str(packaged[0]) if packaged else shutil.which("nvdisasm")


def _folders() -> list[str]:
    """Where PyPI's packages of NVIDIA are."""
    spec = importlib.util.find_spec("nvidia")
    return list(spec.submodule_search_locations or ()) if spec else []


def _assemble(ptx: str, chip: str) -> tuple[bytes, dict[str, Usage]] | None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "kernel.ptx")
        source.write_text(ptx)
        output = source.with_suffix(".cubin")
        for program in _programs():
            lines = ["--generate-line-info"] if "\t.loc\t" in ptx else []
            command = [program, "-v", *lines, f"--gpu-name={chip}", "-o", str(output), str(source)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return output.read_bytes(), _parse(done.stdout + done.stderr)
    return None


def _programs() -> list[str]:
    packaged = [str(Path(folder, name)) for folder in _folders() for name in _PACKAGED]
    on_path = shutil.which("ptxas")
    return [*filter(shutil.which, packaged), *([on_path] if on_path else [])]


_REMARK = re.compile(r"^ptxas (?:warning *: (.*)|info *: (\(C\d+\).*))$", re.M)
"""Warnings, and what is called `info` but has a number: that is a warning too, of what wgmma loses."""


def _parse(text: str) -> dict[str, Usage]:
    """What ptxas says of each kernel: a part of its text for each, which starts with the entry's name. Remarks come
    before all parts. A remark that names no kernel is given to every kernel."""
    _, *parts = re.split(r"Compiling entry function '([^']+)'", text)
    remarks = [(warning or info).strip() for warning, info in _REMARK.findall(text)]
    return {
        entry: _parse_part(part, tuple(remark for remark in remarks if _concerns(remark, entry)))
        for entry, part in zip(parts[::2], parts[1::2], strict=True)
    }


def _concerns(remark: str, entry: str) -> bool:
    named = re.findall(r"function '([^']+)'", remark)
    return not named or entry in named


def _parse_part(text: str, warnings: tuple[str, ...]) -> Usage:
    def number(pattern: str) -> int:
        return sum(map(int, re.findall(pattern, text)))

    return Usage(
        number(r"Used (\d+) registers"), number(r"(\d+) bytes spill stores"), number(r"(\d+) bytes smem"), warnings
    )
